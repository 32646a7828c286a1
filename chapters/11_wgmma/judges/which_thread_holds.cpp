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
    if (taken == largest(d, {row}, pair / 4 * 4, pair / 4 * 4 + 4))
        return said + "two threads' parts of the row: four hold it.";
    if (taken == largest(d, {other}) || taken == largest(d, {other}, pair, pair + 2))
        return said + "row " + std::to_string(other) + ": this thread has parts of both rows.";
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
