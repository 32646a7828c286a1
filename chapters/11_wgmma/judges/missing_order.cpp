/// @file missing_order.cpp
/// Judge of chapter 11's missing_order.
#include "judge.hpp"
#include "matrices.hpp"

#include <cstddef>
#include <string>
#include <vector>

void judge::run() {
    const Kernel<void(CUtensorMap, CUtensorMap, CUtensorMap, float*)> kernel("missing_order");
    const auto map = [](const auto& matrix) {
        return tile_map(matrix.data(), 64, workbook::Swizzle::bytes128);
    };
    for (const std::uint64_t seed : {3, 13}) {
        trying("three matrices of 64 × 64");
        const auto a_values = small_integers(64, seed), b_values = small_integers(64, seed + 1),
                   c_values = small_integers(64, seed + 2);
        const auto a = input(a_values), b = input(b_values), c = input(c_values);
        auto out = output<float>(64 * 64);
        kernel({.block = 128}, map(a), map(b), map(c), out.data());
        std::vector<__nv_bfloat16> scores;
        for (const float sum : product(a_values, b_values))
            scores.push_back(__float2bfloat16_rn(sum));
        const std::vector<float> with_b = product(scores, b_values);
        expect_exact<float>("out", out, product(scores, c_values), [&](const auto& wrong) -> std::string {
            return wrong.actual == with_b[wrong.index] ? "The scores were multiplied by B, and not by C."
                                                       : "";
        });
    }
}
