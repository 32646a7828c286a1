/// @file scale_by_vectors.cpp
/// Judge of chapter 1's scale_by_vectors.
#include "judge.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace {

constexpr float factor = -2.5f;

std::string explain(const judge::Wrong<float>& wrong, std::size_t size) {
    if (judge::is_poison(wrong.actual) && wrong.index >= size / 4 * 4)
        return "No thread wrote this element: it comes after the last whole vector and has to be taken "
               "alone.";
    if (judge::is_poison(wrong.actual) && wrong.index > 0)
        return "No thread wrote this element: which four are those of thread n of the grid?";
    return "";
}

} // namespace

void judge::run() {
    const Kernel<void(const float*, float*, std::size_t, float)> kernel("scale_by_vectors");
    for (const std::size_t size : {1024, 4099, 1, 7, 20'000, 0}) {
        trying(with_elements(size));
        const std::vector<float> values = workbook::random_values<float>(size, size + 1);
        std::vector<float> expected(values);
        for (float& value : expected)
            value *= factor;
        const auto in = input(values);
        auto out = output<float>(size);
        kernel({.grid = workbook::blocks_for(size, std::size_t{4} * 256), .block = 256}, in.data(),
               out.data(), size, factor);
        expect_exact<float>("out", out, expected, [&](const auto& wrong) { return explain(wrong, size); });
    }
}
