#include "machine/instructions/matrix/fused_sum.hpp"

#include "machine/instructions/float16.hpp"
#include "machine/instructions/matrix/vectors.hpp"

#include <algorithm>
#include <array>
#include <bit>

// A product is worked out in binary32, over a power of two that keeps it in range. That is exact: no factor
// has more than eleven digits. The conversion to an integer cuts it, toward zero.

namespace emu::matrix {
namespace {

/// No exponent of two factors that are not zero is so low.
constexpr std::int32_t lowest_of_products = -5'000;
/// Where the largest exponent is so far below the sum of both lines' scales, a factor may have become zero
/// that counts. Such products are worked out one by one.
constexpr std::int32_t lowest_in_scale = -60;

constexpr std::uint32_t nan_of(bool half) { return half ? 0x7fffu : 0x7fffffffu; }
constexpr std::uint32_t infinity_of(bool half, bool negative) {
    return half ? 0x7c00u | (negative ? 0x8000u : 0) : 0x7f800000u | (negative ? 0x80000000u : 0);
}

double power_of_two(std::int32_t exponent) {
    return std::bit_cast<double>(static_cast<std::uint64_t>(1023 + exponent) << 52);
}

/// value · 2^shift as binary32, cut toward zero after `fraction` bits. `value` is not zero.
std::uint32_t to_single(double value, std::int32_t shift, unsigned fraction) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    const std::uint32_t sign = static_cast<std::uint32_t>(bits >> 32) & 0x80000000u;
    const std::int32_t exponent = static_cast<std::int32_t>(bits >> 52 & 0x7ff) - 1023 + shift;
    const std::uint32_t kept = ~0u << (23 - fraction);
    const auto digits = static_cast<std::uint32_t>(bits >> 29 & 0x7fffff);
    if (exponent >= -126 && exponent <= 127) [[likely]]
        return sign | static_cast<std::uint32_t>(exponent + 127) << 23 | (digits & kept);
    if (exponent > 127)
        return sign | infinity_of(false, false);
    const std::int32_t down = -126 - exponent;
    const std::uint32_t subnormal = down > 23 ? 0 : (digits | 0x800000u) >> down & kept;
    return subnormal ? sign | subnormal : 0;
}

/// value · 2^shift as binary16, to nearest even. `value` is not zero.
std::uint32_t to_half(double value, std::int32_t shift) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    const std::uint32_t sign = static_cast<std::uint32_t>(bits >> 48) & 0x8000u;
    const std::int32_t exponent = static_cast<std::int32_t>(bits >> 52 & 0x7ff) - 1023 + shift;
    if (exponent > 15)
        return sign | infinity_of(true, false);
    if (exponent < -25)
        return 0;
    const std::int32_t down = 42 + std::max(-14 - exponent, 0);
    const std::uint64_t digits = (bits & 0xfffffffffffff) | std::uint64_t{1} << 52;
    const std::uint64_t half = std::uint64_t{1} << (down - 1), rest = digits & (2 * half - 1);
    auto rounded = static_cast<std::uint32_t>(digits >> down);
    rounded += rest > half || (rest == half && (rounded & 1));
    // The first digit of a normal number, and a carry out of its significand, raise the exponent by
    // themselves.
    if (exponent >= -14)
        rounded += static_cast<std::uint32_t>(exponent + 14) << 10;
    rounded = std::min(rounded, infinity_of(true, false));
    return rounded ? sign | rounded : 0;
}

} // namespace

/// A row of A.
struct FusedSum::Line {
    Line(const Factors& a, unsigned row, std::span<const Term> products)
        : row(row), terms(products), scale(a.scales_[row]), is_special(a.special_[row] != 0) {
        for (std::size_t i = 0; i < terms.size(); ++i) {
            const std::size_t at = a.place(row, terms[i].a);
            values[i] = Floats{} + a.values_[at];
            exponents[i] = Shorts{} + a.exponents_[at];
            places[i] = terms[i].b * Factors::strip;
        }
    }
    unsigned row;
    std::span<const Term> terms;
    std::int32_t scale;
    bool is_special;
    std::array<Floats, most_terms> values; ///< Each of them many times.
    std::array<Shorts, most_terms> exponents;
    std::array<std::uint32_t, most_terms> places; ///< Of the factors in a strip of B.
};

/// Eight columns of B, and what is worked out for them.
struct FusedSum::Strip {
    const float* values;
    const std::int16_t* exponents;
    std::array<std::int16_t, Factors::strip> largest; ///< Of the products' exponents.
    std::array<float, Factors::strip> units;          ///< What a product is multiplied by before it is cut.
    std::array<std::int32_t, Factors::strip> sums;
};

/// An element of C.
struct FusedSum::Addend {
    Addend() = default;
    Addend(std::uint32_t bits, bool half)
        : value(half ? F16::decode(static_cast<std::uint16_t>(bits)) : std::bit_cast<float>(bits)) {
        const std::uint32_t field = std::bit_cast<std::uint32_t>(value) >> 23 & 0xff;
        special = field == 0xff;
        // A subnormal number of either format is not normalised.
        if (value != 0 && !special)
            exponent = std::max(static_cast<std::int32_t>(field) - 127, half ? -14 : -126);
    }
    float value = 0;
    std::int32_t exponent = Part::no_exponent;
    bool special = false; ///< An infinity or a NaN.
};

void FusedSum::row(unsigned row, std::span<const std::uint32_t> c, std::span<std::uint32_t> d) const {
    std::array<Term, most_terms> terms;
    for (unsigned k = 0; k < a_.depth(); ++k)
        terms[k] = {static_cast<std::uint8_t>(k), static_cast<std::uint8_t>(k)};
    this->row(row, std::span(terms).first(a_.depth()), c, d);
}

void FusedSum::row(unsigned row, std::span<const Term> terms, std::span<const std::uint32_t> c,
                   std::span<std::uint32_t> d) const {
    const Line line(a_, row, terms);
    for (unsigned column = 0; column < b_.lines(); column += Factors::strip)
        add_strip(line, column, &c[column], &d[column]);
}

void FusedSum::find_largest(const Line& line, Strip& strip) {
    Shorts largest = Shorts{} + 2 * Part::no_exponent;
    for (std::size_t i = 0; i < line.terms.size(); ++i)
        largest = larger(largest, load<Shorts>(strip.exponents + line.places[i]) + line.exponents[i]);
    store(largest, strip.largest.data());
}

void FusedSum::add_products(const Line& line, Strip& strip) {
    const auto low_unit = load<Floats>(&strip.units[0]), high_unit = load<Floats>(&strip.units[4]);
    Integers low{}, high{};
    for (std::size_t i = 0; i < line.terms.size(); ++i) {
        const float* values = strip.values + line.places[i];
        const Floats low_term = load<Floats>(values) * line.values[i] * low_unit;
        const Floats high_term = load<Floats>(values + 4) * line.values[i] * high_unit;
        low += __builtin_convertvector(low_term, Integers);
        high += __builtin_convertvector(high_term, Integers);
    }
    store(low, &strip.sums[0]);
    store(high, &strip.sums[4]);
}

void FusedSum::add_strip(const Line& line, unsigned column, const std::uint32_t* c, std::uint32_t* d) const {
    const std::size_t first = b_.place(column, 0);
    Strip strip;
    strip.values = &b_.values_[first];
    strip.exponents = &b_.exponents_[first];
    find_largest(line, strip);
    std::array<Addend, Factors::strip> addends;
    std::array<std::int32_t, Factors::strip> largest;
    const auto fraction = static_cast<std::int32_t>(rule_.fraction);
    unsigned one_by_one = 0;
    for (unsigned i = 0; i < Factors::strip; ++i) {
        addends[i] = Addend(c[i], rule_.half);
        largest[i] = std::max<std::int32_t>(strip.largest[i], addends[i].exponent);
        const std::int32_t above_scale = largest[i] - line.scale - b_.scales_[column + i];
        if (above_scale < lowest_in_scale && strip.largest[i] > lowest_of_products)
            one_by_one |= 1u << i;
        const std::int32_t unit = fraction - std::max(above_scale, lowest_in_scale);
        strip.units[i] = std::bit_cast<float>(std::max(127 + unit, 0) << 23);
    }
    add_products(line, strip);
    for (unsigned i = 0; i < Factors::strip; ++i) {
        if ((line.is_special || b_.special_[column + i] || addends[i].special) &&
            special(line, column + i, addends[i], d[i]))
            continue;
        const std::int64_t products =
            one_by_one >> i & 1 ? sum_one_by_one(line, column + i, largest[i]) : std::int64_t{strip.sums[i]};
        if (largest[i] < lowest_of_products) {
            d[i] = 0;
            continue;
        }
        const std::int32_t shift = largest[i] - fraction;
        const auto addend = static_cast<std::int64_t>(addends[i].value * power_of_two(-shift));
        const auto sum = static_cast<double>(products + addend);
        d[i] = sum == 0 ? 0 : rule_.half ? to_half(sum, shift) : to_single(sum, shift, rule_.result_fraction);
    }
}

std::int64_t FusedSum::sum_one_by_one(const Line& line, unsigned column, std::int32_t largest) const {
    const unsigned up = rule_.fraction - a_.format_.fraction_bits - b_.format_.fraction_bits;
    std::int64_t sum = 0;
    for (const Term& term : line.terms) {
        const Part x = a_.part(line.row, term.a), y = b_.part(column, term.b);
        const std::int64_t product = std::int64_t{x.significand} * y.significand * (1 << up);
        const std::int32_t down = std::min(largest - x.exponent - y.exponent, 62);
        sum += product / (std::int64_t{1} << down);
    }
    return sum;
}

/// False where no infinity and no NaN is among the terms.
bool FusedSum::special(const Line& line, unsigned column, const Addend& addend, std::uint32_t& d) const {
    bool nan = addend.value != addend.value;
    bool positive = addend.special && addend.value > 0, negative = addend.special && addend.value < 0;
    for (const Term& term : line.terms) {
        const Part x = a_.part(line.row, term.a), y = b_.part(column, term.b);
        nan |= x.nan || y.nan;
        if (!x.infinite && !y.infinite)
            continue;
        nan |= x.significand == 0 || y.significand == 0;
        ((x.significand < 0) != (y.significand < 0) ? negative : positive) = true;
    }
    d = nan || (positive && negative) ? nan_of(rule_.half) : infinity_of(rule_.half, negative);
    return nan || positive || negative;
}

} // namespace emu::matrix
