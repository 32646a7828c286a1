#include "machine/instructions/matrix/wgmma_task.hpp"

#include "machine/instructions/matrix/fragments.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace emu::matrix {

bool adds_to_sums(Warp& warp, const Op& op, LaneMask lanes) {
    const WgmmaPlan& plan = *static_cast<const WgmmaPlan*>(op.extra);
    return (warp.predicate(plan.adds) >> std::countr_zero(lanes) & 1) != plan.adds_negated;
}

std::uint32_t Tile::element(Element type, unsigned line, unsigned k) const {
    const std::size_t bits = bits_of(type), from = std::size_t{line} * line_bytes + k * bits / 8;
    std::uint32_t word = 0;
    std::memcpy(&word, &bytes[from], std::max<std::size_t>(bits / 8, 1));
    return word;
}

WgmmaTask::WgmmaTask(Warp& warp, const WgmmaPlan& plan, std::uint32_t frame)
    : warp_(warp), plan_(plan), frame_(frame) {}

Tile WgmmaTask::tile_in_memory(Cluster& cluster, const Descriptor& from, unsigned first_line, unsigned lines,
                               unsigned line_bytes, bool along_lines) const {
    Tile tile{lines, line_bytes, std::vector<std::byte>(std::size_t{lines} * line_bytes)};
    const std::uint32_t rank = warp_.block().rank();
    for_units(from, first_line + lines, line_bytes, along_lines,
              [&](std::uint32_t address, unsigned line, unsigned unit) {
                  if (line < first_line)
                      return;
                  const std::byte* source =
                      cluster.shared_bytes(rank << shared_rank_shift | address, unit_bytes);
                  std::byte* into = &tile.bytes[std::size_t{line - first_line} * line_bytes];
                  if (!along_lines) {
                      std::memcpy(into + unit * unit_bytes, source, unit_bytes);
                      return;
                  }
                  for (unsigned i = 0; i < 8; ++i)
                      std::memcpy(into + i * line_bytes + 2 * unit, source + 2 * i, 2);
              });
    return tile;
}

/// A thread holds four bytes of a row in each register.
Tile WgmmaTask::tile_in_registers() const {
    Tile tile{warp_rows, bytes_of_a_row, std::vector<std::byte>(warp_rows * bytes_of_a_row)};
    for (unsigned line = 0; line < warp_rows; ++line)
        for (unsigned word = 0; word < bytes_of_a_row / 4; ++word) {
            const Place place = place_in_a(warp_rows, 32, line, word);
            std::memcpy(&tile.bytes[line * bytes_of_a_row + 4 * word], row(plan_.a[place.index]) + place.lane,
                        4);
        }
    return tile;
}

void WgmmaTask::read(Cluster& cluster) {
    const WgmmaForm& form = plan_.form;
    const unsigned first = warp_.index() % warpgroup_warps * warp_rows;
    tile_a_ = a ? tile_in_memory(cluster, *a, first, warp_rows, bytes_of_a_row, form.a_by_column)
                : tile_in_registers();
    tile_b_ = tile_in_memory(cluster, b, 0, form.n, form.bytes_of_b_line(), form.b_by_row);
    if (!form.sparse)
        return;
    metadata_ = {.type = form.a, .stored = form.stored_k(), .selector = plan_.selector};
    std::copy_n(row(plan_.metadata), warp_size, metadata_.bits.begin());
}

/// Calls `visit(word of a register, its row of D, its first column)` for all accumulators of the warp: a
/// register has one column of binary32, or two of binary16.
template <class Visit>
void WgmmaTask::for_accumulators(Visit visit) const {
    const unsigned in_register = 32 / bits_of(plan_.form.d), in_block = 4 / in_register;
    for (unsigned i = 0; i < plan_.d.size(); ++i) {
        std::uint32_t* const words = row(plan_.d[i]);
        const unsigned lower = i % in_block * in_register / 2 * 8;
        const unsigned column = i / in_block * 8 + (in_register == 1 ? i % 2 : 0);
        for (unsigned lane = 0; lane < warp_size; ++lane)
            visit(words[lane], lane, lower + lane / 4, column + 2 * (lane % 4));
    }
}

void WgmmaTask::write(Cluster&) {
    const bool half = plan_.form.d == Element::f16;
    Accumulators d(plan_.form.n);
    if (adds)
        for_accumulators([&](std::uint32_t word, unsigned, unsigned r, unsigned column) {
            std::uint32_t* const into = &d.row(r)[column];
            into[0] = half ? word & 0xffff : word;
            if (half)
                into[1] = word >> 16;
        });
    multiply_tiles(plan_.form, tile_a_, tile_b_, metadata_, d);
    for_accumulators([&](std::uint32_t& word, unsigned lane, unsigned r, unsigned column) {
        const std::uint32_t* const from = &d.row(r)[column];
        if (lanes >> lane & 1)
            word = half ? from[0] | from[1] << 16 : from[0];
    });
    for (const Copy& copy : copies_) {
        const std::uint32_t* from = row({copy.from, Row::Base::frame});
        std::uint32_t* into = row({copy.into, Row::Base::frame});
        for_lanes(copy.lanes, [&](unsigned lane) { into[lane] = from[lane]; });
    }
}

bool WgmmaTask::hand_on(std::uint32_t frame, std::uint32_t from, std::uint32_t into, LaneMask some) {
    const auto is_result = [from](const Row& r) { return r.offset == from; };
    const auto is_copy = [from](const Copy& copy) { return copy.into == from; };
    if (frame != frame_ ||
        (std::ranges::none_of(plan_.d, is_result) && std::ranges::none_of(copies_, is_copy)))
        return false;
    copies_.push_back({from, into, some});
    return true;
}

} // namespace emu::matrix
