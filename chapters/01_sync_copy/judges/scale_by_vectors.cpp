/// @file scale_by_vectors.cpp
/// Judge of chapter 1's scale_by_vectors.
#include "judge.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace {

constexpr float factor = -2.5f;

/// @param head elements before the first whole vector
std::string explain(const judge::Wrong<float>& wrong, std::size_t head, std::size_t size) {
    if (!judge::is_poison(wrong.actual))
        return "";
    if (wrong.index < head)
        return "No thread wrote this element: it comes before the first whole vector and has to be taken "
               "alone.";
    if (wrong.index >= head + (size - head) / 4 * 4)
        return "No thread wrote this element: it comes after the last whole vector and has to be taken "
               "alone.";
    if (wrong.index > 0)
        return "No thread wrote this element: which four are those of thread n of the grid?";
    return "";
}

} // namespace

void judge::run() {
    const Kernel<void(const float*, float*, std::size_t, float)> kernel("scale_by_vectors");
    for (const std::size_t past : {0, 1, 3, 2})
        for (const std::size_t size : {1024, 4099, 1, 7, 20'000, 0}) {
            trying(with_elements(size) + ", " + std::to_string(4 * past) + " bytes past a multiple of 16");
            const std::vector<float> values = workbook::random_values<float>(size, size + 1);
            std::vector<float> expected(values);
            for (float& value : expected)
                value *= factor;
            const auto in = input(values, past);
            auto out = output<float>(size, past);
            kernel({.grid = workbook::blocks_for(size, std::size_t{4} * 256), .block = 256}, in.data(),
                   out.data(), size, factor);
            const std::size_t head = std::min((4 - past) % 4, size);
            expect_exact<float>("out", out, expected,
                                [&](const auto& wrong) { return explain(wrong, head, size); });
        }
}
