/// @file which_thread_holds.cpp
/// Judge of chapter 11's which_thread_holds.
#include "judge.hpp"
#include "matrices.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <initializer_list>
#include <limits>
#include <string>
#include <vector>

namespace {

constexpr std::size_t edge = 64;

/// The largest of the elements of D in `rows` whose columns, modulo 8, lie from `first` to before `last`.
float largest(const std::vector<float>& d, std::initializer_list<std::size_t> rows, std::size_t first = 0,
              std::size_t last = 8) {
    float most = -std::numeric_limits<float>::infinity();
    for (const std::size_t row : rows)
        for (std::size_t column = 0; column < edge; ++column)
            if (column % 8 >= first && column % 8 < last)
                most = std::max(most, d[row * edge + column]);
    return most;
}

/// Whether `value` is the largest of an element's row and of the other one of its thread together, or of the
/// columns of both that a wrong `which_row` puts together with the element's: by i / 16, i / 4 % 2 or i % 2.
bool is_of_both(float value, const std::vector<float>& d, std::size_t index) {
    const std::size_t row = index / edge, column = index % edge;
    if (value == largest(d, {row, row ^ 8}))
        return true;
    for (const std::size_t width : {std::size_t{32}, std::size_t{8}, std::size_t{1}}) {
        float most = -std::numeric_limits<float>::infinity();
        for (const std::size_t each : {row, row ^ 8})
            for (std::size_t i = 0; i < edge; ++i)
                if (i / width % 2 == column / width % 2)
                    most = std::max(most, d[each * edge + i]);
        if (value == most)
            return true;
    }
    return false;
}

/// Says what was taken off in place of the row's largest element, if it is the largest of something else.
std::string explain(const judge::Wrong<float>& wrong, const std::vector<float>& d) {
    if (judge::is_poison(wrong.actual))
        return "No thread wrote this element.";
    const std::size_t row = wrong.index / edge, pair = wrong.index % 8 / 2 * 2, other = row ^ 8;
    const float taken = d[wrong.index] - wrong.actual;
    const std::string said = "Off D(" + std::to_string(row) + ", " + std::to_string(wrong.index % edge) +
                             ") was taken what is the largest of ";
    if (taken == largest(d, {row}, pair, pair + 2))
        return said + "one thread's part of the row: three more threads hold parts of it.";
    const std::size_t over = (pair + 4) % 8; // where the lane two further on has its part
    const float farther = std::max(largest(d, {row}, pair, pair + 2), largest(d, {row}, over, over + 2));
    if (taken == farther && is_of_both(taken, d, wrong.index))
        return "What was taken off is not the largest element of the row: either `which_row` mixes two "
               "rows, or a shuffle is missing.";
    if (taken == farther || taken == largest(d, {row}, pair / 4 * 4, pair / 4 * 4 + 4))
        return said + "two threads' parts of the row: four hold it.";
    const std::size_t upper = row & ~std::size_t{8};
    for (const std::size_t column : {pair, pair + 1})
        if (taken == d[upper * edge + column])
            return "Off D(" + std::to_string(row) + ", " + std::to_string(wrong.index % edge) +
                   ") was taken D(" + std::to_string(upper) + ", " + std::to_string(column) +
                   "): `largest` compares nothing yet.";
    if (taken == largest(d, {other}) || taken == largest(d, {other}, pair, pair + 2))
        return said + "row " + std::to_string(other) + ": this thread has parts of both rows.";
    if (is_of_both(taken, d, wrong.index))
        return said + "parts of rows " + std::to_string(upper) + " and " + std::to_string(upper + 8) +
               " together: `which_row` mixes them.";
    for (std::size_t near = row / 8 * 8; near < row / 8 * 8 + 8; ++near)
        if (near != row && (taken == largest(d, {near}) || taken == largest(d, {near}, pair, pair + 2)))
            return said + (taken == largest(d, {near}) ? "row " : "a part of row ") + std::to_string(near) +
                   ": a shuffle by more than 2 leaves the four lanes of a row.";
    if (taken == 0)
        return "Nothing was taken off: is the largest of this row below 0?";
    return "What was taken off is not the largest element of the row.";
}

/// Rows of A, every other of which has no element above 0: with columns of B that have none below, neither
/// has D.
std::vector<__nv_bfloat16> rows_of_both_signs(std::uint64_t seed) {
    auto values = judge::small_integers(edge, seed);
    for (std::size_t i = 0; i < values.size(); ++i)
        if (i / judge::depth % 2 == 1)
            values[i] = -std::abs(static_cast<float>(values[i])) - 1;
    return values;
}

} // namespace

void judge::run() {
    const Kernel<void(CUtensorMap, CUtensorMap, float*)> kernel("which_thread_holds");
    for (const std::uint64_t seed : {1, 2}) {
        trying("matrices of 64 × 64");
        const auto a_values = rows_of_both_signs(seed);
        auto b_values = small_integers(edge, seed + 10);
        for (auto& value : b_values)
            value = std::abs(static_cast<float>(value)) + 1;
        const auto a = input(a_values), b = input(b_values);
        auto out = output<float>(edge * edge);
        kernel({.block = 128}, tile_map(a.data(), edge, workbook::Swizzle::bytes128),
               tile_map(b.data(), edge, workbook::Swizzle::bytes128), out.data());
        const std::vector<float> d = product(a_values, b_values);
        std::vector<float> expected = d;
        for (std::size_t i = 0; i < expected.size(); ++i)
            expected[i] -= largest(d, {i / edge});
        expect_exact<float>("out", out, expected, [&](const auto& wrong) { return explain(wrong, d); });
    }
}
