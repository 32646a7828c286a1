// Products of small matrices in the registers of a warp: mma.sync, mma.sp (PTX ISA 9.0, sections 9.7.14.5 and
// 9.7.14.6). Values are those of an H200, bit for bit (tests/hardware).

#include "machine/instructions/float16.hpp"
#include "machine/instructions/matrix/fragments.hpp"
#include "machine/instructions/matrix/fused_sum.hpp"
#include "machine/instructions/matrix/mma_forms.hpp"
#include "machine/instructions/matrix/registers.hpp"

#include <bit>
#include <cmath>
#include <limits>

namespace emu {
namespace {

using namespace matrix;
using ptx::Type;

struct MmaPlan final : WarpPlan {
    MmaForm form;
    Rows d, a, b, c;
    Row metadata;
    unsigned selector = 0; ///< Which threads of a group hold the metadata.
};

const MmaPlan& plan_of(const Op& op) { return *static_cast<const MmaPlan*>(op.extra); }

/// The operands of all lanes.
struct Operands {
    Registers d, a, b, c;
    std::array<std::uint32_t, warp_size> metadata{};

    Operands(Warp& warp, const Op& op)
        : d(plan_of(op).d.size(), words(plan_of(op).form.d)),
          a(read(warp, op, words(plan_of(op).form.a),
                 [](const Op& o) -> const Rows& { return plan_of(o).a; })),
          b(read(warp, op, words(plan_of(op).form.b),
                 [](const Op& o) -> const Rows& { return plan_of(o).b; })),
          c(read(warp, op, words(plan_of(op).form.c),
                 [](const Op& o) -> const Rows& { return plan_of(o).c; })) {
        if (!plan_of(op).form.sparse)
            return;
        const Registers all = read(warp, op, 1, [](const Op& o) { return Rows{plan_of(o).metadata}; });
        for (unsigned lane = 0; lane < warp_size; ++lane)
            metadata[lane] = all.word(0, lane);
    }

    void write_d(Warp& warp, const Op& op, LaneMask lanes) const {
        write(warp, op, lanes, d, [](const Op& o) -> const Rows& { return plan_of(o).d; });
    }

  private:
    static unsigned words(Element e) { return e == Element::f64 ? 2 : 1; }
};

std::uint32_t element_at(const Registers& registers, const Place& place, unsigned bits) {
    const std::uint32_t word = registers.word(place.index, place.lane) >> place.shift;
    return bits == 32 ? word : word & ((1u << bits) - 1);
}

void put(Registers& registers, const Place& place, unsigned bits, std::uint32_t value) {
    std::uint32_t& word = registers.word(place.index, place.lane);
    const std::uint32_t mask = bits == 32 ? ~0u : ((1u << bits) - 1) << place.shift;
    word = (word & ~mask) | (value << place.shift & mask);
}

/// Elements that one index of the metadata is for.
unsigned together_in(const MmaForm& form) { return bits_of(form.a) == 4 ? 2 : 1; }
/// Elements that one digit of the metadata is for.
unsigned stored_in_chunk(const MmaForm& form) { return form.a == Element::tf32 ? 1 : 2 * together_in(form); }
/// Lanes of a group of four that hold the metadata of a row.
unsigned lanes_of_metadata(const MmaForm& form) { return form.stored_k() / stored_in_chunk(form) / 4; }

/// Which k the stored element `stored` of a row of A has. Of four places of a row (of two of tf32, of eight
/// of 4-bit integers, in pairs) two are stored; a digit of the metadata says which. A lane holds four digits
/// of a row and four of the row 8 below.
unsigned k_of(const MmaForm& form, const Operands& operands, unsigned selector, unsigned row,
              unsigned stored) {
    if (!form.sparse)
        return stored;
    const unsigned together = together_in(form), in_chunk = stored_in_chunk(form);
    const unsigned chunk = stored / in_chunk, within = stored % in_chunk, lanes = lanes_of_metadata(form);
    const unsigned first = 4 * (row % 8) + selector * lanes, upper = row / 8;
    const std::uint32_t digit =
        bits_of(form.a) >= 16 ? operands.metadata[first + chunk / 4] >> (16 * upper + 4 * (chunk % 4)) & 0xf
                              : operands.metadata[first + chunk / 8 * 2 + upper] >> 4 * (chunk % 8) & 0xf;
    if (form.a == Element::tf32)
        return 2 * chunk + (digit & 3) / 2;
    return 2 * in_chunk * chunk + together * (digit >> (2 * (within / together)) & 3) + within % together;
}

float single_of(std::uint32_t bits) { return std::bit_cast<float>(bits); }
std::uint32_t bits_of_single(float value) { return std::bit_cast<std::uint32_t>(canonical(value)); }

// Floating point: f16, bf16, tf32, and bytes. Bytes are made f16, which holds them all, and multiplied in two
// steps: of each register of A the lower two elements, then the upper two. C is added to them at the end, by
// an addition that rounds to nearest.

using Line = std::array<std::uint32_t, 8>; ///< A row of C or D.

constexpr bool is_bytes(const MmaForm& form) { return bits_of(form.a) == 8; }
constexpr bool is_in_step(const MmaForm& form, unsigned stored, unsigned step) {
    return !is_bytes(form) || stored % 4 / 2 == step;
}

/// Adds the products of a step to all rows. A's elements stand in the places of their k.
void add_dense(const MmaForm& form, const Operands& operands, unsigned step, std::span<Line> lines) {
    const unsigned depth = is_bytes(form) ? form.k / 2 : form.k, of_a = bits_of(form.a),
                   of_b = bits_of(form.b);
    const FloatFormat format_a = format_of(form.a), format_b = format_of(form.b);
    Factors a(Factors::Order::by_line, form.m, depth), b(Factors::Order::by_k, form.n, depth);
    for (unsigned k = 0, at = 0; k < form.k; ++k) {
        if (!is_in_step(form, k, step))
            continue;
        for (unsigned row = 0; row < form.m; ++row)
            a.set(row, at, element_at(operands.a, place_in_a(form.m, of_a, row, k), of_a), format_a);
        for (unsigned column = 0; column < form.n; ++column)
            b.set(column, at, element_at(operands.b, place_in_b(of_b, k, column), of_b), format_b);
        ++at;
    }
    const FusedSum sum(a, b, SumRule{.half = form.d == Element::f16});
    for (unsigned row = 0; row < form.m; ++row)
        sum.row(row, lines[row], lines[row]);
}

/// The same of a sparse A: each row meets other elements of B, and those that it does not meet count for
/// nothing, not even infinities.
void add_sparse(const MmaPlan& plan, const Operands& operands, unsigned step, std::span<Line> lines) {
    const MmaForm& form = plan.form;
    const unsigned stored = form.stored_k(), of_a = bits_of(form.a), of_b = bits_of(form.b);
    const FloatFormat format_a = format_of(form.a), format_b = format_of(form.b);
    const unsigned depth = is_bytes(form) ? stored / 2 : stored;
    for (unsigned row = 0; row < form.m; ++row) {
        Factors a(Factors::Order::by_line, 1, depth), b(Factors::Order::by_k, form.n, depth);
        for (unsigned i = 0, at = 0; i < stored; ++i) {
            if (!is_in_step(form, i, step))
                continue;
            const unsigned k = k_of(form, operands, plan.selector, row, i);
            a.set(0, at, element_at(operands.a, place_in_a(form.m, of_a, row, i), of_a), format_a);
            for (unsigned column = 0; column < form.n; ++column)
                b.set(column, at, element_at(operands.b, place_in_b(of_b, k, column), of_b), format_b);
            ++at;
        }
        FusedSum(a, b, SumRule{.half = form.d == Element::f16}).row(0, lines[row], lines[row]);
    }
}

std::uint32_t add(bool half, std::uint32_t a, std::uint32_t b) {
    if (!half)
        return bits_of_single(single_of(a) + single_of(b));
    const auto decode = [](std::uint32_t bits) { return F16::decode(static_cast<std::uint16_t>(bits)); };
    return F16::encode(decode(a) +
                       decode(b)); // binary32 holds enough of the sum for the second rounding to be right.
}

void mma_fused(Warp& warp, const Op& op, LaneMask lanes) {
    const MmaPlan& plan = plan_of(op);
    const MmaForm& form = plan.form;
    Operands operands(warp, op);
    const bool bytes = is_bytes(form), half = form.d == Element::f16;
    const unsigned bits = bits_of(form.d);
    std::array<Line, 16> lines{};
    const auto c_at = [&](unsigned row, unsigned column) {
        return element_at(operands.c, place_in_c(bits, row, column), bits);
    };
    for (unsigned row = 0; row < form.m && !bytes; ++row)
        for (unsigned column = 0; column < form.n; ++column)
            lines[row][column] = c_at(row, column);
    for (unsigned step = 0; step < (bytes ? 2u : 1u); ++step)
        form.sparse ? add_sparse(plan, operands, step, lines) : add_dense(form, operands, step, lines);
    for (unsigned row = 0; row < form.m; ++row)
        for (unsigned column = 0; column < form.n; ++column)
            put(operands.d, place_in_c(bits, row, column), bits,
                bytes ? add(half, lines[row][column], c_at(row, column)) : lines[row][column]);
    operands.write_d(warp, op, lanes);
}

// m8n8k4 of f16 is a subroutine of the assembler for sm_80 and later. In binary32 it adds four products, the
// first of them to 0, and then C; or where D is binary16 C and two pairs of products.

float sum_of_quad(bool half, const std::array<float, 4>& a, const std::array<float, 4>& b, float c) {
    if (half) {
        const float first = std::fma(a[1], b[1], a[0] * b[0]), second = std::fma(a[3], b[3], a[2] * b[2]);
        return c + first + second;
    }
    float sum = 0;
    for (unsigned k = 0; k < 4; ++k)
        sum = std::fma(a[k], b[k], sum);
    return sum + c;
}

void mma_quad(const MmaForm& form, Operands& operands, unsigned quad, unsigned row, unsigned column) {
    const auto number = [](const Registers& from, const Place& place) {
        return F16::decode(static_cast<std::uint16_t>(element_at(from, place, 16)));
    };
    std::array<float, 4> a, b;
    for (unsigned k = 0; k < 4; ++k) {
        a[k] = number(operands.a, quad_pairs::place_in_factor(!form.a_by_column, quad, row, k));
        b[k] = number(operands.b, quad_pairs::place_in_factor(!form.b_by_row, quad, column, k));
    }
    const unsigned of_c = bits_of(form.c), of_d = bits_of(form.d);
    const Place place = quad_pairs::place_in_c(of_c, quad, row, column);
    const float c = of_c == 16 ? number(operands.c, place) : single_of(element_at(operands.c, place, 32));
    const float sum = sum_of_quad(of_d == 16, a, b, c);
    put(operands.d, quad_pairs::place_in_c(of_d, quad, row, column), of_d,
        of_d == 16 ? F16::encode(sum) : bits_of_single(sum));
}

void mma_quads(Warp& warp, const Op& op, LaneMask lanes) {
    Operands operands(warp, op);
    for (unsigned i = 0; i < 4 * 8 * 8; ++i)
        mma_quad(plan_of(op).form, operands, i / 64, i / 8 % 8, i % 8);
    operands.write_d(warp, op, lanes);
}

// f64: fused multiply-adds, one after the other.

double quiet(double nan) {
    return std::bit_cast<double>(std::bit_cast<std::uint64_t>(nan) | 0x0008000000000000u);
}

double fma_keeping_nan(double a, double b, double c) {
    const double result = std::fma(a, b, c);
    if (result == result)
        return result;
    const double nan = b != b ? b : c != c ? c : a; // Not the order of fma.
    return nan != nan ? quiet(nan) : std::bit_cast<double>(std::uint64_t{0xfff8000000000000});
}

void mma_double(Warp& warp, const Op& op, LaneMask lanes) {
    const MmaForm& form = plan_of(op).form;
    Operands operands(warp, op);
    const RoundingScope scope(form.rounding);
    const auto number = [](const Registers& from, const Place& place) {
        return std::bit_cast<double>(from.wide(place.index, place.lane));
    };
    for (unsigned row = 0; row < form.m; ++row)
        for (unsigned column = 0; column < form.n; ++column) {
            const Place place = place_in_c(64, row, column);
            double sum = number(operands.c, place);
            for (unsigned k = 0; k < form.k; ++k)
                sum = fma_keeping_nan(number(operands.a, place_in_a(form.m, 64, row, k)),
                                      number(operands.b, place_in_b(64, k, column)), sum);
            operands.d.set_wide(place.index, place.lane, std::bit_cast<std::uint64_t>(sum));
        }
    operands.write_d(warp, op, lanes);
}

// Integers: exact, then reduced to 32 bits or clamped.

std::int32_t integer_of(Element element, std::uint32_t bits) {
    const unsigned unused = 32 - bits_of(element);
    const bool is_signed = element == Element::s8 || element == Element::s4;
    return is_signed ? static_cast<std::int32_t>(bits << unused) >> unused : static_cast<std::int32_t>(bits);
}

void mma_integer(Warp& warp, const Op& op, LaneMask lanes) {
    const MmaForm& form = plan_of(op).form;
    Operands operands(warp, op);
    const unsigned bits = bits_of(form.a);
    for (unsigned row = 0; row < form.m; ++row)
        for (unsigned column = 0; column < form.n; ++column) {
            const Place place = place_in_c(32, row, column);
            std::int64_t sum = static_cast<std::int32_t>(element_at(operands.c, place, 32));
            for (unsigned stored = 0; stored < form.stored_k(); ++stored) {
                const unsigned k = k_of(form, operands, plan_of(op).selector, row, stored);
                sum += std::int64_t{integer_of(
                           form.a, element_at(operands.a, place_in_a(form.m, bits, row, stored), bits))} *
                       integer_of(form.b, element_at(operands.b, place_in_b(bits, k, column), bits));
            }
            if (form.saturate)
                sum = std::clamp<std::int64_t>(sum, std::numeric_limits<std::int32_t>::min(),
                                               std::numeric_limits<std::int32_t>::max());
            put(operands.d, place, 32, static_cast<std::uint32_t>(sum));
        }
    operands.write_d(warp, op, lanes);
}

void mma_bits(Warp& warp, const Op& op, LaneMask lanes) {
    const MmaForm& form = plan_of(op).form;
    Operands operands(warp, op);
    for (unsigned row = 0; row < form.m; ++row)
        for (unsigned column = 0; column < form.n; ++column) {
            const Place place = place_in_c(32, row, column);
            std::uint32_t sum = element_at(operands.c, place, 32);
            for (unsigned k = 0; k < form.k; k += 32) {
                const std::uint32_t a = element_at(operands.a, place_in_a(form.m, 1, row, k), 32);
                const std::uint32_t b = element_at(operands.b, place_in_b(1, k, column), 32);
                sum += static_cast<std::uint32_t>(
                    std::popcount(form.bits == BitOperation::exclusive_or ? a ^ b : a & b));
            }
            put(operands.d, place, 32, sum);
        }
    operands.write_d(warp, op, lanes);
}

Warp::MeetingAction action_of(const MmaForm& form) {
    switch (form.a) {
    case Element::f16:
        return form.is_quad() ? mma_quads : mma_fused;
    case Element::bf16:
    case Element::tf32:
    case Element::e4m3:
    case Element::e5m2:
        return mma_fused;
    case Element::f64:
        return mma_double;
    case Element::b1:
        return mma_bits;
    default:
        return mma_integer;
    }
}

/// The selector names the lanes of each group that hold the metadata: one of four, one of two pairs, or all.
unsigned selector_of(const DecodeContext& c, const MmaForm& form) {
    const std::int64_t selector = c.immediate(5);
    if (selector < 0 || selector >= 4 / lanes_of_metadata(form))
        c.malformed("has a selector that names no lanes of a group");
    return static_cast<unsigned>(selector);
}

void decode_mma(DecodeContext& c, Op& op) {
    auto plan = std::make_unique<MmaPlan>();
    const MmaForm form = mma_form(c);
    const auto bytes = [](Element e) { return e == Element::f64 ? 8u : 4u; };
    plan->form = form;
    plan->d = destinations(c, 0, form.registers_of(form.d), bytes(form.d));
    plan->a = sources(c, 1, form.registers_of_a(), bytes(form.a));
    plan->b = sources(c, 2, form.registers_of_b(), bytes(form.b));
    plan->c = sources(c, 3, form.registers_of(form.c), bytes(form.c));
    plan->action = action_of(form);
    if (form.sparse) {
        plan->metadata = c.source(4, Type::b32);
        plan->selector = selector_of(c, form);
    }
    op.extra = c.keep(std::move(plan));
    op.handler = execute_together;
}

constexpr InstructionRow table[] = {
    {"mma", "9.7.14.5", decode_mma},
};

} // namespace

std::span<const InstructionRow> mma_instructions() { return table; }

} // namespace emu
