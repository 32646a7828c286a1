/// @file which_thread_holds.cpp
/// Judge of chapter 11's which_thread_holds.
#include "judge.hpp"
#include "matrices.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace {

/// Says whose place the wrong value took, if it is that of one other element.
std::string explain(const judge::Wrong<float>& wrong, const std::vector<float>& expected) {
    if (judge::is_poison(wrong.actual))
        return "No thread wrote this element: two accumulators were given the same place.";
    const auto element = [](std::size_t i) {
        return "D(" + std::to_string(i / 64) + ", " + std::to_string(i % 64) + ")";
    };
    std::size_t found = expected.size();
    for (std::size_t i = 0; i < expected.size(); ++i)
        if (expected[i] == wrong.actual && wrong.actual != 0) {
            if (found != expected.size())
                return "The place of an accumulator is another than its function says.";
            found = i;
        }
    return found == expected.size() ? "The place of an accumulator is another than its function says."
                                    : "There stands what belongs to " + element(found) + ".";
}

} // namespace

void judge::run() {
    const Kernel<void(CUtensorMap, CUtensorMap, const float*, float*)> kernel("which_thread_holds");
    for (const std::uint64_t seed : {1, 2}) {
        trying("matrices of 64 × 64");
        const auto a_values = small_integers(64, seed), b_values = small_integers(64, seed + 10);
        std::vector<float> bias_values;
        for (int column = 0; column < 64; ++column)
            bias_values.push_back(static_cast<float>(column * 8));
        const auto a = input(a_values), b = input(b_values);
        const auto bias = input(bias_values);
        auto out = output<float>(64 * 64);
        kernel({.block = 128}, tile_map(a.data(), 64, workbook::Swizzle::bytes128),
               tile_map(b.data(), 64, workbook::Swizzle::bytes128), bias.data(), out.data());
        std::vector<float> expected = product(a_values, b_values);
        for (std::size_t i = 0; i < expected.size(); ++i)
            expected[i] = std::max(0.0F, expected[i] + bias_values[i % 64]);
        expect_exact<float>("out", out, expected,
                            [&](const auto& wrong) { return explain(wrong, expected); });
    }
}
