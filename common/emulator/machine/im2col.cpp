#include "machine/im2col.hpp"

namespace emu {

namespace {

/// Goes through the pixel box, which bounds where a filter's base may lie: the first of its dimensions moves
/// first, and each returns to the lower corner when it leaves the box; the last dimension, the image, goes on
/// without end.
class Walk {
  public:
    Walk(const TensorMap& map, const std::array<std::int32_t, 5>& start) : map_(map) {
        std::ranges::copy(start, at_.begin());
    }

    std::int64_t at(std::size_t dimension) const { return at_[dimension]; }

    void next() {
        for (std::size_t i = 0; i + 2 < map_.rank; ++i) {
            const std::size_t d = box_dimension(map_, i);
            const BoxEdges edges = box_edges(map_, i);
            at_[d] += map_.element_strides[d];
            if (at_[d] <= edges.last)
                return;
            at_[d] = edges.first;
        }
        at_[map_.rank - 1] += map_.element_strides[map_.rank - 1];
    }

  private:
    const TensorMap& map_;
    std::array<std::int64_t, 5> at_{};
};

using Offsets = std::array<std::uint16_t, 3>;

/// The assembler packs the offsets into 16 bits: two by their bytes, three by sums of shifts, so that one of
/// them that is too great is cut or adds to the next (PTX ISA 5.5.4.1 gives the ranges).
Offsets packed(const Offsets& offsets, std::uint32_t rank) {
    if (rank == 3)
        return {offsets[0], 0, 0};
    if (rank == 4)
        return {static_cast<std::uint16_t>(offsets[0] & 0xff), static_cast<std::uint16_t>(offsets[1] & 0xff),
                0};
    const std::uint32_t sum =
        offsets[0] + (std::uint32_t{offsets[1]} << 5) + (std::uint32_t{offsets[2]} << 10);
    const auto field = [&](unsigned low) { return static_cast<std::uint16_t>(sum >> low & 0x1f); };
    return {field(0), field(5), field(10)};
}

} // namespace

BoxEdges box_edges(const TensorMap& map, std::size_t i) {
    return {map.lower_corner[i],
            static_cast<std::int64_t>(map.dims[box_dimension(map, i)]) - 1 + map.upper_corner[i]};
}

std::vector<std::optional<Address>> im2col_rows(const TensorMap& map,
                                                const std::array<std::int32_t, 5>& start,
                                                const std::array<std::uint16_t, 3>& offsets) {
    std::vector<std::optional<Address>> rows(map.pixels_per_column);
    const bool interleaved = map.interleave != TensorInterleave::none;
    const Offsets moves = packed(offsets, map.rank);
    Walk walk(map, start);
    for (auto& row : rows) {
        std::array<std::int64_t, 5> at{};
        for (std::size_t d = 0; d < map.rank; ++d)
            at[d] = walk.at(d);
        for (std::size_t i = 0; i + 2 < map.rank; ++i)
            at[box_dimension(map, i)] += moves[i];
        Address base = map.address;
        bool inside = true;
        for (std::size_t d = interleaved ? 0 : 1; d < map.rank; ++d) {
            inside &= at[d] >= 0 && static_cast<std::uint64_t>(at[d]) < map.dims[d];
            base += static_cast<std::uint64_t>(at[d]) * (d == 0 ? coordinate_bytes(map) : map.strides[d - 1]);
        }
        if (inside)
            row = base;
        walk.next();
    }
    return rows;
}

} // namespace emu
