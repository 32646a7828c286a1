// Hand-overs between blocks of a cluster at mbarriers of block scope.

#include "rules/check_support.hpp"

using namespace check_test;

namespace {

/// Block 1 writes a word of block 0, or reads it (`access`), and arrives at block 0's mbarrier; thread 0 of
/// block 0 waits, its block meets, and each thread does `then` with its word.
Case hand_over(const std::string& arrive, const std::string& wait, const std::string& access,
               const std::string& then) {
    const std::string start = addresses(32) +
                              "mov.u32 %r20, %cluster_ctarank;\nmov.u32 %r21, 0;\nsetp.eq.u32 %p1, %r20, 1;\n"
                              "mapa.shared::cluster.u32 %r22, %r10, %r21;\nmov.u32 %r23, bar;\n"
                              "mapa.shared::cluster.u32 %r24, %r23, %r21;\nst.shared.u32 [%r10], %r6;\n"
                              "@%p0 mbarrier.init.shared.b64 [bar], 32;\n"
                              "barrier.cluster.arrive;\nbarrier.cluster.wait;\n@!%p1 bra WAIT;\n";
    return {tile_and_bar,
            start + access + "\n" + arrive + " _, [%r24];\nbra DONE;\nWAIT:\n@!%p0 bra MEET;\nPOLL:\n" +
                wait + " %p7, [bar], 0;\n@!%p7 bra POLL;\nMEET:\nbar.sync 0;\n" + then +
                "\nDONE:\nbarrier.cluster.arrive;\nbarrier.cluster.wait;\n",
            32, 2, 2};
}

const std::string near_arrive = "mbarrier.arrive.shared::cluster.b64";
const std::string far_arrive = "mbarrier.arrive.release.cluster.shared::cluster.b64";
const std::string near_wait = "mbarrier.try_wait.parity.shared.b64";
const std::string far_wait = "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64";
const std::string store = "st.shared::cluster.u32 [%r22], %r0;";
const std::string load = "ld.shared.u32 %r5, [%r10];\nst.global.u32 [%rd11], %r5;";

bool says(const Case& c, const std::string& what) {
    const emu::LaunchOutcome outcome = run(c, {emu::CompletionOrder::late, 1});
    return outcome.result.diagnostics.size() == 1 &&
           outcome.result.diagnostics.front().name() == "race-shared" &&
           outcome.result.diagnostics.front().message.find(what) != std::string::npos;
}

} // namespace

TEST_CASE("race-shared: data of another block behind an arrival or a wait of block scope") {
    require_silent(hand_over(far_arrive, far_wait, store, load));
    const std::string wait = "waited with .acquire at .cta scope",
                      arrival = "arrived with .release at .cta scope";
    CHECK(says(hand_over(far_arrive, near_wait, store, load), wait));
    CHECK_FALSE(says(hand_over(far_arrive, near_wait, store, load), arrival));
    CHECK(says(hand_over(near_arrive, far_wait, store, load), arrival));
    CHECK_FALSE(says(hand_over(near_arrive, far_wait, store, load), wait));
    CHECK(says(hand_over(near_arrive, near_wait, store, load), arrival));
    CHECK(says(hand_over(near_arrive, near_wait, store, load), wait));
    // A fence lends its scope.
    CHECK(says(hand_over("fence.acq_rel.cluster;\n" + near_arrive, near_wait, store, load), wait));
    require_silent(hand_over("fence.acq_rel.cluster;\n" + near_arrive, far_wait, store, load));
    require_silent(hand_over(far_arrive, near_wait, store, "fence.acq_rel.cluster;\nbar.sync 0;\n" + load));
}

TEST_CASE("a place that another block has read is handed back at block scope") {
    const std::string read = "ld.shared::cluster.u32 %r5, [%r22];";
    Case c = hand_over(near_arrive, near_wait, read, "st.shared.u32 [%r10], %r0;");
    require_silent(c);
    c.strict = true;
    const emu::LaunchOutcome outcome = run(c, {emu::CompletionOrder::late, 1});
    REQUIRE(outcome.result.diagnostics.size() == 1);
    REQUIRE(outcome.result.diagnostics.front().note);
    REQUIRE(outcome.result.fault == emu::Fault::none);
}

TEST_CASE("within a block the scope of the block is enough, and a cluster barrier for all") {
    const Case c =
        hand_over(far_arrive, near_wait, store,
                  "fence.acq_rel.cluster;\nbarrier.cluster.arrive;\nbarrier.cluster.wait;\n" + load);
    Case both = c;
    both.body.replace(both.body.find("bra DONE;"), 9,
                      "barrier.cluster.arrive;\nbarrier.cluster.wait;\nbra DONE;");
    require_silent(both);
    // What the own block's thread passes on by an mbarrier of the block, after it has waited in cluster
    // scope.
    const std::string on =
        "@%p0 mbarrier.arrive.shared.b64 _, [bar+8];\n" + wait_parity("bar+8", "0", "W1") + load;
    Case two = hand_over(far_arrive, far_wait, store, on);
    two.shared = tile + ".shared .align 8 .b64 bar[2];\n";
    two.body.replace(two.body.find("barrier.cluster.arrive;"), 0,
                     "@%p0 mbarrier.init.shared.b64 [bar+8], 1;\n");
    require_silent(two);
}
