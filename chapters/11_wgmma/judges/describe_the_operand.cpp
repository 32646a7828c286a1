/// @file describe_the_operand.cpp
/// Judge of chapter 11's describe_the_operand.
#include "judge.hpp"
#include "matrices.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace {

/// Recognises products of which steps along k are missing or doubled.
std::string explain(const judge::Wrong<float>& wrong, const std::vector<__nv_bfloat16>& a,
                    const std::vector<__nv_bfloat16>& b) {
    const std::size_t row = wrong.index / 32, column = wrong.index % 32;
    const auto step = [&](std::size_t k) {
        float sum = 0;
        for (std::size_t i = 16 * k; i < 16 * k + 16; ++i)
            sum += static_cast<float>(a[row * judge::depth + i]) *
                   static_cast<float>(b[column * judge::depth + i]);
        return sum;
    };
    if (wrong.actual == 2 * (step(0) + step(1)))
        return "Steps 0 and 1 were added twice, and 2 and 3 not at all: those lie in the second panel.";
    if (row == 0 && column >= 8)
        return "Columns 0 to " + std::to_string(column - 1) + " of this row are right, column " +
               std::to_string(column) +
               " is not: the next eight rows of B lie `stride` bytes behind the first eight. It is in bytes, "
               "and the descriptor divides.";
    return "Step k has 16 elements of k: two steps in a row of a panel of 64 bytes. Where does the next "
           "panel begin?";
}

} // namespace

void judge::run() {
    const Kernel<void(CUtensorMap, CUtensorMap, float*)> kernel("describe_the_operand");
    for (const std::uint64_t seed : {1, 2}) {
        trying("matrices of 64 × 64 and 64 × 32");
        const auto a_values = small_integers(64, seed), b_values = small_integers(32, seed + 10);
        const auto a = input(a_values), b = input(b_values);
        auto out = output<float>(64 * 32);
        kernel({.block = 128}, tile_map(a.data(), 64, workbook::Swizzle::bytes64),
               tile_map(b.data(), 32, workbook::Swizzle::bytes64), out.data());
        expect_exact<float>("out", out, product(a_values, b_values),
                            [&](const auto& wrong) { return explain(wrong, a_values, b_values); });
    }
}
