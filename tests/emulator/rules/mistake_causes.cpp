// What led to a mistake of the machine: an arrival too many by who fills a stage too early, a block that has
// returned.

#include "rules/check_support.hpp"

#include <catch2/matchers/catch_matchers_string.hpp>

using namespace check_test;
using Catch::Matchers::ContainsSubstring;

namespace {

/// Thread 32 loads the tile twice for the threads of the first warp, which say at `empty` that they have read
/// it. `between`: what it does between the two.
Case refill(const std::string& between) {
    const std::string load = "mbarrier.arrive.expect_tx.shared.b64 _, [bar], 256;\n" + bulk_load + "\n";
    const std::string read = "ld.shared.u32 %r5, [%r10];\nmbarrier.arrive.shared.b64 _, [empty];\n";
    return {
        tile_and_bar + ".shared .align 8 .b64 empty;\n",
        addresses(32) +
            "@%p0 mbarrier.init.shared.b64 [bar], 1;\n@%p0 mbarrier.init.shared.b64 [empty], 32;\n"
            "@%p0 fence.proxy.async.shared::cta;\nbar.sync 0;\nsetp.lt.u32 %p1, %r0, 32;\n@%p1 bra READ;\n"
            "setp.ne.u32 %p2, %r0, 32;\n@%p2 bra END;\nmov.u32 %r20, 0;\nAGAIN:\nsetp.eq.u32 %p3, %r20, 0;\n"
            "@%p3 bra LOAD;\n" +
            between + "LOAD:\n" + load +
            "add.u32 %r20, %r20, 1;\nsetp.lt.u32 %p4, %r20, 2;\n@%p4 bra AGAIN;\nbra END;\nREAD:\n" +
            wait_parity("bar", "0", "FIRST") + read + wait_parity("bar", "1", "SECOND") + read + "END:\n",
        64};
}

/// The second block of a cluster returns before `meetings` of the first one's cluster barriers.
Case early_return(bool before_the_first) {
    const std::string sync = "barrier.cluster.arrive;\nbarrier.cluster.wait;\n";
    const std::string leave = "@%p1 bra END;\n";
    return {tile,
            addresses(32) +
                "st.shared.u32 [%r10], %r0;\nmov.u32 %r1, %cluster_ctarank;\nsetp.eq.u32 %p1, %r1, 1;\n" +
                (before_the_first ? leave + sync : sync + leave) +
                "mapa.shared::cluster.u32 %r3, %r10, 1;\nnanosleep.u32 100;\n"
                "ld.shared::cluster.u32 %r4, [%r3];//!\nst.global.u32 [%rd11], %r4;\nEND:\n",
            32, 2, 2};
}

} // namespace

TEST_CASE("a stage is filled again before its readers have released it, whatever that leads to") {
    for (const Order& order : async_test::all_orders()) {
        const auto outcome = run(refill(""), order);
        INFO(async_test::name_of(order));
        REQUIRE_FALSE(outcome.result.diagnostics.empty());
        const emu::Diagnostic& told = outcome.result.diagnostics.front();
        INFO(emu::format(told));
        CHECK_THAT(told.message, ContainsSubstring("has not waited for the readers of the stage"));
        CHECK_THAT(told.advice, ContainsSubstring("must wait until the readers have released the stage"));
    }
    require_silent(refill(wait_parity("empty", "0", "WAIT")));
}

TEST_CASE("arrival-count-mismatch: a wait for the parity of a phase that has long ended is named") {
    const auto outcome = run(refill(wait_parity("empty", "1", "WAIT")), {emu::CompletionOrder::late, 1});
    REQUIRE_FALSE(outcome.result.diagnostics.empty());
    const emu::Diagnostic& told = outcome.result.diagnostics.front();
    CHECK(told.name() == "arrival-count-mismatch");
    CHECK_THAT(told.message, ContainsSubstring("returned at once: a phase of that parity had ended before"));
    CHECK_THAT(told.advice, ContainsSubstring("Wait for phase 0 of it (parity 0)"));
}

TEST_CASE("arrival-count-mismatch: two lines that arrive in one round are no early refill") {
    const Case twice{tile_and_bar, addresses(64) + initialised_barrier() + expect_256 + "@%p0 " + bulk_load +
                                       "\n" + "@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 0;\n" +
                                       wait_parity("bar", "0", "W0")};
    const auto outcome = run(twice, {emu::CompletionOrder::late, 1});
    REQUIRE_FALSE(outcome.result.diagnostics.empty());
    CHECK_THAT(outcome.result.diagnostics.front().message,
               ContainsSubstring("has arrived in this phase already"));
}

TEST_CASE("remote-block-exited: a block that returns before a cluster barrier, or behind the last one") {
    for (const Order& order : async_test::all_orders()) {
        const auto outcome = run(early_return(true), order);
        REQUIRE(outcome.result.diagnostics.size() == 1);
        const emu::Diagnostic& told = outcome.result.diagnostics.front();
        CHECK(told.name() == "remote-block-exited");
        CHECK_THAT(told.message, ContainsSubstring("has ended before the cluster barrier"));
        CHECK_THAT(told.advice, ContainsSubstring("Do not return before the last cluster barrier"));
    }
    for (const Order& order : async_test::all_orders()) {
        const auto outcome = run(early_return(false), order);
        REQUIRE_FALSE(outcome.result.diagnostics.empty());
        CHECK(outcome.result.diagnostics.front().name() == "remote-block-exited");
        CHECK(outcome.result.diagnostics.front().message.find("before the cluster barrier") ==
              std::string::npos);
    }
}
