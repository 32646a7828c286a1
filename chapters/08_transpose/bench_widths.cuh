/// @file bench_widths.cuh
/// Chapter 8's measurements: any_matrix with few rows and with few columns, at every width.
#pragma once

#include "any_transpose.cuh"
#include "bench_sides.cuh"

#include "workbook/bench.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace transpose {

/// The share of the copy that any_matrix reaches; nothing where no times are taken.
inline std::optional<double> share_of_copy(Bench& bench, Extent extent) {
    Sides<float> sides(extent);
    sides.poison();
    const auto launch = [&](cudaStream_t) { launch_any_matrix(sides.in(), sides.out(), extent); };
    launch(nullptr);
    if (const auto wrong = sides.wrong_words(); wrong > 0)
        bench.wrong(std::to_string(extent.rows) + " x " + std::to_string(extent.columns) + ": " +
                    std::to_string(wrong) + " wrong elements");
    const auto copy = [&](cudaStream_t stream) {
        workbook::check(cudaMemcpyAsync(sides.out().data(), sides.in().data(), sides.bytes() / 2,
                                        cudaMemcpyDeviceToDevice, stream),
                        "copying the matrix");
    };
    constexpr int repetitions = 11;
    const auto copied = bench.time(sides.bytes(), copy, repetitions);
    const auto timing = bench.time_checked(sides.bytes(), launch, repetitions);
    if (!copied || !timing)
        return {};
    return 100 * timing->bytes_per_second(sides.bytes()) / copied->bytes_per_second(sides.bytes());
}

/// One row for widths next to each other: how many reach 90 % of the copy, and the least.
inline void width_row(Bench& bench, bool rows, std::size_t from, std::size_t to) {
    const auto elements = bench.size<std::size_t>(130'000'000, 5'000);
    std::vector<std::pair<double, std::size_t>> shares;
    for (std::size_t width = from; width <= to; width += bench.dry() ? to - from : 1) {
        const std::size_t length = elements / width | 1;
        const auto share = share_of_copy(bench, rows ? Extent{width, length} : Extent{length, width});
        if (share)
            shares.emplace_back(*share, width);
    }
    std::vector<workbook::BenchCell> cells{
        {"few", rows ? "rows" : "columns"}, {"from", from}, {"to", to}, {"widths", to - from + 1}};
    if (!shares.empty()) {
        std::sort(shares.begin(), shares.end());
        const auto below =
            std::count_if(shares.begin(), shares.end(), [](const auto& share) { return share.first < 90; });
        cells.emplace_back("below", static_cast<std::size_t>(below));
        cells.emplace_back("least", shares.front().first);
        cells.emplace_back("at", shares.front().second);
        cells.emplace_back("median", shares[shares.size() / 2].first);
    }
    bench.row("widths", cells);
}

/// Every width from 2 to 340, with few rows and with few columns.
inline void widths(Bench& bench) {
    bench.table("widths", "Every width from 2 to 340, in matrices of 130 million elements",
                {{"few", "few"},
                 {"from", "from"},
                 {"to", "to"},
                 {"widths", "widths"},
                 {"below", "with less than 90 % of the copy"},
                 {"least", "least share", "%"},
                 {"at", "of the width"},
                 {"median", "median share", "%"}});
    constexpr std::size_t ends[] = {2, 33, 65, 97, 129, 161, 193, 225, 257, 289, 341};
    for (const bool rows : {true, false})
        for (std::size_t i = 1; i < std::size(ends); ++i)
            width_row(bench, rows, ends[i - 1], ends[i] - 1);
}

} // namespace transpose
