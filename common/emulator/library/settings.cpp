#include "hopper_emulator/settings.hpp"

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <limits>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace emu {
namespace {

/// The value of the word; of the first if there is none. Throws a line for the user if it is another.
template <class T>
T choose(std::string_view word, const char* variable,
         std::initializer_list<std::pair<std::string_view, T>> words) {
    std::string all;
    for (const auto& [name, value] : words) {
        if (word.empty() || word == name)
            return value;
        all += (all.empty() ? "" : name == (words.end() - 1)->first ? " or " : ", ") + std::string(name);
    }
    throw std::runtime_error(std::string(variable) + " must be " + all + ", not '" + std::string(word) + "'");
}

template <class T>
T whole(const std::string& text, const char* variable, T fallback) {
    T value = fallback;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (!text.empty() && (error != std::errc() || end != text.data() + text.size()))
        throw std::runtime_error(std::string(variable) + " must be a whole number from 0 to " +
                                 std::to_string(std::numeric_limits<T>::max()) + ", not '" + text + "'");
    return value;
}

} // namespace

Settings Settings::from_environment() {
    Settings s;
    const auto text = [](const char* name) {
        const char* value = std::getenv(name);
        return std::string(value ? value : "");
    };
    const auto number = [&](const char* name, auto fallback) {
        const std::string value = text(name);
        if (value.empty())
            return fallback;
        char* end = nullptr;
        const double parsed = std::strtod(value.c_str(), &end);
        constexpr double most = 1e9;
        if (*end || !(parsed >= 0 && parsed <= most))
            throw std::runtime_error(std::string(name) + " must be a number from 0 to 1000000000, not '" +
                                     value + "'");
        return static_cast<decltype(fallback)>(parsed);
    };
    const std::string order = text("EMULATOR_ORDER");
    if (order == "early")
        s.order = CompletionOrder::early;
    else if (order == "random")
        s.order = CompletionOrder::random;
    else if (!order.empty() && order != "late")
        throw std::runtime_error("EMULATOR_ORDER must be late, early or random, not '" + order + "'");
    const std::string checks = text("EMULATOR_CHECKS");
    if (!checks.empty() && checks != "all" && checks != "none" && checks != "strict")
        throw std::runtime_error("EMULATOR_CHECKS must be all, strict or none, not '" + checks + "'");
    s.checks = checks != "none";
    s.strict = checks == "strict";
    const std::string leaks = text("EMULATOR_LEAKS");
    if (!leaks.empty() && leaks != "0" && leaks != "1")
        throw std::runtime_error("EMULATOR_LEAKS must be 0 or 1, not '" + leaks + "'");
    s.leaks = leaks == "1";
    s.exit_status = choose<Settings::ExitStatus>(text("EMULATOR_EXIT_STATUS"), "EMULATOR_EXIT_STATUS",
                                                 {{"program", Settings::ExitStatus::program},
                                                  {"errors", Settings::ExitStatus::errors},
                                                  {"findings", Settings::ExitStatus::findings}});
    s.uninitialised_global =
        choose<Settings::Severity>(text("EMULATOR_UNINITIALISED_GLOBAL"), "EMULATOR_UNINITIALISED_GLOBAL",
                                   {{"warning", Settings::Severity::warning},
                                    {"error", Settings::Severity::error},
                                    {"off", Settings::Severity::off}});
    s.seed = whole<std::uint64_t>(text("EMULATOR_SEED"), "EMULATOR_SEED", s.seed);
    s.threads = whole<unsigned>(text("EMULATOR_THREADS"), "EMULATOR_THREADS", s.threads);
    constexpr double billion = 1e9;
    s.watchdog = static_cast<std::uint64_t>(number("EMULATOR_WATCHDOG", 0.0) * billion);
    s.report_file = text("EMULATOR_REPORT");
    s.counters_file = text("EMULATOR_COUNTERS");
    s.trace_file = text("EMULATOR_TRACE");
    s.record_file = text("EMULATOR_RECORD");
    s.record_only = text("EMULATOR_RECORD_ONLY");
    return s;
}

} // namespace emu
