/// @file missing_order.cpp
/// Judge of chapter 11's missing_order.
#include "judge.hpp"
#include "matrices.hpp"

#include <cstddef>
#include <string>
#include <vector>

void judge::run() {
    const Kernel<void(CUtensorMap, CUtensorMap, float, float*)> kernel("missing_order");
    for (const float factor : {0.5F, 3.0F, 0.0F}) {
        trying("with the factor " + std::to_string(factor));
        const auto a_values = small_integers(64, 3), b_values = small_integers(64, 4);
        const auto a = input(a_values), b = input(b_values);
        auto out = output<float>(64 * 64);
        kernel({.block = 128}, tile_map(a.data(), 64, workbook::Swizzle::bytes128),
               tile_map(b.data(), 64, workbook::Swizzle::bytes128), factor, out.data());
        const std::vector<float> once = product(a_values, b_values);
        std::vector<float> expected;
        for (const float sum : once)
            expected.push_back(sum * factor + sum);
        expect_exact<float>("out", out, expected, [&](const auto& wrong) -> std::string {
            if (wrong.actual == factor * 2 * once[wrong.index])
                return "Both products were scaled.";
            if (wrong.actual == 2 * once[wrong.index])
                return "The sums were not scaled.";
            return "";
        });
    }
}
