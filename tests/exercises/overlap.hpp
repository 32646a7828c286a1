/// @file overlap.hpp
/// For exercises whose kernels note how many tiles a block had asked for when it computed a tile.
#pragma once

#include "judge.hpp"

#include "workbook/launch.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace judge {

/// Fails unless a block that has `all` tiles had asked for `wanted` of them when it computed its tile `k`.
/// @param asked what its thread noted
inline void expect_asked(std::size_t block, std::size_t k, unsigned asked, std::size_t wanted,
                         std::size_t all) {
    const std::string whose = "block " + std::to_string(block);
    const std::string tile = "its tile " + std::to_string(k);
    if (is_poison(asked))
        fail("The result is right, but nobody noted how many tiles " + whose +
             " had asked for when it computed " + tile +
             ": leave the line that does it, and the function around it.");
    if (asked < wanted)
        fail("When " + whose + " computed " + tile + ", it had asked for " + std::to_string(asked) +
             " of its " + std::to_string(all) + " tiles; " + std::to_string(wanted) +
             " should have been asked for by then.\nThe result is right, but " +
             (asked <= k + 1 ? "nothing" : "too little") + " was on its way during the computation.");
}

/// Fails unless every tile but a block's last was computed while the next was on its way. Block b of the grid
/// takes the tiles b, b + blocks, …; `asked` has an element per tile.
inline void expect_overlap(const std::vector<unsigned>& asked, std::size_t tiles_per_block) {
    const std::size_t blocks = workbook::blocks_for(asked.size(), tiles_per_block);
    for (std::size_t t = 0; t < asked.size(); ++t) {
        const std::size_t all = (asked.size() - t % blocks + blocks - 1) / blocks;
        expect_asked(t % blocks, t / blocks, asked[t], std::min(t / blocks + 2, all), all);
    }
}

} // namespace judge
