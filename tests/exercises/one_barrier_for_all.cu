/// @file one_barrier_for_all.cu
/// Judge of chapter 3's one_barrier_for_all.
#include "judge.hpp"

#include "workbook/tile.cuh"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

void launch_one_barrier_for_all(std::span<const unsigned> in, std::span<unsigned> out);

namespace {

constexpr std::size_t tile = 96;

std::string explain(const judge::Wrong<unsigned>& wrong) {
    const std::size_t k = wrong.index / tile % 8;
    return "This is tile " + std::to_string(k) + " of its block, use number " + std::to_string(k / 2) +
           " of buffer " + std::to_string(k % 2) + ".";
}

} // namespace

void judge::run() {
    // 1 + 1 + 1 + 1 + 12 = 16 blocks of 768 elements: the manifest counts their barriers.
    for (const std::size_t size : {768, 1, 100, 767, 9000, 0}) {
        trying(with_elements(size));
        const std::vector<unsigned> values = workbook::random_values<unsigned>(size, size + 1);
        const auto in = input(values);
        auto out = output<unsigned>(size);
        launch_one_barrier_for_all(in.span(), out.span());
        expect_exact<unsigned>("out", out, workbook::neighbour_sums<unsigned>(values, tile), explain);
    }
}
