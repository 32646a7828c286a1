/// @file no_conflicts.cpp
/// Judge of chapter 7's no_conflicts.
#include "judge.hpp"
#include "layout.hpp"

#include "workbook/matrix.hpp"
#include "workbook/tensor_map.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace {

constexpr std::size_t tile_columns = 32;
constexpr std::size_t tile_rows = 32;

/// As the exercise declares it.
struct Layout {
    std::uint64_t dims[2];
    std::uint64_t strides[1];
    std::uint32_t box[2];
    workbook::Swizzle swizzle;
};

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
    const Kernel<void(workbook::Matrix<const unsigned>, Layout*)> layout("layout");
    const Kernel<void(CUtensorMap, unsigned*, int)> kernel("no_conflicts");
    struct Case {
        std::size_t width;
        std::size_t height;
    };
    for (const auto [width, height] : {Case{32, 32}, {64, 96}, {37, 1}, {100, 70}, {1, 33}}) {
        trying("a matrix of " + std::to_string(width) + " × " + std::to_string(height));
        const std::size_t pitch = workbook::row_pitch<unsigned>(width);
        const auto values = workbook::random_values<unsigned>(pitch * height, width);
        const auto in = input(values, 4);
        auto described = output<Layout>(1);
        layout({}, workbook::Matrix<const unsigned>{in.data(), width, height, pitch}, described.data());
        const std::vector<unsigned> expected = column_sums(values, width, height, pitch);
        auto sums = output<unsigned>(expected.size());
        const dim3 grid(workbook::blocks_for(width, tile_columns), workbook::blocks_for(height, tile_rows));
        kernel({.grid = grid, .block = 256}, map_of(in.data(), described.download().front()), sums.data(),
               static_cast<int>(width));
        expect_exact<unsigned>("sums", sums, expected, [](const auto& wrong) -> std::string {
            if (judge::is_poison(wrong.actual))
                return "";
            return "The lanes of a warp added chunks of different columns. The tensor map and place() must "
                   "mean the same swizzle: chunk c of row r lies at chunk c XOR (r % 8) of its row.";
        });
    }
}
