/// @file sixteen_byte_copies.cpp
/// Judge of chapter 2's sixteen_byte_copies.
#include "judge.hpp"

#include "workbook/tile_reference.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace {

constexpr std::size_t tile = 1024;

std::string explain(const judge::Wrong<float>& wrong) {
    if (wrong.expected == 0)
        return "This element stands for one behind the end of the array: it must be filled with zero.";
    const std::size_t start = wrong.index - wrong.index % tile;
    const std::size_t from = start + tile - 1 - wrong.index % tile;
    if (wrong.actual == 0)
        return "in[" + std::to_string(from) +
               "] exists, and was filled with zero: the last argument counts bytes, not elements.";
    return "";
}

} // namespace

void judge::run() {
    const Kernel<void(const float*, float*, std::size_t)> kernel("sixteen_byte_copies");
    for (const std::size_t size : {1024, 1027, 1, 6, 8190, 0}) {
        trying(with_elements(size));
        std::vector<float> values = workbook::random_values<float>(size, size + 1, {.low = 1, .high = 2});
        const auto in = input(values);
        values.resize((size + tile - 1) / tile * tile);
        auto out = output<float>(values.size());
        kernel({.grid = workbook::blocks_for(size, tile), .block = 256}, in.data(), out.data(), size);
        expect_exact<float>("out", out, workbook::reversed_tiles(values, tile), explain);
    }
}
