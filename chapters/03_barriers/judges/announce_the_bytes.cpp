/// @file announce_the_bytes.cpp
/// Judge of chapter 3's announce_the_bytes.
#include "judge.hpp"

#include "workbook/tile_reference.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace {

constexpr std::size_t tile = 256;

} // namespace

void judge::run() {
    const Kernel<void(const unsigned*, const unsigned char*, unsigned*)> kernel("announce_the_bytes");
    for (const std::size_t size : {tile, 4 * tile, 13 * tile, std::size_t{0}}) {
        trying(with_elements(size));
        const std::vector<unsigned> values = workbook::random_values<unsigned>(size, size + 1);
        const std::vector<unsigned char> codes = workbook::random_values<unsigned char>(size, size + 2);
        std::vector<unsigned> expected(size);
        for (std::size_t i = 0; i < size; ++i)
            expected[i] = values[i] + codes[i];
        expected = workbook::reversed_tiles(expected, tile);
        const std::vector<unsigned> values_only = workbook::reversed_tiles(values, tile);
        const auto value_buffer = input(values, 4);
        const auto code_buffer = input(codes, 16);
        auto out = output<unsigned>(size, 1);
        kernel({.grid = workbook::blocks_for(size, tile), .block = 128}, value_buffer.data(),
               code_buffer.data(), out.data());
        expect_exact<unsigned>("out", out, expected, [&](const auto& wrong) -> std::string {
            return wrong.actual == values_only[wrong.index] ? "The value has arrived, but not the code." : "";
        });
    }
}
