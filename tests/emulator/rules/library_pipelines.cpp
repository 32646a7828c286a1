// cuda::pipeline used unequally, as its inlined instructions show it.

#include "rules/check_support.hpp"

#include <catch2/matchers/catch_matchers_string.hpp>

using namespace check_test;
using Catch::Matchers::ContainsSubstring;

namespace {

const std::string pipeline = "/usr/local/cuda/include/cccl/cuda/pipeline";
const std::string in_library = ".loc 2 40 5, function_name $L__info_string0, inlined_at 1 7 3\n";
const std::string in_program = ".loc 1 8 3\n";
const std::string meet = "bar.sync 0;\n";
const std::string bars = tile + ".shared .align 8 .b64 full0;\n.shared .align 8 .b64 full1;\n";

std::string init(const std::string& count) {
    return addresses(64) + "@%p0 mbarrier.init.shared.b64 [full0], " + count +
           ";\n@%p0 mbarrier.init.shared.b64 [full1], " + count + ";\n" + meet;
}
std::string library(const std::string& text) { return in_library + text + in_program; }
std::string wait(const std::string& barrier, const std::string& label) {
    return library(wait_parity(barrier, "0", label));
}
std::string names(const emu::LaunchOutcome& outcome) {
    std::string all;
    for (const auto& d : outcome.result.diagnostics)
        all += d.name() + ": " + d.message + " " + d.advice + "\n";
    return all;
}

} // namespace

TEST_CASE("arrival-count-mismatch: more threads commit to a pipeline than it was made for") {
    const std::string commit = library("mbarrier.arrive.shared.b64 _, [full0];\n");
    const auto told = names(run_inlined_from(pipeline, {bars, init("32") + commit}));
    CHECK_THAT(told, ContainsSubstring("arrival-count-mismatch") &&
                         ContainsSubstring("expects 32 arrivals") &&
                         ContainsSubstring("is one more than that") && ContainsSubstring("producers"));
    CHECK(names(run_inlined_from(pipeline, {bars, init("64") + commit})).empty());
    // Threads may take turns at an mbarrier of one's own.
    const auto own = names(run_inlined_from("/home/reader/ring.h", {bars, init("32") + commit}));
    CHECK_THAT(own, !ContainsSubstring("of a cuda::pipeline"));
}

TEST_CASE("read-before-completion: a consumer whose end of the pipeline stays at an older stage") {
    // The first half of the threads copies into two stages, the other half reads the second one.
    const std::string roles =
        "setp.lt.u32 %p1, %r0, 32;\nadd.u32 %r12, %r10, 256;\nadd.u32 %r13, %r11, 256;\n";
    const std::string commit0 = "@%p1 cp.async.mbarrier.arrive.noinc.shared.b64 [full0];\n";
    const std::string commit1 = "@%p1 cp.async.mbarrier.arrive.noinc.shared.b64 [full1];\n";
    const auto program = [&](const std::string& waits) {
        return Case{bars, init("32") + roles + "@%p1 cp.async.ca.shared.global [%r10], [%rd10], 4;\n" +
                              library(commit0) + "@%p1 cp.async.ca.shared.global [%r12], [%rd10], 4;\n" +
                              library(commit1) + "@%p1 bra END;\n" + waits +
                              "ld.shared.u32 %r5, [%r13];\nst.global.u32 [%rd11], %r5;\nEND:\n"};
    };
    const auto told = names(run_inlined_from(pipeline, program(wait("full0", "W0"))));
    CHECK_THAT(told, ContainsSubstring("read-before-completion") &&
                         ContainsSubstring("has waited for an earlier stage only") &&
                         ContainsSubstring("consumer_release() on every path"));
    const auto silent = names(run_inlined_from(pipeline, program(wait("full0", "W0") + wait("full1", "W1"))));
    CHECK_THAT(silent, !ContainsSubstring("read-before-completion"));
}
