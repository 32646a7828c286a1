/// @file which_phase.cu
/// Judge of chapter 3's which_phase.
#include "judge.hpp"

#include "workbook/tile.cuh"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

void launch_which_phase(std::span<const unsigned> in, std::span<unsigned> out);

namespace {

std::string explain(const judge::Wrong<unsigned>& wrong) {
    const std::size_t k = wrong.index / 32 % 8;
    return "This is tile " + std::to_string(k) + " of its block, use number " + std::to_string(k / 2) +
           " of buffer " + std::to_string(k % 2) + ".";
}

} // namespace

void judge::run() {
    for (const std::size_t size : {256, 1, 100, 1500, 0}) {
        trying(with_elements(size));
        const std::vector<unsigned> values = workbook::random_values<unsigned>(size, size + 1);
        const auto in = input(values);
        auto out = output<unsigned>(size);
        launch_which_phase(in.span(), out.span());
        expect_exact<unsigned>("out", out, workbook::reversed_tiles(values, 32), explain);
    }
}
