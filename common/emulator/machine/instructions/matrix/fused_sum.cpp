#include "machine/instructions/matrix/fused_sum.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>

namespace emu::matrix {
namespace {

/// Lower than the exponent of any product or addend, and far enough from the limits to be added up.
constexpr std::int32_t no_exponent = -100'000;

/// Columns that are worked out together.
constexpr unsigned lanes = 8;

struct Part {
    std::int32_t significand = 0; ///< With sign.
    std::int32_t exponent = no_exponent;
    bool infinite = false, nan = false;
};

Part take_apart(std::uint32_t bits, const FloatFormat& format) {
    bits >>= format.unread_bits;
    const std::uint32_t top = (1u << format.exponent_bits) - 1, hidden = 1u << format.fraction_bits;
    const std::uint32_t fraction = bits & (hidden - 1), exponent = bits >> format.fraction_bits & top;
    const bool negative = bits >> (format.fraction_bits + format.exponent_bits) & 1;
    const auto with_sign = [negative](std::uint32_t magnitude) {
        return negative ? -static_cast<std::int32_t>(magnitude) : static_cast<std::int32_t>(magnitude);
    };
    Part part;
    if (format.has_infinities ? exponent == top : exponent == top && fraction == hidden - 1) {
        part.nan = !format.has_infinities || fraction != 0;
        part.infinite = !part.nan;
        part.significand = with_sign(1);
        return part;
    }
    part.significand = with_sign(exponent ? fraction | hidden : fraction);
    if (part.significand)
        part.exponent = static_cast<std::int32_t>(std::max(exponent, 1u)) - format.bias();
    return part;
}

constexpr std::uint32_t nan_of(bool half) { return half ? 0x7fffu : 0x7fffffffu; }
constexpr std::uint32_t infinity_of(bool half, bool negative) {
    return half ? 0x7c00u | (negative ? 0x8000u : 0) : 0x7f800000u | (negative ? 0x80000000u : 0);
}

/// magnitude · 2^unit as binary32, cut toward zero after `fraction` bits.
std::uint32_t to_single(std::uint64_t magnitude, std::int32_t unit, unsigned fraction) {
    const std::int32_t exponent = unit + static_cast<std::int32_t>(std::bit_width(magnitude)) - 1;
    if (exponent > 127)
        return infinity_of(false, false);
    const std::int32_t lowest = std::max(exponent, -126) - 23;
    const std::int32_t down = lowest - unit;
    std::uint64_t digits = down > 0 ? magnitude >> std::min(down, 63) : magnitude << -down;
    digits &= ~((std::uint64_t{1} << (23 - fraction)) - 1);
    if (digits < 1u << 23)
        return static_cast<std::uint32_t>(digits);
    return static_cast<std::uint32_t>(exponent + 127) << 23 |
           (static_cast<std::uint32_t>(digits) & 0x7fffffu);
}

/// magnitude · 2^unit as binary16, to nearest even.
std::uint32_t to_half(std::uint64_t magnitude, std::int32_t unit) {
    const std::int32_t exponent = unit + static_cast<std::int32_t>(std::bit_width(magnitude)) - 1;
    const std::int32_t lowest = std::max(exponent, -14) - 10;
    const std::int32_t down = lowest - unit;
    if (exponent > 15)
        return infinity_of(true, false);
    std::uint64_t digits = 0;
    if (down <= 0) {
        digits = magnitude << -down;
    } else if (down < 64) {
        const std::uint64_t half = std::uint64_t{1} << (down - 1), rest = magnitude & (2 * half - 1);
        digits = magnitude >> down;
        digits += rest > half || (rest == half && (digits & 1));
    }
    // A carry out of the significand raises the exponent by itself.
    const std::uint32_t biased = digits < 1024 ? 0 : static_cast<std::uint32_t>(lowest + 10 + 15 - 1) << 10;
    return std::min(biased + static_cast<std::uint32_t>(digits), infinity_of(true, false));
}

/// One row of A, eight columns of B.
struct Strip {
    const std::int32_t *a_significands, *a_exponents;
    const std::int32_t *b_significands, *b_exponents; ///< Of the first of the columns and k = 0.
    std::size_t b_stride;                             ///< From k to k + 1.
    unsigned depth;
    unsigned
        up; ///< A product's significand is shifted so far to have its fraction behind the largest exponent.
};

struct Sums {
    std::array<std::int32_t, lanes> largest;
    std::array<std::int32_t, lanes> even{}, odd{}; ///< Two sums, since one of 17 terms might not fit.
};

#if defined(__x86_64__) && defined(__gnu_linux__) && !defined(__clang__) && !defined(__SANITIZE_THREAD__) && \
    !defined(__SANITIZE_ADDRESS__)
// A shift of each lane by its own count is one instruction of AVX2, and none before it.
#define EMULATOR_CLONES [[gnu::target_clones("avx2", "default")]]
#else
#define EMULATOR_CLONES
#endif

EMULATOR_CLONES void add_up(const Strip& strip, Sums& sums) {
    std::array<std::int32_t, lanes> largest = sums.largest;
    for (unsigned k = 0; k < strip.depth; ++k) {
        const std::int32_t* exponents = strip.b_exponents + k * strip.b_stride;
        for (unsigned i = 0; i < lanes; ++i)
            largest[i] = std::max(largest[i], strip.a_exponents[k] + exponents[i]);
    }
    std::array<std::int32_t, lanes> even{}, odd{};
    for (unsigned k = 0; k < strip.depth; ++k) {
        const std::int32_t* exponents = strip.b_exponents + k * strip.b_stride;
        const std::int32_t* significands = strip.b_significands + k * strip.b_stride;
        for (unsigned i = 0; i < lanes; ++i) {
            const std::int32_t product = strip.a_significands[k] * significands[i];
            const std::int32_t down = std::min(largest[i] - (strip.a_exponents[k] + exponents[i]), 31);
            const auto magnitude = static_cast<std::uint32_t>(product < 0 ? -product : product) << strip.up;
            const auto term = static_cast<std::int32_t>(magnitude >> down);
            const std::int32_t signed_term = product < 0 ? -term : term;
            even[i] += k % 2 ? 0 : signed_term;
            odd[i] += k % 2 ? signed_term : 0;
        }
    }
    sums.largest = largest;
    sums.even = even;
    sums.odd = odd;
}

} // namespace

Factors::Factors(Order order, unsigned lines, unsigned depth)
    : order_(order), lines_(lines), depth_(depth), significands_(std::size_t{lines} * depth),
      exponents_(std::size_t{lines} * depth, no_exponent), kinds_(std::size_t{lines} * depth, Kind::zero),
      special_(lines) {}

void Factors::set(unsigned line, unsigned k, std::uint32_t bits, const FloatFormat& format) {
    const Part part = take_apart(bits, format);
    const std::size_t at = place(line, k);
    fraction_bits_ = format.fraction_bits;
    significands_[at] = part.significand;
    exponents_[at] = part.exponent;
    kinds_[at] = part.nan           ? Kind::nan
                 : part.infinite    ? Kind::infinite
                 : part.significand ? Kind::finite
                                    : Kind::zero;
    if (part.nan || part.infinite)
        special_[line] = true;
}

FusedSum::FusedSum(const Factors& a, const Factors& b, const SumRule& rule) : a_(a), b_(b), rule_(rule) {}

std::uint32_t FusedSum::special(unsigned row, unsigned column, std::uint32_t c) const {
    using Kind = Factors::Kind;
    const Part addend = take_apart(c, format_of(rule_.half ? Element::f16 : Element::f32));
    bool nan = addend.nan, positive = addend.infinite && addend.significand > 0;
    bool negative = addend.infinite && addend.significand < 0;
    for (unsigned k = 0; k < a_.depth(); ++k) {
        const std::size_t i = a_.place(row, k), j = b_.place(column, k);
        const Kind x = a_.kinds_[i], y = b_.kinds_[j];
        if (x != Kind::infinite && y != Kind::infinite) {
            nan |= x == Kind::nan || y == Kind::nan;
            continue;
        }
        nan |= x == Kind::nan || y == Kind::nan || x == Kind::zero || y == Kind::zero;
        const bool minus = (a_.significands_[i] < 0) != (b_.significands_[j] < 0);
        (minus ? negative : positive) = true;
    }
    if (nan || (positive && negative))
        return nan_of(rule_.half);
    return infinity_of(rule_.half, negative);
}

void FusedSum::row(unsigned row, std::span<const std::uint32_t> c, std::span<std::uint32_t> d) const {
    const FloatFormat addend_format = format_of(rule_.half ? Element::f16 : Element::f32);
    const unsigned fraction = a_.fraction_bits_ + b_.fraction_bits_;
    const auto fraction_of_sum = static_cast<std::int32_t>(rule_.fraction);
    for (unsigned column = 0; column < b_.lines(); column += lanes) {
        const std::size_t of_b = column, of_a = std::size_t{row} * a_.depth();
        const Strip strip{&a_.significands_[of_a],  &a_.exponents_[of_a], &b_.significands_[of_b],
                          &b_.exponents_[of_b],     b_.lines(),           a_.depth(),
                          rule_.fraction - fraction};
        std::array<Part, lanes> addends;
        Sums sums;
        for (unsigned i = 0; i < lanes; ++i) {
            addends[i] = take_apart(c[column + i], addend_format);
            sums.largest[i] = addends[i].exponent;
        }
        add_up(strip, sums);
        for (unsigned i = 0; i < lanes; ++i) {
            const Part& addend = addends[i];
            if (a_.special_[row] || b_.special_[column + i] || addend.nan || addend.infinite) {
                d[column + i] = special(row, column + i, c[column + i]);
                continue;
            }
            const std::int32_t down = sums.largest[i] - addend.exponent;
            const auto magnitude = static_cast<std::uint64_t>(std::abs(addend.significand)) << 30;
            const auto cut = static_cast<std::int64_t>(
                down > 62 ? 0 : magnitude >> down >> (30 + addend_format.fraction_bits - rule_.fraction));
            const std::int64_t sum =
                std::int64_t{sums.even[i]} + sums.odd[i] + (addend.significand < 0 ? -cut : cut);
            const auto size = static_cast<std::uint64_t>(std::abs(sum));
            const std::int32_t unit = sums.largest[i] - fraction_of_sum;
            std::uint32_t bits = 0;
            if (size)
                bits = rule_.half ? to_half(size, unit) : to_single(size, unit, rule_.result_fraction);
            if (bits && sum < 0)
                bits |= rule_.half ? 0x8000u : 0x80000000u;
            d[column + i] = bits;
        }
    }
}

} // namespace emu::matrix
