/// \file
/// cvt to and from packed and alternate formats (PTX ISA 9.0, section 9.7.9.21) and cvt.pack (9.7.9.22).

#include "machine/instructions/arith.hpp"
#include "machine/instructions/float16.hpp"
#include "machine/instructions/scalar.hpp"

#include <algorithm>

namespace emu {
namespace {

using ptx::Type;
using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using s32 = std::int32_t;

/// `.relu`: negative numbers and -0 become +0, NaN stays.
template <bool Relu>
constexpr float clamp_negative(float value) {
    return Relu && !(value > 0) && value == value ? 0.0f : value;
}

// -- two f32 to f16x2 and bf16x2

template <class H, bool Relu, bool Finite>
u16 narrow(float value, Rounding rounding) {
    const u16 bits = encode16<H>(clamp_negative<Relu>(value), rounding);
    // Numbers beyond the largest, infinity among them, stay finite.
    if constexpr (Finite)
        return (bits & 0x7fff) == H::infinity ? static_cast<u16>(bits - 1) : bits;
    return bits;
}
template <class H, Rounding R, bool Relu, bool Finite>
constexpr Handler pack_halves() {
    return binary<u32, float>([](float a, float b) {
        if constexpr (R == Rounding::nearest && !Relu && !Finite)
            return u32{H::encode(a)} << 16 | H::encode(b);
        else
            return u32{narrow<H, Relu, Finite>(a, R)} << 16 | narrow<H, Relu, Finite>(b, R);
    });
}
template <class H, Rounding R>
Handler pack_halves(bool relu, bool finite) {
    if (relu)
        return finite ? pack_halves<H, R, true, true>() : pack_halves<H, R, true, false>();
    return finite ? pack_halves<H, R, false, true>() : pack_halves<H, R, false, false>();
}

/// `.rn` or `.rz`, one of which must be there.
bool rounds_to_nearest(const DecodeContext& context) {
    if (context.has("rn") == context.has("rz"))
        context.malformed("must say either .rn or .rz");
    return context.has("rn");
}

void decode_pack_halves(DecodeContext& context, Op& op, Type to) {
    context.allow({"rn", "rz", "relu", "satfinite"});
    require_type(context, {Type::f32}, 1);
    expect_operands(context, 3);
    op.dst = context.destination(0, to);
    op.a = context.source(1, Type::f32);
    op.b = context.source(2, Type::f32);
    const bool relu = context.has("relu"), finite = context.has("satfinite");
    if (rounds_to_nearest(context))
        op.handler = to == Type::f16x2 ? pack_halves<F16, Rounding::nearest>(relu, finite)
                                       : pack_halves<BF16, Rounding::nearest>(relu, finite);
    else
        op.handler = to == Type::f16x2 ? pack_halves<F16, Rounding::zero>(relu, finite)
                                       : pack_halves<BF16, Rounding::zero>(relu, finite);
}

// -- tf32

/// Sign, eight exponent and ten fraction bits of an f32, in place. NaN has all of the ten bits set.
template <bool Relu>
constexpr u32 to_tf32(float value, Rounding rounding) {
    value = clamp_negative<Relu>(value);
    if (value != value)
        return 0x7fffe000u;
    const u32 sign = std::bit_cast<u32>(value) & 0x80000000u;
    return encode_magnitude<8, 10>(value, rounding) << 13 | sign;
}
/// .rna rounds the bits whatever they mean: a NaN stays a NaN only by its upper ten fraction bits.
template <bool Finite>
constexpr u32 to_tf32_away(u32 bits) {
    const u32 sign = bits & 0x80000000u, magnitude = bits & 0x7fffffffu;
    u32 rounded = std::min((magnitude + 0x1000u) & ~0x1fffu, 0x7fffe000u);
    if constexpr (Finite)
        rounded = magnitude > 0x7f800000u ? rounded : std::min(rounded, 0x7f7fe000u);
    return rounded | sign;
}

void decode_tf32(DecodeContext& context, Op& op) {
    context.allow({"rna", "rn", "rz", "relu", "satfinite"});
    require_type(context, {Type::f32}, 1);
    expect_operands(context, 2);
    op.dst = context.destination(0, Type::b32);
    op.a = context.source(1, Type::f32);
    const bool relu = context.has("relu"), finite = context.has("satfinite");
    if (context.has("rna")) {
        if (relu || context.has("rn") || context.has("rz"))
            context.malformed("takes .rna with .satfinite only");
        op.handler = finite ? unary<u32>([](u32 a) { return to_tf32_away<true>(a); })
                            : unary<u32>([](u32 a) { return to_tf32_away<false>(a); });
        return;
    }
    if (finite)
        context.unsupported(".satfinite with .rn or .rz needs sm_100");
    if (rounds_to_nearest(context))
        op.handler = relu ? unary<u32, float>([](float a) { return to_tf32<true>(a, Rounding::nearest); })
                          : unary<u32, float>([](float a) { return to_tf32<false>(a, Rounding::nearest); });
    else
        op.handler = relu ? unary<u32, float>([](float a) { return to_tf32<true>(a, Rounding::zero); })
                          : unary<u32, float>([](float a) { return to_tf32<false>(a, Rounding::zero); });
}

// -- e4m3x2 and e5m2x2

template <class Q, bool Relu>
constexpr u8 to_quarter(float value) {
    value = clamp_negative<Relu>(value);
    if (value != value)
        return Q::nan;
    const u32 sign = std::bit_cast<u32>(value) >> 24 & 0x80;
    return static_cast<u8>(Q::encode(value) | sign);
}
template <class Q, bool Relu>
Handler quarters_handler(bool from_halves) {
    if (from_halves)
        return unary<u16, u32>([](u32 a) {
            const float high = F16::decode(static_cast<u16>(a >> 16)), low = F16::decode(static_cast<u16>(a));
            return to_quarter<Q, Relu>(high) << 8 | to_quarter<Q, Relu>(low);
        });
    return binary<u16, float>(
        [](float a, float b) { return to_quarter<Q, Relu>(a) << 8 | to_quarter<Q, Relu>(b); });
}

void decode_to_quarters(DecodeContext& context, Op& op, Type to) {
    context.allow({"rn", "satfinite", "relu"});
    if (!context.has("rn") || !context.has("satfinite"))
        context.malformed("must say .rn.satfinite");
    const Type from = require_type(context, {Type::f32, Type::f16x2}, 1);
    const bool from_halves = from == Type::f16x2, relu = context.has("relu");
    expect_operands(context, from_halves ? 2 : 3);
    op.dst = context.destination(0, to);
    op.a = context.source(1, from);
    if (!from_halves)
        op.b = context.source(2, from);
    if (to == Type::e4m3x2)
        op.handler =
            relu ? quarters_handler<E4M3, true>(from_halves) : quarters_handler<E4M3, false>(from_halves);
    else
        op.handler =
            relu ? quarters_handler<E5M2, true>(from_halves) : quarters_handler<E5M2, false>(from_halves);
}

/// Every e4m3 and e5m2 number is an f16 number.
template <class Q, bool Relu>
constexpr Handler widen_quarters() {
    return unary<u32, u16>([](u16 a) {
        const float high = clamp_negative<Relu>(Q::decode(static_cast<u8>(a >> 8)));
        const float low = clamp_negative<Relu>(Q::decode(static_cast<u8>(a)));
        return u32{F16::encode(high)} << 16 | F16::encode(low);
    });
}

void decode_from_quarters(DecodeContext& context, Op& op) {
    context.allow({"rn", "relu"});
    if (!context.has("rn"))
        context.malformed("must say .rn");
    const Type from = require_type(context, {Type::e4m3x2, Type::e5m2x2}, 1);
    expect_operands(context, 2);
    op.dst = context.destination(0, Type::f16x2);
    op.a = context.source(1, from);
    const bool relu = context.has("relu");
    if (from == Type::e4m3x2)
        op.handler = relu ? widen_quarters<E4M3, true>() : widen_quarters<E4M3, false>();
    else
        op.handler = relu ? widen_quarters<E5M2, true>() : widen_quarters<E5M2, false>();
}

/// cvt, 9.7.9.21: by its first type.
void decode_cvt(DecodeContext& context, Op& op) {
    if (context.has("rs"))
        context.unsupported("stochastic rounding needs sm_100a");
    expect_types(context, 2);
    const Type to = context.type(0), from = context.type(1);
    if (from == Type::e4m3x2 || from == Type::e5m2x2) {
        require_type(context, {Type::f16x2}, 0);
        return decode_from_quarters(context, op);
    }
    switch (to) {
    case Type::f16x2:
    case Type::bf16x2:
        return decode_pack_halves(context, op, to);
    case Type::tf32:
        return decode_tf32(context, op);
    case Type::e4m3x2:
    case Type::e5m2x2:
        return decode_to_quarters(context, op, to);
    default:
        return decode_cvt_scalar(context, op);
    }
}

// -- cvt.pack

/// Two integers saturated to Bits bits, the first above the second; above both the low bits of c.
template <unsigned Bits, bool Signed>
constexpr u32 pack_two(s32 a, s32 b, u32 c) {
    constexpr s32 low = Signed ? -(1 << (Bits - 1)) : 0;
    constexpr s32 high = Signed ? (1 << (Bits - 1)) - 1 : static_cast<s32>((1u << Bits) - 1);
    constexpr u32 ones = (1u << Bits) - 1;
    const u32 upper = static_cast<u32>(std::clamp(a, low, high)) & ones;
    const u32 lower = static_cast<u32>(std::clamp(b, low, high)) & ones;
    if constexpr (Bits == 16)
        return upper << 16 | lower;
    else
        return c << (2 * Bits) | upper << Bits | lower;
}
template <unsigned Bits, bool Signed>
constexpr Handler pack_handler() {
    return ternary<u32, s32, s32, u32>([](s32 a, s32 b, u32 c) { return pack_two<Bits, Signed>(a, b, c); });
}

} // namespace

void decode_cvt_pack(DecodeContext& context, Op& op) {
    context.allow({"pack", "sat", "u2", "s2", "u4", "s4"});
    constexpr std::pair<std::string_view, Handler> formats[] = {
        {"u2", pack_handler<2, false>()},   {"s2", pack_handler<2, true>()},
        {"u4", pack_handler<4, false>()},   {"s4", pack_handler<4, true>()},
        {"u8", pack_handler<8, false>()},   {"s8", pack_handler<8, true>()},
        {"u16", pack_handler<16, false>()}, {"s16", pack_handler<16, true>()}};
    bool wide = false;
    for (const auto& [name, handler] : formats)
        if (context.has(name)) {
            op.handler = handler;
            wide = name == "u16" || name == "s16";
        }
    if (!op.handler || !context.has("sat") || !context.has("s32") || context.has("b32") == wide)
        context.malformed("must read cvt.pack.sat.{u16,s16}.s32 or cvt.pack.sat.{u2,s2,u4,s4,u8,s8}.s32.b32");
    expect_operands(context, wide ? 3 : 4);
    op.dst = context.destination(0, Type::u32);
    op.a = context.source(1, Type::s32);
    op.b = context.source(2, Type::s32);
    op.c = wide ? op.b : context.source(3, Type::b32);
}

std::span<const InstructionRow> convert_instructions() {
    static constexpr InstructionRow rows[] = {
        {"cvt", "9.7.9.21", decode_cvt},
        {"cvt.pack", "9.7.9.22", decode_cvt_pack},
    };
    return rows;
}

} // namespace emu
