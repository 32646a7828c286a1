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
    const unsigned offset_mask = map.rank == 3 ? 0xffff : map.rank == 4 ? 0xff : 0x1f;
    Walk walk(map, start);
    for (auto& row : rows) {
        std::array<std::int64_t, 5> at{};
        for (std::size_t d = 0; d < map.rank; ++d)
            at[d] = walk.at(d);
        for (std::size_t i = 0; i + 2 < map.rank; ++i)
            at[box_dimension(map, i)] += offsets[i] & offset_mask;
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
