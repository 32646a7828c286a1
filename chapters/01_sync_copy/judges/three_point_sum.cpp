/// @file three_point_sum.cpp
/// Judge of chapter 1's three_point_sum.
#include "judge.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace {

constexpr std::size_t tile = 256;

std::vector<float> sums(const std::vector<float>& in) {
    std::vector<float> result(in.size());
    for (std::size_t i = 0; i < in.size(); ++i)
        result[i] = (i > 0 ? in[i - 1] : 0) + in[i] + (i + 1 < in.size() ? in[i + 1] : 0);
    return result;
}

/// The elements at the sides of a tile are those that need the halo.
std::string explain(const judge::Wrong<float>& wrong, std::size_t size) {
    if (wrong.index == 0 || wrong.index + 1 == size)
        return "This element is at the end of the array, where the neighbour that is missing counts as 0.";
    if (wrong.index % tile == 0 || wrong.index % tile == tile - 1)
        return "This element is at the side of a tile: its neighbour comes from the halo.";
    return "";
}

} // namespace

void judge::run() {
    const Kernel<void(const float*, float*, std::size_t)> kernel("three_point_sum");
    for (const std::size_t size : {256, 257, 1, 1000, 0}) {
        trying(with_elements(size));
        const std::vector<float> values = workbook::random_values<float>(size, size + 1);
        const auto in = input(values);
        auto out = output<float>(size);
        kernel({.grid = workbook::blocks_for(size, tile), .block = 256}, in.data(), out.data(), size);
        expect_exact<float>("out", out, sums(values),
                            [&](const auto& wrong) { return explain(wrong, size); });
    }
}
