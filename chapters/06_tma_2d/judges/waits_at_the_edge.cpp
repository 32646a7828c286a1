/// @file waits_at_the_edge.cpp
/// Judge of chapter 6's waits_at_the_edge.
#include "judge.hpp"

#include "workbook/tensor_map.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace {

constexpr int tile_width = 32;
constexpr int tile_height = 16;

} // namespace

void judge::run() {
    const Kernel<void(CUtensorMap, int, int)> kernel("waits_at_the_edge");
    struct Case {
        std::size_t width;
        std::size_t height;
        std::size_t padding; ///< elements behind each row, which stay as they are
    };
    for (const auto [width, height, padding] :
         {Case{64, 32, 0}, {64, 40, 0}, {100, 16, 0}, {100, 45, 12}, {4, 1, 0}, {32, 16, 4}, {36, 3, 0}}) {
        trying("a matrix of " + std::to_string(width) + " × " + std::to_string(height));
        const std::size_t pitch = width + padding;
        std::vector<int> values =
            workbook::random_integers<int>(pitch * height, width + height, -1'000'000, 1'000'000);
        auto matrix = input(values, 4);
        const workbook::TensorLayout<2> layout{
            .dims = {width, height}, .strides = {pitch * sizeof(int)}, .box = {tile_width, tile_height}};
        const dim3 grid(workbook::blocks_for(width, tile_width), workbook::blocks_for(height, tile_height));
        kernel({.grid = grid, .block = 128}, workbook::make_tensor_map(matrix.data(), layout),
               static_cast<int>(width), static_cast<int>(height));
        for (std::size_t i = 0; i < values.size(); ++i)
            if (i % pitch < width)
                values[i] += 1;
        expect_exact<int>("matrix", matrix, values, [&](const auto& wrong) -> std::string {
            if (wrong.index % pitch >= width)
                return "It lies in the padding behind a row.";
            return wrong.actual == wrong.expected - 1 ? "Nobody added one to it." : "";
        });
    }
}
