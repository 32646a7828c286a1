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

/// An interlaced picture whose element (x, row) is 1000 · row + x, and -1 in the padding after the rows. Row
/// y of field f is row 2 · y + f.
struct Interlaced {
    std::size_t width;
    std::size_t height;
    std::size_t pitch;

    [[nodiscard]] int at(int x, int y, int field) const {
        const int row = 2 * y + field;
        const bool inside = x >= 0 && y >= 0 && x < static_cast<int>(width) && row < static_cast<int>(height);
        return inside ? 1000 * row + x : 0;
    }
    [[nodiscard]] std::vector<int> values() const {
        std::vector<int> all(pitch * height, -1);
        for (std::size_t row = 0; row < height; ++row)
            for (std::size_t x = 0; x < width; ++x)
                all[row * pitch + x] = static_cast<int>(1000 * row + x);
        return all;
    }
    [[nodiscard]] std::string words() const {
        return std::to_string(width) + " × " + std::to_string(height) + " with pitch " +
               std::to_string(pitch);
    }
};

/// As the exercise declares it.
struct Layout {
    std::uint64_t dims[3];
    std::uint64_t strides[2];
    std::uint32_t box[3];
};

/// Fails for a layout of another picture, whose tiles may be right all the same.
void expect_described(const Layout& layout, const Interlaced& picture) {
    const std::size_t row = picture.pitch * sizeof(int);
    if (layout.dims[0] != picture.width || layout.dims[1] != picture.height / 2 || layout.dims[2] != 2 ||
        layout.strides[0] != 2 * row || layout.strides[1] != row)
        judge::fail("The tiles are right, but the layout of a picture of " + picture.words() +
                    " is that of another one: dims = {" + std::to_string(layout.dims[0]) + ", " +
                    std::to_string(layout.dims[1]) + ", " + std::to_string(layout.dims[2]) +
                    "} elements, strides = {" + std::to_string(layout.strides[0]) + ", " +
                    std::to_string(layout.strides[1]) + "} bytes.");
}

/// What is wrong with the distances of rows and fields; empty if nothing is.
std::string explain_strides(const Layout& layout, const Interlaced& picture) {
    const std::size_t row = picture.pitch * sizeof(int);
    if (layout.strides[0] == 2 * row && layout.strides[1] == row)
        return "";
    return " A row of this picture takes " + std::to_string(row) +
           " bytes with its padding. strides[0] leads from " +
           "a row of a field to the next row of the same field, and yours is " +
           std::to_string(layout.strides[0]) + "; strides[1] leads from field 0 to field 1, and yours is " +
           std::to_string(layout.strides[1]) + ".";
}

/// Where a tile begins.
struct Corner {
    int x;
    int y;
    int field;

    [[nodiscard]] std::string words() const {
        return "(" + std::to_string(x) + ", " + std::to_string(y) + ") of field " + std::to_string(field);
    }
};

/// What a wrong element of the tile says about the layout.
std::string explain(const judge::Wrong<int>& wrong, const Layout& layout, const Interlaced& picture,
                    const Corner& corner) {
    const int column = static_cast<int>(wrong.index) % tile_width;
    const int row = static_cast<int>(wrong.index) / tile_width;
    const std::string place = "It lies in column " + std::to_string(column) + " of row " +
                              std::to_string(row) + " of the tile at " + corner.words() + ". ";
    if (wrong.actual == -1)
        return place + "That is padding after a row: dims[0] is the number of elements that belong to a row, "
                       "not the distance of two rows.";
    if (wrong.actual == 0)
        return place + "A load brings 0 where the tensor ends: dims are {columns, rows of a field, fields}, "
                       "innermost first.";
    return place + "That is element (" + std::to_string(wrong.actual % 1000) + ", " +
           std::to_string(wrong.actual / 1000) + ") of the picture of " + picture.words() + "." +
           explain_strides(layout, picture);
}

} // namespace

void judge::run() {
    const Kernel<void(workbook::Matrix<const int>, Layout*)> layout("layout");
    const Kernel<void(CUtensorMap, int, int, int, int*)> kernel("describe_the_matrix");
    struct Case {
        Interlaced picture;
        Corner corner;
    };
    std::vector<std::pair<Layout, Interlaced>> answers;
    for (const auto& [picture, corner] : {Case{{64, 32, 64}, {32, 8, 0}},
                                          {{64, 32, 64}, {0, 0, 1}},
                                          {{64, 32, 80}, {32, 8, 1}},
                                          {{100, 74, 100}, {96, 32, 0}},
                                          {{37, 100, 40}, {32, 48, 1}},
                                          {{50, 20, 64}, {32, 8, 1}},
                                          {{50, 20, 64}, {-4, -2, 0}},
                                          {{3, 6, 4}, {0, 0, 1}}}) {
        trying("the tile at " + corner.words() + " of a picture of " + picture.words());
        const auto in = input(picture.values(), 4);
        auto out = output<int>(tile_width * tile_height);
        auto described = output<Layout>(1);
        layout({}, workbook::Matrix<const int>{in.data(), picture.width, picture.height, picture.pitch},
               described.data());
        const Layout answer = described.download().front();
        kernel({.block = tile_width * tile_height}, map_of(in.data(), answer), corner.x, corner.y,
               corner.field, out.data());
        std::vector<int> expected;
        for (int row = 0; row < tile_height; ++row)
            for (int column = 0; column < tile_width; ++column)
                expected.push_back(picture.at(corner.x + column, corner.y + row, corner.field));
        expect_exact<int>("out", out, expected,
                          [&](const auto& wrong) { return explain(wrong, answer, picture, corner); });
        answers.emplace_back(answer, picture);
    }
    for (const auto& [answer, picture] : answers) // when all tiles are right: a wrong one tells more
        expect_described(answer, picture);
}
