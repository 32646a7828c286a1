// The sums of a tensor core against the rule in machine/instructions/matrix/fused_sum.hpp, applied to one
// product after the other in numbers that hold everything.

#include "machine/instructions/matrix/fused_sum.hpp"
#include "exact.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>

using namespace emu::matrix;
using namespace emu::test;

namespace {

struct Number {
    double value;
    int exponent; ///< Of a subnormal number: the lowest one of the format.
};

Number number_of(std::uint32_t bits, Element type) {
    const FloatFormat format = format_of(type);
    bits >>= format.unread_bits;
    const int fraction_bits = static_cast<int>(format.fraction_bits), bias = format.bias();
    const std::uint32_t fraction = bits & ((1u << format.fraction_bits) - 1);
    const int field = static_cast<int>(bits >> format.fraction_bits & ((1u << format.exponent_bits) - 1));
    const double sign = bits >> (format.fraction_bits + format.exponent_bits) & 1 ? -1 : 1;
    const int top = (1 << format.exponent_bits) - 1;
    if (format.has_infinities && field == top)
        return {fraction ? NAN : sign * INFINITY, 0};
    if (field == top && fraction + 1 == 1u << format.fraction_bits)
        return {NAN, 0};
    const int exponent = std::max(field, 1) - bias;
    return {sign *
                std::ldexp(fraction + (field ? std::ldexp(1.0, fraction_bits) : 0), exponent - fraction_bits),
            exponent};
}

std::uint32_t nearest_half(double value) {
    const int exponent = std::max(value == 0 ? -14 : std::ilogb(value), -14);
    const double digits = std::nearbyint(std::ldexp(std::fabs(value), 10 - exponent));
    const auto bits = static_cast<std::uint32_t>(digits) + static_cast<std::uint32_t>(exponent + 14) * 1024;
    if (value == 0 || bits == 0)
        return 0;
    return std::min(exponent > 15 ? 0x7c00u : bits, 0x7c00u) | (value < 0 ? 0x8000u : 0);
}

std::uint32_t cut_single(double value, unsigned fraction) {
    if (std::fabs(value) >= 0x1p128)
        return value < 0 ? 0xff800000u : 0x7f800000u;
    const auto bits = std::bit_cast<std::uint32_t>(round_to<float>(Exact{value}, Mode::zero));
    const std::uint32_t cut = bits & ~0u << (23 - fraction);
    return cut << 1 ? cut : 0;
}

/// `terms` and the addend, last.
std::uint32_t by_rule(std::vector<std::pair<Number, Number>> terms, const SumRule& rule) {
    double special = 0;
    for (const auto& [x, y] : terms)
        if (!std::isfinite(x.value) || !std::isfinite(y.value))
            special += x.value * y.value;
    if (std::isnan(special))
        return rule.half ? 0x7fff : 0x7fffffff;
    if (special != 0)
        return (rule.half ? 0x7c00u : 0x7f800000u) | (special > 0 ? 0 : rule.half ? 0x8000u : 0x80000000u);
    std::erase_if(terms, [](const auto& term) { return term.first.value == 0 || term.second.value == 0; });
    int largest = -10000;
    for (const auto& [x, y] : terms)
        largest = std::max(largest, x.exponent + y.exponent);
    const int unit = largest - static_cast<int>(rule.fraction);
    double sum = 0;
    for (const auto& [x, y] : terms)
        sum += std::trunc(std::ldexp(x.value, -unit) * y.value); // Of at most 24 digits.
    const double value = std::ldexp(sum, unit);
    return rule.half ? nearest_half(value) : cut_single(value, rule.result_fraction);
}

class Inputs {
  public:
    explicit Inputs(unsigned seed) : random_(seed) {}

    /// Any bits, bits of some exponents around `middle`, or anything rare.
    std::uint32_t element(Element type, unsigned manner, std::uint32_t middle) {
        const FloatFormat format = format_of(type);
        const unsigned fraction = format.fraction_bits + format.unread_bits;
        const std::uint32_t all = bits_of(type) == 32 ? ~0u : (1u << bits_of(type)) - 1;
        const std::uint32_t bits = word() & all, top = (1u << format.exponent_bits) - 1;
        const std::uint32_t others = bits & ~(top << fraction);
        const std::uint32_t field = std::min(middle % top + word() % 12, top - 1);
        if (manner == 0)
            return bits;
        if (manner == 1 || random_() % 8)
            return others | field << fraction;
        const std::uint32_t rare[] = {0, others, others | 1u << fraction, others | (top - 1) << fraction};
        return rare[random_() % 4];
    }
    std::uint32_t word() { return static_cast<std::uint32_t>(random_()); }

  private:
    std::mt19937 random_;
};

void compare(Element type_a, Element type_b, unsigned depth, const SumRule& rule) {
    constexpr unsigned rows = 8, columns = 16;
    const Element type_c = rule.half ? Element::f16 : Element::f32;
    Inputs inputs(bits_of(type_a) + 100 * rule.fraction + depth);
    const auto packed = [](Element type, const std::vector<std::uint32_t>& elements) {
        std::vector<std::byte> bytes;
        for (const std::uint32_t element : elements)
            for (unsigned i = 0; i < bits_of(type) / 8; ++i)
                bytes.push_back(static_cast<std::byte>(element >> 8 * i));
        return bytes;
    };
    for (unsigned round = 0; round < 600; ++round) {
        std::vector<std::uint32_t> a(rows * depth), b(columns * depth), c(columns), d(columns);
        const std::uint32_t middles[] = {inputs.word(), inputs.word(), inputs.word()};
        std::ranges::generate(a, [&] { return inputs.element(type_a, round % 3, middles[0]); });
        std::ranges::generate(b, [&] { return inputs.element(type_b, round % 3, middles[1]); });
        std::ranges::generate(c, [&] { return inputs.element(type_c, round % 3, middles[2]); });
        const std::size_t size = bits_of(type_a) / 8;
        const Factors lines(type_a, rows, depth, packed(type_a, a), depth * size);
        const Factors others(type_b, columns, depth, packed(type_b, b), depth * size, round % 2);
        std::vector<Term> terms;
        for (unsigned k = 0; k < depth; k += 1 + round / 300)
            terms.push_back({static_cast<std::uint8_t>(k), static_cast<std::uint8_t>(depth - 1 - k)});
        for (unsigned row = 0; row < rows; ++row) {
            FusedSum(lines, others, rule).row(row, terms, c, d);
            for (unsigned column = 0; column < columns; ++column) {
                std::vector<std::pair<Number, Number>> numbers{{number_of(c[column], type_c), {1, 0}}};
                for (const Term& term : terms) {
                    numbers.push_back({number_of(a[row * depth + term.a], type_a),
                                       number_of(b[column * depth + term.b], type_b)});
                    if (round % 2)
                        numbers.back().second.value *= -1;
                }
                if (d[column] != by_rule(numbers, rule))
                    FAIL("round " << round << " row " << row << " column " << column << std::hex << ": "
                                  << d[column] << " instead of " << by_rule(numbers, rule));
            }
        }
    }
}

} // namespace

TEST_CASE("Sums of a tensor core are those of the rule, for all kinds of numbers") {
    SECTION("f16") { compare(Element::f16, Element::f16, 16, {}); }
    SECTION("f16 to f16") { compare(Element::f16, Element::f16, 8, {.half = true}); }
    SECTION("bf16") { compare(Element::bf16, Element::bf16, 16, {}); }
    SECTION("tf32") { compare(Element::tf32, Element::tf32, 8, {}); }
    SECTION("fp8") { compare(Element::e4m3, Element::e5m2, 16, {}); }
    SECTION("fp8, few digits") {
        compare(Element::e5m2, Element::e4m3, 32, {.fraction = 13, .result_fraction = 13});
    }
    SECTION("fp8 to f16, few digits") {
        compare(Element::e5m2, Element::e5m2, 32, {.fraction = 13, .half = true});
    }
}

TEST_CASE("A row uses elements of A and B that terms name, and a matrix stays as it was") {
    // Row: 1 2 4 8 16 32 64 128; the column is all 1. An infinity outside the terms does not count.
    std::vector<std::uint16_t> a(8 * 8), b(8 * 8, 0x3f80);
    for (unsigned k = 0; k < 8; ++k)
        a[k] = static_cast<std::uint16_t>(0x3f80 + (k << 7));
    a[3] = 0x7f80;
    const auto factors = [](const std::vector<std::uint16_t>& from) {
        return Factors(Element::bf16, 8, 8, std::as_bytes(std::span(from)), 16);
    };
    const Factors rows = factors(a), columns = factors(b);
    std::vector<std::uint32_t> c(8, 0x3f800000u), d(8);
    const Term some[] = {{0, 5}, {7, 5}, {1, 0}};
    const FusedSum sum(rows, columns, {});
    sum.row(0, some, c, d);
    CHECK(std::bit_cast<float>(d[2]) == 1 + 1 + 128 + 2);
    sum.row(0, c, d);
    CHECK(d[2] == 0x7f800000u);
}

TEST_CASE("Sums that just fit, and results that are too small") {
    const auto sums = [](Element type, std::uint16_t a, std::uint16_t b, std::uint32_t c,
                         const SumRule& rule) {
        const std::vector<std::uint16_t> of_a(8 * 16, a), of_b(8 * 16, b);
        const Factors rows(type, 8, 16, std::as_bytes(std::span(of_a)), 32);
        const Factors columns(type, 8, 16, std::as_bytes(std::span(of_b)), 32);
        std::vector<std::uint32_t> d(8, c);
        FusedSum(rows, columns, rule).row(7, d, d);
        return d[7];
    };
    // 16 (2 - 2^-10)^2 + 2 - 2^-23 in units of 2^-25 is more than 2^31.
    CHECK(std::bit_cast<float>(sums(Element::f16, 0x3fff, 0x3fff, 0x3fffffff, {})) == 0x1.07c002p+6f);
    CHECK(std::bit_cast<float>(sums(Element::f16, 0xbfff, 0x3fff, 0xbfffffff, {})) == -0x1.07c002p+6f);
    // -16 times 2^-48 rounds to zero, which is never negative.
    CHECK(sums(Element::f16, 0x8001, 0x0001, 0, {.half = true}) == 0);
    CHECK(sums(Element::f16, 0x8001, 0x3c00, 0, {.half = true}) == 0x8010);
}
