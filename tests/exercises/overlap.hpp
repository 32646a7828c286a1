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

/// Fails unless every tile but a block's last was computed while the next was on its way. Block b of the grid
/// takes the tiles b, b + blocks, …; `asked` has an element per tile.
inline void expect_overlap(const std::vector<unsigned>& asked, std::size_t tiles_per_block) {
    const std::size_t blocks = workbook::blocks_for(asked.size(), tiles_per_block);
    for (std::size_t t = 0; t < asked.size(); ++t) {
        const std::string k = std::to_string(t / blocks);
        const std::string block = std::to_string(t % blocks);
        const std::size_t all = (asked.size() - t % blocks + blocks - 1) / blocks;
        const std::size_t wanted = std::min(t / blocks + 2, all);
        if (is_poison(asked[t]))
            fail("The result is right, but nobody noted how many tiles block " + block +
                 " had asked for when it computed its tile " + k +
                 ": leave the line that does it, and the function around it.");
        if (asked[t] < wanted)
            fail("When block " + block + " computed its tile " + k + ", it had asked for " +
                 std::to_string(asked[t]) + " of its " + std::to_string(all) + " tiles; " +
                 std::to_string(wanted) +
                 " should have been asked for by then.\nThe result is right, but nothing was on its way "
                 "during the computation.");
    }
}

} // namespace judge
