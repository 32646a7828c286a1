/// @file bench.hpp
/// The frame of a program that measures: parts, each with tables whose rows are written as they are found.
///
/// A measuring program is a list of parts. What a part finds goes to the file of --json at once, one JSON
/// value a line, so that a part that fails, or a run that is cut short, loses nothing that was measured
/// before.
/// `./workbook bench` collects these lines.
#pragma once

#include "check.hpp"
#include "cli.hpp"
#include "device.hpp"
#include "json.hpp"
#include "report.hpp"
#include "timing.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <fstream>
#include <initializer_list>
#include <iostream>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace workbook {

/// How a measuring program runs.
enum class BenchMode {
    measure, ///< real sizes, real times; needs a device with a clock
    dry,     ///< tiny sizes, results checked, no times: on the emulator too
    once     ///< real sizes, every launch once, no times: for a profiler
};

/// One column of a table. The unit is empty where there is none.
struct BenchColumn {
    std::string id;
    std::string heading;
    std::string unit{};
};

/// One cell: the id of its column and its value.
using BenchCell = std::pair<std::string, Json>;

/// What a part gets to work with.
class Bench {
  public:
    Bench(BenchMode mode, DeviceFacts device, std::ostream& lines)
        : mode_(mode), device_(std::move(device)), lines_(&lines) {}

    [[nodiscard]] BenchMode mode() const noexcept { return mode_; }
    [[nodiscard]] bool dry() const noexcept { return mode_ == BenchMode::dry; }
    [[nodiscard]] const DeviceFacts& device() const noexcept { return device_; }

    /// `real`, or `small` where only results are looked at.
    template <class T>
    [[nodiscard]] T size(T real, T small) const {
        return dry() ? small : real;
    }

    /// All `values`, or the first and the last where only results are looked at.
    template <class T>
    [[nodiscard]] std::vector<T> ends(std::initializer_list<T> values) const {
        return dry() && values.size() > 2 ? std::vector<T>{*values.begin(), *(values.end() - 1)}
                                          : std::vector<T>(values);
    }

    /// Begins a table; rows may follow at any time.
    void table(const std::string& id, const std::string& title, const std::vector<BenchColumn>& columns) {
        std::vector<Json> described;
        for (const auto& [name, heading, unit] : columns)
            described.push_back(Json::object({{"id", name}, {"heading", heading}, {"unit", unit}}));
        line({{"table", id}, {"title", title}, {"columns", Json::array(described)}});
    }

    /// Adds a row to table `id`. Cells that are left out are empty.
    void row(const std::string& id, const std::vector<BenchCell>& cells) {
        line({{"row", id}, {"cells", Json::object(cells)}});
    }

    /// A result that is not as it should be: the program will fail, and goes on.
    void wrong(const std::string& what) {
        ++failures_;
        line({{"failure", what}});
        std::fprintf(stderr, "wrong: %s\n", what.c_str());
    }

    /// Runs `work(stream)` and times it. Without times it runs once, and the result is empty.
    /// @param working_set bytes that one repetition touches; see MeasurePlan
    template <class Work>
    [[nodiscard]] std::optional<Timing> time(std::size_t working_set, Work&& work, int repetitions = 31) {
        if (mode_ == BenchMode::measure)
            return measure(work, {.repetitions = repetitions, .working_set = working_set});
        work(static_cast<cudaStream_t>(nullptr));
        synchronize("a measured kernel");
        return std::nullopt;
    }

    /// Times `work` as time() does, if it has run already and its result was right: dry, it does not run
    /// again.
    template <class Work>
    [[nodiscard]] std::optional<Timing> time_checked(std::size_t working_set, Work&& work,
                                                     int repetitions = 31) {
        return dry() ? std::nullopt : time(working_set, std::forward<Work>(work), repetitions);
    }

    /// Times of the copy ceiling for `bytes` read plus written; empty where nothing is timed.
    [[nodiscard]] std::optional<Timing> ceiling(std::size_t bytes) {
        return mode_ == BenchMode::measure ? copy_ceiling(bytes) : std::nullopt;
    }

    [[nodiscard]] int failures() const noexcept { return failures_; }

  private:
    void line(const std::vector<std::pair<std::string, Json>>& members) {
        std::string text = Json::object(members).text();
        std::replace(text.begin(), text.end(), '\n', ' '); // json_string leaves none inside of strings
        *lines_ << text << std::endl;
    }

    BenchMode mode_;
    DeviceFacts device_;
    std::ostream* lines_;
    int failures_ = 0;
};

/// The cells of a timing and, if `bytes` were moved, of the rate; `ceiling` is in bytes per second.
[[nodiscard]] inline std::vector<BenchCell> timing_cells(const std::optional<Timing>& timing,
                                                         std::size_t bytes = 0, double ceiling = 0) {
    if (!timing)
        return {};
    std::vector<BenchCell> cells{{"median_ms", timing->median_ms},
                                 {"min_ms", timing->min_ms},
                                 {"lower_ms", timing->lower_ms},
                                 {"upper_ms", timing->upper_ms},
                                 {"repetitions", timing->repetitions}};
    if (bytes > 0)
        cells.emplace_back("gb_per_s", timing->bytes_per_second(bytes) * 1e-9);
    if (bytes > 0 && ceiling > 0)
        cells.emplace_back("share", 100 * timing->bytes_per_second(bytes) / ceiling);
    return cells;
}

/// The columns that timing_cells fills.
[[nodiscard]] inline std::vector<BenchColumn> timing_columns(bool with_rate = true) {
    std::vector<BenchColumn> columns{{"median_ms", "time", "ms"},
                                     {"min_ms", "least", "ms"},
                                     {"lower_ms", "lower quartile", "ms"},
                                     {"upper_ms", "upper quartile", "ms"},
                                     {"repetitions", "repetitions"}};
    if (with_rate)
        columns.insert(columns.end(), {{"gb_per_s", "rate", "GB/s"}, {"share", "of the copy", "%"}});
    return columns;
}

/// Two lists, one after the other.
template <class T>
[[nodiscard]] std::vector<T> joined(std::vector<T> first, const std::vector<T>& second) {
    first.insert(first.end(), second.begin(), second.end());
    return first;
}

/// One part of a measuring program.
struct BenchPart {
    const char* name;
    const char* shows; ///< what it measures, a few words
    void (*run)(Bench&);
};

/// What the user of a measuring program asked for.
struct BenchOptions {
    BenchMode mode = BenchMode::measure;
    std::vector<std::string> parts{}; ///< all if empty
    std::string json{};
    bool help = false;
};

/// Reads the arguments behind the program's name. Throws UsageError.
[[nodiscard]] inline BenchOptions parse_bench_options(std::span<char* const> args,
                                                      std::span<const BenchPart> parts) {
    BenchOptions options;
    for (std::size_t i = 0; i < args.size(); ++i) {
        const std::string arg = args[i];
        if (arg == "--help" || arg == "-h")
            options.help = true;
        else if (arg == "--dry")
            options.mode = BenchMode::dry;
        else if (arg == "--once")
            options.mode = BenchMode::once;
        else if (arg == "--json")
            options.json = option_value(args, i, std::string::npos);
        else if (arg == "--part") {
            const std::string name = option_value(args, i, std::string::npos);
            if (std::none_of(parts.begin(), parts.end(), [&](const BenchPart& p) { return p.name == name; }))
                throw UsageError("--part " + name + ": there is no such part; --help lists them");
            options.parts.push_back(name);
        } else
            throw UsageError("unknown argument '" + arg + "'; --help lists the options");
    }
    return options;
}

/// Runs the chosen parts. An error ends its part, and the program only if the device is lost.
[[nodiscard]] inline bool run_parts(Bench& bench, std::span<const BenchPart> parts,
                                    const BenchOptions& options) {
    for (const BenchPart& part : parts) {
        const auto& chosen = options.parts;
        if (!chosen.empty() && std::find(chosen.begin(), chosen.end(), part.name) == chosen.end())
            continue;
        try {
            part.run(bench);
            synchronize(part.name);
        } catch (const CudaError& error) {
            bench.wrong(std::string(part.name) + ": " + error.what());
            if (is_sticky(error.code()))
                return false;
        } catch (const std::exception& error) {
            bench.wrong(std::string(part.name) + ": " + error.what());
        }
    }
    return bench.failures() == 0;
}

/// The body of run_bench, which turns its exceptions into lines and exit codes.
[[nodiscard]] inline int run_bench_parsed(const std::string& name, std::span<const BenchPart> parts,
                                          std::span<char* const> args) {
    const BenchOptions options = parse_bench_options(args, parts);
    if (options.help) {
        std::printf("%s: measures on a GPU\n\n  --json FILE  write what is found to FILE, one value a line\n"
                    "  --part NAME  only this part; may be repeated\n"
                    "  --dry        tiny sizes, results checked, nothing timed\n"
                    "  --once       every launch once, nothing timed: for a profiler\n\nparts:\n",
                    name.c_str());
        for (const BenchPart& part : parts)
            std::printf("  %-12s %s\n", part.name, part.shows);
        return exit_code::ok;
    }
    std::ofstream file;
    if (!options.json.empty()) {
        file.open(options.json);
        if (!file)
            throw UsageError("--json " + options.json + ": the file cannot be written");
    }
    const DeviceFacts device = require({.compute_major = 9});
    if (options.mode != BenchMode::dry && !device_has_clock())
        throw DeviceLacks("'" + device.name +
                          "' has no clock: nothing can be measured; --dry checks the kernels");
    Bench bench(options.mode, device, file.is_open() ? static_cast<std::ostream&>(file) : std::cout);
    return run_parts(bench, parts, options) ? exit_code::ok : exit_code::failed;
}

/// Does all that main has to do. Returns its exit code (see exit_code).
[[nodiscard]] inline int run_bench(const std::string& name, std::span<const BenchPart> parts, int argc,
                                   char** argv) {
    const auto fail = [&](const char* what, int code) {
        std::fprintf(stderr, "%s: %s\n", name.c_str(), what);
        return code;
    };
    try {
        const std::span<char* const> args(argv, static_cast<std::size_t>(std::max(argc, 0)));
        return run_bench_parsed(name, parts, args.subspan(args.empty() ? 0 : 1));
    } catch (const UsageError& error) {
        return fail(error.what(), exit_code::usage);
    } catch (const DeviceLacks& error) {
        return fail(error.what(), exit_code::device_lacks);
    } catch (const std::exception& error) {
        return fail(error.what(), exit_code::failed);
    }
}

} // namespace workbook
