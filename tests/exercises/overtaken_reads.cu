/// @file overtaken_reads.cu
/// Judge of chapter 5's overtaken_reads.
#include "overlap.hpp"

#include "workbook/launch.hpp"

#include <cstddef>
#include <span>
#include <vector>

void launch_overtaken_reads(std::span<const int> in, std::span<int> out, std::span<unsigned> asked);

void judge::run() {
    constexpr std::size_t tile = 512;
    constexpr std::size_t tiles_per_block = 3;
    for (const std::size_t size :
         {tile, 3 * tile, std::size_t{4}, 2 * tile - 4, 20 * tile + 60, std::size_t{0}}) {
        trying(with_elements(size));
        std::vector<int> values = workbook::random_integers<int>(size, size + 9, -1'000'000, 1'000'000);
        const auto in = input(values, 4);
        auto out = output<int>(size, 8);
        auto asked = output<unsigned>(workbook::blocks_for(size, tile));
        launch_overtaken_reads(in.span(), out.span(), asked.span());
        for (int& value : values)
            value *= 3;
        expect_exact<int>("out", out, values);
        expect_overlap(asked.download(), tiles_per_block);
    }
}
