/// @file arrive_then_work.cu
/// Judge of chapter 3's arrive_then_work.
#include "judge.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

void launch_arrive_then_work(std::span<const unsigned> in, std::span<unsigned> out);

namespace {

constexpr std::size_t tile = 128;

unsigned own_work(unsigned value) {
    for (int round = 0; round < 8; ++round)
        value = value * 1664525u + 1013904223u;
    return value;
}

/// The element at the opposite place of its tile.
unsigned opposite(const std::vector<unsigned>& in, std::size_t i) {
    const std::size_t start = i - i % tile;
    return in[start + std::min(tile, in.size() - start) - 1 - i % tile];
}

} // namespace

void judge::run() {
    for (const std::size_t size : {128, 200, 1, 1000, 0}) {
        trying(with_elements(size));
        const std::vector<unsigned> values = workbook::random_values<unsigned>(size, size + 1);
        std::vector<unsigned> expected(size);
        for (std::size_t i = 0; i < size; ++i)
            expected[i] = own_work(values[i]) ^ opposite(values, i);
        const auto in = input(values);
        auto out = output<unsigned>(size);
        launch_arrive_then_work(in.span(), out.span());
        expect_exact<unsigned>("out", out, expected, [&](const auto& wrong) -> std::string {
            return wrong.actual == own_work(values[wrong.index])
                       ? "The tile's element at the opposite place was still 0."
                       : "";
        });
    }
}
