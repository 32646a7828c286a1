/// @file no_conflicts.cpp
/// Judge of chapter 7's no_conflicts.
#include "judge.hpp"

#include "workbook/launch.hpp"
#include "workbook/matrix.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace {

constexpr std::size_t tile_columns = 40;
constexpr std::size_t tile_rows = 32;
constexpr std::size_t tile_bytes = tile_columns * tile_rows * sizeof(unsigned);

std::vector<unsigned> column_sums(const std::vector<unsigned>& values, std::size_t width, std::size_t height,
                                  std::size_t pitch) {
    std::vector<unsigned> sums(workbook::blocks_for(height, tile_rows) * width);
    for (std::size_t y = 0; y < height; ++y)
        for (std::size_t x = 0; x < width; ++x)
            sums[y / tile_rows * width + x] += values[y * pitch + x];
    return sums;
}

} // namespace

void judge::run() {
    const Kernel<void(const unsigned*, int, int, int, unsigned*)> kernel("no_conflicts");
    struct Case {
        std::size_t width;
        std::size_t height;
    };
    for (const auto [width, height] : {Case{40, 32}, {80, 96}, {43, 1}, {100, 70}, {1, 33}}) {
        trying("a matrix of " + std::to_string(width) + " × " + std::to_string(height));
        const std::size_t pitch = workbook::row_pitch<unsigned>(width);
        const auto values = workbook::random_values<unsigned>(pitch * height, width);
        const auto in = input(values, 4);
        const std::vector<unsigned> expected = column_sums(values, width, height, pitch);
        auto sums = output<unsigned>(expected.size());
        const dim3 grid(workbook::blocks_for(width, tile_columns), workbook::blocks_for(height, tile_rows));
        kernel({.grid = grid, .block = tile_rows * tile_columns / 4, .dynamic_shared = tile_bytes}, in.data(),
               static_cast<int>(width), static_cast<int>(height), static_cast<int>(pitch), sums.data());
        expect_exact<unsigned>("sums", sums, expected, [](const auto& wrong) -> std::string {
            if (judge::is_poison(wrong.actual))
                return "";
            return "The lanes of a warp added other chunks than those of its column. Each of the 320 chunks "
                   "needs a place of its own, 0 to 319, and place() must say the same to writer and reader.";
        });
    }
}
