/// @file walk.hpp
/// The orders in which the tuner's blocks take the tiles of a matrix.
///
/// Tiles are grouped: a group is `high` × `wide` tiles, and groups are walked in one direction, the tiles of
/// a group in another. Rows and columns of tiles, strips of several rows or columns, and blocks within the L2
/// cache are all of this kind. A shift then moves each row of tiles further along than the one above, so that
/// blocks that run together do not all use the same columns.
#pragma once

#include <cstdint>
#include <string>

namespace tuner {

/// Division by a number that is known before the launch: one multiplication. Exact for n · d < 2^40.
struct Divider {
    std::uint32_t divisor = 1;
    std::uint64_t factor = std::uint64_t{1} << 40;

    constexpr Divider() = default;
    constexpr explicit Divider(std::uint32_t d)
        : divisor(d), factor(((std::uint64_t{1} << 40) + d - 1) / d) {}

#ifdef __CUDACC__
    __host__ __device__
#endif
        constexpr std::uint32_t
        quotient(std::uint32_t n) const {
        return static_cast<std::uint32_t>((n * factor) >> 40);
    }
};

/// An order, in elements; 0 stands for 'the whole matrix', 1 for one tile.
struct OrderSpec {
    std::string name;
    std::uint32_t high = 0;          ///< rows of a group
    std::uint32_t wide = 1;          ///< columns of a group
    bool groups_down = true;         ///< groups are walked down columns of groups
    bool tiles_down = true;          ///< tiles of a group are walked down columns
    std::uint32_t shift_rows = 0;    ///< every so many rows …
    std::uint32_t shift_columns = 0; ///< … move on by so many columns
};

/// An order for tiles of one shape, as kernels take it.
struct Walk {
    std::uint32_t down = 1;   ///< tiles
    std::uint32_t across = 1; ///< tiles
    Divider high;             ///< tiles of a group
    Divider wide;             ///< tiles of a group
    Divider per_group;
    Divider groups_along;     ///< groups in the direction in which they are walked
    Divider shift_every;      ///< rows of tiles
    Divider around;           ///< across, for the shift
    std::uint32_t shift = 0;  ///< columns of tiles
    std::uint32_t blocks = 1; ///< all numbers, some of which may have no tile
    bool groups_down = true;
    bool tiles_down = true;
    bool exact = true; ///< no group hangs over the edge: every number has a tile
};

/// Row and column of a tile, counted in tiles.
struct Place {
    std::uint32_t row;
    std::uint32_t column;
};

/// Where tile number `n` lies; outside of the matrix where groups hang over its edge.
#ifdef __CUDACC__
__host__ __device__
#endif
    constexpr Place
    place_of(const Walk& walk, std::uint32_t n) {
    const std::uint32_t group = walk.per_group.quotient(n);
    const std::uint32_t in = n - group * walk.per_group.divisor;
    const std::uint32_t group_far = walk.groups_along.quotient(group);
    const std::uint32_t group_along = group - group_far * walk.groups_along.divisor;
    const Divider& along = walk.tiles_down ? walk.high : walk.wide;
    const std::uint32_t tile_far = along.quotient(in);
    const std::uint32_t tile_along = in - tile_far * along.divisor;
    const std::uint32_t row = (walk.groups_down ? group_along : group_far) * walk.high.divisor +
                              (walk.tiles_down ? tile_along : tile_far);
    std::uint32_t column = (walk.groups_down ? group_far : group_along) * walk.wide.divisor +
                           (walk.tiles_down ? tile_far : tile_along);
    if (walk.shift > 0 && column < walk.across) {
        column += walk.shift_every.quotient(row) * walk.shift;
        column -= walk.around.quotient(column) * walk.across;
    }
    return {row, column};
}

/// The walk over a matrix of rows × columns in tiles of tile_rows × tile_columns, which divide it.
Walk make_walk(const OrderSpec& order, std::uint32_t rows, std::uint32_t columns, std::uint32_t tile_rows,
               std::uint32_t tile_columns);

} // namespace tuner
