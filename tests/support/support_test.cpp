/// @file support_test.cpp
/// Tests of the test runner: its exit codes and summary, its time limit, and its readers.
#include "fair_clock.hpp"
#include "json.hpp"
#include "process.hpp"
#include "report.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <chrono>
#include <cmath>
#include <fstream>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::EndsWith;
using namespace test_support;

namespace {
Finished run_sample(const std::string& behaviour, const std::string& limit = "20") {
    return run({.argv = {SAMPLE}, .environment = {{"SAMPLE", behaviour}, {"WORKBOOK_TEST_TIMEOUT", limit}}});
}
} // namespace

TEST_CASE("the runner counts what passed and shows why a test was skipped") {
    const Finished sample = run_sample("pass");
    CHECK(sample.exit_code == 0);
    CHECK_THAT(sample.out, ContainsSubstring("* stars: no such device"));
    CHECK_THAT(sample.out, EndsWith("[summary] 1 passed, 0 failed, 1 skipped\n"));
}

TEST_CASE("the runner exits 77 when everything was skipped") {
    const Finished sample = run_sample("skip");
    CHECK(sample.exit_code == 77);
    CHECK_THAT(sample.out, EndsWith("[summary] 0 passed, 0 failed, 2 skipped\n"));
}

TEST_CASE("the runner exits 1 and shows the output of a failed test") {
    const Finished sample = run_sample("fail");
    CHECK(sample.exit_code == 1);
    CHECK_THAT(sample.out, ContainsSubstring("chosen(\"fail\")"));
    CHECK_THAT(sample.out, EndsWith("[summary] 0 passed, 1 failed, 1 skipped\n"));
}

TEST_CASE("a tag leaves the cases that have it, or those that have it not") {
    const auto tagged = [](const char* tag) {
        return run({.argv = {SAMPLE}, .environment = {{"WORKBOOK_TEST_TAG", tag}}}).out;
    };
    CHECK_THAT(tagged("steered"), EndsWith("[summary] 1 passed, 0 failed, 0 skipped\n"));
    CHECK_THAT(tagged("~steered"), EndsWith("[summary] 0 passed, 0 failed, 1 skipped\n"));
    const Finished none = run({.argv = {SAMPLE}, .environment = {{"WORKBOOK_TEST_TAG", "nosuch"}}});
    CHECK(none.exit_code == 1); // no case at all is no success
}

TEST_CASE("a test that crashes has failed") {
    const Finished sample = run_sample("crash");
    CHECK(sample.exit_code == 1);
    CHECK_THAT(sample.out, ContainsSubstring("FAIL"));
}

TEST_CASE("a test that hangs has failed when its time is over") {
    const Finished sample = run_sample("hang", "1");
    CHECK(sample.exit_code == 1);
    CHECK_THAT(sample.out, ContainsSubstring("no end within"));
    CHECK(sample.used < std::chrono::seconds(15));
}

TEST_CASE("a nonsensical time limit is refused") {
    const Finished sample = run_sample("pass", "soon");
    CHECK(sample.exit_code == 1);
    CHECK_THAT(sample.err, ContainsSubstring("WORKBOOK_TEST_TIMEOUT"));
}

TEST_CASE("a directory that lacks the emulator's libraries is an error, not a reason to skip") {
    const Finished sample =
        run({.argv = {SAMPLE},
             .environment = {{"EMULATOR_LIB", "/nonexistent"}, {"WORKBOOK_BACKEND", "emulator"}}});
    CHECK(sample.exit_code == 1);
    CHECK_THAT(sample.err, ContainsSubstring("libcudart.so.13 is not in /nonexistent"));
}

TEST_CASE("an unknown backend is refused") {
    const Finished sample = run({.argv = {SAMPLE}, .environment = {{"WORKBOOK_BACKEND", "abacus"}}});
    CHECK(sample.exit_code == 1);
    CHECK_THAT(sample.err, ContainsSubstring("auto, gpu or emulator"));
}

TEST_CASE("the emulator's libraries come first in the loader's search") {
    const TemporaryDirectory directory;
    std::ofstream(directory.path() / "libcudart.so.13") << "stands for the library\n";
    const std::string path = directory.path().string();
    for (const char* before : {"", "/elsewhere"}) {
        const Finished sample = run({.argv = {SAMPLE},
                                     .environment = {{"SAMPLE", "print search"},
                                                     {"EMULATOR_LIB", path},
                                                     {"LD_LIBRARY_PATH", before},
                                                     {"WORKBOOK_BACKEND", "emulator"}}});
        CHECK_THAT(sample.out, ContainsSubstring("search: " + path + (*before ? ":/elsewhere\n" : "\n")));
    }
}

TEST_CASE("with arguments the runner is an ordinary Catch2 session") {
    const Finished list = run({.argv = {SAMPLE, "--list-tests"}});
    CHECK(list.exit_code == 0);
    CHECK_THAT(list.out, ContainsSubstring("2 test cases"));
}

TEST_CASE("run keeps both outputs and the exit code") {
    const Finished shell =
        run({.argv = {"sh", "-c", "echo out; echo \"$WORD\" >&2; exit 3"}, .environment = {{"WORD", "err"}}});
    CHECK(shell.out == "out\n");
    CHECK(shell.err == "err\n");
    CHECK(shell.exit_code == 3);
    CHECK_FALSE(shell.timed_out);
}

TEST_CASE("run kills a program and its children when the time is over") {
    const Finished shell =
        run({.argv = {"sh", "-c", "sleep 60 | cat"}, .time_limit = std::chrono::milliseconds(200)});
    CHECK(shell.timed_out);
    CHECK(shell.used < std::chrono::seconds(10));
}

TEST_CASE("a busy machine gives a program more time, but not for ever") {
    using std::chrono::milliseconds;
    CHECK(test_support::parse_load("0.50 1.00 2.00 40/900 12345\n", 2).running == 40);
    CHECK(test_support::parse_load("", 0).running == 1);
    CHECK(test_support::parse_load("", 0).cores == 1);
    const auto after_200_ms = [](unsigned running, unsigned cores) {
        test_support::FairClock clock([=] { return test_support::Load{running, cores}; });
        std::this_thread::sleep_for(milliseconds(200));
        const milliseconds counted = clock.look();
        CHECK(clock.elapsed() >= milliseconds(200));
        return static_cast<double>(counted.count()) / static_cast<double>(clock.elapsed().count());
    };
    CHECK(after_200_ms(1, 2) > 0.9);
    CHECK(after_200_ms(2, 2) > 0.9);
    CHECK(std::abs(after_200_ms(8, 2) - 0.25) < 0.05);
    CHECK(std::abs(after_200_ms(1000000, 2) - 1.0 / test_support::FairClock::slowest) < 0.03);
}

TEST_CASE("run reports a signal and a program that does not exist") {
    CHECK(run({.argv = {"sh", "-c", "kill -9 $$"}}).signal == 9);
    CHECK_THROWS_AS(run({.argv = {"/nonexistent/program"}}), std::system_error);
}

TEST_CASE("the JSON reader reads what it should") {
    const JsonValue value =
        JsonValue::parse(R"( {"a": [1, -2.5e1, true, null], "b\n": "\u00e9\"", "c": {}} )");
    CHECK(value["a"].array().at(1).number() == -25);
    CHECK(value["a"].array().at(2).boolean());
    CHECK(value["a"].array().at(3).is_null());
    CHECK(value["b\n"].string() == "\xC3\xA9\"");
    CHECK(value["c"].object().empty());
    CHECK_THROWS_AS(value["missing"], std::runtime_error);
}

TEST_CASE("the JSON reader refuses what is not JSON") {
    for (const char* text : {"", "{", "[1,]", "{\"a\" 1}", "\"open", "1 2", "\"\\x\"", "nul", "\"\\u12\""})
        CHECK_THROWS_AS(JsonValue::parse(text), std::runtime_error);
}

TEST_CASE("a report of the emulator is read") {
    const TemporaryDirectory directory;
    const auto file = directory.path() / "report";
    CHECK(read_report(file).empty());
    std::ofstream(file)
        << R"({"name":"race-shared","severity":"error","kernel":"k","message":"m","locations":[)"
        << R"({"file":"a.cu","line":12,"role":"write"},{"file":"a.cu","line":13,"role":"read"}]})"
        << "\n"
        << R"({"name":"n","severity":"warning","kernel":"k","message":"m","locations":[)"
        << R"({"file":"a.cuh","line":7,"role":"read","callers":[{"file":"a.cu","line":14}]}]})"
        << "\n";
    const auto report = read_report(file);
    REQUIRE(report.size() == 2);
    CHECK(report[0].name == "race-shared");
    CHECK(!report[0].is_warning);
    CHECK(report[1].is_warning);
    REQUIRE(report[1].locations.size() == 2);
    CHECK(report[1].locations[1].line == 14);
    CHECK(report[1].locations[1].role == "read");
    REQUIRE(report[0].locations.size() == 2);
    CHECK(report[0].locations[1].line == 13);
    CHECK(report[0].locations[1].role == "read");
}

TEST_CASE("the marks of a kernel are found, and those of its neighbours are not") {
    const std::string source = "__global__ void one(int* p) {\n"
                               "    p[0] = 1; // expect: race-global\n"
                               "}\n"
                               "__global__ void one_more(int* p) {\n"
                               "    p[0] = 1; // expect: trap\n"
                               "    p[1] = 1; // expect: trap\n"
                               "}\n"
                               "__global__ void torn(int* p) {\n"
                               "    p[0] = 1; // expect: trap\n"
                               "    p[1] = 1; // expect: assert\n"
                               "}\n"
                               "__global__ void timed(int* p) {\n"
                               "    wait(p);  // expect early: deadlock\n"
                               "    p[0] = 1; // expect: race-shared\n"
                               "}\n";
    CHECK(expectation(source, "one").name == "race-global");
    CHECK(expectation(source, "one").lines == std::set<int>{2});
    CHECK(expectation(source, "one_more").lines == std::set<int>{5, 6});
    CHECK(expectation(source, "timed").name == "race-shared");
    CHECK(expectation(source, "timed", "late").lines == std::set<int>{14});
    CHECK(expectation(source, "timed", "early").name == "deadlock");
    CHECK(expectation(source, "timed", "early").lines == std::set<int>{13});
    CHECK_THROWS_AS(expectation(source, "torn"), std::runtime_error);
    CHECK_THROWS_AS(expectation(source, "none"), std::runtime_error);
}
