#pragma once
/// \file
/// Opcodes that the PTX manual describes in several chapters (`add` of integers, of floats, of halves) go to
/// the decode function of the chapter that their type belongs to.

#include "machine/decoder.hpp"

namespace emu {

/// Chapter of the manual a type belongs to: 9.7.1 and 9.7.2, 9.7.3, 9.7.4.
enum class Chapter : std::uint8_t { integer, floating, half };

constexpr Chapter chapter_of(ptx::Type type) {
    using ptx::Type;
    switch (type) {
    case Type::f32:
    case Type::f64:
    case Type::f32x2:
        return Chapter::floating;
    case Type::f16:
    case Type::f16x2:
    case Type::bf16:
    case Type::bf16x2:
        return Chapter::half;
    default:
        return Chapter::integer;
    }
}

/// A decode function that hands over to one of three by the last type the instruction names.
template <DecodeFunction Integer, DecodeFunction Floating, DecodeFunction Half>
void by_chapter(DecodeContext& context, Op& op) {
    switch (chapter_of(context.type(0))) {
    case Chapter::integer:
        return Integer(context, op);
    case Chapter::floating:
        return Floating(context, op);
    case Chapter::half:
        return Half(context, op);
    }
}
/// For opcodes that integers do not have, or halves do not.
[[noreturn]] inline void no_such_type(DecodeContext& context, Op&) {
    if (context.type(0) == ptx::Type::none)
        context.malformed("names no type");
    context.unsupported("type ." + std::string(ptx::name_of(context.type(0))) + " is not defined for it");
}
/// DecodeFunction with the right type for by_chapter.
inline void decode_no_such_type(DecodeContext& context, Op& op) { no_such_type(context, op); }

// instr_integer.cpp
void decode_add_integer(DecodeContext&, Op&);
void decode_sub_integer(DecodeContext&, Op&);
void decode_mul_integer(DecodeContext&, Op&);
void decode_mad_integer(DecodeContext&, Op&);
void decode_div_integer(DecodeContext&, Op&);
void decode_abs_integer(DecodeContext&, Op&);
void decode_neg_integer(DecodeContext&, Op&);
void decode_min_integer(DecodeContext&, Op&);
void decode_max_integer(DecodeContext&, Op&);
// integer_bits.cpp
void decode_popc(DecodeContext&, Op&);
void decode_clz(DecodeContext&, Op&);
void decode_bfind(DecodeContext&, Op&);
void decode_fns(DecodeContext&, Op&);
void decode_brev(DecodeContext&, Op&);
void decode_bfe(DecodeContext&, Op&);
void decode_bfi(DecodeContext&, Op&);
void decode_szext(DecodeContext&, Op&);
void decode_bmsk(DecodeContext&, Op&);
void decode_dp4a(DecodeContext&, Op&);
void decode_dp2a(DecodeContext&, Op&);
// integer_carry.cpp
void decode_add_carry(DecodeContext&, Op&);
void decode_sub_carry(DecodeContext&, Op&);
void decode_mad_carry(DecodeContext&, Op&);
// instr_floating.cpp
void decode_add_floating(DecodeContext&, Op&);
void decode_sub_floating(DecodeContext&, Op&);
void decode_mul_floating(DecodeContext&, Op&);
void decode_fma_floating(DecodeContext&, Op&);
void decode_div_floating(DecodeContext&, Op&);
void decode_abs_floating(DecodeContext&, Op&);
void decode_neg_floating(DecodeContext&, Op&);
void decode_min_floating(DecodeContext&, Op&);
void decode_max_floating(DecodeContext&, Op&);
// floating_functions.cpp
void decode_rcp(DecodeContext&, Op&);
void decode_sqrt(DecodeContext&, Op&);
void decode_rsqrt(DecodeContext&, Op&);
void decode_sin(DecodeContext&, Op&);
void decode_cos(DecodeContext&, Op&);
void decode_lg2(DecodeContext&, Op&);
void decode_ex2_floating(DecodeContext&, Op&);
void decode_tanh_floating(DecodeContext&, Op&);
// instr_half.cpp
void decode_add_half(DecodeContext&, Op&);
void decode_sub_half(DecodeContext&, Op&);
void decode_mul_half(DecodeContext&, Op&);
void decode_fma_half(DecodeContext&, Op&);
void decode_neg_half(DecodeContext&, Op&);
void decode_abs_half(DecodeContext&, Op&);
void decode_min_half(DecodeContext&, Op&);
void decode_max_half(DecodeContext&, Op&);
void decode_tanh_half(DecodeContext&, Op&);
void decode_ex2_half(DecodeContext&, Op&);
// compare_half.cpp
void decode_set_half(DecodeContext&, Op&);
void decode_setp_half(DecodeContext&, Op&);
// convert_pack.cpp
void decode_cvt_pack(DecodeContext&, Op&);
// instr_convert.cpp
void decode_cvt_scalar(DecodeContext&, Op&);
// video_simd.cpp
void decode_simd_video(DecodeContext&, Op&);

} // namespace emu
