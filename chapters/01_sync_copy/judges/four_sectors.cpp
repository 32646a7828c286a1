/// @file four_sectors.cpp
/// Judge of chapter 1's four_sectors.
#include "judge.hpp"

#include "workbook/tile_reference.hpp"

#include <cstddef>
#include <vector>

namespace {

constexpr std::size_t tile = 1024;

} // namespace

void judge::run() {
    const Kernel<void(const float*, float*, std::size_t)> kernel("four_sectors");
    for (const std::size_t size : {1024, 1500, 1, 8192, 0}) {
        trying(with_elements(size));
        const std::vector<float> values = workbook::random_values<float>(size, size + 1);
        const auto in = input(values);
        auto out = output<float>(size);
        kernel({.grid = workbook::blocks_for(size, tile), .block = 256}, in.data(), out.data(), size);
        expect_exact("out", out, workbook::reversed_tiles(values, tile));
    }
}
