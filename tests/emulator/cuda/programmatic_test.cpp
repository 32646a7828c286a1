// What the emulator says of kernels that begin before the one before them has ended and use what that one
// still uses; that it is silent where they have waited or need not wait; and that results differ only where
// something is wrong.

#include "process.hpp"

#include <catch2/catch_test_macros.hpp>

#include <cstdlib>
#include <string>
#include <vector>

namespace {

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    REQUIRE(value != nullptr);
    return value;
}

struct Way {
    const char* order;
    const char* seed;
    const char* threads;
};
constexpr Way ways[] = {{"late", "1", "1"},   {"late", "1", "2"},   {"early", "1", "2"},
                        {"random", "1", "2"}, {"random", "2", "1"}, {"random", "3", "2"}};

test_support::Finished run(const std::string& name, const std::string& variant, const Way& way) {
    return test_support::run({.argv = {variable("PROGRAMMATIC_PROGRAM"), name, variant},
                              .environment = {{"LD_LIBRARY_PATH", variable("EMULATOR_LIB")},
                                              {"EMULATOR_ORDER", way.order},
                                              {"EMULATOR_SEED", way.seed},
                                              {"EMULATOR_THREADS", way.threads}}});
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::string text_of(const std::string& name, const Way& way, const test_support::Finished& ended) {
    return name + ' ' + way.order + ' ' + way.seed + ' ' + way.threads + ": " + ended.how() + '\n' +
           ended.out + ended.err;
}

bool is_right(const test_support::Finished& ended) {
    return ended.exit_code == 0 && has(ended.out, "right ") && !has(ended.out, "other ");
}

void check_silent(const std::string& name, const std::string& variant) {
    for (const Way& way : ways) {
        const auto ended = run(name, variant, way);
        INFO(text_of(name + ' ' + variant, way, ended));
        CHECK(is_right(ended));
        CHECK(ended.err.empty());
    }
}

/// The wrong variant gives race-kernels, with all of `words`, once and in every order; the right one says
/// nothing. `shows`: in the late order the mistake changes the result.
void check(const std::string& name, const std::vector<std::string>& words, bool shows = true) {
    for (const Way& way : ways) {
        const auto wrong = run(name, "wrong", way);
        INFO(text_of(name, way, wrong));
        CHECK(wrong.exit_code == 0); // A warning lets the program go on.
        const std::size_t first = wrong.err.find("warning[race-kernels]\n");
        CHECK(first != std::string::npos);
        CHECK(wrong.err.find("warning[", first + 1) == std::string::npos);
        for (const std::string& each : words) {
            INFO(each);
            CHECK(has(wrong.err, each));
        }
        if (way.order == std::string("late"))
            CHECK(is_right(wrong) == !shows);
        if (way.order == std::string("early"))
            CHECK(is_right(wrong));
    }
    check_silent(name, "right");
}

} // namespace

TEST_CASE("a read before the wait") {
    const std::string says =
        "reads the 2048 bytes of device memory, which kernel produce<(At)1> before it writes, "
        "and has not waited for the kernel before: it may begin before that one has ended";
    const std::string advice = "Move the read after cudaGridDependencySynchronize()";
    check("early-read", {says, advice, "consume<(At)2> reads here", "produce<(At)1> writes here"});
    check("late-trigger", {"has not waited for the kernel before", advice});
    check("copy", {"consume_by_copy<true>", "has not waited for the kernel before", advice});
}

TEST_CASE("a write before the wait") {
    check("early-clear",
          {"writes the 2048 bytes of device memory, which kernel trigger_then_read before it reads",
           "Move the write after cudaGridDependencySynchronize()"});
    check("early-overwrite", {"which kernel set_late<(At)1> before it writes as well",
                              "Move the write after cudaGridDependencySynchronize()"});
}

TEST_CASE("no wait at all") {
    check("never-waits",
          {"in stream 1 reads", "Kernel consume<(At)0> never waits.",
           "Call cudaGridDependencySynchronize() before the read, or launch kernel consume<(At)0> "
           "without cudaLaunchAttributeProgrammaticStreamSerialization."});
    // Nothing of the kernel before runs any more, but what it wrote may not be visible yet. Here it is.
    check("never-triggers",
          {"No thread of kernel produce<(At)0> calls cudaTriggerProgrammaticLaunchCompletion(), "
           "but the end of its blocks counts as that call"},
          false);
}

TEST_CASE("a wait of another thread, which this one does not stand behind") {
    check("first-thread", {"reads bytes 4 to 511 of an array of 2048 bytes", "before a __syncthreads()"});
}

TEST_CASE("a kernel between that never waits") {
    check("chain",
          {"Its wait covers the kernel before it alone, and the kernel between them never waits: kernel "
           "middle<(At)0, (At)1> may end before kernel produce<(At)1> does.",
           "Call cudaGridDependencySynchronize() in the kernel between, kernel middle<(At)0, (At)1>, "
           "before it ends"});
    check("long-chain", {"the kernels between them never wait: kernel middle<(At)0, (At)1> and kernel "
                         "middle<(At)0, (At)2> may end before",
                         "in the kernels between, "});
}

TEST_CASE("a kernel before the one before") {
    check("early-of-two", {"which kernel produce<(At)1> before it writes, and has not waited for the kernels "
                           "before: it may begin before they have ended",
                           "Move the read after cudaGridDependencySynchronize()"});
}

TEST_CASE("edges of graphs that let a kernel begin early") {
    for (const char* name : {"captured", "edge"})
        check(name, {"in a graph launched in stream 1 reads", "has not waited for the kernel before"});
}

TEST_CASE("an error that comes of an early read does not hide the early read") {
    for (const Way& way : ways) {
        const auto wrong = run("early-places", "wrong", way);
        INFO(text_of("early-places", way, wrong));
        CHECK(has(wrong.err, "warning[race-kernels]\n"));
        CHECK(has(wrong.err, "Kernel use_places<true> in the default stream reads"));
        CHECK(has(wrong.err, "Move the read after cudaGridDependencySynchronize()"));
        if (way.order == std::string("late"))
            CHECK(has(wrong.err, "error[out-of-bounds]"));
    }
    check_silent("early-places", "right");
}

TEST_CASE("an error behind the wait is not taken for a read before it") {
    for (const Way& way : ways) {
        const auto wrong = run("outside", "wrong", way);
        INFO(text_of("outside", way, wrong));
        CHECK(has(wrong.err, "error[out-of-bounds]"));
        CHECK(!has(wrong.err, "race-kernels"));
    }
}

TEST_CASE("what stands behind a wait, or needs none, is silent and right") {
    for (const char* name :
         {"preamble", "warps", "read-before", "waited-for", "known-at-start", "whole-chain"})
        for (const char* variant : {"wrong", "right"})
            check_silent(name, variant);
}

TEST_CASE("kernels that wait for each other, and a host that looks, come to their end") {
    for (const char* name : {"flags", "host-looks", "many-rounds"})
        for (const char* variant : {"wrong", "right"})
            check_silent(name, variant);
    check_silent("large", "right");
}
