/// @file counters_test.cpp
/// What a chapter promises of the emulator's counters: bank conflicts, sectors, bytes by path.
#include "chapter.hpp"
#include "json.hpp"
#include "report.hpp"

#include <catch2/catch_test_macros.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

using namespace test_support;

namespace {

/// A line of CHAPTER.counters: when the program runs the kernel, `counter` is `factor` times `unit`; or, with
/// the word 'below' in place of a factor, less than when it runs the kernel `unit`.
struct Promise {
    std::string kernel;
    std::string counter;
    std::string factor;
    std::string unit;

    [[nodiscard]] bool compares_kernels() const { return factor == "below"; }
};

std::vector<Promise> promises(const std::filesystem::path& file) {
    std::vector<Promise> result;
    for (const std::string& line : lines_of(read_file(file))) {
        if (line.empty() || line.starts_with('#'))
            continue;
        Promise promise;
        if (!(std::istringstream(line) >> promise.kernel >> promise.counter >> promise.factor >>
              promise.unit))
            throw std::runtime_error(file.string() + ": not 'kernel counter factor counter': " + line);
        if (!promise.compares_kernels() &&
            promise.factor.find_first_not_of("0123456789") != std::string::npos)
            throw std::runtime_error(file.string() + ": neither a number nor 'below': " + promise.factor);
        result.push_back(promise);
    }
    return result;
}

/// As many elements as whole tiles have in every chapter: the ratios are whole numbers.
constexpr const char* whole_tiles = "65536";

/// A line for each launch of a kernel by the chapter's program, as EMULATOR_COUNTERS has it.
std::vector<std::string> counted(const std::string& kernel) {
    const TemporaryDirectory directory;
    const auto counters = directory.path() / "counters";
    const Finished program =
        run_program({"--kernel", kernel, "--size", whole_tiles},
                    {{"LD_LIBRARY_PATH", emulator_library()}, {"EMULATOR_COUNTERS", counters.string()}});
    INFO(kernel << "\n" << program.err);
    REQUIRE(program.exit_code == 0);
    return lines_of(read_file(counters));
}

std::uint64_t total(const std::vector<std::string>& launches, const std::string& counter) {
    std::uint64_t sum = 0;
    for (const std::string& line : launches)
        sum += static_cast<std::uint64_t>(JsonValue::parse(line)["total"][counter].number());
    return sum;
}

} // namespace

TEST_CASE("the emulator counts what the chapter promises") {
    const std::filesystem::path file = chapter_variable("CHAPTER_COUNTERS");
    require_emulator();
    const std::vector<Promise> promised = promises(file);
    REQUIRE_FALSE(promised.empty());
    std::map<std::string, std::vector<std::string>> launches;
    const auto count = [&](const std::string& kernel, const std::string& counter) {
        if (!launches.contains(kernel))
            launches[kernel] = counted(kernel);
        return total(launches[kernel], counter);
    };
    for (const Promise& each : promised) {
        const auto& [kernel, counter, factor, unit] = each;
        INFO(kernel << ": " << counter << " = " << factor << " x " << unit);
        if (each.compares_kernels()) {
            CHECK(count(kernel, counter) > 0);
            CHECK(count(kernel, counter) < count(unit, counter));
            continue;
        }
        const std::uint64_t units = count(kernel, unit);
        CHECK(units > 0);
        CHECK(count(kernel, counter) == std::stoull(factor) * units);
    }
}
