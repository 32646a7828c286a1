/// @file sixteen_byte_copies.cpp
/// Judge of chapter 2's sixteen_byte_copies.
#include "judge.hpp"

#include "workbook/tile_reference.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace {

constexpr std::size_t row_size = 1021;

std::string explain(const judge::Wrong<float>& wrong) {
    const std::size_t row = wrong.index / row_size;
    const std::size_t from = row * row_size;
    const std::string place =
        from % 4 == 0 ? "at a multiple of 16 bytes"
                      : std::to_string(from % 4 * sizeof(float)) + " bytes after a multiple of 16";
    const std::string where = "This is in row " + std::to_string(row) + ", which begins " + place + ".";
    return wrong.actual == 0 ? where + " The element exists, and was filled with zero." : where;
}

} // namespace

void judge::run() {
    const Kernel<void(const float*, float*, std::size_t)> kernel("sixteen_byte_copies");
    for (const std::size_t size : {1021, 2042, 5000, 1024, 1, 4085, 0}) {
        trying(with_elements(size));
        const std::vector<float> values =
            workbook::random_values<float>(size, size + 1, {.low = 1, .high = 2});
        const auto in = input(values);
        auto out = output<float>(size);
        kernel({.grid = workbook::blocks_for(size, row_size), .block = 256}, in.data(), out.data(), size);
        expect_exact<float>("out", out, workbook::reversed_tiles(values, row_size), explain);
    }
}
