#include "machine/instructions/matrix/fused_sum.hpp"

#include "machine/instructions/float16.hpp"
#include "machine/instructions/matrix/vectors.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

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

/// Sums of products up to here, with an addend, fit in 32 bits.
constexpr std::int32_t limit = 1 << 30;
constexpr std::int32_t sign = std::numeric_limits<std::int32_t>::min();

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

/// A result of zero is +0, always.
std::uint32_t half_of(std::uint32_t single) {
    const std::uint32_t half = F16::encode(std::bit_cast<float>(single));
    return half & 0x7fff ? half : 0;
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
        : row(row), terms(products), scale(a.scales_[row]), special(a.special_[row]) {
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
    std::int32_t special;                  ///< Not zero: it has an infinity or a NaN.
    std::array<Floats, most_terms> values; ///< Each of them many times.
    std::array<Shorts, most_terms> exponents;
    std::array<std::uint32_t, most_terms> places; ///< Of the factors in a strip of B.
};

/// Eight columns of B, and what is worked out for them.
struct FusedSum::Strip {
    const float* values;
    const std::int16_t* exponents;
    template <class Value>
    using Each = std::array<Value, Factors::strip>;
    Each<float> addends;
    Each<std::int32_t> addend_exponents;
    Each<std::int32_t> largest;
    Each<float> units;            ///< What a product is multiplied by before it is cut.
    Each<std::int32_t> sums;      ///< Of the products.
    Each<std::int32_t> too_small; ///< Not zero where products must be worked out one by one.
    Each<std::int32_t> special;   ///< Not zero where a term may be an infinity or a NaN.
    /// Results that cannot be worked out together with others.
    Each<std::int32_t> left;
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

void FusedSum::read_addends(const std::uint32_t* c, Strip& strip) const {
    if (rule_.half)
        for (unsigned i = 0; i < Factors::strip; ++i)
            strip.addends[i] = F16::decode(static_cast<std::uint16_t>(c[i]));
    else
        std::memcpy(&strip.addends, c, sizeof strip.addends);
    const Integers none = Integers{} + Part::no_exponent;
    for (unsigned i = 0; i < Factors::strip; i += 4) {
        const Integers magnitude = load<Integers>(&strip.addends[i]) & 0x7fffffff;
        const Integers field = magnitude >> 23, special = field == 0xff, is_zero = magnitude == 0;
        // A subnormal number of either format is not normalised.
        const Integers exponent = larger(field - 127, Integers{} - (rule_.half ? 14 : 126));
        store((special | is_zero) ? none : exponent, &strip.addend_exponents[i]);
        store(special, &strip.special[i]);
    }
}

void FusedSum::find_units(const Line& line, unsigned column, Strip& strip) const {
    Shorts of_products = Shorts{} + 2 * Part::no_exponent;
    for (std::size_t i = 0; i < line.terms.size(); ++i) {
        const std::uint32_t place = line.places.data()[i];
        of_products = larger(of_products, load<Shorts>(strip.exponents + place) + line.exponents.data()[i]);
    }
    for (unsigned i = 0; i < Factors::strip; i += 4) {
        const Integers products = i ? upper(of_products) : lower(of_products);
        const Integers largest = larger(products, load<Integers>(&strip.addend_exponents[i]));
        const Integers above_scale = largest - line.scale - load<Integers>(&b_.scales_.data()[column + i]);
        const Integers lowest = Integers{} + lowest_in_scale;
        const Integers power = static_cast<std::int32_t>(rule_.fraction) - larger(above_scale, lowest);
        store(largest, &strip.largest[i]);
        store((above_scale < lowest) & (products > lowest_of_products), &strip.too_small[i]);
        store(larger(power + 127, Integers{}) << 23, &strip.units[i]);
        store(load<Integers>(&strip.special[i]) | load<Integers>(&b_.special_.data()[column + i]) |
                  line.special,
              &strip.special[i]);
    }
}

void FusedSum::add_products(const Line& line, Strip& strip) {
    const auto low_unit = load<Floats>(&strip.units[0]), high_unit = load<Floats>(&strip.units[4]);
    Integers low{}, high{};
    for (std::size_t i = 0; i < line.terms.size(); ++i) {
        const float* values = strip.values + line.places.data()[i];
        const Floats factor = line.values.data()[i];
        low = wrapped(low, __builtin_convertvector(load<Floats>(values) * factor * low_unit, Integers));
        high =
            wrapped(high, __builtin_convertvector(load<Floats>(values + 4) * factor * high_unit, Integers));
    }
    store(low, &strip.sums[0]);
    store(high, &strip.sums[4]);
}

/// Adds C and makes binary32 numbers of the sums, cut or (so that they can be rounded once more) with the
/// last digit set where digits are lost. True where some results
/// are left.
bool FusedSum::finish(Strip& strip, std::uint32_t* d) const {
    Integers any{};
    const auto fraction = static_cast<std::int32_t>(rule_.fraction);
    for (unsigned i = 0; i < Factors::strip; i += 4) {
        const auto largest = load<Integers>(&strip.largest[i]);
        const auto products = load<Integers>(&strip.sums[i]);
        // The power of two may not be a binary32 number; its halves are, where the addend is not cut to zero.
        const Integers is_cut = largest - load<Integers>(&strip.addend_exponents[i]) > 60;
        const Integers power = smaller(larger(fraction - largest, Integers{} - 200), Integers{} + 200);
        const Integers half_power = power >> 1, other_half = power - half_power;
        const Floats addend = load<Floats>(&strip.addends[i]) *
                              std::bit_cast<Floats>((half_power + 127) << 23) *
                              std::bit_cast<Floats>((other_half + 127) << 23);
        const Integers usable = ~(is_cut | load<Integers>(&strip.special[i]));
        const Integers addend_bits = std::bit_cast<Integers>(addend) & usable;
        const Integers sum =
            wrapped(products, __builtin_convertvector(std::bit_cast<Floats>(addend_bits), Integers));
        const Integers is_negative = sum < 0, magnitude = wrapped(sum ^ is_negative, -is_negative);
        const Floats near = __builtin_convertvector(magnitude, Floats);
        const Integers back = __builtin_convertvector(near, Integers);
        Integers bits = std::bit_cast<Integers>(near) + (back > magnitude);
        if (rule_.half)
            bits |= (back != magnitude) & 1;
        else
            bits &= -(1 << (23 - rule_.result_fraction));
        const Integers field = (bits >> 23) + largest - fraction;
        const Integers is_zero = sum == 0;
        const Integers result = (wrapped(bits, (largest - fraction) << 23) | (is_negative & sign)) & ~is_zero;
        const Integers large = (products > limit) | (products < -limit);
        const Integers left = (~is_zero & ((field < 1) | (field > 254))) | large |
                              load<Integers>(&strip.too_small[i]) | load<Integers>(&strip.special[i]);
        store(result, &d[i]);
        store(left, &strip.left[i]);
        any |= left;
    }
    return (any[0] | any[1] | any[2] | any[3]) != 0;
}

void FusedSum::add_strip(const Line& line, unsigned column, const std::uint32_t* c, std::uint32_t* d) const {
    const std::size_t first = b_.place(column, 0);
    Strip strip;
    strip.values = &b_.values_[first];
    strip.exponents = &b_.exponents_[first];
    read_addends(c, strip);
    find_units(line, column, strip);
    add_products(line, strip);
    if (!finish(strip, d) && !rule_.half)
        return;
    for (unsigned i = 0; i < Factors::strip; ++i)
        if (strip.left[i])
            d[i] = finish_one(line, column, strip, i);
        else if (rule_.half)
            d[i] = half_of(d[i]);
}

/// The same for column `i` of the strip, whatever its terms are.
std::uint32_t FusedSum::finish_one(const Line& line, unsigned column, const Strip& strip, unsigned i) const {
    std::uint32_t result = 0;
    if (strip.special[i] && special(line, column + i, strip.addends[i], result))
        return result;
    const std::int32_t largest = strip.largest[i],
                       shift = largest - static_cast<std::int32_t>(rule_.fraction);
    if (largest < lowest_of_products)
        return 0;
    const std::int64_t products =
        strip.too_small[i] ? sum_one_by_one(line, column + i, largest) : std::int64_t{strip.sums[i]};
    const auto addend = static_cast<std::int64_t>(strip.addends[i] * power_of_two(-shift));
    const auto sum = static_cast<double>(products + addend);
    if (sum == 0)
        return 0;
    return rule_.half ? to_half(sum, shift) : to_single(sum, shift, rule_.result_fraction);
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
bool FusedSum::special(const Line& line, unsigned column, float addend, std::uint32_t& d) const {
    bool nan = std::isnan(addend);
    bool positive = std::isinf(addend) && addend > 0, negative = std::isinf(addend) && addend < 0;
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
