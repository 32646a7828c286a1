/// @file no_conflicts.cu
/// Judge of chapter 7's no_conflicts.
#include "judge.hpp"

#include "workbook/launch.hpp"
#include "workbook/matrix.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

void launch_no_conflicts(workbook::Matrix<const unsigned> matrix, std::span<unsigned> sums);

namespace {

constexpr std::size_t tile_rows = 32;

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
    struct Case {
        std::size_t width;
        std::size_t height;
    };
    for (const auto [width, height] : {Case{32, 32}, {64, 96}, {37, 1}, {100, 70}}) {
        trying("a matrix of " + std::to_string(width) + " × " + std::to_string(height));
        const std::size_t pitch = workbook::row_pitch<unsigned>(width);
        const auto values = workbook::random_values<unsigned>(pitch * height, width);
        const auto in = input(values, 4);
        const std::vector<unsigned> expected = column_sums(values, width, height, pitch);
        auto sums = output<unsigned>(expected.size());
        launch_no_conflicts({in.data(), width, height, pitch}, sums.span());
        expect_exact<unsigned>("sums", sums, expected, [](const auto& wrong) -> std::string {
            if (judge::is_poison(wrong.actual))
                return "";
            return "The lanes of a warp added chunks of different columns. The tensor map and place() must "
                   "mean the same swizzle: chunk c of row r lies at chunk c XOR (r % 8) of its row.";
        });
    }
}
