/// @file four_sectors.cpp
/// Judge of chapter 1's four_sectors.
#include "judge.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace {

constexpr std::size_t block_pixels = 256;

/// The weights are powers of two, so each product is exact. Which two are added first changes the last digit.
std::vector<float> brightness(const std::vector<float>& in) {
    std::vector<float> result(in.size() / 3);
    for (std::size_t p = 0; p < result.size(); ++p)
        result[p] = in[3 * p] / 4 + in[3 * p + 1] / 2 + in[3 * p + 2] / 4;
    return result;
}

/// The usual slip: the tile is filled from `start`, as if a pixel were one float.
std::string explain(const judge::Wrong<float>& wrong, const std::vector<float>& in) {
    const std::size_t block = wrong.index / block_pixels, t = wrong.index % block_pixels;
    const std::size_t first = block * block_pixels + 3 * t; // where 3 * block * block_pixels is right
    if (block > 0 && wrong.actual == in[first] / 4 + in[first + 1] / 2 + in[first + 2] / 4)
        return "These are floats of an earlier block: the block's first pixel is `start`, and its first "
               "float in "
               "`in` is 3 * start.";
    return "";
}

} // namespace

void judge::run() {
    const Kernel<void(const float*, float*, std::size_t)> kernel("four_sectors");
    for (const std::size_t pixels : {256, 300, 1, 2048, 0}) {
        trying("with " + std::to_string(pixels) + (pixels == 1 ? " pixel" : " pixels"));
        const std::vector<float> values = workbook::random_values<float>(3 * pixels, pixels + 1);
        const auto in = input(values);
        auto out = output<float>(pixels);
        kernel({.grid = workbook::blocks_for(pixels, block_pixels), .block = 256}, in.data(), out.data(),
               pixels);
        expect_near<float>("out", out, brightness(values), {.absolute = 1e-6},
                           [&](const auto& wrong) { return explain(wrong, values); });
    }
}
