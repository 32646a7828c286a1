/// @file one_group_more.cpp
/// Judge of chapter 10's one_group_more.
#include "judge.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace {

constexpr std::size_t tile = 1536;
constexpr unsigned threads = 512;

struct Case {
    unsigned tiles;
    unsigned blocks;
};

/// How far each element lies below the greatest of its tile.
std::vector<unsigned> distances(const std::vector<unsigned>& values) {
    std::vector<unsigned> result(values.size());
    for (std::size_t start = 0; start < values.size(); start += tile) {
        const auto first = values.begin() + static_cast<std::ptrdiff_t>(start);
        const unsigned greatest = *std::max_element(first, first + tile);
        for (std::size_t i = start; i < start + tile; ++i)
            result[i] = greatest - values[i];
    }
    return result;
}

} // namespace

void judge::run() {
    const Kernel<void(const unsigned*, unsigned*, unsigned)> kernel("one_group_more");
    for (const auto& [tiles, blocks] : {Case{6, 1}, Case{1, 1}, Case{2, 1}, Case{15, 2}, Case{0, 1}}) {
        trying("with " + std::to_string(tiles) + (tiles == 1 ? " tile" : " tiles"));
        const auto values = workbook::random_values<unsigned>(tiles * tile, tiles + 5);
        const auto in = input(values, 4);
        auto out = output<unsigned>(tiles * tile, 1);
        kernel({.grid = blocks, .block = threads}, in.data(), out.data(), tiles);
        expect_exact<unsigned>("out", out, distances(values), [](const auto& wrong) -> std::string {
            if (wrong.actual < wrong.expected)
                return "A greater element was missed: its warp had not been there yet.";
            return "";
        });
    }
}
