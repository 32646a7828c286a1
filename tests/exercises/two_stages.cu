/// @file two_stages.cu
/// Judge of chapter 4's two_stages.
#include "overlap.hpp"

#include "workbook/launch.hpp"
#include "workbook/tile.cuh"

#include <cstddef>
#include <span>
#include <vector>

void launch_two_stages(std::span<const float> in, std::span<float> out, std::span<unsigned> asked);

namespace {

constexpr std::size_t tile = 1024;
constexpr std::size_t tiles_per_block = 4;

} // namespace

void judge::run() {
    struct Case {
        std::size_t size;
        std::size_t offset;
    };
    for (const auto [size, offset] :
         {Case{4 * tile, 0}, {1, 0}, {tile + 1, 0}, {1000, 1}, {11 * tile + 17, 3}, {40 * tile, 0}, {0, 0}}) {
        trying(with_elements(size) + (offset == 0 ? "" : ", not at a multiple of 16 bytes"));
        std::vector<float> values =
            workbook::random_values<float>(size, size + 4, {.low = -1000, .high = 1000, .specials = true});
        const auto in = input(values, offset);
        auto out = output<float>(size, offset);
        auto asked = output<unsigned>(workbook::blocks_for(size, tile));
        launch_two_stages(in.span(), out.span(), asked.span());
        for (float& value : values)
            value += 1;
        expect_near<float>("out", out, workbook::reversed_tiles(values, tile), {});
        expect_overlap(asked.download(), tiles_per_block);
    }
}
