/// @file report.hpp
/// The results of a chapter's program, as a table and as JSON.
#pragma once

#include "device.hpp"
#include "json.hpp"
#include "table.hpp"
#include "timing.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace workbook {

/// What became of one kernel.
struct KernelResult {
    enum class Outcome { ok, wrong, error, not_run };

    std::string name{};
    std::string shows{}; ///< what the kernel is there to show
    Outcome outcome = Outcome::not_run;
    std::string detail{};  ///< what was wrong, one line; empty if nothing
    std::string note{};    ///< what else the kernel found out; may have several lines
    std::size_t bytes = 0; ///< read from plus written to global memory; 0: not a transfer
    double operations = 0; ///< floating-point operations, if that is what it is measured by
    std::optional<Timing> timing{};

    [[nodiscard]] bool failed() const noexcept {
        return outcome == Outcome::wrong || outcome == Outcome::error;
    }
};

/// All that one run of a program found.
struct Report {
    std::string program{};
    DeviceFacts device{};
    bool has_clock = false;
    std::size_t size = 0;
    std::string size_unit{};
    std::uint64_t seed = 0;
    std::size_t ceiling_bytes = 0;   ///< bytes moved by the copy that the kernels are compared with
    std::optional<Timing> ceiling{}; ///< its times
    std::vector<KernelResult> kernels{};

    /// True if the kernels are measured by the operations that they do, not by the bytes that they move.
    [[nodiscard]] bool counts_operations() const noexcept {
        return std::any_of(kernels.begin(), kernels.end(),
                           [](const KernelResult& kernel) { return kernel.operations > 0; });
    }

    /// Bytes per second of the copy ceiling; 0 if it was not measured.
    [[nodiscard]] double ceiling_rate() const noexcept {
        return ceiling ? ceiling->bytes_per_second(ceiling_bytes) : 0;
    }
};

/// A number with `digits` decimals.
[[nodiscard]] inline std::string decimals(double value, int digits) {
    std::array<char, 48> text{};
    std::snprintf(text.data(), text.size(), "%.*f", digits, value);
    return text.data();
}

/// A size in the units of bandwidth (1 MB = 10^6 bytes), exact below 10 000.
[[nodiscard]] inline std::string human_bytes(std::size_t bytes) {
    constexpr std::array<const char*, 5> units{"B", "kB", "MB", "GB", "TB"};
    if (bytes < 10'000)
        return std::to_string(bytes) + " B";
    double value = static_cast<double>(bytes);
    std::size_t unit = 0;
    while (value >= 1000 && unit + 1 < units.size()) {
        value /= 1000;
        ++unit;
    }
    return decimals(value, 2) + " " + units[unit];
}

/// The word of the table for an outcome.
[[nodiscard]] inline std::string outcome_word(KernelResult::Outcome outcome) {
    switch (outcome) {
    case KernelResult::Outcome::ok:
        return "ok";
    case KernelResult::Outcome::wrong:
        return "FAILED";
    case KernelResult::Outcome::error:
        return "FAILED";
    case KernelResult::Outcome::not_run:
        return "not run";
    }
    return "?";
}

/// The same for kernels that do operations: what they did, and how fast.
[[nodiscard]] inline std::string operations_table(const Report& report) {
    using Align = Table::Align;
    std::vector<Table::Column> columns{
        {"kernel"}, {"what it shows"}, {"result"}, {"operations", Align::right}};
    if (report.has_clock)
        for (const char* heading : {"time (ms)", "spread", "TFLOP/s"})
            columns.push_back({heading, Align::right});
    Table table(columns);
    for (const KernelResult& kernel : report.kernels) {
        std::vector<std::string> row{kernel.name, kernel.shows, outcome_word(kernel.outcome),
                                     decimals(kernel.operations * 1e-6, 1) + " M"};
        if (report.has_clock && kernel.timing) {
            row.push_back(decimals(kernel.timing->median_ms, 4));
            row.push_back(decimals(100 * kernel.timing->spread(), 1) + " %");
            row.push_back(decimals(kernel.operations / kernel.timing->median_ms * 1e-9, 1));
        } else if (report.has_clock)
            row.insert(row.end(), {"-", "-", "-"});
        table.add(std::move(row));
    }
    return table.text();
}

/// The table: one row per kernel; time and bandwidth only where the device has a clock.
[[nodiscard]] inline std::string results_table(const Report& report) {
    if (report.counts_operations())
        return operations_table(report);
    using Align = Table::Align;
    std::vector<Table::Column> columns{
        {"kernel"}, {"what it shows"}, {"result"}, {"bytes moved", Align::right}};
    if (report.has_clock)
        for (const char* heading : {"time (ms)", "spread", "GB/s", "of copy"})
            columns.push_back({heading, Align::right});
    Table table(columns);
    for (const KernelResult& kernel : report.kernels) {
        std::vector<std::string> row{kernel.name, kernel.shows, outcome_word(kernel.outcome),
                                     kernel.bytes > 0 ? human_bytes(kernel.bytes) : "-"};
        if (report.has_clock && kernel.timing) {
            const double rate = kernel.timing->bytes_per_second(kernel.bytes);
            const double ceiling = report.ceiling_rate();
            row.push_back(decimals(kernel.timing->median_ms, 4));
            row.push_back(decimals(100 * kernel.timing->spread(), 1) + " %");
            row.push_back(decimals(rate * 1e-9, 1));
            row.push_back(ceiling > 0 ? decimals(100 * rate / ceiling, 1) + " %" : "-");
        } else if (report.has_clock)
            row.insert(row.end(), {"-", "-", "-", "-"});
        table.add(std::move(row));
    }
    return table.text();
}

/// The whole report for a reader.
[[nodiscard]] inline std::string report_text(const Report& report) {
    const DeviceFacts& device = report.device;
    std::string text = report.program + " on " + device.name + " (compute capability " +
                       std::to_string(device.compute_major) + "." + std::to_string(device.compute_minor) +
                       ", " + std::to_string(device.multiprocessors) + " SMs), " +
                       std::to_string(report.size) + " " + report.size_unit + ", seed " +
                       std::to_string(report.seed) + "\n\n" + results_table(report);
    for (const KernelResult& kernel : report.kernels)
        if (!kernel.detail.empty())
            text += "\n" + kernel.name + ": " + kernel.detail;
    for (const KernelResult& kernel : report.kernels)
        if (!kernel.note.empty())
            text += "\n" + kernel.name + ": " + kernel.note;
    if (report.ceiling) {
        text += "\nCopy ceiling of this run (device-to-device copy, " + human_bytes(report.ceiling_bytes) +
                " read and written): " + decimals(report.ceiling_rate() * 1e-9, 1) + " GB/s";
        if (device.peak_bandwidth() > 0)
            text += ", " + decimals(100 * report.ceiling_rate() / device.peak_bandwidth(), 1) +
                    " % of the peak of " + decimals(device.peak_bandwidth() * 1e-9, 0) + " GB/s";
        text += ".";
    } else if (!report.has_clock)
        text += "\nThis device has no clock: results are checked, times and bandwidth need a GPU.";
    while (text.ends_with('\n'))
        text.pop_back();
    return text + "\n";
}

/// The report for a program. Times in milliseconds, rates in 10^9 bytes per second, null where nothing was
/// measured.
[[nodiscard]] inline std::string report_json(const Report& report) {
    std::vector<Json> kernels;
    for (const KernelResult& kernel : report.kernels) {
        const auto& timing = kernel.timing;
        const double rate = timing ? timing->bytes_per_second(kernel.bytes) : 0;
        const double ceiling = report.ceiling_rate();
        kernels.push_back(
            Json::object({{"name", kernel.name},
                          {"shows", kernel.shows},
                          {"result", outcome_word(kernel.outcome)},
                          {"ok", kernel.outcome == KernelResult::Outcome::ok},
                          {"detail", kernel.detail},
                          {"note", kernel.note},
                          {"bytes", kernel.bytes},
                          {"operations", kernel.operations},
                          {"median_ms", timing ? Json(timing->median_ms) : Json()},
                          {"min_ms", timing ? Json(timing->min_ms) : Json()},
                          {"max_ms", timing ? Json(timing->max_ms) : Json()},
                          {"repetitions", timing ? Json(timing->repetitions) : Json()},
                          {"gb_per_s", timing ? Json(rate * 1e-9) : Json()},
                          {"share_of_copy", timing && ceiling > 0 ? Json(rate / ceiling) : Json()}}));
    }
    const DeviceFacts& device = report.device;
    const Json document = Json::object(
        {{"program", report.program},
         {"device", Json::object({{"name", device.name},
                                  {"compute_capability", std::to_string(device.compute_major) + "." +
                                                             std::to_string(device.compute_minor)},
                                  {"multiprocessors", device.multiprocessors},
                                  {"l2_bytes", device.l2_bytes},
                                  {"peak_gb_per_s", device.peak_bandwidth() * 1e-9},
                                  {"has_clock", report.has_clock}})},
         {"size", report.size},
         {"size_unit", report.size_unit},
         {"seed", report.seed},
         {"copy_gb_per_s", report.ceiling ? Json(report.ceiling_rate() * 1e-9) : Json()},
         {"kernels", Json::array(kernels)}});
    return document.text() + "\n";
}

} // namespace workbook
