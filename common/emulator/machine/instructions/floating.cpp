/// \file
/// Floating-point arithmetic of f32 and f64 (PTX ISA 9.0, section 9.7.3). Sums, products, quotients and roots
/// are rounded by the host, whose arithmetic is IEEE's; functions like sin are in floating_functions.cpp.
/// f32x2, mixed precision and three-operand min and max belong to sm_100 and are refused.

#include "machine/instructions/floating.hpp"
#include "machine/instructions/arith.hpp"
#include "machine/instructions/scalar.hpp"

namespace emu {
namespace {

using ptx::Type;

// -- operations: the value, and for .ftz whether the result is smaller than every normal number. An H200
// decides that by the result rounded to 24 bits, whatever the exponent; it is asked only where the result is
// the least normal number.

constexpr double least_normal = 0x1p-126;
/// Takes what is as small as the least normal number to where 24 bits are kept.
constexpr float up = 0x1p64f, least_normal_up = 0x1p-62f;

struct Add {
    template <class T>
    static T apply(const auto& in, T a, T b, T) {
        return in.add(a, b);
    }
    /// A sum of normal numbers that is rounded is not small.
    static bool tiny(const auto&, float, float, float) { return false; }
};
struct Subtract {
    template <class T>
    static T apply(const auto& in, T a, T b, T) {
        return in.subtract(a, b);
    }
    static bool tiny(const auto&, float, float, float) { return false; }
};
struct Multiply {
    template <class T>
    static T apply(const auto& in, T a, T b, T) {
        return in.multiply(a, b);
    }
    static bool tiny(const auto& in, float a, float b, float) {
        const float small = std::abs(a) < std::abs(b) ? a : b, large = std::abs(a) < std::abs(b) ? b : a;
        return std::abs(in.multiply(small * up, large)) < least_normal_up;
    }
};
struct Divide {
    template <class T>
    static T apply(const auto& in, T a, T b, T) {
        return in.divide(a, b);
    }
    static bool tiny(const auto&, float a, float b, float) {
        return std::abs(static_cast<double>(a)) < std::abs(least_normal * b); // Exact.
    }
};
struct Fused {
    template <class T>
    static T apply(const auto& in, T a, T b, T c) {
        return in.fused(a, b, c);
    }
    static bool tiny(const auto& in, float a, float b, float c) {
        // A c that overflows here is too large for a small sum.
        const float small = std::abs(a) < std::abs(b) ? a : b, large = std::abs(a) < std::abs(b) ? b : a;
        return std::abs(in.fused(small * up, large, c * up)) < least_normal_up;
    }
};

/// The NaN of an f64 operation: the last operand that is one, made quiet, else the default. PTX keeps
/// payloads without saying whose; what matters is that host code for vectors and for single lanes agrees.
inline double chosen_nan(double a, double b, double c) {
    constexpr std::uint64_t quiet = std::uint64_t{1} << 51, none = std::uint64_t{0xfff8} << 48;
    const double nan = c != c ? c : b != b ? b : a;
    return std::bit_cast<double>(nan != nan ? std::bit_cast<std::uint64_t>(nan) | quiet : none);
}

/// One lane: flushing before and after, NaN, saturation. `in`: the arithmetic.
template <class T, class F, bool Ftz, bool Sat, class Arithmetic = HostArithmetic>
T evaluate(T a, T b, T c, const Arithmetic& in = {}) {
    if constexpr (std::is_same_v<T, double>) {
        const double result = F::apply(in, a, b, c);
        return result == result ? result : chosen_nan(a, b, c);
    } else {
        if constexpr (Ftz) {
            a = flush(a);
            b = flush(b);
            c = flush(c);
        }
        T result = F::apply(in, a, b, c);
        if constexpr (Ftz) {
            const bool edge = (std::abs(result) == 0x1p-126f) & F::tiny(in, a, b, c);
            result = edge ? std::copysign(0.0f, result) : flush(result);
        }
        return Sat ? saturate(result) : canonical(result);
    }
}

/// All lanes. op.c repeats op.b where the operation has two operands; op.width is the rounding mode.
template <class T, class F, bool Ftz, bool Sat, class Arithmetic = HostArithmetic>
[[gnu::always_inline]] inline void evaluate_lanes(Warp& warp, const Op& op, LaneMask mask,
                                                  const Arithmetic& in = {}) {
    const T *a = warp.row<T>(op.a), *b = warp.row<T>(op.b), *c = warp.row<T>(op.c);
    map_lanes(mask, warp.row<T>(op.dst),
              [=](unsigned i) { return evaluate<T, F, Ftz, Sat>(a[i], b[i], c[i], in); });
}

template <class T, class F, bool Ftz, bool Sat>
Flow run_nearest(Warp& warp, const Op& op, LaneMask mask) {
    evaluate_lanes<T, F, Ftz, Sat>(warp, op, mask);
    return Flow::next;
}
template <class T, class F, bool Ftz, bool Sat>
Flow run_directed(Warp& warp, const Op& op, LaneMask mask) {
    const RoundingScope scope(static_cast<Rounding>(op.width));
    evaluate_lanes<T, F, Ftz, Sat>(warp, op, mask, scope.arithmetic);
    return Flow::next;
}
#if defined(__x86_64__)
/// The same with the host's own fused multiply-add; without it every lane is a library call.
template <class T, class F, bool Ftz, bool Sat>
__attribute__((target("avx2,fma"), flatten)) Flow run_nearest_avx2(Warp& warp, const Op& op, LaneMask mask) {
    evaluate_lanes<T, F, Ftz, Sat>(warp, op, mask);
    return Flow::next;
}
bool host_has_fma() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }
#endif

template <class T, class F, bool Ftz, bool Sat>
Handler handler_for(Rounding rounding) {
    if (rounding != Rounding::nearest)
        return &run_directed<T, F, Ftz, Sat>;
#if defined(__x86_64__)
    if constexpr (std::is_same_v<F, Fused>)
        if (host_has_fma())
            return &run_nearest_avx2<T, F, Ftz, Sat>;
#endif
    return &run_nearest<T, F, Ftz, Sat>;
}

/// Handler and rounding of an operation after its operands are set.
template <class F>
void choose(DecodeContext& context, Op& op, Type type, Rounding rounding) {
    op.width = static_cast<std::uint8_t>(rounding);
    const bool ftz = context.has("ftz"), sat = context.has("sat");
    if (type == Type::f64) {
        if (ftz || sat)
            context.unsupported(".ftz and .sat are not defined for .f64");
        op.handler = handler_for<double, F, false, false>(rounding);
    } else if (ftz) {
        op.handler =
            sat ? handler_for<float, F, true, true>(rounding) : handler_for<float, F, true, false>(rounding);
    } else {
        op.handler = sat ? handler_for<float, F, false, true>(rounding)
                         : handler_for<float, F, false, false>(rounding);
    }
}

/// add, sub, mul: a missing rounding modifier means nearest.
template <class F>
void decode_two(DecodeContext& context, Op& op) {
    context.allow({"rn", "rz", "rm", "rp", "ftz", "sat"});
    const Type type = floating_type(context);
    operands_binary(context, op, type);
    op.c = op.b;
    choose<F>(context, op, type, rounding_of(context));
}

// -- min and max

/// The smaller or larger; -0 counts as smaller than +0; a NaN loses unless `Nan`, where it wins.
template <class T, bool Max, bool Nan>
T extremum(T a, T b) {
    const bool negative = std::signbit(a);
    const bool first = Max ? (a > b) | ((a == b) & !negative) : (a < b) | ((a == b) & negative);
    const T ordered = first ? a : b;
    const T picked = a != a ? b : b != b ? a : ordered;
    if constexpr (std::is_same_v<T, double>)
        return picked;
    else if constexpr (Nan)
        return (a != a) | (b != b) ? canonical_nan : picked;
    else
        return canonical(picked);
}

template <bool Max, bool Ftz, bool Nan, bool XorSign>
float extremum32(float a, float b) {
    if constexpr (Ftz) {
        a = flush(a);
        b = flush(b);
    }
    if constexpr (!XorSign)
        return extremum<float, Max, Nan>(a, b);
    const float size = extremum<float, Max, Nan>(std::abs(a), std::abs(b));
    const auto sign = (std::bit_cast<std::uint32_t>(a) ^ std::bit_cast<std::uint32_t>(b)) & 0x80000000u;
    return size != size ? size : std::bit_cast<float>(std::bit_cast<std::uint32_t>(size) | sign);
}

template <bool Max>
void decode_extremum(DecodeContext& context, Op& op) {
    context.allow({"ftz", "NaN", "xorsign", "abs"});
    const Type type = floating_type(context);
    if (context.operand_count() == 4)
        context.unsupported("with three operands it needs sm_100");
    operands_binary(context, op, type);
    const bool ftz = context.has("ftz"), nan = context.has("NaN"), xorsign = context.has("xorsign");
    if (xorsign != context.has("abs"))
        context.malformed("with two operands takes .xorsign.abs together");
    if (type == Type::f64) {
        if (ftz || nan || xorsign)
            context.unsupported("a modifier is not defined for .f64");
        op.handler = binary<double>([](double a, double b) { return extremum<double, Max, false>(a, b); });
        return;
    }
    const auto pick = [&]<bool Ftz, bool Nan>() {
        return xorsign
                   ? binary<float>([](float a, float b) { return extremum32<Max, Ftz, Nan, true>(a, b); })
                   : binary<float>([](float a, float b) { return extremum32<Max, Ftz, Nan, false>(a, b); });
    };
    op.handler =
        ftz ? (nan ? pick.template operator()<true, true>() : pick.template operator()<true, false>())
            : (nan ? pick.template operator()<false, true>() : pick.template operator()<false, false>());
}

/// copysign, 9.7.3.2: the sign of a on the value of b.
void decode_copysign(DecodeContext& context, Op& op) {
    context.allow({});
    const Type type = floating_type(context);
    operands_binary(context, op, type);
    with_bits(context, type, [&]<class U>(U) {
        op.handler = binary<U>([](U a, U b) {
            constexpr U sign = static_cast<U>(U{1} << (8 * sizeof(U) - 1));
            return static_cast<U>((a & sign) | (b & ~sign));
        });
    });
}

} // namespace

Type floating_type(const DecodeContext& context) {
    if (context.type(1) != Type::none)
        context.unsupported("mixed precision needs sm_100");
    expect_types(context, 1);
    return require_type(context, {Type::f32, Type::f64});
}

void decode_add_floating(DecodeContext& context, Op& op) { decode_two<Add>(context, op); }
void decode_sub_floating(DecodeContext& context, Op& op) { decode_two<Subtract>(context, op); }
void decode_mul_floating(DecodeContext& context, Op& op) { decode_two<Multiply>(context, op); }
void decode_min_floating(DecodeContext& context, Op& op) { decode_extremum<false>(context, op); }
void decode_max_floating(DecodeContext& context, Op& op) { decode_extremum<true>(context, op); }

/// fma and mad, which for floating point are the same since sm_20.
void decode_fma_floating(DecodeContext& context, Op& op) {
    context.allow({"rn", "rz", "rm", "rp", "ftz", "sat"});
    const Type type = floating_type(context);
    operands_ternary(context, op, type);
    choose<Fused>(context, op, type, required_rounding(context));
}

/// div: .approx and .full give the nearest quotient, but .approx has no result for the largest divisors.
void decode_div_floating(DecodeContext& context, Op& op) {
    context.allow({"rn", "rz", "rm", "rp", "ftz", "approx", "full"});
    const Type type = floating_type(context);
    operands_binary(context, op, type);
    op.c = op.b;
    const bool approx = context.has("approx"), full = context.has("full");
    if (!approx && !full)
        return choose<Divide>(context, op, type, required_rounding(context));
    if (type != Type::f32 || (approx && full))
        context.unsupported(".approx and .full are defined for .f32 only");
    if (full)
        return choose<Divide>(context, op, type, Rounding::nearest);
    op.handler = context.has("ftz") ? binary<float>([](float a, float b) {
        const float size = std::abs(b);
        const bool beyond = (size > 0x1p126f) & (size < HUGE_VALF);
        return evaluate<float, Divide, true, false>(beyond ? flush(a) * std::copysign(0.0f, b) : a,
                                                    beyond ? 1.0f : b, 0.0f);
    })
                                    : binary<float>([](float a, float b) {
                                          const float size = std::abs(b);
                                          const bool beyond = (size > 0x1p126f) & (size < HUGE_VALF);
                                          return canonical(beyond ? a * std::copysign(0.0f, b) : a / b);
                                      });
}

/// abs and neg are additions of zero: of a NaN of f32, with any sign, comes the one NaN, and neg leaves one
/// of f64 as it is.
void decode_abs_floating(DecodeContext& context, Op& op) {
    context.allow({"ftz"});
    const Type type = floating_type(context);
    operands_unary(context, op, type);
    if (type == Type::f64 && context.has("ftz"))
        context.unsupported(".ftz is not defined for .f64");
    op.handler = type == Type::f64    ? unary<double>([](double a) { return std::abs(a); })
                 : context.has("ftz") ? unary<float>([](float a) { return canonical(std::abs(flush(a))); })
                                      : unary<float>([](float a) { return canonical(std::abs(a)); });
}

void decode_neg_floating(DecodeContext& context, Op& op) {
    context.allow({"ftz"});
    const Type type = floating_type(context);
    operands_unary(context, op, type);
    if (type == Type::f64 && context.has("ftz"))
        context.unsupported(".ftz is not defined for .f64");
    op.handler = type == Type::f64    ? unary<double>([](double a) { return a == a ? -a : a; })
                 : context.has("ftz") ? unary<float>([](float a) { return canonical(-flush(a)); })
                                      : unary<float>([](float a) { return canonical(-a); });
}

std::span<const InstructionRow> floating_instructions() {
    static constexpr InstructionRow rows[] = {
        {"copysign", "9.7.3.2", decode_copysign},
        {"add", "9.7.3.3", by_chapter<decode_add_integer, decode_add_floating, decode_add_half>},
        {"sub", "9.7.3.4", by_chapter<decode_sub_integer, decode_sub_floating, decode_sub_half>},
        {"mul", "9.7.3.5", by_chapter<decode_mul_integer, decode_mul_floating, decode_mul_half>},
        {"fma", "9.7.3.6", by_chapter<decode_no_such_type, decode_fma_floating, decode_fma_half>},
        {"mad", "9.7.3.7", by_chapter<decode_mad_integer, decode_fma_floating, decode_no_such_type>},
        {"div", "9.7.3.8", by_chapter<decode_div_integer, decode_div_floating, decode_no_such_type>},
        {"abs", "9.7.3.9", by_chapter<decode_abs_integer, decode_abs_floating, decode_abs_half>},
        {"neg", "9.7.3.10", by_chapter<decode_neg_integer, decode_neg_floating, decode_neg_half>},
        {"min", "9.7.3.11", by_chapter<decode_min_integer, decode_min_floating, decode_min_half>},
        {"max", "9.7.3.12", by_chapter<decode_max_integer, decode_max_floating, decode_max_half>},
        {"rcp", "9.7.3.13", decode_rcp},
        {"sqrt", "9.7.3.15", decode_sqrt},
        {"rsqrt", "9.7.3.16", decode_rsqrt},
        {"sin", "9.7.3.18", decode_sin},
        {"cos", "9.7.3.19", decode_cos},
        {"lg2", "9.7.3.20", decode_lg2},
        {"ex2", "9.7.3.21", by_chapter<decode_no_such_type, decode_ex2_floating, decode_ex2_half>},
        {"tanh", "9.7.3.22", by_chapter<decode_no_such_type, decode_tanh_floating, decode_tanh_half>},
    };
    return rows;
}

} // namespace emu
