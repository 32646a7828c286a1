/// @file transposed.hpp
/// What the judges of chapter 8 share: matrices, their transposed, and a word about a wrong element.
#pragma once

#include "judge.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <vector>

namespace judge {

/// A matrix on the host, row after row.
struct HostMatrix {
    std::size_t rows;
    std::size_t columns;
    std::vector<float> values;

    [[nodiscard]] std::vector<float> transposed() const {
        std::vector<float> result(values.size());
        for (std::size_t r = 0; r < rows; ++r)
            for (std::size_t c = 0; c < columns; ++c)
                result[c * rows + r] = values[r * columns + c];
        return result;
    }
    [[nodiscard]] std::string shape() const { return std::to_string(rows) + " × " + std::to_string(columns); }
};

/// Says where a wrong element of the transposed matrix lies, and where its value comes from.
[[nodiscard]] inline std::string explain_transposed(const Wrong<float>& wrong, const HostMatrix& in) {
    const std::size_t row = wrong.index / in.rows; // of out
    const std::size_t column = wrong.index % in.rows;
    const auto element = [](std::size_t r, std::size_t c) {
        return "(row " + std::to_string(r) + ", column " + std::to_string(c) + ")";
    };
    std::string text = "It is " + element(row, column) + " of out and should be " + element(column, row) +
                       " of in, a matrix of " + in.shape() + ". ";
    if (is_poison(wrong.actual))
        return text + "No thread and no copy wrote it.";
    if (wrong.actual == 0 && in.values[column * in.columns + row] != 0)
        return text + "A tensor copy brings zeros where the matrix ends: a coordinate is too large.";
    const auto same = [&](float value) { return std::memcmp(&value, &wrong.actual, sizeof(float)) == 0; };
    if (std::count_if(in.values.begin(), in.values.end(), same) != 1)
        return text;
    const auto found = std::find_if(in.values.begin(), in.values.end(), same) - in.values.begin();
    const std::size_t r = static_cast<std::size_t>(found) / in.columns;
    const std::size_t c = static_cast<std::size_t>(found) % in.columns;
    text += "What is there is " + element(r, c) + " of in";
    if (r / 32 == row / 32 && c / 32 == column / 32 && r / 32 != c / 32)
        return text +
               ", from the tile that lies there: one of its two corners is wrong. The tile begins in row "
               "`row` and column `column` of in, and in row `column` and column `row` of out. (The "
               "coordinates of a tensor copy are {x, y}, and x counts columns.)";
    if (r % 32 == row % 32 && c % 32 == column % 32)
        return text + ": the tile was brought to the right place, but not turned.";
    return text + ".";
}

/// Lets `launch(in, out, rows, columns)` transpose matrices of these shapes, which are pointers to device
/// memory and numbers of elements, and judges the result, bit for bit. `explain(wrong, in)` speaks of a wrong
/// element.
template <class Launch, class Explainer = decltype(&explain_transposed)>
void expect_transposed(Launch launch, std::span<const HostMatrix> shapes,
                       Explainer explain = explain_transposed) {
    for (const HostMatrix& shape : shapes) {
        HostMatrix in = shape;
        trying("a matrix of " + in.shape());
        const std::size_t size = in.rows * in.columns;
        in.values = workbook::random_values<float>(size, size + in.rows, {.specials = true});
        const auto from = input(in.values, 4);
        auto out = output<float>(size, 8);
        launch(from.data(), out.data(), in.rows, in.columns);
        expect_exact<float>("out", out, in.transposed(),
                            [&](const auto& wrong) { return explain(wrong, in); });
    }
}

} // namespace judge
