/// @file cli.hpp
/// The command line that every chapter's program understands.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace workbook {

/// Exit codes of the workbook's programs.
namespace exit_code {
inline constexpr int ok = 0;
inline constexpr int failed = 1; ///< a result was wrong, or a CUDA call failed
inline constexpr int usage = 2;  ///< the arguments make no sense
inline constexpr int device_lacks =
    77; ///< no device, or one that cannot run the program; Meson counts it as skipped
} // namespace exit_code

/// A command line that cannot be obeyed. what() is one line that says what is wrong and what is allowed.
class UsageError : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// What the user asked for.
struct ProgramOptions {
    std::optional<std::size_t> size;  ///< problem size; the program's default if absent
    std::uint64_t seed = 1;           ///< for the random data
    std::vector<std::string> kernels; ///< run only these; all if empty
    std::string json;                 ///< write the results to this file too; empty: do not
    bool help = false;
    bool list = false; ///< print the kernels' names and stop
};

/// Reads a whole decimal number within [low, high], or throws UsageError naming `option` and the range.
[[nodiscard]] inline std::uint64_t parse_number(std::string_view option, std::string_view text,
                                                std::uint64_t low, std::uint64_t high) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || error != std::errc() || end != text.data() + text.size() || value < low ||
        value > high)
        throw UsageError(std::string(option) + " " + std::string(text) + ": expected a whole number from " +
                         std::to_string(low) + " to " + std::to_string(high));
    return value;
}

/// `names` as text: 'a, b, c'.
[[nodiscard]] inline std::string join(std::span<const std::string> names) {
    std::string result;
    for (const std::string& name : names)
        result += (result.empty() ? "" : ", ") + name;
    return result;
}

/// What the options of a program may be.
struct OptionLimits {
    std::vector<std::string> kernels; ///< the names that --kernel takes
    std::size_t min_size = 0;
    std::size_t max_size = std::size_t{1} << 40;
};

/// The value of an option: after '=' or in the next argument, which is then consumed.
[[nodiscard]] inline std::string option_value(std::span<char* const> args, std::size_t& i,
                                              std::size_t equals) {
    const std::string_view arg = args[i];
    if (equals != std::string_view::npos)
        return std::string(arg.substr(equals + 1));
    if (i + 1 >= args.size())
        throw UsageError(std::string(arg) + " needs a value; --help lists the options");
    return args[++i];
}

/// Reads the arguments that follow the program's name; both '--size 5' and '--size=5' are understood.
/// Throws UsageError at the first that is wrong.
[[nodiscard]] inline ProgramOptions parse_options(std::span<char* const> args, const OptionLimits& limits) {
    ProgramOptions options;
    for (std::size_t i = 0; i < args.size(); ++i) {
        const std::string_view arg = args[i];
        const std::size_t equals = arg.starts_with("--") ? arg.find('=') : std::string_view::npos;
        const std::string_view name = arg.substr(0, equals);
        if (name == "--help" || name == "-h")
            options.help = true;
        else if (name == "--list")
            options.list = true;
        else if (name == "--size")
            options.size =
                parse_number(name, option_value(args, i, equals), limits.min_size, limits.max_size);
        else if (name == "--seed")
            options.seed = parse_number(name, option_value(args, i, equals), 0, UINT64_MAX);
        else if (name == "--kernel") {
            const std::string kernel = option_value(args, i, equals);
            if (std::find(limits.kernels.begin(), limits.kernels.end(), kernel) == limits.kernels.end())
                throw UsageError("--kernel " + kernel + ": there is no such kernel; choose from " +
                                 join(limits.kernels));
            options.kernels.push_back(kernel);
        } else if (name == "--json") {
            options.json = option_value(args, i, equals);
            if (options.json.empty())
                throw UsageError("--json needs the name of a file");
        } else
            throw UsageError("unknown argument '" + std::string(arg) + "'; --help lists the options");
    }
    return options;
}

} // namespace workbook
