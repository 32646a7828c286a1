// What is to be put between two lines that race: where in a loop, or whether a barrier is the remedy at all.

#include "rules/analysis/carved_array.hpp"
#include "rules/check_support.hpp"

#include <catch2/matchers/catch_matchers_string.hpp>

using namespace check_test;
using Catch::Matchers::ContainsSubstring;

namespace {

std::string advice_for(const Case& c) {
    const auto outcome = run(c, {emu::CompletionOrder::late, 1});
    return outcome.result.diagnostics.empty() ? "" : outcome.result.diagnostics.front().advice;
}

} // namespace

TEST_CASE("race-shared: in a loop with one barrier the other one lacks at its end") {
    const auto program = [](const std::string& end) {
        return Case{tile, addresses(64) +
                              "mov.u32 %r1, 0;\nAGAIN:\nst.shared.u32 [%r10], %r1;\nbar.sync 0;\n"
                              "ld.shared.u32 %r5, [%r11];\nst.global.u32 [%rd11], %r5;\n" +
                              end + "add.u32 %r1, %r1, 1;\nsetp.lt.u32 %p1, %r1, 3;\n@%p1 bra AGAIN;\n"};
    };
    CHECK_THAT(advice_for(program("")), ContainsSubstring("is reached again"));
    require_silent(program("bar.sync 0;\n"));
    // Where no loop leads back, the barrier belongs between the two lines.
    const Case once{tile, addresses(64) + "st.shared.u32 [%r10], %r0;\nld.shared.u32 %r5, [%r11];\n"
                                          "st.global.u32 [%rd11], %r5;\n"};
    CHECK_THAT(advice_for(once), ContainsSubstring("Put __syncthreads() after line"));
    CHECK_THAT(advice_for(once), !ContainsSubstring("again"));
}

TEST_CASE("race-shared: a bulk store reads what all warps wrote, so the barrier is the block's") {
    const auto program = [](const std::string& between, const std::string& writer) {
        return Case{tile, addresses(64) + writer + "st.shared.u32 [%r10], %r6;\n" + between + "@%p0 " +
                              bulk_store + "\n" + commit_and_wait_read};
    };
    const std::string fence = "fence.proxy.async.shared::cta;\n";
    const auto require_advised = [](const Case& c, const std::string& barrier, const std::string& never) {
        for (const Order& order : async_test::all_orders()) {
            INFO(async_test::name_of(order));
            const auto found = run(c, order).result.diagnostics;
            const auto race = std::ranges::find(found, "race-shared", &emu::Diagnostic::name);
            REQUIRE(race != found.end());
            CHECK_THAT(race->advice, ContainsSubstring("Put " + barrier + " after line") &&
                                         !ContainsSubstring("Put " + never) &&
                                         ContainsSubstring("executes fence.proxy.async"));
        }
    };
    require_advised(program(fence, ""), "__syncthreads()", "__syncwarp()");
    require_silent(program(fence + "bar.sync 0;\n", ""));
    // Where one warp writes all of it, its own barrier is enough.
    require_advised(program(fence, "setp.lt.u32 %p1, %r0, 32;\n@%p1 "), "__syncwarp()", "__syncthreads()");
}

TEST_CASE("race-global: two threads that write one place at one line need no barrier") {
    const auto program = [](const std::string& place) {
        return Case{"", "shr.u32 %r1, %r0, 5;\nand.b32 %r2, %r0, 31;\nmul.wide.u32 %rd2, " + place +
                            ", 4;\nadd.u64 %rd2, %rd1, %rd2;\nadd.u32 %r3, %r1, 5;\n"
                            "st.global.u32 [%rd2], %r3;\n"};
    };
    CHECK_THAT(advice_for(program("%r2")), ContainsSubstring("give each a place of its own"));
    require_silent(program("%r0"));
}

TEST_CASE("the array of a line of source") {
    using emu::check::only_array_of;
    CHECK(only_array_of("sum += tile[t * pitch + k];") == "tile");
    CHECK(only_array_of("row[i] = row[i + 1];") == "row");
    CHECK(only_array_of("a[i] = b[i];").empty());
    CHECK(only_array_of("x = y;").empty());
    CHECK(only_array_of("f(x)[2] = 1;").empty());
}
