/// \file
/// Arithmetic of f16, f16x2, bf16 and bf16x2 (PTX ISA 9.0, section 9.7.4). Values are widened to binary32,
/// which is exact; sums and products of halves, rounded there to 24 bits and then again, come out as if
/// rounded once; the fused operation rounds to odd in between.

#include "machine/instructions/arith.hpp"
#include "machine/instructions/float16.hpp"
#include "machine/instructions/scalar.hpp"

namespace emu {
namespace {

using ptx::Type;
using u16 = std::uint16_t;
using u32 = std::uint32_t;

/// What may happen to a result.
enum class Clamp : std::uint8_t { none, sat, relu };

/// The NaN that stands for "outside the tensor", which fma.oob takes as no operand at all. The manual names
/// it without its bits; of 0x7ff7, 0xfff7, 0x7eff, 0x7fff and 0x7e00 an H200 takes the first two so.
constexpr bool is_oob_nan(u16 bits) { return (bits & 0x7fff) == 0x7ff7; }

struct Add {
    template <class H>
    static float apply(float a, float b, float) {
        return a + b;
    }
};
struct Subtract {
    template <class H>
    static float apply(float a, float b, float) {
        return a - b;
    }
};
struct Multiply {
    template <class H>
    static float apply(float a, float b, float) {
        return a * b;
    }
};
struct Fused {
    template <class H>
    static float apply(float a, float b, float c) {
        // The product of two f16 has 22 bits and fits a float; that of two bf16 may leave its range.
        if constexpr (std::is_same_v<H, F16>)
            return add_to_odd(a * b, c);
        else
            return narrow_to_odd(add_to_odd(static_cast<double>(a) * b, static_cast<double>(c)));
    }
};
struct Tanh {
    template <class H>
    static float apply(float a, float, float) {
        return std::tanh(a);
    }
};
struct Exp2 {
    template <class H>
    static float apply(float a, float, float) {
        return std::exp2(a);
    }
};

template <class H, class F, bool Ftz, Clamp C, bool Oob>
u16 evaluate(u16 a, u16 b, u16 c) {
    if constexpr (Oob)
        if (is_oob_nan(a) || is_oob_nan(b))
            return 0;
    if constexpr (Ftz) {
        a = flush16<H>(a);
        b = flush16<H>(b);
        c = flush16<H>(c);
    }
    float result = F::template apply<H>(H::decode(a), H::decode(b), H::decode(c));
    // What rounds to the least normal number with 11 bits, whatever the exponent, is not flushed; with the
    // fewer bits of a subnormal number more would.
    if constexpr (Ftz && std::is_same_v<H, F16>)
        result = std::abs(result) < 0x1p-14f - 0x1p-26f ? std::copysign(0.0f, result) : result;
    if constexpr (C == Clamp::sat)
        result = saturate(result);
    if constexpr (C == Clamp::relu)
        result = result < 0 ? 0.0f : result;
    u16 bits = H::encode(result);
    if constexpr (C == Clamp::relu) // -0 and what rounds to it.
        bits = bits == 0x8000 ? u16{0} : bits;
    return Ftz ? flush16<H>(bits) : bits;
}

/// Applies `f(i)` to every half: `per_lane` is 1, or 2 for packed operands.
template <class F>
[[gnu::always_inline]] inline void map_halves(LaneMask mask, u16* d, unsigned per_lane, F&& f) {
    if (mask == all_lanes) {
        const unsigned count = warp_size * per_lane;
#pragma GCC ivdep
        for (unsigned i = 0; i < count; ++i)
            d[i] = f(i);
    } else {
        for_lanes(mask, [&](unsigned lane) {
            for (unsigned i = lane * per_lane; i < (lane + 1) * per_lane; ++i)
                d[i] = f(i);
        });
    }
}

/// op.b and op.c repeat op.a where the operation has fewer operands; op.count is the number of halves per
/// lane.
template <class H, class F, bool Ftz = false, Clamp C = Clamp::none, bool Oob = false>
Flow run(Warp& warp, const Op& op, LaneMask mask) {
    const u16 *a = warp.row<u16>(op.a), *b = warp.row<u16>(op.b), *c = warp.row<u16>(op.c);
    map_halves(mask, warp.row<u16>(op.dst), op.count,
               [=](unsigned i) { return evaluate<H, F, Ftz, C, Oob>(a[i], b[i], c[i]); });
    return Flow::next;
}

/// For operations on the bits of the halves.
template <class F>
Flow run_bits(Warp& warp, const Op& op, LaneMask mask) {
    const u16 *a = warp.row<u16>(op.a), *b = warp.row<u16>(op.b);
    map_halves(mask, warp.row<u16>(op.dst), op.count, [=](unsigned i) { return F{}(a[i], b[i]); });
    return Flow::next;
}
template <class F>
constexpr Handler on_bits(F) {
    return &run_bits<F>;
}

/// Type, operands and op.count of an instruction with `sources` sources.
Type half_operands(DecodeContext& context, Op& op, unsigned sources) {
    if (context.type(1) != Type::none)
        context.unsupported("mixed precision needs sm_100");
    expect_types(context, 1);
    const Type type = require_type(context, {Type::f16, Type::f16x2, Type::bf16, Type::bf16x2});
    expect_operands(context, sources + 1);
    op.dst = context.destination(0, type);
    op.a = context.source(1, type);
    op.b = sources > 1 ? context.source(2, type) : op.a;
    op.c = sources > 2 ? context.source(3, type) : op.b;
    op.count = type == Type::f16x2 || type == Type::bf16x2 ? 2 : 1;
    return type;
}

bool is_bf16(Type type) { return type == Type::bf16 || type == Type::bf16x2; }

void refuse_for_bf16(const DecodeContext& context, std::initializer_list<std::string_view> modifiers) {
    for (const auto modifier : modifiers)
        if (context.has(modifier))
            context.unsupported("." + std::string(modifier) + " is not defined for .bf16");
}

/// add, sub, mul.
template <class F>
void decode_two(DecodeContext& context, Op& op) {
    context.allow({"rn", "ftz", "sat"});
    const Type type = half_operands(context, op, 2);
    const bool ftz = context.has("ftz"), sat = context.has("sat");
    if (is_bf16(type)) {
        refuse_for_bf16(context, {"ftz", "sat"});
        op.handler = &run<BF16, F>;
    } else if (sat) {
        op.handler = ftz ? &run<F16, F, true, Clamp::sat> : &run<F16, F, false, Clamp::sat>;
    } else {
        op.handler = ftz ? &run<F16, F, true> : &run<F16, F>;
    }
}

// -- neg and abs: additions of zero, so that of a NaN, with any sign, comes the one NaN

template <class F>
void decode_sign(DecodeContext& context, Op& op, F) {
    context.allow({"ftz"});
    if (is_bf16(half_operands(context, op, 1))) {
        refuse_for_bf16(context, {"ftz"});
        op.handler = on_bits([](u16 a, u16) { return is_nan16<BF16>(a) ? canonical_nan16 : F{}(a); });
        return;
    }
    op.handler =
        context.has("ftz")
            ? on_bits([](u16 a, u16) { return is_nan16<F16>(a) ? canonical_nan16 : F{}(flush16<F16>(a)); })
            : on_bits([](u16 a, u16) { return is_nan16<F16>(a) ? canonical_nan16 : F{}(a); });
}

// -- min and max

/// As for f32: -0 is smaller than +0; a NaN loses unless `Nan`, where it wins.
template <class H, bool Max, bool Nan, bool XorSign>
u16 extremum(u16 a, u16 b) {
    const bool a_nan = is_nan16<H>(a), b_nan = is_nan16<H>(b);
    if (Nan ? a_nan || b_nan : a_nan && b_nan)
        return canonical_nan16;
    const u16 sign = XorSign ? static_cast<u16>((a ^ b) & 0x8000) : u16{0};
    const u16 x = XorSign ? static_cast<u16>(a & 0x7fff) : a, y = XorSign ? static_cast<u16>(b & 0x7fff) : b;
    const bool first = Max ? ordered16(x) >= ordered16(y) : ordered16(x) <= ordered16(y);
    const u16 picked = a_nan ? y : b_nan ? x : first ? x : y;
    return static_cast<u16>(picked | sign);
}

template <class H, bool Max, bool Ftz>
Handler extremum_handler(bool nan, bool xorsign) {
    constexpr auto with = []<bool Nan, bool XorSign>() {
        return on_bits([](u16 a, u16 b) {
            return extremum<H, Max, Nan, XorSign>(Ftz ? flush16<H>(a) : a, Ftz ? flush16<H>(b) : b);
        });
    };
    if (nan)
        return xorsign ? with.template operator()<true, true>() : with.template operator()<true, false>();
    return xorsign ? with.template operator()<false, true>() : with.template operator()<false, false>();
}

template <bool Max>
void decode_extremum(DecodeContext& context, Op& op) {
    context.allow({"ftz", "NaN", "xorsign", "abs"});
    if (context.operand_count() == 4)
        context.unsupported("with three operands it needs sm_100");
    const Type type = half_operands(context, op, 2);
    const bool nan = context.has("NaN"), xorsign = context.has("xorsign");
    if (xorsign != context.has("abs"))
        context.malformed("takes .xorsign.abs together");
    if (is_bf16(type)) {
        refuse_for_bf16(context, {"ftz"});
        op.handler = extremum_handler<BF16, Max, false>(nan, xorsign);
    } else {
        op.handler = context.has("ftz") ? extremum_handler<F16, Max, true>(nan, xorsign)
                                        : extremum_handler<F16, Max, false>(nan, xorsign);
    }
}

} // namespace

void decode_add_half(DecodeContext& context, Op& op) { decode_two<Add>(context, op); }
void decode_sub_half(DecodeContext& context, Op& op) { decode_two<Subtract>(context, op); }
void decode_mul_half(DecodeContext& context, Op& op) { decode_two<Multiply>(context, op); }
void decode_min_half(DecodeContext& context, Op& op) { decode_extremum<false>(context, op); }
void decode_max_half(DecodeContext& context, Op& op) { decode_extremum<true>(context, op); }

void decode_fma_half(DecodeContext& context, Op& op) {
    context.allow({"rn", "ftz", "sat", "relu", "oob"});
    const Type type = half_operands(context, op, 3);
    const bool ftz = context.has("ftz"), sat = context.has("sat"), relu = context.has("relu"),
               oob = context.has("oob");
    if (!context.has("rn"))
        context.malformed("must say .rn");
    if (sat && (relu || oob))
        context.malformed("takes .sat alone");
    constexpr auto none = Clamp::none;
    if (is_bf16(type)) {
        refuse_for_bf16(context, {"ftz", "sat"});
        op.handler =
            oob ? (relu ? &run<BF16, Fused, false, Clamp::relu, true> : &run<BF16, Fused, false, none, true>)
                : (relu ? &run<BF16, Fused, false, Clamp::relu> : &run<BF16, Fused>);
    } else if (oob) {
        if (ftz)
            context.unsupported(".ftz is not defined with .oob");
        op.handler = relu ? &run<F16, Fused, false, Clamp::relu, true> : &run<F16, Fused, false, none, true>;
    } else if (sat) {
        op.handler = ftz ? &run<F16, Fused, true, Clamp::sat> : &run<F16, Fused, false, Clamp::sat>;
    } else if (relu) {
        op.handler = ftz ? &run<F16, Fused, true, Clamp::relu> : &run<F16, Fused, false, Clamp::relu>;
    } else {
        op.handler = ftz ? &run<F16, Fused, true> : &run<F16, Fused>;
    }
}

void decode_neg_half(DecodeContext& context, Op& op) {
    decode_sign(context, op, [](u16 a) { return static_cast<u16>(a ^ 0x8000); });
}
void decode_abs_half(DecodeContext& context, Op& op) {
    decode_sign(context, op, [](u16 a) { return static_cast<u16>(a & 0x7fff); });
}

void decode_tanh_half(DecodeContext& context, Op& op) {
    context.allow({"approx"});
    const Type type = half_operands(context, op, 1);
    if (!context.has("approx"))
        context.malformed("must say .approx");
    op.handler = is_bf16(type) ? &run<BF16, Tanh> : &run<F16, Tanh>;
}

/// ex2: bf16 has only the form with .ftz, f16 only the one without.
void decode_ex2_half(DecodeContext& context, Op& op) {
    context.allow({"approx", "ftz"});
    const Type type = half_operands(context, op, 1);
    if (!context.has("approx") || context.has("ftz") != is_bf16(type))
        context.malformed("must say .approx for .f16 and .approx.ftz for .bf16");
    op.handler = is_bf16(type) ? &run<BF16, Exp2, true> : &run<F16, Exp2>;
}

std::span<const InstructionRow> half_instructions() {
    static constexpr InstructionRow rows[] = {
        {"add", "9.7.4.1", by_chapter<decode_add_integer, decode_add_floating, decode_add_half>},
        {"sub", "9.7.4.2", by_chapter<decode_sub_integer, decode_sub_floating, decode_sub_half>},
        {"mul", "9.7.4.3", by_chapter<decode_mul_integer, decode_mul_floating, decode_mul_half>},
        {"fma", "9.7.4.4", by_chapter<decode_no_such_type, decode_fma_floating, decode_fma_half>},
        {"neg", "9.7.4.5", by_chapter<decode_neg_integer, decode_neg_floating, decode_neg_half>},
        {"abs", "9.7.4.6", by_chapter<decode_abs_integer, decode_abs_floating, decode_abs_half>},
        {"min", "9.7.4.7", by_chapter<decode_min_integer, decode_min_floating, decode_min_half>},
        {"max", "9.7.4.8", by_chapter<decode_max_integer, decode_max_floating, decode_max_half>},
        {"tanh", "9.7.4.9", by_chapter<decode_no_such_type, decode_tanh_floating, decode_tanh_half>},
        {"ex2", "9.7.4.10", by_chapter<decode_no_such_type, decode_ex2_floating, decode_ex2_half>},
    };
    return rows;
}

} // namespace emu
