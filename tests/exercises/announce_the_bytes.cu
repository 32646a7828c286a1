/// @file announce_the_bytes.cu
/// Judge of chapter 3's announce_the_bytes.
#include "judge.hpp"

#include "workbook/tile.cuh"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

void launch_announce_the_bytes(std::span<const unsigned> values, std::span<const unsigned char> codes,
                               std::span<unsigned> out);

void judge::run() {
    for (const std::size_t size : {256, 1024, 0}) {
        trying(with_elements(size));
        const std::vector<unsigned> values = workbook::random_values<unsigned>(size, size + 1);
        const std::vector<unsigned char> codes = workbook::random_values<unsigned char>(size, size + 2);
        std::vector<unsigned> expected(size);
        for (std::size_t i = 0; i < size; ++i)
            expected[i] = values[i] + codes[i];
        expected = workbook::reversed_tiles(expected, 256);
        const std::vector<unsigned> values_only = workbook::reversed_tiles(values, 256);
        const auto value_buffer = input(values);
        const auto code_buffer = input(codes);
        auto out = output<unsigned>(size);
        launch_announce_the_bytes(value_buffer.span(), code_buffer.span(), out.span());
        expect_exact<unsigned>("out", out, expected, [&](const auto& wrong) -> std::string {
            return wrong.actual == values_only[wrong.index] ? "The value has arrived, but not the code." : "";
        });
    }
}
