/// @file vertical_sums.cpp
/// Judge of chapter 6's vertical_sums.
#include "judge.hpp"

#include "workbook/matrix.hpp"
#include "workbook/tensor_map.hpp"

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

constexpr unsigned tile_elements = 1024;
constexpr int sector = 32;      // bytes
constexpr int first_byte = 16;  // of each row of `in`: in the middle of a sector
constexpr int counted_on = 128; // the matrix for which the sectors are counted is as wide and as high

/// As the exercise declares it.
struct Shape {
    int tile_width;
    int tile_height;
    int sectors_read;
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

/// Of a count; others than these are common mistakes.
struct Rules {
    int first_byte = ::first_byte;
    bool outside_as_inside = false;
};

/// The sectors that the loads of all tiles read of the matrix for which they are counted: each row of a box
/// in pieces of 128 bytes, and of one outside of the matrix those that it fills.
int sectors(const Shape& tile, const Rules& rules) {
    constexpr int piece = 128;
    int sum = 0;
    for (int x = 0; x < counted_on; x += tile.tile_width)
        for (int y = 0; y < counted_on; y += tile.tile_height)
            for (int row = 0; row < tile.tile_height + 2; ++row)
                for (int at = 0; at < tile.tile_width * 4; at += piece) {
                    const int matrix_row = y - 1 + row;
                    const bool inside =
                        matrix_row >= 0 && matrix_row < counted_on && x * 4 + at < counted_on * 4;
                    const int begin = inside || rules.outside_as_inside ? rules.first_byte + x * 4 + at : 0;
                    const int end = begin + std::min(piece, tile.tile_width * 4 - at);
                    sum += (end + sector - 1) / sector - begin / sector;
                }
    return sum;
}

/// Fails if the learner's count is not that of the chosen tile.
void expect_counted(const Shape& tile) {
    if (tile.sectors_read == sectors(tile, {}))
        return;
    std::string message = "The loads of all tiles of " + std::to_string(tile.tile_width) + " × " +
                          std::to_string(tile.tile_height) + " do not read " +
                          std::to_string(tile.sectors_read) + " sectors of a matrix of " +
                          std::to_string(counted_on) + " × " + std::to_string(counted_on) + ".\n";
    if (tile.sectors_read == sectors(tile, {.outside_as_inside = true}))
        message += "A row outside of the matrix touches no sector: it counts as many as it fills.";
    else if (tile.sectors_read == sectors(tile, {.first_byte = 0}))
        message += "Each row of the matrix begins in the middle of a sector: a piece of it touches one more "
                   "than it fills.";
    else
        message +=
            "Count the pieces of a row of the box and the sectors that each touches; then the rows of a "
            "box, two of halo among them; then the boxes.";
    judge::fail(message);
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
    for (const auto [width, height] :
         {Case{counted_on, counted_on}, {64, 48}, {100, 37}, {4, 1}, {36, 300}}) {
        trying("matrices of " + std::to_string(width) + " × " + std::to_string(height));
        const std::size_t pitch = workbook::row_pitch<unsigned>(width);
        const Values values{width, height, pitch,
                            workbook::random_values<unsigned>(pitch * height, width + height)};
        const auto in = input(values.all, first_byte / sizeof(unsigned));
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
    trying("your count of the sectors");
    expect_counted(tile);
}
