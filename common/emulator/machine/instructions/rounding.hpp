#pragma once
/// \file
/// Rounding: the host's rounding mode while a handler runs, flushing of subnormals, and software rounding
/// into the small floating-point formats (PTX ISA 9.0, sections 5.2.3 and 9.7.3).

#include "machine/decoder.hpp"
#include "machine/instructions/software_arithmetic.hpp"

#include <bit>
#include <cfenv>
#include <cmath>
#include <cstdint>

namespace emu {

/// The rounding modifier of an instruction, `fallback` if it has none; an error if it has two.
inline Rounding rounding_of(const DecodeContext& context, Rounding fallback = Rounding::nearest) {
    constexpr std::pair<std::string_view, Rounding> names[] = {{"rn", Rounding::nearest},
                                                               {"rz", Rounding::zero},
                                                               {"rm", Rounding::down},
                                                               {"rp", Rounding::up},
                                                               {"rna", Rounding::away}};
    Rounding found = fallback;
    unsigned count = 0;
    for (const auto& [name, rounding] : names)
        if (context.has(name)) {
            found = rounding;
            ++count;
        }
    if (count > 1)
        context.malformed("has more than one rounding modifier");
    return found;
}

#if defined(__wasm__)
/// Arithmetic in a rounding mode: WebAssembly has none but nearest, and fesetround() does nothing there.
struct RoundingScope {
    explicit RoundingScope(Rounding rounding) : arithmetic(rounding) {}
    SoftwareArithmetic arithmetic; ///< What rounds so.
};
#else
/// Puts the host into a rounding mode for the life of the object. Operands must be read from memory and
/// results written to memory inside: the calls are opaque, so the compiler cannot move either across them.
class RoundingScope {
  public:
    explicit RoundingScope(Rounding rounding) : changed_(rounding != Rounding::nearest) {
        if (changed_)
            std::fesetround(rounding == Rounding::zero ? FE_TOWARDZERO
                            : rounding == Rounding::up ? FE_UPWARD
                                                       : FE_DOWNWARD);
    }
    ~RoundingScope() {
        if (changed_)
            std::fesetround(FE_TONEAREST);
    }
    RoundingScope(const RoundingScope&) = delete;
    RoundingScope& operator=(const RoundingScope&) = delete;

    HostArithmetic arithmetic; ///< What rounds so.

  private:
    bool changed_;
};
#endif

inline constexpr std::uint32_t canonical_nan32 = 0x7fffffff;
inline constexpr float canonical_nan = std::bit_cast<float>(canonical_nan32);

/// Subnormal numbers become zero of the same sign (`.ftz`).
constexpr float flush(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    return std::bit_cast<float>((bits & 0x7f800000u) == 0 ? bits & 0x80000000u : bits);
}
/// Any NaN becomes the one NaN that single-precision instructions return.
constexpr float canonical(float value) { return value == value ? value : canonical_nan; }
/// `.sat`: clamped to [0, 1], NaN and both zeros to +0.
template <class T>
constexpr T saturate(T value) {
    return value > T{0} ? (value < T{1} ? value : T{1}) : T{0};
}

/// Whether a result with a remainder moves to the next larger magnitude. `rest` are the bits cut off, `half`
/// the value of half a unit in the last place.
constexpr bool rounds_up(std::uint64_t kept, std::uint64_t rest, std::uint64_t half, bool negative,
                         Rounding rounding) {
    switch (rounding) {
    case Rounding::nearest:
        return rest > half || (rest == half && (kept & 1));
    case Rounding::away:
        return rest >= half;
    case Rounding::zero:
        return false;
    case Rounding::down:
        return rest != 0 && negative;
    case Rounding::up:
        return rest != 0 && !negative;
    }
    return false;
}

/// The bits below the sign that represent |value| in an IEEE-like format with `ExponentBits` and
/// `FractionBits`, rounded; the code of infinity when it overflows to infinity, one less when it overflows to
/// the largest number. `value` must not be NaN; its sign matters for the directed modes.
template <int ExponentBits, int FractionBits>
constexpr std::uint32_t encode_magnitude(double value, Rounding rounding) {
    constexpr int bias = (1 << (ExponentBits - 1)) - 1;
    constexpr std::uint64_t infinity = ((std::uint64_t{1} << ExponentBits) - 1) << FractionBits;
    const auto bits = std::bit_cast<std::uint64_t>(value);
    const bool negative = bits >> 63;
    const int field = static_cast<int>(bits >> 52 & 0x7ff);
    if ((bits << 1) == 0)
        return 0;
    if (field == 0x7ff)
        return static_cast<std::uint32_t>(infinity);
    const int exponent = field ? field - 1023 : -1022;
    const std::uint64_t fraction = bits & ((std::uint64_t{1} << 52) - 1);
    const std::uint64_t significand = fraction | static_cast<std::uint64_t>(field != 0) << 52;
    // Below the smallest normal exponent the format's last place stays where it is: subnormal numbers.
    const int target = exponent < 1 - bias ? 1 - bias : exponent;
    const int distance = 52 - FractionBits + (target - exponent);
    const int shift = distance > 60 ? 60 : distance;
    const std::uint64_t half = std::uint64_t{1} << (shift - 1);
    const std::uint64_t rest = significand & ((half << 1) - 1);
    std::uint64_t kept = significand >> shift;
    kept += rounds_up(kept, rest, half, negative, rounding);
    const std::uint64_t magnitude = (static_cast<std::uint64_t>(target + bias - 1) << FractionBits) + kept;
    if (magnitude < infinity)
        return static_cast<std::uint32_t>(magnitude);
    const bool to_infinity = rounding == Rounding::nearest || rounding == Rounding::away ||
                             (rounding == Rounding::up && !negative) ||
                             (rounding == Rounding::down && negative);
    return static_cast<std::uint32_t>(to_infinity ? infinity : infinity - 1);
}

/// a + b rounded to odd: if the sum is inexact, its last bit is one. Rounding that to a format with at least
/// two bits fewer gives the same as rounding the exact sum. The host must round to nearest.
template <class T>
T add_to_odd(T a, T b) {
    using U = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
    const T sum = a + b;
    const T b_part = sum - a;
    const T error = (a - (sum - b_part)) + (b - b_part);
    const auto bits = std::bit_cast<U>(sum);
    // Nearest left an even last bit: the exact sum lies between it and a neighbour, which is odd. An error
    // that is not a number comes with a sum that is not finite.
    const bool adjust = ((error < 0) | (error > 0)) & ((bits & 1) == 0);
    const bool away = (error > 0) == (sum > 0);
    return std::bit_cast<T>(static_cast<U>(adjust ? (away ? bits + 1 : bits - 1) : bits));
}

/// A double as a float, rounded to odd; beyond the range of float, infinity.
inline float narrow_to_odd(double value) {
    const auto near = static_cast<float>(value);
    const auto bits = std::bit_cast<std::uint32_t>(near);
    const double back = near;
    const bool larger = std::abs(back) > std::abs(value), smaller = std::abs(back) < std::abs(value);
    const bool adjust = (larger | smaller) & ((bits & 1) == 0) & ((bits & 0x7f800000u) != 0x7f800000u);
    return std::bit_cast<float>(adjust ? (smaller ? bits + 1 : bits - 1) : bits);
}

/// An unsigned integer as a double, rounded to odd.
inline double integer_to_odd(std::uint64_t value) {
    const int spare = 11 - std::countl_zero(value | 1);
    if (spare <= 0)
        return static_cast<double>(static_cast<std::int64_t>(value));
    const std::uint64_t lost = value & ((std::uint64_t{1} << spare) - 1);
    return std::ldexp(static_cast<double>(static_cast<std::int64_t>((value >> spare) | (lost != 0))), spare);
}

} // namespace emu
