/// @file wait_for_copies.cu
/// Judge of chapter 2's wait_for_copies.
#include "judge.hpp"

#include "workbook/tile.cuh"

#include <cstddef>
#include <span>
#include <vector>

void launch_wait_for_copies(std::span<const float> in, std::span<float> out);

void judge::run() {
    for (const std::size_t size : {1024, 1500, 1, 8192, 0}) {
        trying(with_elements(size));
        const std::vector<float> values = workbook::random_values<float>(size, size + 1);
        const auto in = input(values, 1);
        auto out = output<float>(size);
        launch_wait_for_copies(in.span(), out.span());
        expect_exact("out", out, workbook::reversed_tiles(values, 1024));
    }
}
