#include "machine/instructions/software_arithmetic.hpp"

#include "machine/instructions/arith.hpp"
#include "machine/instructions/rounding.hpp"

#include <bit>
#include <limits>
#include <type_traits>
#include <utility>

namespace emu {
namespace {

constexpr int top =
    126; ///< Where sums have the highest bit of their larger part: one more bit is for the carry.

int width_of(UInt128 value) {
    const auto high = static_cast<std::uint64_t>(value >> 64), low = static_cast<std::uint64_t>(value);
    return high ? 64 + std::bit_width(high) : std::bit_width(low);
}

/// ±significand * 2^exponent; `inexact`: the magnitude is larger by less than one unit of the significand.
struct Exact {
    bool negative = false;
    int exponent = 0;
    UInt128 significand = 0;
    bool inexact = false;

    /// The same value with its highest bit at `bit`, or as near below as keeps the exponent's parity.
    void raise(int bit, bool even) {
        int distance = bit - width_of(significand) + 1;
        distance -= even && ((exponent - distance) & 1);
        significand <<= distance;
        exponent -= distance;
    }
};

/// A number that is finite and not NaN.
Exact exact(double value) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    const int field = static_cast<int>(bits >> 52 & 0x7ff);
    const std::uint64_t fraction = bits & ((std::uint64_t{1} << 52) - 1);
    return {(bits >> 63) != 0, (field ? field : 1) - 1075,
            fraction | static_cast<std::uint64_t>(field != 0) << 52};
}

/// The nearest number of the format in the direction of rounding. An inexact value has more bits than that
/// keeps.
template <class T>
T rounded(const Exact& value, Rounding rounding) {
    using Limits = std::numeric_limits<T>;
    const int last = std::max(value.exponent + width_of(value.significand) - Limits::digits,
                              Limits::min_exponent - Limits::digits);
    const int shift = last - value.exponent;
    if (shift <= 0) {
        const T magnitude =
            std::ldexp(static_cast<T>(static_cast<std::uint64_t>(value.significand)), value.exponent);
        return value.negative ? -magnitude : magnitude;
    }
    const UInt128 kept = shift > 127 ? 0 : value.significand >> shift;
    const UInt128 half =
        shift > 128 ? 0 : UInt128{1} << (shift - 1); // Of more, nothing is left above the rest.
    const bool guard = (value.significand & half) != 0;
    const bool below = (value.significand & (half - 1)) != 0 || value.inexact;
    auto magnitude = static_cast<std::uint64_t>(kept);
    magnitude +=
        rounds_up(magnitude, static_cast<std::uint64_t>(guard) << 1 | below, 2, value.negative, rounding);
    T result = std::ldexp(static_cast<T>(magnitude), last);
    const bool to_infinity = rounding == Rounding::nearest || rounding == Rounding::away ||
                             rounding == (value.negative ? Rounding::down : Rounding::up);
    if (std::isinf(result) && !to_infinity)
        result = Limits::max();
    return value.negative ? -result : result;
}

template <class T>
T zero(bool negative) {
    return negative ? -T{0} : T{0};
}

/// a + b, neither of them 0.
Exact sum(Exact a, Exact b, Rounding rounding) {
    a.raise(top, false);
    b.raise(top, false);
    if (a.exponent < b.exponent || (a.exponent == b.exponent && a.significand < b.significand))
        std::swap(a, b);
    const int distance = std::min(a.exponent - b.exponent, 127);
    const UInt128 small = b.significand >> distance;
    const bool lost = (small << distance) != b.significand;
    a.inexact = lost;
    if (a.negative == b.negative) {
        a.significand += small;
        return a;
    }
    a.significand -= small + lost;
    if (a.significand == 0)
        a.negative = rounding == Rounding::down;
    return a;
}

UInt128 whole_root(UInt128 value) {
    UInt128 root = 0;
    for (UInt128 bit = UInt128{1} << 126; bit != 0; bit >>= 2) {
        const bool fits = value >= root + bit;
        value -= fits ? root + bit : 0;
        root = (root >> 1) + (fits ? bit : 0);
    }
    return root;
}

} // namespace

/// The product is exact in binary64, and its sum with c rounded to odd there.
float fused_host(float a, float b, float c) {
    return static_cast<float>(add_to_odd(static_cast<double>(a) * b, static_cast<double>(c)));
}

double fused_host(double a, double b, double c) {
    return SoftwareArithmetic(Rounding::nearest).fused(a, b, c);
}

template <class T>
T SoftwareArithmetic::multiply(T a, T b) const {
    if (!std::isfinite(a) || !std::isfinite(b) || a == 0 || b == 0)
        return a * b; // Nothing is rounded.
    const Exact x = exact(a), y = exact(b);
    return rounded<T>({x.negative != y.negative, x.exponent + y.exponent, x.significand * y.significand},
                      rounding_);
}

template <class T>
T SoftwareArithmetic::divide(T a, T b) const {
    if (!std::isfinite(a) || !std::isfinite(b) || a == 0 || b == 0)
        return a / b;
    Exact x = exact(a);
    const Exact y = exact(b);
    x.raise(top, false);
    const UInt128 quotient = x.significand / y.significand;
    return rounded<T>({x.negative != y.negative, x.exponent - y.exponent, quotient,
                       quotient * y.significand != x.significand},
                      rounding_);
}

template <class T>
T SoftwareArithmetic::fused(T a, T b, T c) const {
    if (!std::isfinite(a) || !std::isfinite(b) || !std::isfinite(c))
        return std::fma(a, b, c);
    const Exact x = exact(a), y = exact(b), z = exact(c);
    const Exact product{x.negative != y.negative, x.exponent + y.exponent, x.significand * y.significand};
    if (product.significand == 0 && z.significand == 0)
        return zero<T>(product.negative == z.negative ? z.negative : rounding_ == Rounding::down);
    if (product.significand == 0)
        return c;
    return rounded<T>(z.significand == 0 ? product : sum(product, z, rounding_), rounding_);
}

template <class T>
T SoftwareArithmetic::root(T a) const {
    if (!std::isfinite(a) || a <= 0)
        return std::sqrt(a);
    Exact x = exact(a);
    x.raise(top, true);
    const UInt128 root = whole_root(x.significand);
    return rounded<T>({false, x.exponent / 2, root, root * root != x.significand}, rounding_);
}

template <class T, class From>
T SoftwareArithmetic::convert(From value) const {
    if constexpr (std::is_floating_point_v<From>) {
        return std::isfinite(value) && value != 0 ? rounded<T>(exact(value), rounding_)
                                                  : static_cast<T>(value);
    } else {
        const bool negative = value < From{0};
        const auto size = static_cast<std::uint64_t>(value);
        return rounded<T>({negative, 0, negative ? 0 - size : size}, rounding_);
    }
}

template float SoftwareArithmetic::multiply(float, float) const;
template double SoftwareArithmetic::multiply(double, double) const;
template float SoftwareArithmetic::divide(float, float) const;
template double SoftwareArithmetic::divide(double, double) const;
template float SoftwareArithmetic::fused(float, float, float) const;
template double SoftwareArithmetic::fused(double, double, double) const;
template float SoftwareArithmetic::root(float) const;
template double SoftwareArithmetic::root(double) const;
template float SoftwareArithmetic::convert(double) const;
template double SoftwareArithmetic::convert(std::int64_t) const;
template double SoftwareArithmetic::convert(std::uint64_t) const;

} // namespace emu
