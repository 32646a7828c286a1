/// @file sample_tests.cpp
/// Test cases that pass, fail, skip, crash and hang: what support_test.cpp runs to test the runner itself.
#include <catch2/catch_test_macros.hpp>

#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>

namespace {
bool chosen(const std::string& what) {
    const char* value = std::getenv("SAMPLE");
    return value != nullptr && value == what;
}
} // namespace

TEST_CASE("--skips, with [brackets], commas and * stars") { SKIP("no such device"); }

TEST_CASE("passes unless told not to fail, crash or hang", "[steered]") {
    if (chosen("crash"))
        std::abort();
    if (chosen("hang"))
        std::this_thread::sleep_for(std::chrono::hours(1));
    if (chosen("skip"))
        SKIP("told to skip");
    if (const char* search = std::getenv("LD_LIBRARY_PATH"); chosen("print search"))
        FAIL("search: " << search << "\n");
    CHECK_FALSE(chosen("fail"));
}
