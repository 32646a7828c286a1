// A shuffle from a lane that takes no part gives no defined value: told where the value is used.

#include "rules/check_support.hpp"

#include <catch2/matchers/catch_matchers_string.hpp>

using namespace check_test;
using Catch::Matchers::ContainsSubstring;

namespace {

const std::string name = "shuffle-inactive-lane";
const std::string few = "setp.lt.u32 %p1, %r0, 20;\n";
const std::string leave = few + "@!%p1 ret;\n";
const std::string sum_step = "add.u32 %r6, %r6, %r5;\n";
const std::string store = "st.global.u32 [%rd11], %r6;//!\n";

std::string down(const std::string& by, const std::string& mask) {
    return "shfl.sync.down.b32 %r5, %r6, " + by + ", 31, " + mask + ";//!\n";
}
Case program(const std::string& body) { return {tile, addresses(32) + body, 32}; }

} // namespace

TEST_CASE("shuffle-inactive-lane: the source has exited") {
    require_found(name, program(leave + down("16", "-1") + sum_step + store));
    const auto outcome =
        run(program(leave + down("16", "-1") + sum_step + store), {emu::CompletionOrder::late, 1});
    REQUIRE(outcome.result.diagnostics.size() == 1);
    CHECK_THAT(outcome.result.diagnostics.front().message, ContainsSubstring("from lane 20 of its warp") &&
                                                               ContainsSubstring("it has exited") &&
                                                               ContainsSubstring("stored to global memory"));
    CHECK_THAT(outcome.result.diagnostics.front().advice,
               ContainsSubstring("keep all lanes of the mask until the shuffle"));
}

TEST_CASE("shuffle-inactive-lane: the source is not in the mask") {
    const std::string half = "@!%p1 bra END;\n" + down("16", "0xfffff") + sum_step + store + "END:\n";
    require_found(name, program(few + half));
    const auto outcome = run(program(few + half), {emu::CompletionOrder::late, 1});
    REQUIRE(outcome.result.diagnostics.size() == 1);
    CHECK_THAT(outcome.result.diagnostics.front().message,
               ContainsSubstring("is not in the mask 0x000fffff"));
}

TEST_CASE("a shuffle whose lanes are all there, or whose undefined values are dropped, is silent") {
    const std::string guarded = "add.u32 %r7, %r0, 16;\nsetp.lt.u32 %p2, %r7, 20;\n@%p2 " + sum_step;
    require_silent(program(few + "@!%p1 mov.u32 %r6, 0;\n" + down("16", "-1") + sum_step + store));
    require_silent(program(leave + down("16", "-1") + guarded + store));
    // Lane 0 adds up what lanes 0 to 15 hold; the sums of the others mean nothing and are not used.
    std::string tree = "setp.lt.u32 %p1, %r0, 16;\n@!%p1 ret;\n";
    for (const std::string by : {"8", "4", "2", "1"})
        tree += down(by, "0xffff") + sum_step;
    require_silent(program(tree + "@%p0 " + store));
    require_found(
        name, program("setp.lt.u32 %p1, %r0, 16;\n@!%p1 ret;\n" + down("8", "0xffff") + sum_step + store));
    // Behind the edge of the segment a lane gets its own value.
    require_silent(program(leave + "shfl.sync.down.b32 %r5, %r6, 1, 0x1c1f, -1;\n" + sum_step + store));
}
