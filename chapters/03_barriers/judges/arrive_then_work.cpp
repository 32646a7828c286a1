/// @file arrive_then_work.cpp
/// Judge of chapter 3's arrive_then_work.
#include "judge.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace {

constexpr std::size_t tile = 128;

unsigned own_work(unsigned value, const std::vector<unsigned>& in) {
    for (int step = 0; step < 8; ++step)
        value = value * 1664525u + in[value % in.size()];
    return value;
}

/// The element at the opposite place of its tile.
unsigned opposite(const std::vector<unsigned>& in, std::size_t i) {
    const std::size_t start = i - i % tile;
    return in[start + std::min(tile, in.size() - start) - 1 - i % tile];
}

} // namespace

void judge::run() {
    const Kernel<void(const unsigned*, unsigned*, std::size_t)> kernel("arrive_then_work");
    for (const std::size_t size : {128, 500, 127, 0}) {
        trying(with_elements(size));
        const std::vector<unsigned> values = workbook::random_values<unsigned>(size, size + 1);
        std::vector<unsigned> expected(size);
        for (std::size_t i = 0; i < size; ++i)
            expected[i] = own_work(values[i], values) ^ opposite(values, i);
        const auto in = input(values);
        auto out = output<unsigned>(size);
        kernel({.grid = workbook::blocks_for(size, tile), .block = tile}, in.data(), out.data(), size);
        expect_exact<unsigned>("out", out, expected, [&](const auto& wrong) -> std::string {
            return wrong.actual == own_work(values[wrong.index], values)
                       ? "The tile's element at the opposite place was still 0."
                       : "";
        });
    }
}
