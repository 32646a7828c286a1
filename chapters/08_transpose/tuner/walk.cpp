/// @file walk.cpp
#include "walk.hpp"

#include <algorithm>
#include <stdexcept>

namespace tuner {

namespace {

/// Tiles of a group: `wish` elements of tiles that have `tile` each, in a matrix of `all` tiles.
std::uint32_t group_size(std::uint32_t wish, std::uint32_t tile, std::uint32_t all) {
    return wish == 0 ? all : std::clamp(wish / tile, 1u, all);
}

} // namespace

Walk make_walk(const OrderSpec& order, std::uint32_t rows, std::uint32_t columns, std::uint32_t tile_rows,
               std::uint32_t tile_columns) {
    if (rows % tile_rows != 0 || columns % tile_columns != 0)
        throw std::invalid_argument("tiles of " + std::to_string(tile_rows) + " x " +
                                    std::to_string(tile_columns) + " do not divide the matrix");
    Walk walk;
    walk.down = rows / tile_rows;
    walk.across = columns / tile_columns;
    const std::uint32_t high = group_size(order.high, tile_rows, walk.down);
    const std::uint32_t wide = group_size(order.wide, tile_columns, walk.across);
    const std::uint32_t groups_down = (walk.down + high - 1) / high;
    const std::uint32_t groups_across = (walk.across + wide - 1) / wide;
    walk.high = Divider(high);
    walk.wide = Divider(wide);
    walk.per_group = Divider(high * wide);
    walk.groups_along = Divider(order.groups_down ? groups_down : groups_across);
    walk.shift_every = Divider(std::max(1u, order.shift_rows / tile_rows));
    walk.around = Divider(walk.across);
    walk.shift = order.shift_rows == 0 ? 0 : std::max(1u, order.shift_columns / tile_columns);
    walk.blocks = groups_down * groups_across * high * wide;
    walk.groups_down = order.groups_down;
    walk.tiles_down = order.tiles_down;
    walk.exact = walk.blocks == walk.down * walk.across;
    return walk;
}

} // namespace tuner
