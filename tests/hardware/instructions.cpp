// Integers, bits, carry chains, moves, memory, warps and video. Groups follow the chapters of the PTX ISA.

#include "instructions.hpp"

#include <array>

namespace hardware {
namespace {

constexpr auto integers = std::to_array<Instruction>({
    // 9.7.1 integer arithmetic, 32 bits
    {"iiI", "<add|sub>.<u32|s32|sat.s32> $d, $a, $b;"},
    {"iiI", "mul.<lo|hi>.<u32|s32> $d, $a, $b;"},
    {"iiIi", "mad.<lo|hi>.<u32|s32> $d, $a, $b, $c;"},
    {"iiii", "mad.hi.sat.s32 $d, $a, $b, $c;"},
    {"lii", "mul.wide.<u32|s32> $d, $a, $b;"},
    {"lii", "mul.wide.<u32|s32> $d, $a, <7|1000003>;"},
    {"liil", "mad.wide.<u32|s32> $d, $a, $b, $c;"},
    {"iii", "mul24.<lo|hi>.<u32|s32> $d, $a, $b;"},
    {"iiii", "mad24.<lo|hi>.<u32|s32> $d, $a, $b, $c;"},
    {"iiii", "mad24.hi.sat.s32 $d, $a, $b, $c;"},
    {"iiii", "sad.<u32|s32> $d, $a, $b, $c;"},
    {"iii", "{ .reg .b32 n; and.b32 n, $b, 0x7fffffff; or.b32 n, n, 1; <div|rem>.<u32|s32> $d, $a, n; }"},
    {"iii", "{ .reg .b32 n; shr.u32 n, $b, #31; or.b32 n, n, 1; <div|rem>.u32 $d, $a, n; }"},
    {"iii", "{ .reg .b32 n; or.b32 n, $b, 1; <div|rem>.s32 $d, $a, n; }"},
    {"ii", "<div|rem>.<u32|s32> $d, $a, <1|2|3|7|10|64|1000|-1|-8|0x80000000>;"},
    {"ii", "<abs|neg>.s32 $d, $a;"},
    {"iiI", "<min|max>.<u32|s32|relu.s32> $d, $a, $b;"},
    {"iii", "<min|max>.<u16x2|s16x2|relu.s16x2> $d, $a, $b;"},
    {"iii", "add.<u16x2|s16x2> $d, $a, $b;"},
    {"ii", "<popc|clz>.b32 $d, $a;"},
    {"ii", "brev.b32 $d, $a;"},
    {"ii", "bfind<|.shiftamt>.<u32|s32> $d, $a;"},
    {"iiii", "bfe.<u32|s32> $d, $a, $b, $c;"},
    {"ii", "bfe.<u32|s32> $d, $a, #40, #40;"},
    {"iiiii", "bfi.b32 $d, $a, $b, $c, $e;"},
    {"iii", "bfi.b32 $d, $a, $b, #40, #40;"},
    {"iii", "bmsk.<clamp|wrap>.b32 $d, $a, $b;"},
    {"iii", "szext.<clamp|wrap>.<u32|s32> $d, $a, $b;"},
    {"i", "bmsk.<clamp|wrap>.b32 $d, #40, #40;"},
    {"ii", "szext.<clamp|wrap>.<u32|s32> $d, $a, #40;"},
    {"ii", "fns.b32 $d, $a, #32, <|->#8;"},
    {"iiii", "{ .reg .b32 n; and.b32 n, $b, 31; fns.b32 $d, $a, n, $c; }"},
    {"iiii", "dp4a.<u32|s32>.<u32|s32> $d, $a, $b, $c;"},
    {"iiii", "dp2a.<lo|hi>.<u32|s32>.<u32|s32> $d, $a, $b, $c;"},
    // 64 bits
    {"lll", "<add|sub|min|max|mul.lo|mul.hi>.<u64|s64> $d, $a, $b;"},
    {"llll", "mad.<lo|hi>.<u64|s64> $d, $a, $b, $c;"},
    {"llll", "sad.<u64|s64> $d, $a, $b, $c;"},
    {"lll",
     "{ .reg .b64 n; and.b64 n, $b, 0x7fffffffffffffff; or.b64 n, n, 1; <div|rem>.<u64|s64> $d, $a, n; }"},
    {"lll", "{ .reg .b64 n; or.b64 n, $b, 1; <div|rem>.<u64|s64> $d, $a, n; }"},
    {"ll", "<div|rem>.<u64|s64> $d, $a, <1|2|3|7|10|64|1000|-1|-8>;"},
    {"ll", "<abs|neg>.s64 $d, $a;"},
    {"il", "<popc|clz>.b64 $d, $a;"},
    {"ll", "brev.b64 $d, $a;"},
    {"il", "bfind<|.shiftamt>.<u64|s64> $d, $a;"},
    {"llii", "bfe.<u64|s64> $d, $a, $b, $c;"},
    {"ll", "bfe.<u64|s64> $d, $a, #70, #70;"},
    {"lllii", "bfi.b64 $d, $a, $b, $c, $e;"},
    {"lll", "bfi.b64 $d, $a, $b, #70, #70;"},
    // 16 bits
    {"hhh", "<add|sub|min|max|mul.lo|mul.hi>.<u16|s16> $d, $a, $b;"},
    {"hhhh", "mad.<lo|hi>.<u16|s16> $d, $a, $b, $c;"},
    {"hhhh", "sad.<u16|s16> $d, $a, $b, $c;"},
    {"ihh", "mul.wide.<u16|s16> $d, $a, $b;"},
    {"ihhi", "mad.wide.<u16|s16> $d, $a, $b, $c;"},
    {"hh", "<abs|neg>.s16 $d, $a;"},
    {"hhh", "{ .reg .b16 n; and.b16 n, $b, 0x7fff; or.b16 n, n, 1; <div|rem>.<u16|s16> $d, $a, n; }"},
    {"hhh", "{ .reg .b16 n; or.b16 n, $b, 1; <div|rem>.<u16|s16> $d, $a, n; }"},
    {"hh", "<add|sub|min|max|mul.lo|mul.hi>.<u16|s16> $d, $a, <3|-5|255|32767|-32768>;"},
    {"ih", "mul.wide.<u16|s16> $d, $a, <3|-5|255|32767|-32768>;"},
    // 9.7.2 carry chains: every instruction that writes the flag before every one that reads it
    {"liiii", "{ .reg .b32 u, v; <add|sub>.cc.<u32|s32> u, $a, $b; <addc|subc>.<u32|s32> v, $c, $e;"
              " mov.b64 $d, {u, v}; }"},
    {"liiii",
     "{ .reg .b32 u, v; <add|sub>.cc.u32 u, $a, $b; <addc|subc>.cc.<u32|s32> u, u, $c; xor.b32 u, u, $a;"
     " <addc|subc>.<u32|s32> v, $e, 0; mov.b64 $d, {u, v}; }"},
    {"liiii",
     "{ .reg .b32 u, v; <add|sub>.cc.u32 u, $a, $b; <addc|subc>.u32 v, $c, u; <addc|subc>.u32 u, $e, 0;"
     " mov.b64 $d, {u, v}; }"},
    {"liiii", "{ .reg .b32 u, v; mad.<lo|hi>.cc.<u32|s32> u, $a, $b, $c; <addc|subc>.<u32|s32> v, $e, $a;"
              " mov.b64 $d, {u, v}; }"},
    {"liiii", "{ .reg .b32 u, v; <add|sub>.cc.u32 u, $a, $b; madc.<lo|hi>.<u32|s32> v, $c, $e, $a;"
              " mov.b64 $d, {u, v}; }"},
    {"liiii",
     "{ .reg .b32 u, v; mad.<lo|hi>.cc.<u32|s32> u, $a, $b, $c; madc.<lo|hi>.<u32|s32> v, $b, $c, $e;"
     " mov.b64 $d, {u, v}; }"},
    {"liiii",
     "{ .reg .b32 u, v; mad.lo.cc.u32 u, $a, $b, $c; madc.hi.u32 v, $a, $b, $e; mov.b64 $d, {u, v}; }"},
    {"liiii",
     "{ .reg .b32 u, v; mad.<lo|hi>.cc.<u32|s32> u, $a, $b, $c; madc.<lo|hi>.cc.<u32|s32> u, u, $b, $e;"
     " <addc|subc>.u32 v, $a, 0; mov.b64 $d, {u, v}; }"},
    {"liiii", "{ .reg .b32 u, v; <add|sub>.cc.s32 u, $a, $b; madc.<lo|hi>.cc.<u32|s32> u, $c, $e, u;"
              " <addc|subc>.cc.u32 v, $e, $a; <addc|subc>.u32 u, u, v; mov.b64 $d, {u, v}; }"},
    {"llll", "{ .reg .b64 u; <add|sub>.cc.<u64|s64> u, $a, $b; <addc|subc>.<u64|s64> $d, $c, u; }"},
    {"lllll", "{ .reg .b64 u; <add|sub>.cc.u64 u, $a, $b; <addc|subc>.cc.<u64|s64> u, $c, u;"
              " <addc|subc>.<u64|s64> $d, $e, u; }"},
    {"lllll", "{ .reg .b64 u; mad.<lo|hi>.cc.<u64|s64> u, $a, $b, $c; <addc|subc>.<u64|s64> $d, $e, u; }"},
    {"lllll", "{ .reg .b64 u; <add|sub>.cc.u64 u, $a, $b; madc.<lo|hi>.<u64|s64> $d, $c, $e, u; }"},
    {"lllll", "{ .reg .b64 u; mad.<lo|hi>.cc.<u64|s64> u, $a, $b, $c; madc.<lo|hi>.cc.<u64|s64> u, $b, $e, u;"
              " <addc|subc>.u64 $d, $a, u; }"},
    {"llill",
     "{ .reg .b32 u; .reg .b64 v; cvt.u32.u64 u, $a; <add|sub>.cc.u32 u, u, $b; <addc|subc>.cc.u64 v, $c, $e;"
     " addc.u32 u, u, 0; cvt.u64.u32 $d, u; add.u64 $d, $d, v; }"},
    // 9.7.8 logic and shift
    {"iiI", "<and|or|xor>.b32 $d, $a, $b;"},
    {"lll", "<and|or|xor>.b64 $d, $a, $b;"},
    {"hhh", "<and|or|xor>.b16 $d, $a, $b;"},
    {"ii", "<not|cnot>.b32 $d, $a;"},
    {"ll", "<not|cnot>.b64 $d, $a;"},
    {"hh", "<not|cnot>.b16 $d, $a;"},
    {"iiiii", "{ .reg .pred p, q; setp.lt.s32 p, $a, $b; setp.gt.u32 q, $c, $e; <and|or|xor>.pred p, p, q;"
              " not.pred q, p; selp.b32 $d, $a, $e, <p|q>; }"},
    {"iii", "{ .reg .pred p, q; setp.lt.s32 p, $a, $b; mov.pred q, p; selp.b32 $d, $a, $b, <q|!q>; }"},
    {"iiii", "lop3.b32 $d, $a, $b, $c, #256;"},
    {"iiiii",
     "{ .reg .pred p, q; .reg .b32 u; setp.lt.s32 q, $e, 0; lop3.<or|and>.b32 u|p, $a, $b, $c, #256, <q|!q>;"
     " selp.b32 $d, u, $e, p; }"},
    {"iiI", "<shl.b32|shr.b32|shr.u32|shr.s32> $d, $a, $b;"},
    {"ii", "<shl.b32|shr.u32|shr.s32> $d, $a, #40;"},
    {"lli", "<shl.b64|shr.b64|shr.u64|shr.s64> $d, $a, $b;"},
    {"ll", "<shl.b64|shr.u64|shr.s64> $d, $a, #70;"},
    {"hh", "<shl.b16|shr.u16|shr.s16> $d, $a, #20;"},
    {"hhi", "<shl.b16|shr.b16|shr.u16|shr.s16> $d, $a, $b;"},
    {"iiii", "shf.<l|r>.<clamp|wrap>.b32 $d, $a, $b, $c;"},
    {"iii", "shf.<l|r>.<clamp|wrap>.b32 $d, $a, $b, #40;"},
    // 9.7.9 moves of bytes
    {"iiii", "prmt.b32<|.f4e|.b4e|.rc8|.ecl|.ecr|.rc16> $d, $a, $b, $c;"},
    {"iii", "prmt.b32 $d, $a, $b, #65536;"},
    {"lii", "mov.b64 $d, {$a, $b};"},
    {"il", "{ .reg .b32 u; mov.b64 <{$d, u}|{u, $d}>, $a; }"},
    {"ihh", "mov.b32 $d, {$a, $b};"},
    {"hi", "{ .reg .b16 u; mov.b32 <{$d, u}|{u, $d}>, $a; }"},
    {"lhhhh", "mov.b64 $d, {$a, $b, $c, $e};"},
    {"hl", "{ .reg .b16 u; mov.b64 <{$d, u, u, u}|{u, $d, u, u}|{u, u, $d, u}|{u, u, u, $d}>, $a; }"},
    {"lll", "{ .reg .b128 q; .reg .b64 u; mov.b128 q, {$a, $b}; mov.b128 <{$d, u}|{u, $d}>, q; }"},
    {"ii", "{ .reg .b8 s, t, u, v; mov.b32 {s, t, u, v}, $a; mov.b32 $d, {u, s, v, t}; }"},
    {"hh", "{ .reg .b8 s, t; mov.b16 {s, t}, $a; mov.b16 $d, {t, s}; }"},
    {"iii", "{ .reg .b32 u, v; mov.v2.<b32|u32|s32> {u, v}, {$b, $a}; sub.u32 $d, u, v; }"},
    {"hhhhh", "{ .reg .b16 s, t, u, v; mov.v4.<b16|u16|s16> {s, t, u, v}, {$b, $a, $e, $c}; sub.u16 s, s, u;"
              " xor.b16 t, t, v; add.u16 $d, s, t; }"},
    {"lll", "{ .reg .b64 u, v; mov.v2.<b64|u64|s64> {u, v}, {$b, $a}; sub.u64 $d, u, v; }"},
    {"ii", "mov.<b32|u32|s32> $d, $a;"},
    {"ll", "mov.<b64|u64|s64> $d, $a;"},
    {"hh", "mov.<b16|u16|s16> $d, $a;"},
    {"ff", "mov.f32 $d, $a;"},
    {"dd", "mov.f64 $d, $a;"},
    {"hhh", "{ .reg .b16 u, v; mov.v2.<b16|u16|s16> {u, v}, {$b, $a}; sub.u16 $d, u, v; }"},
    {"iiiii", "{ .reg .b32 s, t, u, v; mov.v4.<b32|u32|s32> {s, t, u, v}, {$b, $a, $e, $c}; sub.u32 s, s, u;"
              " xor.b32 t, t, v; add.u32 $d, s, t; }"},
    {"fff", "{ .reg .f32 u; mov.v2.f32 <{$d, u}|{u, $d}>, {$b, $a}; }"},
    {"fffff",
     "{ .reg .f32 s, t, u; mov.v4.f32 <{$d, s, t, u}|{s, t, $d, u}|{s, t, u, $d}>, {$b, $a, $e, $c}; }"},
    {"ddd", "{ .reg .f64 u; mov.v2.f64 <{$d, u}|{u, $d}>, {$b, $a}; }"},
    // The bits of numbers, and numbers of any bits
    {"iF", "mov.b32 $d, $a;"},
    {"lD", "mov.b64 $d, $a;"},
    {"lFF", "mov.b64 $d, {$a, $b};"},
    {"fi", "mov.b32 $d, $a;"},
    {"dl", "mov.b64 $d, $a;"},
    {"sh", "mov.b16 $d, $a;"},
    {"th", "mov.b16 $d, $a;"},
    {"xi", "mov.b32 $d, $a;"},
    {"yi", "mov.b32 $d, $a;"},
    {"fl", "{ .reg .f32 u; mov.b64 <{$d, u}|{u, $d}>, $a; }"},
    // 9.7.9 and 9.7.13 memory: parts of words, and atomic operations on a word of the thread's own
    {"ii", "{ st.shared.b32 [cell], $a; ld.shared.<b8|u8|s8> $d, [cell+<0|1|2|3>]; }"},
    {"ii", "{ st.shared.b32 [cell], $a; ld.shared.<b16|u16|s16> $d, [cell+<0|2>]; }"},
    {"hi", "{ st.global.b32 [word], $a; ld.global.<b8|u8|s8> $d, [word+<0|1|2|3>]; }"},
    {"li", "{ st.global.b32 [word], $a; ld.global.<b8|u8|s8|b16|u16|s16|b32|u32|s32> $d, [word]; }"},
    {"iii", "{ st.shared.b32 [cell], $a; st.shared.<b8|u8|s8|b16|u16|s16> [cell+<0|2>], $b;"
            " ld.shared.b32 $d, [cell]; }"},
    {"iii", "{ .reg .b32 u; st.shared.b32 [cell], $a;"
            " atom.shared.<add.u32|add.s32|min.u32|min.s32|max.u32|max.s32|and.b32|or.b32|xor.b32|inc.u32|"
            "dec.u32|exch.b32> u, [cell], $b;"
            " ld.shared.b32 $d, [cell]; xor.b32 $d, $d, u; }"},
    {"lll",
     "{ .reg .b64 u; st.shared.b64 [cell], $a;"
     " atom.shared.<add.u64|min.u64|min.s64|max.u64|max.s64|and.b64|or.b64|xor.b64|exch.b64> u, [cell], $b;"
     " ld.shared.b64 $d, [cell]; xor.b64 $d, $d, u; }"},
    {"iiii", "{ .reg .b32 u; st.shared.b32 [cell], $a; atom.shared.cas.b32 u, [cell], <$a|$b>, $c;"
             " ld.shared.b32 $d, [cell]; xor.b32 $d, $d, u; }"},
    {"llll", "{ .reg .b64 u; st.shared.b64 [cell], $a; atom.shared.cas.b64 u, [cell], <$a|$b>, $c;"
             " ld.shared.b64 $d, [cell]; xor.b64 $d, $d, u; }"},
    {"hhhh", "{ .reg .b16 u; st.shared.b16 [cell], $a; atom.shared.cas.b16 u, [cell], <$a|$b>, $c;"
             " ld.shared.b16 $d, [cell]; xor.b16 $d, $d, u; }"},
    {"fff", "{ .reg .f32 u; st.shared.f32 [cell], $a; atom.shared.add.f32 u, [cell], $b;"
            " ld.shared.f32 $d, [cell]; }"},
    {"ddd", "{ .reg .f64 u; st.shared.f64 [cell], $a; atom.shared.add.f64 u, [cell], $b;"
            " ld.shared.f64 $d, [cell]; }"},
    {"sss", "{ .reg .b16 u; st.shared.b16 [cell], $a; atom.shared.add.noftz.f16 u, [cell], $b;"
            " ld.shared.b16 $d, [cell]; }"},
    {"ttt", "{ .reg .b16 u; st.shared.b16 [cell], $a; atom.shared.add.noftz.bf16 u, [cell], $b;"
            " ld.shared.b16 $d, [cell]; }"},
    {"xxx", "{ .reg .b32 u; st.shared.b32 [cell], $a; atom.shared.add.noftz.f16x2 u, [cell], $b;"
            " ld.shared.b32 $d, [cell]; }"},
    {"yyy", "{ .reg .b32 u; st.shared.b32 [cell], $a; atom.shared.add.noftz.bf16x2 u, [cell], $b;"
            " ld.shared.b32 $d, [cell]; }"},
    {"iii", "{ .reg .b32 u; st.global.b32 [word], $a;"
            " atom.global.<add.u32|add.s32|min.u32|min.s32|max.u32|max.s32|and.b32|or.b32|xor.b32|inc.u32|"
            "dec.u32|exch.b32> u, [word], $b;"
            " ld.global.b32 $d, [word]; xor.b32 $d, $d, u; }"},
    {"lll",
     "{ .reg .b64 u; st.global.b64 [word], $a;"
     " atom.global.<add.u64|min.u64|min.s64|max.u64|max.s64|and.b64|or.b64|xor.b64|exch.b64> u, [word], $b;"
     " ld.global.b64 $d, [word]; xor.b64 $d, $d, u; }"},
    {"iiii", "{ .reg .b32 u; st.global.b32 [word], $a; atom.global.cas.b32 u, [word], <$a|$b>, $c;"
             " ld.global.b32 $d, [word]; xor.b32 $d, $d, u; }"},
    {"llll", "{ .reg .b64 u; st.global.b64 [word], $a; atom.global.cas.b64 u, [word], <$a|$b>, $c;"
             " ld.global.b64 $d, [word]; xor.b64 $d, $d, u; }"},
    {"hhhh", "{ .reg .b16 u; st.global.b16 [word], $a; atom.global.cas.b16 u, [word], <$a|$b>, $c;"
             " ld.global.b16 $d, [word]; xor.b16 $d, $d, u; }"},
    {"fff", "{ .reg .f32 u; st.global.f32 [word], $a; atom.global.add.f32 u, [word], $b;"
            " ld.global.f32 $d, [word]; }"},
    {"ddd", "{ .reg .f64 u; st.global.f64 [word], $a; atom.global.add.f64 u, [word], $b;"
            " ld.global.f64 $d, [word]; }"},
    {"sss", "{ .reg .b16 u; st.global.b16 [word], $a; atom.global.add.noftz.f16 u, [word], $b;"
            " ld.global.b16 $d, [word]; }"},
    {"ttt", "{ .reg .b16 u; st.global.b16 [word], $a; atom.global.add.noftz.bf16 u, [word], $b;"
            " ld.global.b16 $d, [word]; }"},
    {"xxx", "{ .reg .b32 u; st.global.b32 [word], $a; atom.global.add.noftz.f16x2 u, [word], $b;"
            " ld.global.b32 $d, [word]; }"},
    {"yyy", "{ .reg .b32 u; st.global.b32 [word], $a; atom.global.add.noftz.bf16x2 u, [word], $b;"
            " ld.global.b32 $d, [word]; }"},
    {"iii", "{ st.global.b32 [word], $a;"
            " red.global.<add.u32|add.s32|min.u32|min.s32|max.u32|max.s32|and.b32|or.b32|xor.b32|inc.u32|dec."
            "u32> [word], $b;"
            " ld.global.b32 $d, [word]; }"},
    {"lll", "{ st.global.b64 [word], $a;"
            " red.global.<add.u64|min.u64|min.s64|max.u64|max.s64|and.b64|or.b64|xor.b64> [word], $b;"
            " ld.global.b64 $d, [word]; }"},
    {"fff", "{ st.global.f32 [word], $a; red.global.add.f32 [word], $b; ld.global.f32 $d, [word]; }"},
    {"ddd", "{ st.global.f64 [word], $a; red.global.add.f64 [word], $b; ld.global.f64 $d, [word]; }"},
    {"xxx", "{ st.global.b32 [word], $a; red.global.add.noftz.f16x2 [word], $b; ld.global.b32 $d, [word]; }"},
    {"yyy",
     "{ st.global.b32 [word], $a; red.global.add.noftz.bf16x2 [word], $b; ld.global.b32 $d, [word]; }"},
    {"fffff", "{ st.global.v2.f32 [word], {$a, $b}; red.global.add.v2.f32 [word], {$c, $e};"
              " ld.global.f32 $d, [word+<0|4>]; }"},
    {"sssss", "{ st.global.v2.b16 [word], {$a, $b}; red.global.<add|min|max>.noftz.v2.f16 [word], {$c, $e};"
              " ld.global.b16 $d, [word+<0|2>]; }"},
    {"ttttt", "{ st.global.v2.b16 [word], {$a, $b}; red.global.<add|min|max>.noftz.v2.bf16 [word], {$c, $e};"
              " ld.global.b16 $d, [word+<0|2>]; }"},
    {"xxxxx", "{ st.global.v2.b32 [word], {$a, $b}; red.global.<add|min|max>.noftz.v2.f16x2 [word], {$c, $e};"
              " ld.global.b32 $d, [word+<0|4>]; }"},
    {"yyyyy",
     "{ st.global.v2.b32 [word], {$a, $b}; red.global.<add|min|max>.noftz.v2.bf16x2 [word], {$c, $e};"
     " ld.global.b32 $d, [word+<0|4>]; }"},
    // 9.7.13 warps
    {"iiii", "{ .reg .pred p; .reg .b32 u; and.b32 u, $c, 0x1f1f;"
             " shfl.sync.<up|down|bfly|idx>.b32 $d|p, $a, $b, u, 0xffffffff; @!p not.b32 $d, $d; }"},
    {"ii", "redux.sync.<add|min|max>.<u32|s32> $d, $a, 0xffffffff;"},
    {"ii", "redux.sync.<and|or|xor>.b32 $d, $a, 0xffffffff;"},
    {"iii",
     "{ .reg .pred p; .reg .b32 u; mov.u32 u, %laneid; and.b32 u, u, 1; setp.eq.u32 p, u, 0; mov.b32 $d, $b;"
     " @p redux.sync.<add|min|max>.<u32|s32> $d, $a, 0x55555555; }"},
    {"iiii", "{ .reg .pred p, q; .reg .b32 u; mov.u32 u, %laneid; setp.lt.u32 p, u, 20; mov.b32 $d, $c; "
             "setp.ne.u32 q, u, 0;"
             " @p shfl.sync.<up|down|bfly|idx>.b32 $d|q, $a, $b, 0x1f, 0xfffff; @!q not.b32 $d, $d; }"},
    {"iii", "{ .reg .pred p; .reg .b32 u; shfl.sync.idx.b32 u, $a, #32, 31, -1; setp.<eq|ne|lt|gt>.s32 p, u, "
            "<$a|$b|0>;"
            " vote.sync.<all|any|uni>.pred p, <p|!p>, -1; selp.b32 $d, $a, $b, p; }"},
    {"ii",
     "{ .reg .pred p; .reg .b32 u; shfl.sync.idx.b32 u, $a, #32, 31, -1; match.all.sync.b32 $d|p, <u|$a>, -1;"
     " @p not.b32 $d, $d; }"},
    {"il", "{ .reg .pred p; .reg .b64 u; and.b64 u, $a, <0|1|-1>; match.all.sync.b64 $d|p, u, -1; @p not.b32 "
           "$d, $d; }"},
    {"i", "{ .reg .pred p; elect.sync $d|p, -1; @!p not.b32 $d, $d; }"},
    {"i", "activemask.b32 $d;"},
    {"ii", "match.any.sync.b32 $d, $a, 0xffffffff;"},
    {"il", "match.any.sync.b64 $d, $a, 0xffffffff;"},
    {"iii", "{ .reg .pred p; setp.lt.s32 p, $a, $b; vote.sync.ballot.b32 $d, p, 0xffffffff; }"},
    {"i", "mov.u32 $d, %<laneid|tid.x|ntid.x|lanemask_eq|lanemask_lt|lanemask_le|lanemask_gt|lanemask_ge>;"},
    // 9.7.18 video
    {"iii", "<vadd|vsub|vabsdiff|vmin|vmax>.<s32|u32>.<s32|u32>.<s32|u32><|.sat> $d, $a, $b;"},
    {"iii", "<vadd|vsub|vabsdiff|vmin|vmax>.<s32|u32>.<s32|u32>.<s32|u32><|.sat> $d, "
            "$a<|.b0|.b1|.b2|.b3|.h0|.h1>, $b<|.b0|.b1|.b2|.b3|.h0|.h1>;"},
    {"iiii", "<vadd|vsub|vabsdiff|vmin|vmax>.<s32|u32>.<s32|u32>.<s32|u32><|.sat> "
             "$d<.b0|.b1|.b2|.b3|.h0|.h1>, $a<|.b0|.b1|.b2|.b3|.h0|.h1>, $b<|.b0|.b1|.b2|.b3|.h0|.h1>, $c;"},
    {"iiii", "<vadd|vsub|vabsdiff|vmin|vmax>.<s32|u32>.<s32|u32>.<s32|u32><|.sat>.<add|min|max> $d, "
             "$a<|.b0|.b1|.b2|.b3|.h0|.h1>, $b<|.b0|.b1|.b2|.b3|.h0|.h1>, $c;"},
    {"iii", "<vshl|vshr>.<s32|u32>.<s32|u32>.u32<|.sat>.<clamp|wrap> $d, $a<|.b0|.b1|.b2|.b3|.h0|.h1>, "
            "$b<|.b0|.b1|.b2|.b3|.h0|.h1>;"},
    {"iiii", "<vshl|vshr>.<s32|u32>.<s32|u32>.u32<|.sat>.<clamp|wrap> $d<.b0|.b1|.b2|.b3|.h0|.h1>, "
             "$a<|.b0|.b1|.b2|.b3|.h0|.h1>, $b<|.b0|.b1|.b2|.b3|.h0|.h1>, $c;"},
    {"iiii", "<vshl|vshr>.<s32|u32>.<s32|u32>.u32<|.sat>.<clamp|wrap>.<add|min|max> $d, "
             "$a<|.b0|.b1|.b2|.b3|.h0|.h1>, $b<|.b0|.b1|.b2|.b3|.h0|.h1>, $c;"},
    {"iii", "vset.<s32|u32>.<s32|u32>.<eq|ne|lt|le|gt|ge> $d, $a<|.b0|.b1|.b2|.b3|.h0|.h1>, "
            "$b<|.b0|.b1|.b2|.b3|.h0|.h1>;"},
    {"iiii", "vset.<s32|u32>.<s32|u32>.<eq|ne|lt|le|gt|ge> $d<.b0|.b1|.b2|.b3|.h0|.h1>, "
             "$a<|.b0|.b1|.b2|.b3|.h0|.h1>, $b<|.b0|.b1|.b2|.b3|.h0|.h1>, $c;"},
    {"iiii", "vset.<s32|u32>.<s32|u32>.<eq|ne|lt|le|gt|ge>.<add|min|max> $d, $a<|.b0|.b1|.b2|.b3|.h0|.h1>, "
             "$b<|.b0|.b1|.b2|.b3|.h0|.h1>, $c;"},
    {"iiii", "vmad.<s32|u32>.<s32|u32>.<s32|u32><|.sat><|.shr7|.shr15> $d, $a<|.b0|.b1|.b2|.b3|.h0|.h1>, "
             "$b<|.b0|.b1|.b2|.b3|.h0|.h1>, $c;"},
    {"iiii", "vmad.<s32|u32>.<s32|u32>.<s32|u32>.po<|.sat><|.shr7|.shr15> $d, $a<|.b0|.b1|.b2|.b3|.h0|.h1>, "
             "$b<|.b0|.b1|.b2|.b3|.h0|.h1>, $c;"},
    {"iiii", "vmad.s32.<s32|u32>.<s32|u32><|.sat><|.shr7|.shr15> $d, $a<|.b0|.b1|.b2|.b3|.h0|.h1>, "
             "$b<|.b0|.b1|.b2|.b3|.h0|.h1>, -$c;"},
    {"iiii", "vmad.s32.<s32|u32>.<s32|u32><|.sat><|.shr7|.shr15> $d, <-$a, $b|$a, -$b>, $c;"},
    {"iiii", "<vadd2|vsub2|vavrg2|vabsdiff2|vmin2|vmax2>.<s32|u32>.<s32|u32>.<s32|u32><|.sat|.add> "
             "$d<|.h0|.h1|.h10>, $a<|.h10|.h01|.h32|.h30|.h11>, $b<|.h10|.h32|.h23|.h21>, $c;"},
    {"iiii", "<vadd4|vsub4|vavrg4|vabsdiff4|vmin4|vmax4>.<s32|u32>.<s32|u32>.<s32|u32><|.sat|.add> "
             "$d<|.b0|.b1|.b2|.b3|.b10|.b32|.b210|.b3210>, $a<|.b3210|.b7654|.b0123|.b4567|.b3120>, "
             "$b<|.b7654|.b3210|.b1032|.b7531>, $c;"},
    {"iiii", "vset2.<s32|u32>.<s32|u32>.<eq|ne|lt|le|gt|ge><|.add> $d<|.h0|.h1|.h10>, "
             "$a<|.h10|.h01|.h32|.h30|.h11>, $b<|.h10|.h32|.h23|.h21>, $c;"},
    {"iiii",
     "vset4.<s32|u32>.<s32|u32>.<eq|ne|lt|le|gt|ge><|.add> $d<|.b0|.b1|.b2|.b3|.b10|.b32|.b210|.b3210>, "
     "$a<|.b3210|.b7654|.b0123|.b4567|.b3120>, $b<|.b7654|.b3210|.b1032|.b7531>, $c;"},
});

} // namespace

std::span<const Instruction> integer_rows() { return integers; }

} // namespace hardware
