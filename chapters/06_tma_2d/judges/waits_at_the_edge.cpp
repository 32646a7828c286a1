/// @file waits_at_the_edge.cpp
/// Judge of chapter 6's waits_at_the_edge.
#include "judge.hpp"

#include "workbook/matrix.hpp"
#include "workbook/tensor_map.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace {

constexpr int tile_width = 32;
constexpr int tile_height = 16;

/// A matrix on the host, whose rows are `pitch` elements apart.
struct Values {
    std::size_t width;
    std::size_t height;
    std::size_t pitch;
    std::vector<int> all;

    [[nodiscard]] int at(std::size_t x, std::size_t y) const { return x < width ? all[y * pitch + x] : 0; }
    [[nodiscard]] int sum(std::size_t x, std::size_t y) const { return at(x, y) + at(x + tile_width, y); }
};

/// What a wrong sum says about what was added.
std::string explain(const judge::Wrong<int>& wrong, const Values& in) {
    const std::size_t x = wrong.index % in.pitch;
    const std::size_t y = wrong.index / in.pitch;
    const std::string place = "It is element (" + std::to_string(x) + ", " + std::to_string(y) + "). ";
    if (x >= in.width)
        return "It lies in the padding after a row.";
    if (wrong.actual == in.at(x, y))
        return place + "Nothing was added to it.";
    if (wrong.actual == 2 * in.at(x, y))
        return place + "It was added to itself: what lies beyond the matrix is 0.";
    return judge::is_poison(wrong.actual) ? "" : place;
}

CUtensorMap map_of(const int* data, const Values& values) {
    return workbook::make_tensor_map(data, workbook::TensorLayout<2>{.dims = {values.width, values.height},
                                                                     .strides = {values.pitch * sizeof(int)},
                                                                     .box = {tile_width, tile_height}});
}

} // namespace

void judge::run() {
    const Kernel<void(CUtensorMap, CUtensorMap, int)> kernel("waits_at_the_edge");
    struct Case {
        std::size_t width;
        std::size_t height;
    };
    for (const auto [width, height] :
         {Case{32, 16}, {64, 32}, {64, 40}, {100, 16}, {100, 45}, {4, 1}, {36, 3}}) {
        trying("a matrix of " + std::to_string(width) + " × " + std::to_string(height));
        const Values values{
            width, height, width,
            workbook::random_integers<int>(width * height, width + height, -1'000'000, 1'000'000)};
        const auto in = input(values.all, 4);
        auto out = output<int>(width * height, 8);
        const dim3 grid(workbook::blocks_for(width, tile_width), workbook::blocks_for(height, tile_height));
        kernel({.grid = grid, .block = 128}, map_of(in.data(), values), map_of(out.data(), values),
               static_cast<int>(width));
        std::vector<int> expected;
        for (std::size_t y = 0; y < height; ++y)
            for (std::size_t x = 0; x < width; ++x)
                expected.push_back(values.sum(x, y));
        expect_exact<int>("out", out, expected, [&](const auto& wrong) { return explain(wrong, values); });
    }
}
