// Races that look meant are warnings, and those that only look alike are errors, in every order of
// completion.

#include "process.hpp"

#include <catch2/catch_test_macros.hpp>

#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

namespace {

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    REQUIRE(value != nullptr);
    return value;
}

test_support::Finished run(const std::string& what, const std::string& order) {
    return test_support::run(
        {.argv = {variable("DELIBERATE"), what},
         .environment = {{"LD_LIBRARY_PATH", variable("EMULATOR_LIB")}, {"EMULATOR_ORDER", order}}});
}

std::vector<std::string> kernels(const std::string& verdict) {
    std::istringstream lines(run("--list", "late").out);
    std::vector<std::string> names;
    for (std::string each, name; lines >> each >> name;)
        if (each == verdict)
            names.push_back(name);
    return names;
}

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

/// Runs the kernels of a verdict in each order.
template <class Check>
void each_of(const std::string& verdict, std::size_t at_least, Check&& check) {
    const auto names = kernels(verdict);
    REQUIRE(names.size() >= at_least);
    for (const std::string& name : names)
        for (const char* order : {"late", "early", "random"}) {
            const auto ended = run(name, order);
            INFO(name << ' ' << order << '\n' << ended.out << ended.err);
            check(ended);
        }
}

} // namespace

TEST_CASE("a race that looks meant is a warning, and the launch goes on") {
    each_of("meant", 10, [](const test_support::Finished& ended) {
        CHECK(ended.exit_code == 0);
        CHECK(ended.out == "cudaSuccess\n");
        CHECK(contains(ended.err, "warning[race-"));
        CHECK(contains(ended.err, "It looks meant: "));
        CHECK(contains(ended.err, "deliberate.cu:"));
        CHECK(contains(ended.err, "cuda::memory_order_relaxed"));
        CHECK_FALSE(contains(ended.err, "error["));
    });
}

TEST_CASE("where the code says that a race is meant, or only the compiler loads too much, nothing is said") {
    each_of("silent", 5, [](const test_support::Finished& ended) {
        CHECK(ended.out == "cudaSuccess\n");
        CHECK(ended.err.empty());
    });
}

TEST_CASE("a race that only looks as if it were meant is an error") {
    each_of("wrong", 16, [](const test_support::Finished& ended) {
        CHECK(ended.out == "cudaErrorLaunchFailure\n");
        CHECK(contains(ended.err, "error[race-"));
    });
}
