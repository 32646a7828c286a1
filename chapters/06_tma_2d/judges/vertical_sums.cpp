/// @file vertical_sums.cpp
/// Judge of chapter 6's vertical_sums.
#include "judge.hpp"

#include "workbook/matrix.hpp"
#include "workbook/tensor_map.hpp"

#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

constexpr unsigned tile_elements = 1024;

/// As the exercise declares it.
struct Shape {
    int tile_width;
    int tile_height;
};

/// A matrix on the host, whose rows are `pitch` elements apart.
struct Values {
    std::size_t width;
    std::size_t height;
    std::size_t pitch;
    std::vector<unsigned> all;

    [[nodiscard]] unsigned at(std::size_t x, std::size_t y) const {
        return y < height ? all[y * pitch + x] : 0;
    }
    [[nodiscard]] unsigned sum(std::size_t x, std::size_t y) const {
        return at(x, y - 1) + at(x, y) + at(x, y + 1); // above row 0 y wraps to a row that is not there
    }
};

/// Sums of other rows, which a wrong coordinate or a wrong row of the halo gives.
std::string explain(const judge::Wrong<unsigned>& wrong, const Values& in) {
    const std::size_t x = wrong.index % in.pitch;
    const std::size_t y = wrong.index / in.pitch;
    const std::string place = "It is element (" + std::to_string(x) + ", " + std::to_string(y) + "). ";
    if (wrong.actual == in.sum(x, y + 1))
        return place + "It has the sum of one row further down: the box with the halo begins at row y - 1.";
    if (wrong.actual == in.at(x, y) && y == 0)
        return place + "That is the element of `in` itself, without the one below.";
    if (wrong.actual == in.at(x, y))
        return place + "That is the element of `in` itself, without its neighbours.";
    if (wrong.actual == in.at(x, y) + in.at(x, y + 1))
        return place + "The row above is missing.";
    if (wrong.actual == in.at(x, y - 1) + in.at(x, y))
        return place + "The row below is missing.";
    return judge::is_poison(wrong.actual) ? "" : place;
}

/// The map of a matrix for boxes of `width` × `height`; one that the driver refuses is a wrong answer.
CUtensorMap map_of(const unsigned* data, const Values& values, unsigned width, unsigned height) {
    try {
        return workbook::make_tensor_map(
            data, workbook::TensorLayout<2>{.dims = {values.width, values.height},
                                            .strides = {values.pitch * sizeof(unsigned)},
                                            .box = {width, height}});
    } catch (const std::invalid_argument& error) {
        // What it says begins with the place of the call above, which is none of the learner's.
        const std::string said = error.what();
        judge::fail("There is no tensor map for boxes of " + std::to_string(width) + " × " +
                    std::to_string(height) + ": " + said.substr(said.find(": ") + 2));
    }
}

/// The learner's tile; fails for one of another size.
Shape chosen() {
    const judge::Kernel<void(Shape*)> kernel("shape");
    auto answer = judge::output<Shape>(1);
    kernel({}, answer.data());
    const Shape tile = answer.download().front();
    if (tile.tile_width < 1 || tile.tile_height < 1 ||
        static_cast<std::size_t>(tile.tile_width) * static_cast<std::size_t>(tile.tile_height) !=
            tile_elements)
        judge::fail("A tile of " + std::to_string(tile.tile_width) + " × " +
                    std::to_string(tile.tile_height) + " has not " + std::to_string(tile_elements) +
                    " elements.");
    return tile;
}

} // namespace

void judge::run() {
    const Kernel<void(CUtensorMap, CUtensorMap)> kernel("vertical_sums");
    const Shape tile = chosen();
    const auto tile_width = static_cast<unsigned>(tile.tile_width);
    const auto tile_height = static_cast<unsigned>(tile.tile_height);
    struct Case {
        std::size_t width;
        std::size_t height;
    };
    for (const auto [width, height] : {Case{128, 128}, {64, 48}, {100, 37}, {4, 1}, {36, 300}}) {
        trying("matrices of " + std::to_string(width) + " × " + std::to_string(height));
        const std::size_t pitch = workbook::row_pitch<unsigned>(width);
        const Values values{width, height, pitch,
                            workbook::random_values<unsigned>(pitch * height, width + height)};
        const auto in = input(values.all, 4);
        auto out = output<unsigned>(pitch * height, 8);
        const dim3 grid(workbook::blocks_for(width, tile_width), workbook::blocks_for(height, tile_height));
        kernel({.grid = grid, .block = 128}, map_of(in.data(), values, tile_width, tile_height + 2),
               map_of(out.data(), values, tile_width, tile_height));
        std::vector<unsigned> expected;
        for (std::size_t y = 0; y < height; ++y)
            for (std::size_t x = 0; x < pitch; ++x)
                expected.push_back(values.sum(x, y));
        expect_exact<unsigned>("out", out, expected,
                               [&](const auto& wrong) { return explain(wrong, values); });
    }
}
