/// @file swizzled_turn.cpp
/// Judge of chapter 8's swizzled_turn.
#include "transposed.hpp"

#include "workbook/tensor_map.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

namespace {

constexpr std::size_t edge = 32; // of a tile

/// The map of a matrix of rows × columns floats for swizzled tiles.
CUtensorMap map_of(const float* data, std::size_t rows, std::size_t columns) {
    return workbook::make_tensor_map(data, workbook::TensorLayout<2>{.dims = {columns, rows},
                                                                     .strides = {columns * sizeof(float)},
                                                                     .box = {edge, edge},
                                                                     .swizzle = workbook::Swizzle::bytes128});
}

/// The matrix after a quarter turn clockwise: columns × rows.
std::vector<float> turned(const judge::HostMatrix& in) {
    std::vector<float> result(in.values.size());
    for (std::size_t r = 0; r < in.rows; ++r)
        for (std::size_t c = 0; c < in.columns; ++c)
            result[c * in.rows + in.rows - 1 - r] = in.values[r * in.columns + c];
    return result;
}

/// Says where a wrong element of the turned matrix lies, and where its value comes from.
std::string explain(const judge::Wrong<float>& wrong, const judge::HostMatrix& in) {
    const std::size_t row = wrong.index / in.rows; // of out
    const std::size_t column = wrong.index % in.rows;
    const std::size_t right = in.rows - 1 - column; // row of in
    const auto element = [](std::size_t r, std::size_t c) {
        return "(row " + std::to_string(r) + ", column " + std::to_string(c) + ")";
    };
    std::string text = "It is " + element(row, column) + " of out and should be " + element(right, row) +
                       " of in, a matrix of " + in.shape() + ". ";
    if (judge::is_poison(wrong.actual))
        return text + "No thread and no copy wrote it.";
    if (wrong.actual == 0 && in.values[right * in.columns + row] != 0)
        return text +
               "A tensor copy brings zeros for what lies outside the matrix: in which row does the load "
               "begin? (The coordinates of a tensor copy are {x, y}, and x counts columns.)";
    const auto same = [&](float value) { return std::memcmp(&value, &wrong.actual, sizeof(float)) == 0; };
    if (std::count_if(in.values.begin(), in.values.end(), same) != 1)
        return text;
    const auto found =
        static_cast<std::size_t>(std::find_if(in.values.begin(), in.values.end(), same) - in.values.begin());
    const std::size_t r = found / in.columns;
    const std::size_t c = found % in.columns;
    text += "What is there is " + element(r, c) + " of in";
    if (r == column && c == row)
        return text + ": transposed, and not turned. The first column of out is the last row of in.";
    if (r == column && c == in.columns - 1 - row)
        return text + ": turned the other way, anticlockwise.";
    const std::size_t place = in.rows - 1 - r; // column of out that this row of in belongs to
    if (r == right && c / 32 == row / 32 && c % 4 == row % 4 &&
        (c % 32 / 4 ^ (7 - column % 8)) == row % 32 / 4)
        return text + ": its chunk of 16 bytes was not XORed with the row. place() finds the elements.";
    if (c == row && place / 32 == column / 32 && place % 4 == column % 4 &&
        (place % 32 / 4 ^ row % 8) == column % 32 / 4)
        return text +
               ": a chunk of `turned` was not XORed with its row. The map of out swizzles too: element "
               "(r, c) of `turned` belongs at place(r, c).";
    if (place % 32 == column % 32 && c % 32 == row % 32)
        return text +
               ", from another tile: one of the two corners is wrong. What lies at the top of in lies on "
               "the right of out. (The coordinates of a tensor copy are {x, y}, and x counts columns.)";
    return text + ".";
}

} // namespace

void judge::run() {
    const Kernel<void(CUtensorMap, CUtensorMap, int)> kernel("swizzled_turn");
    const HostMatrix shapes[] = {{32, 32, {}}, {64, 64, {}}, {64, 32, {}}, {32, 96, {}},
                                 {32, 40, {}}, {40, 56, {}}, {4, 100, {}}, {68, 4, {}}};
    for (const HostMatrix& shape : shapes) {
        HostMatrix in = shape;
        trying("a matrix of " + in.shape());
        const std::size_t size = in.rows * in.columns;
        const bool square =
            in.rows == in.columns; // the first ones: no value twice, so that explain() finds each
        in.values = workbook::random_values<float>(size, size + in.rows, {.specials = !square});
        const auto from = input(in.values, 4);
        auto out = output<float>(size, 8);
        const dim3 grid(workbook::blocks_for(in.columns, edge), workbook::blocks_for(in.rows, edge));
        kernel({.grid = grid, .block = 256}, map_of(from.data(), in.rows, in.columns),
               map_of(out.data(), in.columns, in.rows), static_cast<int>(in.rows));
        expect_exact<float>("out", out, turned(in), [&](const auto& wrong) { return explain(wrong, in); });
    }
}
