// Bytes announced after the arrival of the thread that announces them.

#include "rules/check_support.hpp"

using namespace check_test;

namespace {

/// All threads arrive at the barrier in each of `rounds`; thread 0 announces and copies before or behind
/// that.
Case table(bool late, const std::string& instead = "") {
    const std::string load =
        "@%p0 mbarrier.expect_tx.relaxed.cta.shared.b64 [bar], 256;MARK\n@%p0 " + bulk_load + "\n";
    const std::string arrive = "mbarrier.arrive.shared.b64 _, [bar];MARK\n";
    std::string round = late ? arrive + load : load + arrive;
    for (std::size_t at; (at = round.find("MARK")) != std::string::npos;)
        round.replace(at, 4, late ? "//!" : "");
    return {tile_and_bar, addresses(64) + "@%p0 mbarrier.init.shared.b64 [bar], 64;\nbar.sync 0;\n" +
                              (instead.empty() ? round : instead) + wait_parity("bar", "0", "W0") +
                              "ld.shared.u32 %r5, [%r10];\nst.global.u32 [%rd11], %r5;\n"};
}

} // namespace

TEST_CASE("tx-count-mismatch: a thread announces bytes behind its own arrival") {
    require_silent(table(false));
    require_found("tx-count-mismatch", table(true));
    const emu::LaunchOutcome outcome = run(table(true), {emu::CompletionOrder::late, 1});
    const emu::Diagnostic& d = outcome.result.diagnostics.front();
    REQUIRE(d.message.find("had arrived before it announced 256 bytes") != std::string::npos);
    REQUIRE(d.advice.find("expect_tx before its own arrival") != std::string::npos);
}

TEST_CASE("bytes may be announced behind an arrival, if another one is sure to come later") {
    // Thread 0 arrives for itself, announces, and then lets the others arrive.
    require_silent(table(false, "@%p0 mbarrier.arrive.shared.b64 _, [bar];\n"
                                "@%p0 mbarrier.expect_tx.relaxed.cta.shared.b64 [bar], 256;\n@%p0 " +
                                    bulk_load +
                                    "\nbar.sync 0;\n@!%p0 mbarrier.arrive.shared.b64 _, [bar];\n"));
    // Two arrivals of one thread, each with bytes of its own.
    Case two = table(false, "@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 256;\n@%p0 " + bulk_load +
                                "\n@%p0 mbarrier.arrive.shared.b64 _, [bar];\n"
                                "setp.gt.u32 %p1, %r0, 1;\n@%p1 mbarrier.arrive.shared.b64 _, [bar];\n");
    require_silent(two);
}
