/// @file mistakes_test.cpp
/// A chapter's mistakes: the emulator reports each of them, by its name and at its lines, whatever the order
/// in which copies complete, and reports nothing else.
#include "chapter.hpp"
#include "report.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <chrono>
#include <set>
#include <string>
#include <utility>
#include <vector>

using Catch::Matchers::ContainsSubstring;
using namespace test_support;

namespace {

Finished run_mistakes(const std::string& argument,
                      std::vector<std::pair<std::string, std::string>> environment = {}) {
    environment.emplace_back("LD_LIBRARY_PATH", emulator_library());
    return run({.argv = {chapter_variable("CHAPTER_MISTAKES"), argument},
                .environment = std::move(environment),
                .unset = {},
                .time_limit = std::chrono::seconds(20)});
}

/// The lines of `source` that diagnostics of this name give.
std::set<int> lines_named(const std::vector<Diagnostic>& report, const std::string& name,
                          const std::string& source) {
    std::set<int> lines;
    for (const Diagnostic& diagnostic : report)
        for (const Location& location : diagnostic.locations)
            if (diagnostic.name == name && location.file.ends_with(source))
                lines.insert(location.line);
    return lines;
}

/// What is told as a warning lets the launch end well.
bool only_warnings(const std::vector<Diagnostic>& report) {
    return !report.empty() && std::ranges::all_of(report, &Diagnostic::is_warning);
}

/// The mark of a mistake that never reaches the device: the host library refuses to make the tensor map.
constexpr const char* refused_map = "tensor-map-refused";

/// Such a mistake ends with one line that names the line of the call, and no kernel runs.
void check_refused(const Finished& program, const std::vector<Diagnostic>& report,
                   const Expectation& expected) {
    CHECK(report.empty());
    CHECK(lines_of(program.err).size() == 1);
    for (const int line : expected.lines)
        CHECK_THAT(program.err, ContainsSubstring("mistakes.cu:" + std::to_string(line) + ": "));
}

void check_mistake(const std::string& mistake, const std::string& order) {
    const TemporaryDirectory directory;
    const auto file = directory.path() / "report";
    const Finished program =
        run_mistakes(mistake, {{"EMULATOR_ORDER", order}, {"EMULATOR_REPORT", file.string()}});
    INFO(mistake << ", completion " << order << ", " << program.how() << "\n" << program.out << program.err);
    CHECK(program.used < std::chrono::seconds(5));

    const Expectation expected = expectation(read_file(chapter_source() / "mistakes.cu"), mistake, order);
    const std::vector<Diagnostic> report = read_report(file);
    CHECK(program.exit_code == (only_warnings(report) ? 0 : 1));
    if (expected.name == refused_map)
        return check_refused(program, report, expected);
    REQUIRE_FALSE(report.empty());
    for (const Diagnostic& diagnostic : report) {
        CHECK(diagnostic.name == expected.name);
        CHECK_THAT(diagnostic.kernel, ContainsSubstring(mistake));
    }
    const std::set<int> named = lines_named(report, expected.name, "mistakes.cu");
    for (const int line : expected.lines) {
        INFO("marked line " << line);
        CHECK(named.contains(line));
    }
    CHECK_THAT(program.err, ContainsSubstring(expected.name));
}

} // namespace

TEST_CASE("every mistake is marked in the source and explained in the README") {
    const auto mistakes = lines_of(run_mistakes("--list").out);
    REQUIRE_FALSE(mistakes.empty());
    const std::string source = read_file(chapter_source() / "mistakes.cu");
    const std::string readme = read_file(chapter_source() / "README.md");
    for (const std::string& mistake : mistakes) {
        INFO(mistake);
        CHECK_FALSE(expectation(source, mistake).lines.empty());
        CHECK_THAT(readme, ContainsSubstring("`" + mistake + "`") &&
                               ContainsSubstring("`" + expectation(source, mistake).name + "`"));
    }
}

TEST_CASE("the emulator reports every mistake, late, early and random") {
    if (environment_variable("WORKBOOK_BACKEND") == "gpu")
        SKIP("a GPU does not explain mistakes: this test belongs to the emulator");
    require_emulator();
    for (const std::string& mistake : lines_of(run_mistakes("--list").out))
        for (const char* order : {"late", "early", "random"})
            DYNAMIC_SECTION(mistake << ", " << order) { check_mistake(mistake, order); }
}

TEST_CASE("the mistakes program refuses a name that it does not know") {
    const Finished program = run_mistakes("nosuch");
    CHECK(program.exit_code == 2);
    CHECK(lines_of(program.err).size() == 1);
}
