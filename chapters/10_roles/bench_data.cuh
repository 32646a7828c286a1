/// @file bench_data.cuh
/// What this chapter's measurements share: a random matrix on the device, a comparison of results, and rows
/// of kernels that take turns.
#pragma once

#include "roles.cuh"

#include "workbook/bench.hpp"
#include "workbook/bench_data.cuh"
#include "workbook/buffer.hpp"
#include "workbook/interleaved.hpp"
#include "workbook/matrix.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace roles {

inline constexpr std::size_t sms = 132; ///< of an H200: widths are multiples of so many panels

/// A random matrix on the device.
struct Words {
    Words(std::size_t width, std::size_t height)
        : shape{width, height}, words(shape.padded_size<unsigned>()) {
        workbook::launch(workbook::fill_random_words<unsigned>, workbook::striding(words.size()),
                         words.data(), words.size());
    }
    workbook::Shape shape;
    workbook::DeviceBuffer<unsigned> words;

    [[nodiscard]] Matrix<const unsigned> matrix() const { return shape.view<const unsigned>(words.data()); }
    [[nodiscard]] std::size_t bytes() const { return words.size_bytes(); }
};

/// Reports the result as wrong unless `out` holds what `expected` does.
inline void compare(workbook::Bench& bench, const workbook::DeviceBuffer<unsigned>& expected,
                    const workbook::DeviceBuffer<unsigned>& out, const std::string& what) {
    workbook::DeviceBuffer<unsigned long long> wrong(std::vector<unsigned long long>{0});
    workbook::launch(workbook::count_different<unsigned>, workbook::striding(out.size()), expected.data(),
                     out.data(), out.size(), wrong.data());
    if (wrong.download().front() > 0)
        bench.wrong(what + " computes something else");
}

/// Checks kernels that write to `out`, times them in turns, and writes a row for each: its name, and
/// `prints`.
inline void rows_in_turns(workbook::Bench& bench, const std::string& table,
                          const std::vector<workbook::Contender>& contenders,
                          const workbook::DeviceBuffer<unsigned>& expected,
                          workbook::DeviceBuffer<unsigned>& out, int prints) {
    for (const workbook::Contender& contender : contenders) {
        out.poison();
        contender.run();
        compare(bench, expected, out, table + ": " + contender.name);
    }
    std::vector<workbook::Timing> times;
    if (bench.mode() == workbook::BenchMode::measure)
        times = workbook::measure_in_turns(contenders, {.rounds = 21, .launches = 8});
    for (std::size_t i = 0; i < contenders.size(); ++i)
        bench.row(table, workbook::joined<workbook::BenchCell>(
                             {{"kernel", contenders[i].name}, {"prints", prints}},
                             workbook::timing_cells(times.empty() ? std::nullopt : std::optional(times[i]))));
}

} // namespace roles
