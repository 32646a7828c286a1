/// @file which_phase.cpp
/// Judge of chapter 3's which_phase.
#include "judge.hpp"

#include "workbook/tile_reference.hpp"

#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

namespace {

constexpr std::size_t tile = 32;
constexpr std::size_t tiles = 8; // of a block

struct Case {
    std::size_t size;
    unsigned wanted; // bit k: tile k of each block
};

bool is_wanted(unsigned wanted, std::size_t index) { return (wanted >> (index / tile % tiles) & 1) != 0; }

std::string named(const Case& c) {
    std::string left_out;
    for (std::size_t k = 0; k < tiles; ++k)
        if (!is_wanted(c.wanted, k * tile))
            left_out += (left_out.empty() ? "" : ", ") + std::to_string(k);
    return judge::with_elements(c.size) +
           (left_out.empty() ? ", all tiles wanted" : ", without tile " + left_out);
}

std::string explain(const judge::Wrong<unsigned>& wrong, unsigned wanted) {
    const std::size_t k = wrong.index / tile % tiles;
    const std::string which = "This is tile " + std::to_string(k) + " of its block, ";
    if (!is_wanted(wanted, wrong.index))
        return which + "which is not wanted: leave it as it is.";
    std::size_t uses = 0;
    for (std::size_t before = k % 2; before < k; before += 2)
        uses += is_wanted(wanted, before * tile) ? 1 : 0;
    return which + "use number " + std::to_string(uses) + " of buffer " + std::to_string(k % 2) +
           ", counted from 0, if tile k uses buffer k % 2.";
}

} // namespace

void judge::run() {
    const Kernel<void(const unsigned*, unsigned*, std::size_t, unsigned)> kernel("which_phase");
    unsigned untouched = 0;
    std::memset(&untouched, workbook::DeviceBuffer<unsigned>::poison_byte, sizeof(untouched));
    for (const Case c : {Case{256, 0xffu}, Case{1, 0xffu}, Case{256, 0xfbu}, Case{1500, 0xebu},
                         Case{1500, 0xa5u}, Case{100, 0x0eu}, Case{256, 0x00u}, Case{0, 0xffu}}) {
        trying(named(c));
        const std::vector<unsigned> values = workbook::random_values<unsigned>(c.size, c.size + 1);
        std::vector<unsigned> expected = workbook::reversed_tiles(values, tile);
        for (std::size_t i = 0; i < expected.size(); ++i)
            if (!is_wanted(c.wanted, i))
                expected[i] = untouched;
        const auto in = input(values);
        auto out = output<unsigned>(c.size);
        kernel({.grid = workbook::blocks_for(c.size, tiles * tile), .block = 64}, in.data(), out.data(),
               c.size, c.wanted);
        expect_exact<unsigned>("out", out, expected,
                               [&](const auto& wrong) { return explain(wrong, c.wanted); });
    }
}
