/// \file
/// Runs recorded launches again: `replay FILE [--list] [--launch=N] [--order=…] [--seed=…] [--checks=…]
/// [--counters[=FILE]] [--trace=FILE] [--moments=FILE] [--report=FILE] [--threads=N]`. `./workbook replay` is
/// its front.

#include "hopper_emulator/capsule.hpp"
#include "hopper_emulator/counters.hpp"
#include "hopper_emulator/moments.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

/// One line for the user.
class UserError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// What was asked for. Settings that were not given are those of the recorded run.
struct Options {
    std::string file;
    bool list = false;
    std::optional<std::size_t> launch; ///< From 1; else all.
    std::optional<std::string> order, checks;
    std::optional<std::uint64_t> seed;
    std::string counters, trace, moments, report;
    unsigned threads = 0;
};

std::uint64_t number(std::string_view option, std::string_view text) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size())
        throw UserError(std::string(option) + " must be a whole number, not '" + std::string(text) + "'");
    return value;
}

Options read_options(const std::vector<std::string_view>& words) {
    Options options;
    for (const std::string_view word : words) {
        const std::size_t sign = word.find('=');
        const std::string_view name = word.substr(0, sign);
        const std::string value(sign == std::string_view::npos ? "" : word.substr(sign + 1));
        if (!word.starts_with("--") && options.file.empty())
            options.file = word;
        else if (name == "--list")
            options.list = true;
        else if (name == "--launch")
            options.launch = number(name, value);
        else if (name == "--order")
            options.order = value;
        else if (name == "--checks")
            options.checks = value;
        else if (name == "--seed")
            options.seed = number(name, value);
        else if (name == "--counters")
            options.counters = value.empty() ? "-" : value;
        else if (name == "--trace")
            options.trace = value;
        else if (name == "--moments")
            options.moments = value;
        else if (name == "--report")
            options.report = value;
        else if (name == "--threads")
            options.threads = static_cast<unsigned>(number(name, value));
        else
            throw UserError("replay does not know " + std::string(word));
    }
    if (options.file.empty())
        throw UserError("replay needs the file of a recording");
    return options;
}

emu::Capsule read_file(const std::string& file) {
    std::ifstream in(file, std::ios::binary);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(in), {}};
    if (!in.is_open() || in.bad())
        throw UserError("cannot read " + file);
    try {
        return emu::read_capsule(std::as_bytes(std::span(bytes)));
    } catch (const emu::CapsuleError& error) {
        throw UserError(file + ": " + error.what());
    }
}

std::string shape(const emu::Dim3& d) {
    return "(" + std::to_string(d.x) + "," + std::to_string(d.y) + "," + std::to_string(d.z) + ")";
}

std::string title(const emu::CapsuleLaunch& launch) {
    std::string text = "launch " + std::to_string(launch.serial) + ": " + launch.name + ", grid " +
                       shape(launch.config.grid) + ", block " + shape(launch.config.block);
    if (launch.config.explicit_cluster())
        text += ", cluster " + shape(launch.config.cluster);
    return text;
}

/// The launch's settings with what was asked for.
emu::Settings settings_of(const emu::CapsuleLaunch& launch, const Options& options) {
    emu::Settings settings = launch.settings;
    if (options.order) {
        using Order = emu::CompletionOrder;
        if (*options.order != "late" && *options.order != "early" && *options.order != "random")
            throw UserError("--order must be late, early or random, not '" + *options.order + "'");
        settings.order = *options.order == "early"    ? Order::early
                         : *options.order == "random" ? Order::random
                                                      : Order::late;
    }
    if (options.checks) {
        if (*options.checks != "all" && *options.checks != "strict" && *options.checks != "none")
            throw UserError("--checks must be all, strict or none, not '" + *options.checks + "'");
        settings.checks = *options.checks != "none";
        settings.strict = *options.checks == "strict";
    }
    if (options.seed)
        settings.seed = *options.seed;
    settings.threads = options.threads;
    settings.trace_file = options.trace;
    return settings;
}

/// Whether the run was the recorded one once more: its results must be the same then.
bool runs_as_recorded(const emu::CapsuleLaunch& launch, const emu::Settings& settings) {
    return settings.order == launch.settings.order && settings.seed == launch.settings.seed;
}

/// Prints the launch's counters, or adds them to the file.
void tell_counters(const emu::Counters& counters, const std::string& file) {
    if (file == "-") {
        for (const emu::LaunchCounts& each : counters.launches())
            std::printf("%s", emu::Counters::table(each).c_str());
        return;
    }
    std::ofstream out(file, std::ios::app);
    for (const emu::LaunchCounts& each : counters.launches())
        out << emu::Counters::json(each) << '\n';
    if (!out.flush())
        throw UserError("cannot write " + file);
}

/// Writes the moments of a launch to a file.
void write_moments(const std::string& file, const emu::Moments& moments,
                   const std::vector<emu::Diagnostic>& findings) {
    std::ofstream out(file, std::ios::trunc);
    if (!(out << moments.json(findings) << std::flush))
        throw UserError("cannot write " + file);
}

/// Attaches an observer to the replay's device, and returns it.
template <class Kind>
Kind* attach(emu::Replay& again, std::unique_ptr<Kind> observer) {
    Kind* const there = observer.get();
    again.device().add_observer(std::move(observer));
    return there;
}

/// Tells the findings; true if there was none but notes.
bool tell_findings(const std::vector<emu::Diagnostic>& findings, const std::string& report) {
    for (const emu::Diagnostic& each : findings)
        emu::publish(each, report);
    return std::ranges::all_of(findings, &emu::Diagnostic::note);
}

/// Says whether memory is as after the recorded launch; false if it is not and should be.
bool tell_results(const emu::Replay& again, const emu::CapsuleLaunch& launch, bool same_settings) {
    if (!again.comparable()) {
        std::printf("  it did not run alone: its results cannot be compared\n");
        return true;
    }
    const std::size_t different = again.differing().size();
    if (different == 0)
        std::printf("  memory after it: as after the recorded launch\n");
    else
        std::printf("  memory after it: %zu of %zu allocations differ from the recorded launch\n", different,
                    launch.results.size());
    return different == 0 || !same_settings;
}

/// Runs one launch; true if nothing was found and, where that is known, the results are those of the run.
bool replay(const emu::Capsule& capsule, std::size_t index, const Options& options) {
    const emu::CapsuleLaunch& launch = capsule.launches[index];
    const emu::Settings settings = settings_of(launch, options);
    std::printf("%s\n", title(launch).c_str());
    std::fflush(stdout);
    emu::Replay again(capsule, index, settings);
    const auto* const counters =
        options.counters.empty() ? nullptr : attach(again, std::make_unique<emu::Counters>(""));
    const auto* const moments =
        options.moments.empty() ? nullptr : attach(again, std::make_unique<emu::Moments>());
    const emu::LaunchOutcome outcome = again.run();
    if (outcome.error != emu::LaunchError::none)
        throw UserError("the launch was refused: " + outcome.message);
    const bool nothing_found = tell_findings(outcome.result.diagnostics, options.report);
    if (counters)
        tell_counters(*counters, options.counters);
    if (moments)
        write_moments(options.moments, *moments, outcome.result.diagnostics);
    return tell_results(again, launch, runs_as_recorded(launch, settings)) && nothing_found;
}

int run(const Options& options) {
    const emu::Capsule capsule = read_file(options.file);
    if (capsule.cut)
        std::fprintf(stderr, "replay: %s ends in the middle of a record: its program was ended\n",
                     options.file.c_str());
    if (capsule.launches.empty())
        throw UserError(options.file + " has no launch");
    if (options.list) {
        for (std::size_t i = 0; i < capsule.launches.size(); ++i)
            std::printf("%zu  %s\n", i + 1, title(capsule.launches[i]).c_str());
        return 0;
    }
    if (options.launch && (*options.launch == 0 || *options.launch > capsule.launches.size()))
        throw UserError("--launch " + std::to_string(*options.launch) + ": " + options.file + " has " +
                        std::to_string(capsule.launches.size()) + " launches");
    const bool of_one = !options.trace.empty() || !options.moments.empty();
    if (of_one && !options.launch && capsule.launches.size() > 1)
        throw UserError(std::string(options.trace.empty() ? "--html" : "--trace") +
                        " is of one launch: choose it with --launch N; --list shows them");
    if (!options.counters.empty() && options.counters != "-")
        std::ofstream(options.counters, std::ios::trunc);
    bool good = true;
    if (options.launch)
        return replay(capsule, *options.launch - 1, options) ? 0 : 1;
    for (std::size_t i = 0; i < capsule.launches.size(); ++i)
        good &= replay(capsule, i, options);
    return good ? 0 : 1;
}

} // namespace

int main(int argc, char** argv) {
    try {
        const int status = run(read_options({argv + 1, argv + argc}));
        return emu::has_lost_output() ? 1 : status;
    } catch (const UserError& error) {
        std::fprintf(stderr, "replay: %s\n", error.what());
    } catch (const std::exception& error) {
        std::fprintf(stderr, "replay: %s\n", error.what());
    }
    return 2;
}
