/// @file main.cpp
/// The main of all tests. Without arguments it runs each test case in a process of its own, since a CUDA
/// error may spoil its process for good, and with a time limit, since a wrong kernel may wait for ever. With
/// arguments it is an ordinary Catch2 session. WORKBOOK_TEST_TAG=tag leaves the cases with that tag, and
/// WORKBOOK_TEST_TAG=~tag those without it: so one program is two tests.
#include "backend.hpp"
#include "process.hpp"

#include <catch2/catch_session.hpp>
#include <catch2/catch_test_case_info.hpp>
#include <catch2/catch_totals.hpp>
#include <catch2/interfaces/catch_interfaces_registry_hub.hpp>
#include <catch2/interfaces/catch_interfaces_testcase.hpp>
#include <catch2/reporters/catch_reporter_event_listener.hpp>
#include <catch2/reporters/catch_reporter_registrars.hpp>

#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

constexpr int passed_code = 0;
constexpr int failed_code = 1;
constexpr int skipped_code = 77; ///< Meson's 'skipped'

constexpr const char* child_variable = "WORKBOOK_TEST_CHILD";
constexpr const char* tag_variable = "WORKBOOK_TEST_TAG";
constexpr std::string_view skip_mark = "[skip] ";

Catch::Totals totals;

/// Keeps the totals, whose translation to an exit code differs between versions of Catch2, and prints why a
/// test was skipped on a line that the parent process can find.
class Listener : public Catch::EventListenerBase {
  public:
    using Catch::EventListenerBase::EventListenerBase;
    void assertionEnded(const Catch::AssertionStats& stats) override {
        if (stats.assertionResult.getResultType() == Catch::ResultWas::ExplicitSkip)
            std::printf("%s%s\n", skip_mark.data(), std::string(stats.assertionResult.getMessage()).c_str());
    }
    void testRunEnded(const Catch::TestRunStats& stats) override { totals = stats.totals; }
};
CATCH_REGISTER_LISTENER(Listener)

int exit_code_of(const Catch::Counts& cases) {
    if (cases.failed > 0)
        return failed_code;
    return cases.passed == 0 && cases.skipped > 0 ? skipped_code : passed_code;
}

/// The name as a Catch2 pattern that matches it alone.
std::string pattern(const std::string& name) {
    std::string escaped;
    for (const char c : name) {
        if (std::string_view("\\,[]*\"~").find(c) != std::string_view::npos || (c == '-' && escaped.empty()))
            escaped += '\\';
        escaped += c;
    }
    return escaped;
}

/// Seconds that a test case may take: WORKBOOK_TEST_TIMEOUT, or 60.
std::chrono::seconds time_limit() {
    const std::string text = test_support::environment_variable("WORKBOOK_TEST_TIMEOUT", "60");
    int seconds = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
    if (error != std::errc() || end != text.data() + text.size() || seconds <= 0)
        throw std::runtime_error("WORKBOOK_TEST_TIMEOUT is '" + text + "': expected seconds, more than 0");
    return std::chrono::seconds(seconds);
}

/// The reason in the output of a skipped test.
std::string skip_reason(const std::string& output) {
    const std::size_t at = output.find(skip_mark);
    if (at == std::string::npos)
        return "no reason given";
    const std::size_t begin = at + skip_mark.size();
    return output.substr(begin, output.find('\n', begin) - begin);
}

/// Runs one test case in a child process, reports it, and returns passed_code, failed_code or skipped_code.
int run_case(const std::string& name, std::chrono::seconds limit) {
    const test_support::Finished child =
        test_support::run({.argv = {std::filesystem::read_symlink("/proc/self/exe").string(), pattern(name)},
                           .environment = {{child_variable, "1"}},
                           .unset = {},
                           .time_limit = limit});
    const double seconds = static_cast<double>(child.elapsed.count()) / 1000;
    const bool skipped = !child.timed_out && child.exit_code == skipped_code;
    const bool passed = !child.timed_out && child.exit_code == passed_code;
    if (passed)
        std::printf("ok    %s (%.2f s)\n", name.c_str(), seconds);
    else if (skipped)
        std::printf("skip  %s: %s\n", name.c_str(), skip_reason(child.out).c_str());
    else
        std::printf("FAIL  %s (%.2f s): %s\n%s%s\n", name.c_str(), seconds, child.how().c_str(),
                    child.out.c_str(), child.err.c_str());
    std::fflush(stdout);
    return passed ? passed_code : skipped ? skipped_code : failed_code;
}

/// Whether WORKBOOK_TEST_TAG, if there is one, leaves this case.
bool is_wanted(const Catch::TestCaseInfo& info, std::string_view tag) {
    const bool without = tag.starts_with('~');
    const std::string mark = "[" + std::string(tag.substr(without ? 1 : 0)) + "]";
    return tag.empty() || (info.tagsAsString().find(mark) != std::string::npos) != without;
}

int run_all(std::string_view tag) {
    const std::chrono::seconds limit = time_limit();
    int passed = 0;
    int failed = 0;
    int skipped = 0;
    for (const Catch::TestCaseInfo* info : Catch::getRegistryHub().getTestCaseRegistry().getAllInfos()) {
        if (!is_wanted(*info, tag))
            continue;
        const int code = run_case(info->name, limit);
        ++(code == passed_code ? passed : code == skipped_code ? skipped : failed);
    }
    std::printf("[summary] %d passed, %d failed, %d skipped\n", passed, failed, skipped);
    if (failed > 0 || passed + skipped == 0)
        return failed_code;
    return passed == 0 ? skipped_code : passed_code;
}

int run_session(int argc, char** argv) {
    Catch::Session session;
    const int code = session.run(argc, argv);
    const bool ran = totals.testCases.total() > 0;
    return ran ? exit_code_of(totals.testCases) : code;
}

} // namespace

int main(int argc, char** argv) {
    try {
        const bool child = std::getenv(child_variable) != nullptr;
        unsetenv(child_variable); // a test may run other tests
        if (!child)
            test_support::enter_backend(argv);
        const std::string tag = test_support::environment_variable(tag_variable);
        unsetenv(tag_variable);
        return argc > 1 ? run_session(argc, argv) : run_all(tag);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return failed_code;
    }
}
