/// @file cluster_maximum.cpp
/// Judge of chapter 9's cluster_maximum.
#include "judge.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace {

constexpr std::size_t block = 256;
constexpr std::size_t chunk = 4 * block;

/// Says which block's maximum was taken for that of the cluster.
std::string explain(const judge::Wrong<unsigned>& wrong, const std::vector<unsigned>& in) {
    for (std::size_t rank = 0; rank < 4; ++rank) {
        const std::size_t start = std::min(in.size(), wrong.index * chunk + rank * block);
        const auto first = in.begin() + static_cast<std::ptrdiff_t>(start);
        const auto last = in.begin() + static_cast<std::ptrdiff_t>(std::min(in.size(), start + block));
        if (first != last && *std::max_element(first, last) == wrong.actual)
            return "That is the maximum of the block with rank " + std::to_string(rank) +
                   " alone: &maximum is the own block's variable, map_shared_rank makes it another's.";
    }
    return "";
}

} // namespace

void judge::run() {
    const Kernel<void(const unsigned*, std::size_t, unsigned*)> kernel("cluster_maximum");
    for (const std::size_t size :
         {chunk, 3 * chunk, std::size_t{1}, chunk - 300, 20 * chunk + 700, std::size_t{0}}) {
        trying(with_elements(size));
        auto values = workbook::random_values<unsigned>(size, size + 10);
        for (std::size_t i = 0; i < size; ++i) // the larger the rank, the smaller the numbers
            values[i] = values[i] / 4 + static_cast<unsigned>(3 - i / block % 4) * 0x40000000u;
        const auto in = input(values, 1);
        auto maxima = output<unsigned>(workbook::blocks_for(size, chunk));
        kernel({.grid = 4 * workbook::blocks_for(size, chunk), .block = block, .cluster = 4}, in.data(), size,
               maxima.data());
        std::vector<unsigned> expected(maxima.size());
        for (std::size_t i = 0; i < size; ++i)
            expected[i / chunk] = std::max(expected[i / chunk], values[i]);
        expect_exact<unsigned>("maxima", maxima, expected,
                               [&](const auto& wrong) { return explain(wrong, values); });
    }
}
