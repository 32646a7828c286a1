// What wgmma.mma_async computes. Values are those of an H200, bit for bit (tests/hardware).

#include "machine/instructions/matrix/fused_sum.hpp"
#include "machine/instructions/matrix/wgmma_task.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace emu::matrix {
namespace {

/// Of 8-bit factors fewer digits of the sum are kept than of others.
SumRule sum_rule(const WgmmaForm& form) {
    SumRule rule{.half = form.d == Element::f16};
    if (bits_of(form.a) == 8)
        rule.fraction = rule.result_fraction = 13;
    return rule;
}

/// Each row of a sparse A meets other elements of B; those that it does not meet count for nothing, not even
/// infinities.
void add_floats(const WgmmaForm& form, const Tile& a, const Tile& b, const Metadata& metadata,
                Accumulators& d) {
    const Factors rows(form.a, warp_rows, form.stored_k(), a.bytes, a.line_bytes, form.negate_a);
    const Factors columns(form.b, form.n, form.k, b.bytes, b.line_bytes, form.negate_b);
    const FusedSum sum(rows, columns, sum_rule(form));
    std::vector<Term> terms(form.stored_k());
    for (unsigned row = 0; row < warp_rows; ++row) {
        for (unsigned i = 0; i < form.stored_k(); ++i) {
            const unsigned k = form.sparse ? metadata.k_of(row, i) : i;
            terms[i] = {static_cast<std::uint8_t>(i), static_cast<std::uint8_t>(k)};
        }
        sum.row(row, terms, d.row(row), d.row(row));
    }
}

std::int32_t integer_of(Element type, std::uint32_t bits) {
    return type == Element::s8 ? static_cast<std::int8_t>(bits) : static_cast<std::int32_t>(bits);
}

void add_integers(const WgmmaForm& form, const Tile& a, const Tile& b, const Metadata& metadata,
                  Accumulators& d) {
    using Limits = std::numeric_limits<std::int32_t>;
    for (unsigned row = 0; row < warp_rows; ++row)
        for (unsigned column = 0; column < form.n; ++column) {
            std::int64_t sum = static_cast<std::int32_t>(d.row(row)[column]);
            for (unsigned i = 0; i < form.stored_k(); ++i) {
                const unsigned k = form.sparse ? metadata.k_of(row, i) : i;
                sum += integer_of(form.a, a.element(form.a, row, i)) *
                       integer_of(form.b, b.element(form.b, column, k));
            }
            if (form.saturate)
                sum = std::clamp<std::int64_t>(sum, Limits::min(), Limits::max());
            d.row(row)[column] = static_cast<std::uint32_t>(sum);
        }
}

void add_bits(const WgmmaForm& form, const Tile& a, const Tile& b, Accumulators& d) {
    for (unsigned row = 0; row < warp_rows; ++row)
        for (unsigned column = 0; column < form.n; ++column)
            for (unsigned word = 0; word < form.k / 32; ++word)
                d.row(row)[column] += static_cast<std::uint32_t>(std::popcount(
                    a.element(Element::s32, row, word) & b.element(Element::s32, column, word)));
}

} // namespace

void multiply_tiles(const WgmmaForm& form, const Tile& a, const Tile& b, const Metadata& metadata,
                    Accumulators& d) {
    if (form.a == Element::b1)
        add_bits(form, a, b, d);
    else if (form.d == Element::s32)
        add_integers(form, a, b, metadata, d);
    else
        add_floats(form, a, b, metadata, d);
}

} // namespace emu::matrix
