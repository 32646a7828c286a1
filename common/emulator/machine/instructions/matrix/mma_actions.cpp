// What mma, mma.sp and wmma.mma compute.

#include "machine/instructions/float16.hpp"
#include "machine/instructions/matrix/fused_sum.hpp"
#include "machine/instructions/matrix/mma_operands.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace emu::matrix {
namespace {

std::uint32_t bits_of_single(float value) { return std::bit_cast<std::uint32_t>(canonical(value)); }
float from_half(std::uint32_t bits) { return F16::decode(static_cast<std::uint16_t>(bits)); }

// Floating point: f16, bf16, tf32, and bytes. Bytes are made f16, which holds them all, and multiplied in two
// steps: of each register of A the lower two elements, then the upper two. C is added to them at the end, by
// an addition that rounds to nearest.

constexpr unsigned most_lines = 32;
using Line = std::array<std::uint32_t, most_lines>; ///< A row of C or D.

constexpr bool is_bytes(const MmaForm& form) { return bits_of(form.a) == 8; }
/// wmma of tf32 is two products of half the depth, too.
constexpr unsigned steps_of(const MmaForm& form) {
    return is_bytes(form) || (form.a == Element::tf32 && form.n == 16) ? 2 : 1;
}
constexpr unsigned step_of(const MmaForm& form, unsigned stored) {
    return is_bytes(form) ? stored % 4 / 2 : steps_of(form) * stored / form.k;
}
/// The sum is worked out in binary16; in binary32 where C or D is one.
constexpr bool sums_halves(const MmaForm& form) { return form.c == Element::f16 && form.d == Element::f16; }

/// The products of a row and any column in a step. Of a sparse A each row meets other elements of B; those
/// that it does not meet count for nothing, not even infinities.
std::vector<Term> terms_of(const MmaForm& form, const MmaOperands& operands, unsigned step, unsigned row) {
    std::vector<Term> terms;
    for (unsigned i = 0; i < form.stored_k(); ++i)
        if (step_of(form, i) == step)
            terms.push_back({static_cast<std::uint8_t>(i), static_cast<std::uint8_t>(operands.k_of(row, i))});
    return terms;
}

/// The same numbers. Where a term is cut tells which of the two the sum is of: a subnormal e4m3 number has
/// the exponent of its format's least normal one, as an f16 it has its own.
template <class Quarter>
std::vector<std::uint16_t> halves_of(std::span<const std::byte> bytes) {
    std::vector<std::uint16_t> halves(bytes.size());
    std::ranges::transform(bytes, halves.begin(), [](std::byte b) {
        return F16::encode(Quarter::decode(std::to_integer<std::uint8_t>(b)));
    });
    return halves;
}

Factors factors(Element type, unsigned lines, unsigned depth, const std::vector<std::uint32_t>& packed) {
    const auto bytes = std::as_bytes(std::span(packed));
    if (bits_of(type) != 8)
        return {type, lines, depth, bytes, depth * bits_of(type) / 8};
    const auto halves = type == Element::e4m3 ? halves_of<E4M3>(bytes) : halves_of<E5M2>(bytes);
    return {Element::f16, lines, depth, std::as_bytes(std::span(halves)), depth * sizeof halves.front()};
}

/// Adds all products to the rows.
void add_up(const MmaForm& form, const MmaOperands& operands, std::span<Line> lines) {
    const Factors a = factors(form.a, form.m, form.stored_k(), operands.rows_of_a());
    const Factors b = factors(form.b, form.n, form.k, operands.columns_of_b());
    const FusedSum sum(a, b, SumRule{.half = sums_halves(form)});
    if (!form.sparse && steps_of(form) == 1) {
        for (unsigned row = 0; row < form.m; ++row)
            sum.row(row, lines[row], lines[row]);
        return;
    }
    for (unsigned step = 0; step < steps_of(form); ++step) {
        std::vector<Term> terms = terms_of(form, operands, step, 0);
        for (unsigned row = 0; row < form.m; ++row) {
            if (form.sparse && row)
                terms = terms_of(form, operands, step, row);
            sum.row(row, terms, lines[row], lines[row]);
        }
    }
}

/// C as the sum takes it.
std::uint32_t addend(const MmaForm& form, std::uint32_t c) {
    return form.c == Element::f16 && form.d == Element::f32 ? bits_of_single(from_half(c)) : c;
}

std::uint32_t result(const MmaForm& form, std::uint32_t sum, std::uint32_t c) {
    const bool half = form.d == Element::f16;
    if (is_bytes(form) && half)
        return F16::encode(from_half(sum) +
                           from_half(c)); // binary32 holds enough of the sum to round it twice.
    if (is_bytes(form))
        return bits_of_single(std::bit_cast<float>(sum) + std::bit_cast<float>(c));
    return half && form.c == Element::f32 ? F16::encode(std::bit_cast<float>(sum)) : sum;
}

void multiply_floats(Warp& warp, const Op& op, LaneMask lanes) {
    const MmaForm& form = plan_of(op).form;
    MmaOperands operands(warp, op);
    std::array<Line, most_lines> lines{};
    for (unsigned row = 0; row < form.m && !is_bytes(form); ++row)
        for (unsigned column = 0; column < form.n; ++column)
            lines[row][column] = addend(form, operands.c_at(row * form.n + column));
    add_up(form, operands, lines);
    for (unsigned row = 0; row < form.m; ++row)
        for (unsigned column = 0; column < form.n; ++column) {
            const unsigned i = row * form.n + column;
            operands.set_d_at(i, result(form, lines[row][column], operands.c_at(i)));
        }
    operands.write_d(warp, op, lanes);
}

// m8n8k4 of f16 is a subroutine of the assembler for sm_80 and later. In binary32 it adds four products, the
// first of them to 0, and then C; or where D is binary16 C and two pairs of products.

float sum_of_quad(bool half, const std::array<float, 4>& a, const std::array<float, 4>& b, float c) {
    if (half) {
        const float first = HostArithmetic::fused(a[1], b[1], a[0] * b[0]),
                    second = HostArithmetic::fused(a[3], b[3], a[2] * b[2]);
        return c + first + second;
    }
    float sum = 0;
    for (unsigned k = 0; k < 4; ++k)
        sum = HostArithmetic::fused(a[k], b[k], sum);
    return sum + c;
}

void multiply_quads(Warp& warp, const Op& op, LaneMask lanes) {
    MmaOperands operands(warp, op);
    const bool half = plan_of(op).form.d == Element::f16;
    for (unsigned i = 0; i < 4 * 8 * 8; ++i) {
        const unsigned quad = i / 64, row = i / 8 % 8, column = i % 8;
        std::array<float, 4> a, b;
        for (unsigned k = 0; k < 4; ++k) {
            a[k] = operands.quad_a(quad, row, k);
            b[k] = operands.quad_b(quad, k, column);
        }
        const float sum = sum_of_quad(half, a, b, operands.quad_c(quad, row, column));
        operands.set_quad_d(quad, row, column, half ? F16::encode(sum) : bits_of_single(sum));
    }
    operands.write_d(warp, op, lanes);
}

// f64: fused multiply-adds, one after the other.

/// Of several NaNs it keeps another than fma does.
double add_product(const auto& in, double a, double b, double c) {
    const double sum = in.fused(a, b, c);
    if (sum == sum)
        return sum;
    const double nan = b != b ? b : c != c ? c : a;
    constexpr std::uint64_t quiet = 0x0008000000000000, none = 0xfff8000000000000;
    return std::bit_cast<double>(nan != nan ? std::bit_cast<std::uint64_t>(nan) | quiet : none);
}

void multiply_doubles(Warp& warp, const Op& op, LaneMask lanes) {
    const MmaForm& form = plan_of(op).form;
    MmaOperands operands(warp, op);
    const RoundingScope scope(form.rounding);
    for (unsigned row = 0; row < form.m; ++row)
        for (unsigned column = 0; column < form.n; ++column) {
            double sum = operands.wide_c(row, column);
            for (unsigned k = 0; k < form.k; ++k)
                sum = add_product(scope.arithmetic, operands.wide_a(row, k), operands.wide_b(k, column), sum);
            operands.set_wide_d(row, column, sum);
        }
    operands.write_d(warp, op, lanes);
}

// Integers: exact, then reduced to 32 bits or clamped.

std::int64_t integer_of(Element element, std::uint32_t bits) {
    const unsigned unused = 32 - bits_of(element);
    const bool is_signed = element == Element::s8 || element == Element::s4;
    return is_signed ? static_cast<std::int32_t>(bits << unused) >> unused : static_cast<std::int32_t>(bits);
}

void multiply_integers(Warp& warp, const Op& op, LaneMask lanes) {
    const MmaForm& form = plan_of(op).form;
    MmaOperands operands(warp, op);
    using Limits = std::numeric_limits<std::int32_t>;
    for (unsigned row = 0; row < form.m; ++row)
        for (unsigned column = 0; column < form.n; ++column) {
            std::int64_t sum = static_cast<std::int32_t>(operands.c(row, column));
            for (unsigned i = 0; i < form.stored_k(); ++i)
                sum += integer_of(form.a, operands.a(row, i)) *
                       integer_of(form.b, operands.b(operands.k_of(row, i), column));
            if (form.saturate)
                sum = std::clamp<std::int64_t>(sum, Limits::min(), Limits::max());
            operands.set_d(row, column, static_cast<std::uint32_t>(sum));
        }
    operands.write_d(warp, op, lanes);
}

void multiply_bits(Warp& warp, const Op& op, LaneMask lanes) {
    const MmaForm& form = plan_of(op).form;
    MmaOperands operands(warp, op);
    for (unsigned row = 0; row < form.m; ++row)
        for (unsigned column = 0; column < form.n; ++column) {
            std::uint32_t sum = operands.c(row, column);
            for (unsigned k = 0; k < form.k; k += 32) {
                const std::uint32_t a = operands.bits_of_a(row, k), b = operands.bits_of_b(k, column);
                const bool exclusive = form.bits == BitOperation::exclusive_or;
                sum += static_cast<std::uint32_t>(std::popcount(exclusive ? a ^ b : a & b));
            }
            operands.set_d(row, column, sum);
        }
    operands.write_d(warp, op, lanes);
}

} // namespace

Warp::MeetingAction action_of(const MmaForm& form) {
    switch (form.a) {
    case Element::f16:
        return form.is_quad() ? multiply_quads : multiply_floats;
    case Element::bf16:
    case Element::tf32:
    case Element::e4m3:
    case Element::e5m2:
        return multiply_floats;
    case Element::f64:
        return multiply_doubles;
    case Element::b1:
        return multiply_bits;
    default:
        return multiply_integers;
    }
}

} // namespace emu::matrix
