/// \file
/// Reciprocals, roots and transcendental functions (PTX ISA 9.0, sections 9.7.3.13 to 9.7.3.22). The
/// approximations are the host's functions, which err less than PTX permits.

#include "machine/instructions/arith.hpp"
#include "machine/instructions/floating.hpp"
#include "machine/instructions/scalar.hpp"

namespace emu {
namespace {

using ptx::Type;

struct Reciprocal {
    template <class T>
    static T apply(T a, const auto& in) {
        return in.divide(T{1}, a);
    }
    /// Exactly 1/a is smaller than every normal number.
    static bool tiny(float a) { return std::abs(a) > 0x1p126f; }
};
struct Root {
    template <class T>
    static T apply(T a, const auto& in) {
        return in.root(a);
    }
    static bool tiny(float) { return false; }
};
struct ReciprocalRoot {
    template <class T>
    static T apply(T a, const auto&) {
        return static_cast<T>(1 / std::sqrt(static_cast<double>(a)));
    }
    static bool tiny(float) { return false; }
};
struct Sine {
    static float apply(float a, const auto&) { return std::sin(a); }
    static bool tiny(float) { return false; }
};
struct Cosine {
    static float apply(float a, const auto&) { return std::cos(a); }
    static bool tiny(float) { return false; }
};
struct Logarithm {
    static float apply(float a, const auto&) { return std::log2(a); }
    static bool tiny(float) { return false; }
};
struct Exponential {
    static float apply(float a, const auto&) { return std::exp2(a); }
    static bool tiny(float a) { return a < -126; }
};
struct HyperbolicTangent {
    static float apply(float a, const auto&) { return std::tanh(a); }
    static bool tiny(float) { return false; }
};

template <class T, class F, bool Ftz, class Arithmetic = HostArithmetic>
T evaluate(T a, const Arithmetic& in = {}) {
    if constexpr (std::is_same_v<T, double>) {
        return F::apply(a, in);
    } else {
        if constexpr (Ftz)
            a = flush(a);
        T result = F::apply(a, in);
        if constexpr (Ftz)
            result =
                (std::abs(result) == 0x1p-126f) & F::tiny(a) ? std::copysign(0.0f, result) : flush(result);
        return canonical(result);
    }
}

template <class T, class F, bool Ftz>
Flow run_nearest(Warp& warp, const Op& op, LaneMask mask) {
    const T* a = warp.row<T>(op.a);
    map_lanes(mask, warp.row<T>(op.dst), [a](unsigned i) { return evaluate<T, F, Ftz>(a[i]); });
    return Flow::next;
}
template <class T, class F, bool Ftz>
Flow run_directed(Warp& warp, const Op& op, LaneMask mask) {
    const RoundingScope scope(static_cast<Rounding>(op.width));
    const T* a = warp.row<T>(op.a);
    map_lanes(mask, warp.row<T>(op.dst),
              [a, &scope](unsigned i) { return evaluate<T, F, Ftz>(a[i], scope.arithmetic); });
    return Flow::next;
}

/// rcp and sqrt with IEEE rounding.
template <class F>
void decode_ieee(DecodeContext& context, Op& op, Type type) {
    const Rounding rounding = required_rounding(context);
    op.width = static_cast<std::uint8_t>(rounding);
    const bool nearest = rounding == Rounding::nearest, ftz = context.has("ftz");
    if (type == Type::f64) {
        if (ftz)
            context.unsupported(".ftz is not defined for .f64 here");
        op.handler = nearest ? &run_nearest<double, F, false> : &run_directed<double, F, false>;
    } else if (ftz) {
        op.handler = nearest ? &run_nearest<float, F, true> : &run_directed<float, F, true>;
    } else {
        op.handler = nearest ? &run_nearest<float, F, false> : &run_directed<float, F, false>;
    }
}

template <class F>
Handler approximation(const DecodeContext& context) {
    return context.has("ftz") ? &run_nearest<float, F, true> : &run_nearest<float, F, false>;
}

/// Functions that exist only as an approximation of f32.
template <class F>
void decode_approximation(DecodeContext& context, Op& op) {
    context.allow({"approx", "ftz"});
    expect_types(context, 1);
    const Type type = require_type(context, {Type::f32});
    if (!context.has("approx"))
        context.malformed("must say .approx");
    operands_unary(context, op, type);
    op.handler = approximation<F>(context);
}

/// rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64 (9.7.3.14, 9.7.3.17): only the upper word of the operand
/// counts and only the upper word of the result is set; subnormal numbers are zero; NaN becomes
/// 0x7fffffff00000000.
template <class F>
double gross(double a) {
    const auto upper = std::bit_cast<std::uint64_t>(a) & 0xffffffff00000000u;
    const bool subnormal = (upper & 0x7ff0000000000000u) == 0;
    const double operand = std::bit_cast<double>(subnormal ? upper & std::uint64_t{1} << 63 : upper);
    const double exact = F::apply(operand, HostArithmetic());
    if (exact != exact)
        return std::bit_cast<double>(std::uint64_t{0x7fffffff} << 32);
    auto bits = std::bit_cast<std::uint64_t>(exact);
    bits = (bits + 0x7fffffffu + (bits >> 32 & 1)) & 0xffffffff00000000u;
    if ((bits & 0x7ff0000000000000u) == 0)
        bits &= std::uint64_t{1} << 63;
    return std::bit_cast<double>(bits);
}

/// .approx of f64: rsqrt has it with and without .ftz, rcp only with.
template <class F>
void decode_gross(DecodeContext& context, Op& op) {
    op.handler = context.has("ftz") ? unary<double>([](double a) { return gross<F>(a); })
                                    : &run_nearest<double, F, false>;
}

} // namespace

/// rcp, 9.7.3.13 and 9.7.3.14.
void decode_rcp(DecodeContext& context, Op& op) {
    context.allow({"rn", "rz", "rm", "rp", "approx", "ftz"});
    const Type type = floating_type(context);
    operands_unary(context, op, type);
    if (!context.has("approx"))
        return decode_ieee<Reciprocal>(context, op, type);
    if (type == Type::f32)
        op.handler = approximation<Reciprocal>(context);
    else if (context.has("ftz"))
        decode_gross<Reciprocal>(context, op);
    else
        context.unsupported("an approximation of .f64 exists with .ftz only");
}

/// sqrt, 9.7.3.15.
void decode_sqrt(DecodeContext& context, Op& op) {
    context.allow({"rn", "rz", "rm", "rp", "approx", "ftz"});
    const Type type = floating_type(context);
    operands_unary(context, op, type);
    if (!context.has("approx"))
        return decode_ieee<Root>(context, op, type);
    if (type != Type::f32)
        context.unsupported("an approximation of .f64 is not defined");
    op.handler = approximation<Root>(context);
}

/// rsqrt, 9.7.3.16 and 9.7.3.17.
void decode_rsqrt(DecodeContext& context, Op& op) {
    context.allow({"approx", "ftz"});
    const Type type = floating_type(context);
    operands_unary(context, op, type);
    if (!context.has("approx"))
        context.malformed("must say .approx");
    if (type == Type::f32)
        op.handler = approximation<ReciprocalRoot>(context);
    else
        decode_gross<ReciprocalRoot>(context, op);
}

void decode_sin(DecodeContext& context, Op& op) { decode_approximation<Sine>(context, op); }
void decode_cos(DecodeContext& context, Op& op) { decode_approximation<Cosine>(context, op); }
void decode_lg2(DecodeContext& context, Op& op) { decode_approximation<Logarithm>(context, op); }
void decode_ex2_floating(DecodeContext& context, Op& op) { decode_approximation<Exponential>(context, op); }
void decode_tanh_floating(DecodeContext& context, Op& op) {
    if (context.has("ftz"))
        context.unsupported(".ftz is not defined for .f32");
    decode_approximation<HyperbolicTangent>(context, op);
}

} // namespace emu
