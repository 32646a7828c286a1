// Comparisons, conversions and floating-point arithmetic. Groups follow the chapters of the PTX ISA. Every
// multiplication names a rounding mode: without it ptxas may fuse it with an addition. Approximations are
// left out: PTX bounds their error and says nothing of their bits.

#include "instructions.hpp"

#include <array>
#include <vector>

namespace hardware {
namespace {

constexpr auto numbers = std::to_array<Instruction>({
    // 9.7.6 and 9.7.7 comparison and selection
    {"iiIii", "{ .reg .pred p; setp.<eq|ne|lt|le|gt|ge>.s32 p, $a, $b; selp.<b32|u32|s32> $d, $c, $e, p; }"},
    {"iiIii",
     "{ .reg .pred p; setp.<eq|ne|lt|le|gt|ge|lo|ls|hi|hs>.u32 p, $a, $b; selp.b32 $d, $c, $e, <p|!p>; }"},
    {"iiIii", "{ .reg .pred p; setp.<eq|ne>.b32 p, $a, $b; selp.b32 $d, $c, $e, p; }"},
    {"iiiii", "{ .reg .pred p, q; setp.ne.b32 q, $e, 0;"
              " setp.<eq|ne|lt|le|gt|ge>.<and|or|xor>.<s32|u32> p|q, $a, $b, <q|!q>; selp.b32 $d, $c, $e, p;"
              " @q not.b32 $d, $d; }"},
    {"illii", "{ .reg .pred p; setp.<eq|ne|lt|le|gt|ge>.s64 p, $a, $b; selp.<b32|u32|s32> $d, $c, $e, p; }"},
    {"illii",
     "{ .reg .pred p; setp.<eq|ne|lt|le|gt|ge|lo|ls|hi|hs>.u64 p, $a, $b; selp.b32 $d, $c, $e, <p|!p>; }"},
    {"illii", "{ .reg .pred p; setp.<eq|ne>.b64 p, $a, $b; selp.b32 $d, $c, $e, p; }"},
    {"illii", "{ .reg .pred p, q; setp.ne.b32 q, $e, 0;"
              " setp.<eq|ne|lt|le|gt|ge>.<and|or|xor>.<s64|u64> p|q, $a, $b, <q|!q>; selp.b32 $d, $c, $e, p;"
              " @q not.b32 $d, $d; }"},
    {"ihhii", "{ .reg .pred p; setp.<eq|ne|lt|le|gt|ge>.s16 p, $a, $b; selp.<b32|u32|s32> $d, $c, $e, p; }"},
    {"ihhii",
     "{ .reg .pred p; setp.<eq|ne|lt|le|gt|ge|lo|ls|hi|hs>.u16 p, $a, $b; selp.b32 $d, $c, $e, <p|!p>; }"},
    {"ihhii", "{ .reg .pred p; setp.<eq|ne>.b16 p, $a, $b; selp.b32 $d, $c, $e, p; }"},
    {"ihhii", "{ .reg .pred p, q; setp.ne.b32 q, $e, 0;"
              " setp.<eq|ne|lt|le|gt|ge>.<and|or|xor>.<s16|u16> p|q, $a, $b, <q|!q>; selp.b32 $d, $c, $e, p;"
              " @q not.b32 $d, $d; }"},
    {"issii", "{ .reg .pred p; setp.<eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan><|.ftz>.f16 p, $a, $b;"
              " selp.b32 $d, $c, $e, p; }"},
    {"issii",
     "{ .reg .pred p, q; setp.ne.b32 q, $e, 0;"
     " setp.<eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan>.<and|or|xor><|.ftz>.f16 p, $a, $b, <q|!q>;"
     " selp.b32 $d, $c, $e, p; }"},
    {"ittii", "{ .reg .pred p; setp.<eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan>.bf16 p, $a, $b;"
              " selp.b32 $d, $c, $e, p; }"},
    {"ittii", "{ .reg .pred p, q; setp.ne.b32 q, $e, 0;"
              " setp.<eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan>.<and|or|xor>.bf16 p, $a, $b, <q|!q>;"
              " selp.b32 $d, $c, $e, p; }"},
    {"iffii", "{ .reg .pred p; setp.<eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan><|.ftz>.f32 p, $a, $b;"
              " selp.b32 $d, $c, $e, p; }"},
    {"iffii",
     "{ .reg .pred p, q; setp.ne.b32 q, $e, 0;"
     " setp.<eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan>.<and|or|xor><|.ftz>.f32 p|q, $a, $b, <q|!q>;"
     " selp.b32 $d, $c, $e, p; @q not.b32 $d, $d; }"},
    {"iddii", "{ .reg .pred p; setp.<eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan>.f64 p, $a, $b;"
              " selp.b32 $d, $c, $e, p; }"},
    {"iddii",
     "{ .reg .pred p, q; setp.ne.b32 q, $e, 0;"
     " setp.<eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan>.<and|or|xor>.f64 p|q, $a, $b, <q|!q>;"
     " selp.b32 $d, $c, $e, p; @q not.b32 $d, $d; }"},
    {"ixxii", "{ .reg .pred p, q;"
              " setp.<eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan><|.ftz>.f16x2 p|q, $a, $b;"
              " selp.b32 $d, $c, $e, p; @q not.b32 $d, $d; }"},
    {"ixxii", "{ .reg .pred p, q; setp.ne.b32 q, $e, 0;"
              " setp.<eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan>.<and|or|xor><|.ftz>.f16x2 p|q, $a, "
              "$b, <q|!q>;"
              " selp.b32 $d, $c, $e, p; @q not.b32 $d, $d; }"},
    {"iyyii",
     "{ .reg .pred p, q; setp.<eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan>.bf16x2 p|q, $a, $b;"
     " selp.b32 $d, $c, $e, p; @q not.b32 $d, $d; }"},
    {"iyyii",
     "{ .reg .pred p, q; setp.ne.b32 q, $e, 0;"
     " setp.<eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan>.<and|or|xor>.bf16x2 p|q, $a, $b, <q|!q>;"
     " selp.b32 $d, $c, $e, p; @q not.b32 $d, $d; }"},
    {"iii", "set.<eq|ne|lt|le|gt|ge>.<u32|s32>.s32 $d, $a, $b;"},
    {"iii", "set.<eq|ne|lt|le|gt|ge|lo|ls|hi|hs>.<u32|s32>.u32 $d, $a, $b;"},
    {"iii", "set.<eq|ne>.<u32|s32>.b32 $d, $a, $b;"},
    {"fii", "set.<eq|ne|lt|le|gt|ge>.f32.<u32|s32> $d, $a, $b;"},
    {"iiii", "{ .reg .pred p; setp.gt.s32 p, $c, 3;"
             " set.<eq|ne|lt|le|gt|ge>.<and|or|xor>.<u32|s32>.<u32|s32> $d, $a, $b, <p|!p>; }"},
    {"ill", "set.<eq|ne|lt|le|gt|ge>.<u32|s32>.s64 $d, $a, $b;"},
    {"ill", "set.<eq|ne|lt|le|gt|ge|lo|ls|hi|hs>.<u32|s32>.u64 $d, $a, $b;"},
    {"ill", "set.<eq|ne>.<u32|s32>.b64 $d, $a, $b;"},
    {"fll", "set.<eq|ne|lt|le|gt|ge>.f32.<u64|s64> $d, $a, $b;"},
    {"illi", "{ .reg .pred p; setp.gt.s32 p, $c, 3;"
             " set.<eq|ne|lt|le|gt|ge>.<and|or|xor>.<u32|s32>.<u64|s64> $d, $a, $b, <p|!p>; }"},
    {"ihh", "set.<eq|ne|lt|le|gt|ge>.<u32|s32>.s16 $d, $a, $b;"},
    {"ihh", "set.<eq|ne|lt|le|gt|ge|lo|ls|hi|hs>.<u32|s32>.u16 $d, $a, $b;"},
    {"ihh", "set.<eq|ne>.<u32|s32>.b16 $d, $a, $b;"},
    {"fhh", "set.<eq|ne|lt|le|gt|ge>.f32.<u16|s16> $d, $a, $b;"},
    {"ihhi", "{ .reg .pred p; setp.gt.s32 p, $c, 3;"
             " set.<eq|ne|lt|le|gt|ge>.<and|or|xor>.<u32|s32>.<u16|s16> $d, $a, $b, <p|!p>; }"},
    {"iff", "set.<eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan><|.ftz>.<u32|s32>.f32 $d, $a, $b;"},
    {"fff", "set.<eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan><|.ftz>.f32.f32 $d, $a, $b;"},
    {"iffi", "{ .reg .pred p; setp.gt.s32 p, $c, 3;"
             " set.<eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan>.<and|or|xor><|.ftz>.<u32|s32>.f32 $d, "
             "$a, $b, <p|!p>;"
             " }"},
    {"idd", "set.<eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan>.<u32|s32>.f64 $d, $a, $b;"},
    {"fdd", "set.<eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan>.f32.f64 $d, $a, $b;"},
    {"iddi",
     "{ .reg .pred p; setp.gt.s32 p, $c, 3;"
     " set.<eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan>.<and|or|xor>.<u32|s32>.f64 $d, $a, $b, <p|!p>;"
     " }"},
    {"shh", "set.<eq|ne|lt|le|gt|ge>.f16.<u16|s16> $d, $a, $b;"},
    {"sii", "set.<eq|ne|lt|le|gt|ge>.f16.<u32|s32> $d, $a, $b;"},
    {"sll", "set.<eq|ne|lt|le|gt|ge>.f16.<u64|s64> $d, $a, $b;"},
    {"sff", "set.<eq|ne|lt|le|gt|ge>.f16.f32 $d, $a, $b;"},
    {"sdd", "set.<eq|ne|lt|le|gt|ge>.f16.f64 $d, $a, $b;"},
    {"sss", "set.<eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan><|.ftz>.f16.f16 $d, $a, $b;"},
    {"iss", "set.<eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan><|.ftz>.<u32|s32>.f16 $d, $a, $b;"},
    {"hss", "set.<eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan><|.ftz>.<u16|s16>.f16 $d, $a, $b;"},
    {"sssi", "{ .reg .pred p; setp.gt.s32 p, $c, 3;"
             " set.<eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan>.<and|or|xor><|.ftz>.f16.f16 $d, $a, "
             "$b, <p|!p>;"
             " }"},
    {"xxx", "set.<eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan><|.ftz>.f16x2.f16x2 $d, $a, $b;"},
    {"ixx", "set.<eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan><|.ftz>.<u32|s32>.f16x2 $d, $a, $b;"},
    {"xxxi", "{ .reg .pred p; setp.gt.s32 p, $c, 3;"
             " set.<eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan>.<and|or|xor><|.ftz>.f16x2.f16x2 $d, "
             "$a, $b, <p|!p>;"
             " }"},
    {"thh", "set.<eq|ne|lt|le|gt|ge>.bf16.<u16|s16> $d, $a, $b;"},
    {"tii", "set.<eq|ne|lt|le|gt|ge>.bf16.<u32|s32> $d, $a, $b;"},
    {"tll", "set.<eq|ne|lt|le|gt|ge>.bf16.<u64|s64> $d, $a, $b;"},
    {"tff", "set.<eq|ne|lt|le|gt|ge>.bf16.f32 $d, $a, $b;"},
    {"tdd", "set.<eq|ne|lt|le|gt|ge>.bf16.f64 $d, $a, $b;"},
    {"ttt", "set.<eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan>.bf16.bf16 $d, $a, $b;"},
    {"itt", "set.<eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan>.<u32|s32>.bf16 $d, $a, $b;"},
    {"htt", "set.<eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan>.<u16|s16>.bf16 $d, $a, $b;"},
    {"ttti",
     "{ .reg .pred p; setp.gt.s32 p, $c, 3;"
     " set.<eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan>.<and|or|xor>.bf16.bf16 $d, $a, $b, <p|!p>;"
     " }"},
    {"yyy", "set.<eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan>.bf16x2.bf16x2 $d, $a, $b;"},
    {"iyy", "set.<eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan>.<u32|s32>.bf16x2 $d, $a, $b;"},
    {"yyyi",
     "{ .reg .pred p; setp.gt.s32 p, $c, 3;"
     " set.<eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan>.<and|or|xor>.bf16x2.bf16x2 $d, $a, $b, <p|!p>;"
     " }"},
    {"hhhi", "{ .reg .pred p; setp.gt.s32 p, $c, 0; selp.<b16|u16|s16> $d, $a, $b, <p|!p>; }"},
    {"hhhi", "slct.<b16|u16|s16>.s32 $d, $a, $b, $c;"},
    {"hhhf", "slct<|.ftz>.<b16|u16|s16>.f32 $d, $a, $b, $c;"},
    {"iiii", "{ .reg .pred p; setp.gt.s32 p, $c, 0; selp.<b32|u32|s32> $d, $a, $b, <p|!p>; }"},
    {"iiii", "slct.<b32|u32|s32>.s32 $d, $a, $b, $c;"},
    {"iiif", "slct<|.ftz>.<b32|u32|s32>.f32 $d, $a, $b, $c;"},
    {"llli", "{ .reg .pred p; setp.gt.s32 p, $c, 0; selp.<b64|u64|s64> $d, $a, $b, <p|!p>; }"},
    {"llli", "slct.<b64|u64|s64>.s32 $d, $a, $b, $c;"},
    {"lllf", "slct<|.ftz>.<b64|u64|s64>.f32 $d, $a, $b, $c;"},
    {"fffi", "{ .reg .pred p; setp.gt.s32 p, $c, 0; selp.f32 $d, $a, $b, <p|!p>; }"},
    {"fffi", "slct.f32.s32 $d, $a, $b, $c;"},
    {"ffff", "slct<|.ftz>.f32.f32 $d, $a, $b, $c;"},
    {"dddi", "{ .reg .pred p; setp.gt.s32 p, $c, 0; selp.f64 $d, $a, $b, <p|!p>; }"},
    {"dddi", "slct.f64.s32 $d, $a, $b, $c;"},
    {"dddf", "slct<|.ftz>.f64.f32 $d, $a, $b, $c;"},
    {"if", "{ .reg .pred p; testp.<finite|infinite|number|notanumber|normal|subnormal>.f32 p, $a;"
           " selp.u32 $d, 1, 0, p; }"},
    {"id", "{ .reg .pred p; testp.<finite|infinite|number|notanumber|normal|subnormal>.f64 p, $a;"
           " selp.u32 $d, 1, 0, p; }"},
    // 9.7.9.21 conversion: integers
    {"hh", "cvt.<u8|s8|u16|s16>.<u8|s8|u16|s16> $d, $a;"},
    {"hh", "cvt.sat.<u8.s8|s8.u8|u8.u16|s8.u16|u8.s16|s8.s16|u16.s8|u16.s16|s16.u16> $d, $a;"},
    {"hi", "cvt<|.sat>.<u8|s8|u16|s16>.<u32|s32> $d, $a;"},
    {"hl", "cvt<|.sat>.<u8|s8|u16|s16>.<u64|s64> $d, $a;"},
    {"ih", "cvt.<u8|s8|u16|s16|u32|s32>.<u8|s8|u16|s16> $d, $a;"},
    {"ih", "cvt.sat.<u8.u16|u8.s16|s8.u16|s8.s16|u32.s8|u32.s16> $d, $a;"},
    {"ii", "cvt<|.sat>.<u8|s8|u16|s16>.<u32|s32> $d, $a;"},
    {"ii", "cvt.<u8|s8|u16|s16|u32|s32>.<u8|s8|u16|s16|u32|s32> $d, $a;"},
    {"ii", "cvt.sat.<u32.s32|s32.u32|u32.s8|u32.s16|u8.s8|u8.u16|s8.s16|s16.u16|u16.s8> $d, $a;"},
    {"il", "cvt<|.sat>.<u8|s8|u16|s16|u32|s32>.<u64|s64> $d, $a;"},
    {"lh", "cvt.<u8|s8|u16|s16|u32|s32|u64|s64>.<u8|s8|u16|s16> $d, $a;"},
    {"lh", "cvt.sat.u64.<s8|s16> $d, $a;"},
    {"li", "cvt.<u8|s8|u16|s16|u32|s32|u64|s64>.<u8|s8|u16|s16|u32|s32> $d, $a;"},
    {"li", "cvt.sat.<u64.s8|u64.s16|u64.s32|u8.u32|s8.s32|u16.s32|s16.u32|u32.s32|s32.u32> $d, $a;"},
    {"ll", "cvt.<u8|s8|u16|s16|u32|s32|u64|s64>.<u8|s8|u16|s16|u32|s32|u64|s64> $d, $a;"},
    {"ll", "cvt.sat.<u64.s64|s64.u64|u32.s64|s32.s64|s32.u64|u8.s64|s8.u64> $d, $a;"},
    {"iii", "cvt.pack.sat.<u16|s16>.s32 $d, $a, $b;"},
    {"iiii", "cvt.pack.sat.<u8|s8|u4|s4|u2|s2>.s32.b32 $d, $a, $b, $c;"},
    // integers to floating point and back
    {"fh", "cvt.<rn|rz|rm|rp><|.sat>.f32.<u8|s8|u16|s16> $d, $a;"},
    {"fi", "cvt.<rn|rz|rm|rp><|.sat>.f32.<u8|s8|u16|s16|u32|s32> $d, $a;"},
    {"fl", "cvt.<rn|rz|rm|rp><|.sat>.f32.<u64|s64> $d, $a;"},
    {"dh", "cvt.<rn|rz|rm|rp><|.sat>.f64.<u8|s8|u16|s16> $d, $a;"},
    {"di", "cvt.<rn|rz|rm|rp><|.sat>.f64.<u8|s8|u16|s16|u32|s32> $d, $a;"},
    {"dl", "cvt.<rn|rz|rm|rp><|.sat>.f64.<u64|s64> $d, $a;"},
    {"sh", "cvt.<rn|rz|rm|rp><|.sat>.f16.<u8|s8|u16|s16> $d, $a;"},
    {"si", "cvt.<rn|rz|rm|rp><|.sat>.f16.<u8|s8|u16|s16|u32|s32> $d, $a;"},
    {"sl", "cvt.<rn|rz|rm|rp><|.sat>.f16.<u64|s64> $d, $a;"},
    {"th", "cvt.<rn|rz|rm|rp>.bf16.<u16|s16> $d, $a;"},
    {"ti", "cvt.<rn|rz|rm|rp>.bf16.<u32|s32> $d, $a;"},
    {"tl", "cvt.<rn|rz|rm|rp>.bf16.<u64|s64> $d, $a;"},
    {"hf", "cvt.<rni|rzi|rmi|rpi><|.ftz><|.sat>.<u8|s8|u16|s16>.f32 $d, $a;"},
    {"if", "cvt.<rni|rzi|rmi|rpi><|.ftz><|.sat>.<u8|s8|u16|s16|u32|s32>.f32 $d, $a;"},
    {"lf", "cvt.<rni|rzi|rmi|rpi><|.ftz><|.sat>.<u64|s64>.f32 $d, $a;"},
    {"hd", "cvt.<rni|rzi|rmi|rpi><|.sat>.<u8|s8|u16|s16>.f64 $d, $a;"},
    {"id", "cvt.<rni|rzi|rmi|rpi><|.sat>.<u8|s8|u16|s16|u32|s32>.f64 $d, $a;"},
    {"ld", "cvt.<rni|rzi|rmi|rpi><|.sat>.<u64|s64>.f64 $d, $a;"},
    {"hs", "cvt.<rni|rzi|rmi|rpi><|.sat>.<u8|s8|u16|s16>.f16 $d, $a;"},
    {"is", "cvt.<rni|rzi|rmi|rpi><|.sat>.<u8|s8|u16|s16|u32|s32>.f16 $d, $a;"},
    {"ls", "cvt.<rni|rzi|rmi|rpi><|.sat>.<u64|s64>.f16 $d, $a;"},
    {"ht", "cvt.<rni|rzi|rmi|rpi>.<u16|s16>.bf16 $d, $a;"},
    {"it", "cvt.<rni|rzi|rmi|rpi>.<u32|s32>.bf16 $d, $a;"},
    {"lt", "cvt.<rni|rzi|rmi|rpi>.<u64|s64>.bf16 $d, $a;"},
    // between floating-point formats
    {"ff", "cvt<|.ftz><|.sat>.f32.f32 $d, $a;"},
    {"ff", "cvt.<rni|rzi|rmi|rpi><|.ftz><|.sat>.f32.f32 $d, $a;"},
    {"fd", "cvt.<rn|rz|rm|rp><|.ftz><|.sat>.f32.f64 $d, $a;"},
    {"fs", "cvt<|.ftz><|.sat>.f32.f16 $d, $a;"},
    {"ft", "cvt<|.ftz>.f32.bf16 $d, $a;"},
    {"df", "cvt<|.ftz><|.sat>.f64.f32 $d, $a;"},
    {"dd", "cvt<|.sat>.f64.f64 $d, $a;"},
    {"dd", "cvt.<rni|rzi|rmi|rpi><|.sat>.f64.f64 $d, $a;"},
    {"ds", "cvt<|.sat>.f64.f16 $d, $a;"},
    {"dt", "cvt.f64.bf16 $d, $a;"},
    {"sf", "cvt.<rn|rz|rm|rp><|.ftz><|.sat>.f16.f32 $d, $a;"},
    {"sf", "cvt.<rn|rz><|.relu><|.satfinite>.f16.f32 $d, $a;"},
    {"sd", "cvt.<rn|rz|rm|rp><|.sat>.f16.f64 $d, $a;"},
    {"ss", "cvt<|.sat>.f16.f16 $d, $a;"},
    {"ss", "cvt.<rni|rzi|rmi|rpi><|.sat>.f16.f16 $d, $a;"},
    {"st", "cvt.<rn|rz|rm|rp>.f16.bf16 $d, $a;"},
    {"tf", "cvt.<rn|rz|rm|rp><|.ftz>.bf16.f32 $d, $a;"},
    {"tf", "cvt.<rn|rz><|.relu><|.satfinite>.bf16.f32 $d, $a;"},
    {"td", "cvt.<rn|rz|rm|rp>.bf16.f64 $d, $a;"},
    {"ts", "cvt.<rn|rz|rm|rp>.bf16.f16 $d, $a;"},
    {"tt", "cvt.bf16.bf16 $d, $a;"},
    {"tt", "cvt.<rni|rzi|rmi|rpi>.bf16.bf16 $d, $a;"},
    {"xff", "cvt.<rn|rz><|.relu><|.satfinite>.f16x2.f32 $d, $a, $b;"},
    {"yff", "cvt.<rn|rz><|.relu><|.satfinite>.bf16x2.f32 $d, $a, $b;"},
    {"ff", "{ .reg .b32 u; cvt.<rna|rna.satfinite|rn|rz|rn.relu|rz.relu>.tf32.f32 u, $a; mov.b32 $d, u; }"},
    {"hff", "cvt.rn.satfinite<|.relu>.<e4m3x2|e5m2x2>.f32 $d, $a, $b;"},
    {"hx", "cvt.rn.satfinite<|.relu>.<e4m3x2|e5m2x2>.f16x2 $d, $a;"},
    {"xh", "cvt.rn<|.relu>.f16x2.<e4m3x2|e5m2x2> $d, $a;"},
    {"xss", "mov.b32 $d, {$a, $b};"},
    {"ytt", "mov.b32 $d, {$a, $b};"},
    {"sx", "{ .reg .b16 u; mov.b32 <{$d, u}|{u, $d}>, $a; }"},
    {"ty", "{ .reg .b16 u; mov.b32 <{$d, u}|{u, $d}>, $a; }"},
    // 9.7.3 floating point
    {"fff", "<add|sub|mul>.<rn|rz|rm|rp><|.ftz><|.sat>.f32 $d, $a, $b;"},
    {"ffff", "fma.<rn|rz|rm|rp><|.ftz><|.sat>.f32 $d, $a, $b, $c;"},
    {"ffff", "mad.<rn|rz|rm|rp><|.ftz><|.sat>.f32 $d, $a, $b, $c;"},
    {"fff", "<add|sub><|.ftz><|.sat>.f32 $d, $a, $b;"},
    {"ff", "<add|sub|mul>.<rn|rz|rm|rp><|.ftz><|.sat>.f32 $d, $a, "
           "<0f00000000|0f80000000|0f3F800000|0fBF800000|0f40490FDB|0f00000001|0f7F800000>;"},
    {"fff", "fma.<rn|rz|rm|rp><|.ftz><|.sat>.f32 $d, $a, "
            "<0f00000000|0f80000000|0f3F800000|0fBF800000|0f40490FDB|0f00000001|0f7F800000>, $b;"},
    {"ff", "<min|max><|.ftz><|.NaN>.f32 $d, $a, "
           "<0f00000000|0f80000000|0f3F800000|0fBF800000|0f40490FDB|0f00000001|0f7F800000>;"},
    {"fff", "div.<rn|rz|rm|rp><|.ftz>.f32 $d, $a, $b;"},
    {"ff", "<rcp|sqrt>.<rn|rz|rm|rp><|.ftz>.f32 $d, $a;"},
    {"fff", "<min|max><|.ftz><|.NaN><|.xorsign.abs>.f32 $d, $a, $b;"},
    {"ff", "<abs|neg><|.ftz>.f32 $d, $a;"},
    {"fFf", "copysign.f32 $d, $a, $b;"},
    {"ddd", "<add|sub|mul|div>.<rn|rz|rm|rp>.f64 $d, $a, $b;"},
    {"dddd", "<fma|mad>.<rn|rz|rm|rp>.f64 $d, $a, $b, $c;"},
    {"dd", "<rcp|sqrt>.<rn|rz|rm|rp>.f64 $d, $a;"},
    {"ddd", "<add|sub>.f64 $d, $a, $b;"},
    {"dd", "<add|sub|mul>.<rn|rz|rm|rp>.f64 $d, $a, "
           "<0d0000000000000000|0d8000000000000000|0d3FF0000000000000|0d400921FB54442D18>;"},
    {"ddd", "<min|max>.f64 $d, $a, $b;"},
    {"dd", "<abs|neg>.f64 $d, $a;"},
    {"dDd", "copysign.f64 $d, $a, $b;"},
    // 9.7.4 half precision
    {"sss", "<add|sub|mul>.rn<|.ftz><|.sat>.f16 $d, $a, $b;"},
    {"xxx", "<add|sub|mul>.rn<|.ftz><|.sat>.f16x2 $d, $a, $b;"},
    {"ssss", "fma.rn<|.ftz><|.sat|.relu>.f16 $d, $a, $b, $c;"},
    {"xxxx", "fma.rn<|.ftz><|.sat|.relu>.f16x2 $d, $a, $b, $c;"},
    {"sss", "<min|max><|.ftz><|.NaN><|.xorsign.abs>.f16 $d, $a, $b;"},
    {"xxx", "<min|max><|.ftz><|.NaN><|.xorsign.abs>.f16x2 $d, $a, $b;"},
    {"ss", "<abs|neg><|.ftz>.f16 $d, $a;"},
    {"xx", "<abs|neg><|.ftz>.f16x2 $d, $a;"},
    {"sss", "<add|sub><|.ftz><|.sat>.f16 $d, $a, $b;"},
    {"xxx", "<add|sub><|.ftz><|.sat>.f16x2 $d, $a, $b;"},
    {"ttt", "<add|sub>.bf16 $d, $a, $b;"},
    {"yyy", "<add|sub>.bf16x2 $d, $a, $b;"},
    {"ttt", "<add|sub|mul>.rn.bf16 $d, $a, $b;"},
    {"yyy", "<add|sub|mul>.rn.bf16x2 $d, $a, $b;"},
    {"tttt", "fma.rn<|.relu>.bf16 $d, $a, $b, $c;"},
    {"yyyy", "fma.rn<|.relu>.bf16x2 $d, $a, $b, $c;"},
    {"ttt", "<min|max><|.NaN><|.xorsign.abs>.bf16 $d, $a, $b;"},
    {"yyy", "<min|max><|.NaN><|.xorsign.abs>.bf16x2 $d, $a, $b;"},
    {"tt", "<abs|neg>.bf16 $d, $a;"},
    {"yy", "<abs|neg>.bf16x2 $d, $a;"},
    {"ssssi", "{ .reg .b16 u; .reg .pred p; setp.lt.s32 p, $e, 1; selp.b16 u, "
              "<0x7ff7|0x7eff|0x7fff|0xfff7|0x7e00>, $a, p;"
              " fma.rn.oob<|.relu>.f16 $d, <u, $b|$b, u>, $c; }"},
    {"xxxxi", "{ .reg .b32 u; .reg .pred p; setp.lt.s32 p, $e, 1; selp.b32 u, "
              "<0x7ff77ff7|0x3f807ff7|0x7ff73c00>, $a, p;"
              " fma.rn.oob<|.relu>.f16x2 $d, <u, $b|$b, u>, $c; }"},
    {"tttti", "{ .reg .b16 u; .reg .pred p; setp.lt.s32 p, $e, 1; selp.b16 u, "
              "<0x7ff7|0x7eff|0x7fff|0xfff7|0x7e00>, $a, p;"
              " fma.rn.oob<|.relu>.bf16 $d, <u, $b|$b, u>, $c; }"},
    {"yyyyi", "{ .reg .b32 u; .reg .pred p; setp.lt.s32 p, $e, 1; selp.b32 u, "
              "<0x7ff77ff7|0x3f807ff7|0x7ff73c00>, $a, p;"
              " fma.rn.oob<|.relu>.bf16x2 $d, <u, $b|$b, u>, $c; }"},
});

} // namespace

std::span<const Instruction> instructions() {
    static const std::vector<Instruction> all = [] {
        std::vector<Instruction> rows(integer_rows().begin(), integer_rows().end());
        rows.insert(rows.end(), numbers.begin(), numbers.end());
        return rows;
    }();
    return all;
}

} // namespace hardware
