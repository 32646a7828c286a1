/// @file no_conflicts.cpp
/// Judge of chapter 7's no_conflicts.
#include "judge.hpp"

#include "workbook/launch.hpp"
#include "workbook/matrix.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace {

constexpr std::size_t tile_rows = 32;
constexpr std::size_t chunk = 4; ///< elements
constexpr std::size_t most_chunks = 24;

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
    const Kernel<void(const unsigned*, int, int, int, int, unsigned*)> kernel("no_conflicts");
    struct Case {
        std::size_t chunks;
        std::size_t width;
        std::size_t height;
    };
    // The conditions of exercises.toml that name a launch count on the order of the first four.
    std::vector<Case> cases{{10, 40, 32}, {12, 48, 32},  {8, 32, 32}, {5, 20, 32}, {10, 100, 70}, {10, 43, 1},
                            {6, 60, 40},  {24, 100, 33}, {20, 1, 33}, {7, 29, 64}, {1, 9, 32}};
    for (std::size_t chunks = 1; chunks <= most_chunks; ++chunks)
        cases.push_back({chunks, chunks * chunk, tile_rows});
    for (const auto [chunks, width, height] : cases) {
        trying("rows of " + std::to_string(chunks) + " chunks, a matrix of " + std::to_string(width) + " × " +
               std::to_string(height));
        const std::size_t pitch = workbook::row_pitch<unsigned>(width);
        const auto values = workbook::random_values<unsigned>(pitch * height, width);
        const auto in = input(values, 4);
        const std::vector<unsigned> expected = column_sums(values, width, height, pitch);
        auto sums = output<unsigned>(expected.size());
        const dim3 grid(workbook::blocks_for(width, chunks * chunk), workbook::blocks_for(height, tile_rows));
        const std::size_t tile_bytes = chunks * chunk * tile_rows * sizeof(unsigned);
        kernel({.grid = grid, .block = tile_rows * chunks, .dynamic_shared = tile_bytes}, in.data(),
               static_cast<int>(width), static_cast<int>(height), static_cast<int>(pitch),
               static_cast<int>(chunks), sums.data());
        expect_exact<unsigned>("sums", sums, expected, [](const auto& wrong) -> std::string {
            if (judge::is_poison(wrong.actual))
                return "";
            return "The lanes of a warp added other chunks than those of its column. Each chunk of the tile "
                   "needs a place of its own, and place() must say the same to writer and reader.";
        });
    }
}
