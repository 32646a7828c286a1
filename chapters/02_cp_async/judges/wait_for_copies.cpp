/// @file wait_for_copies.cpp
/// Judge of chapter 2's wait_for_copies.
#include "judge.hpp"

#include "workbook/tile_reference.hpp"

#include <cstddef>
#include <vector>

namespace {

constexpr std::size_t tile = 1024;

} // namespace

void judge::run() {
    const Kernel<void(const float*, float*, std::size_t)> kernel("wait_for_copies");
    for (const std::size_t size : {1024, 1500, 1, 8192, 0}) {
        trying(with_elements(size));
        const std::vector<float> values = workbook::random_values<float>(size, size + 1);
        const auto in = input(values, 1);
        auto out = output<float>(size);
        kernel({.grid = workbook::blocks_for(size, tile), .block = 256}, in.data(), out.data(), size);
        expect_exact("out", out, workbook::reversed_tiles(values, tile));
    }
}
