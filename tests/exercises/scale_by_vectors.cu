/// @file scale_by_vectors.cu
/// Judge of chapter 1's scale_by_vectors.
#include "judge.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

void launch_scale_by_vectors(std::span<const float> in, std::span<float> out, float factor);

namespace {

constexpr float factor = -2.5f;

std::string explain(const judge::Wrong<float>& wrong, std::size_t size) {
    if (judge::is_poison(wrong.actual) && wrong.index >= size / 4 * 4)
        return "No thread wrote this element: it is behind the last whole vector and has to be taken alone.";
    if (judge::is_poison(wrong.actual) && wrong.index > 0)
        return "No thread wrote this element: are there enough blocks for four elements per thread?";
    return "";
}

} // namespace

void judge::run() {
    for (const std::size_t size : {1024, 4099, 1, 7, 20'000, 0}) {
        trying(with_elements(size));
        const std::vector<float> values = workbook::random_values<float>(size, size + 1);
        std::vector<float> expected(values);
        for (float& value : expected)
            value *= factor;
        const auto in = input(values);
        auto out = output<float>(size);
        launch_scale_by_vectors(in.span(), out.span(), factor);
        expect_exact<float>("out", out, expected, [&](const auto& wrong) { return explain(wrong, size); });
    }
}
