/// @file describe_the_matrix.cpp
/// Judge of chapter 6's describe_the_matrix.
#include "judge.hpp"
#include "layout.hpp"

#include "workbook/matrix.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace {

constexpr int tile_width = 32;
constexpr int tile_height = 8;

/// A matrix whose element (x, y) is 1000 · y + x, and -1 in the padding behind the rows.
struct Numbered {
    std::size_t width;
    std::size_t height;
    std::size_t pitch;

    [[nodiscard]] int at(int x, int y) const {
        const bool inside = x >= 0 && y >= 0 && x < static_cast<int>(width) && y < static_cast<int>(height);
        return inside ? 1000 * y + x : 0;
    }
    [[nodiscard]] std::vector<int> values() const {
        std::vector<int> all(pitch * height, -1);
        for (std::size_t y = 0; y < height; ++y)
            for (std::size_t x = 0; x < width; ++x)
                all[y * pitch + x] = static_cast<int>(1000 * y + x);
        return all;
    }
};

/// As the exercise declares it.
struct Layout {
    std::uint64_t dims[2];
    std::uint64_t strides[1];
    std::uint32_t box[2];
};

/// Fails for a layout of another matrix, whose tile may be right all the same.
void expect_described(const Layout& layout, const Numbered& matrix) {
    if (layout.dims[0] != matrix.width || layout.dims[1] != matrix.height ||
        layout.strides[0] != matrix.pitch * sizeof(int))
        judge::fail("The tiles are right, but the layout of a matrix of " + std::to_string(matrix.width) +
                    " × " + std::to_string(matrix.height) + " with pitch " + std::to_string(matrix.pitch) +
                    " is that of another one: dims = {" + std::to_string(layout.dims[0]) + ", " +
                    std::to_string(layout.dims[1]) + "} elements, strides = {" +
                    std::to_string(layout.strides[0]) + "} bytes.");
}

/// What is wrong with the distance of two rows; empty if nothing is.
std::string explain_stride(const Layout& layout, const Numbered& matrix) {
    const std::size_t bytes = matrix.pitch * sizeof(int);
    if (layout.strides[0] == bytes)
        return "";
    return " strides[0] is the distance of two rows in bytes: " + std::to_string(matrix.pitch) +
           " elements of 4 bytes are " + std::to_string(bytes) + " bytes, and yours is " +
           std::to_string(layout.strides[0]) + " bytes.";
}

/// What a wrong element of the tile says about the layout.
std::string explain(const judge::Wrong<int>& wrong, const Layout& layout, const Numbered& matrix, int x,
                    int y) {
    const int column = static_cast<int>(wrong.index) % tile_width;
    const int row = static_cast<int>(wrong.index) / tile_width;
    const std::string place = "It lies in column " + std::to_string(column) + " of row " +
                              std::to_string(row) + " of the tile at (" + std::to_string(x) + ", " +
                              std::to_string(y) + "). ";
    if (wrong.actual == -1)
        return place +
               "That is padding behind a row: dims[0] is the number of elements that belong to a row, "
               "not the distance of two rows.";
    if (wrong.actual == 0)
        return place + "A load brings 0 where the tensor ends: dims are {width, height}, innermost first.";
    return place + "That is element (" + std::to_string(wrong.actual % 1000) + ", " +
           std::to_string(wrong.actual / 1000) + ") of the matrix of " + std::to_string(matrix.width) +
           " × " + std::to_string(matrix.height) + " with rows " + std::to_string(matrix.pitch) +
           " elements apart." + explain_stride(layout, matrix);
}

} // namespace

void judge::run() {
    const Kernel<void(workbook::Matrix<const int>, Layout*)> layout("layout");
    const Kernel<void(CUtensorMap, int, int, int*)> kernel("describe_the_matrix");
    struct Case {
        Numbered matrix;
        int x;
        int y;
    };
    std::vector<std::pair<Layout, Numbered>> answers;
    for (const auto& [matrix, x, y] : {Case{{64, 32, 64}, 32, 8},
                                       {{64, 32, 80}, 32, 16},
                                       {{100, 37, 100}, 96, 32},
                                       {{37, 100, 40}, 32, 96},
                                       {{50, 20, 64}, 32, 16},
                                       {{50, 20, 64}, -4, -2},
                                       {{3, 5, 4}, 0, 0}}) {
        trying("the tile at (" + std::to_string(x) + ", " + std::to_string(y) + ") of a matrix of " +
               std::to_string(matrix.width) + " × " + std::to_string(matrix.height) + " with pitch " +
               std::to_string(matrix.pitch));
        const auto in = input(matrix.values(), 4);
        auto out = output<int>(tile_width * tile_height);
        auto described = output<Layout>(1);
        layout({}, workbook::Matrix<const int>{in.data(), matrix.width, matrix.height, matrix.pitch},
               described.data());
        const Layout answer = described.download().front();
        kernel({.block = tile_width * tile_height}, map_of(in.data(), answer), x, y, out.data());
        std::vector<int> expected;
        for (int row = 0; row < tile_height; ++row)
            for (int column = 0; column < tile_width; ++column)
                expected.push_back(matrix.at(x + column, y + row));
        expect_exact<int>("out", out, expected,
                          [&](const auto& wrong) { return explain(wrong, answer, matrix, x, y); });
        answers.emplace_back(answer, matrix);
    }
    for (const auto& [answer, matrix] : answers) // when all tiles are right: a wrong one tells more
        expect_described(answer, matrix);
}
