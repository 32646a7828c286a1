/// @file last_group.cu
/// Judge of chapter 2's last_group.
#include "judge.hpp"

#include "workbook/tile.cuh"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

void launch_last_group(std::span<const float> in, std::span<float> out);

namespace {

std::string explain(const judge::Wrong<float>& wrong) {
    const std::size_t tile = wrong.index / 256;
    return "This is tile " + std::to_string(tile % 4) + " of the four tiles of block " +
           std::to_string(tile / 4) + ".";
}

} // namespace

void judge::run() {
    for (const std::size_t size : {1024, 1, 700, 5000, 0}) {
        trying(with_elements(size));
        const std::vector<float> values = workbook::random_values<float>(size, size + 1);
        const auto in = input(values);
        auto out = output<float>(size);
        launch_last_group(in.span(), out.span());
        expect_exact<float>("out", out, workbook::reversed_tiles(values, 256), explain);
    }
}
