// Copies from one block of a cluster into another's shared memory: the words by what the blocks told each
// other.

#include "rules/check_support.hpp"

#include <catch2/matchers/catch_matchers_string.hpp>

using namespace check_test;
using Catch::Matchers::ContainsSubstring;

namespace {

const std::string shared = ".shared .align 128 .b8 tile[1024];\n.shared .align 8 .b64 full;\n"
                           ".shared .align 8 .b64 empty;\n.shared .align 128 .b8 inbox[256];\n";
const std::string meet = "barrier.cluster.arrive;\nbarrier.cluster.wait;\n";
/// %p1: block 0, %p2: thread 0 of block 0, %p3: thread 0 of block 1; %r20, %r21, %r22: tile, full, empty of
/// block 1, %r23: empty of block 0.
std::string start(const std::string& arrivals) {
    return addresses(64) +
           "@%p0 mbarrier.init.shared.b64 [full], 1;\n@%p0 mbarrier.init.shared.b64 [empty], " + arrivals +
           ";\n@%p0 fence.mbarrier_init.release.cluster;\n" + meet +
           "mov.u32 %r1, %cluster_ctarank;\nsetp.eq.u32 %p1, %r1, 0;\nand.pred %p2, %p1, %p0;\n"
           "not.pred %p3, %p1;\nand.pred %p3, %p3, %p0;\n"
           "mov.u32 %r2, inbox;\nmapa.shared::cluster.u32 %r20, %r2, 1;\n"
           "mov.u32 %r2, full;\nmapa.shared::cluster.u32 %r21, %r2, 1;\n"
           "mov.u32 %r2, empty;\nmapa.shared::cluster.u32 %r23, %r2, 0;\n";
}
const std::string push =
    "@%p2 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r20], "
    "[tile], 256, [%r21];//!\n";
const std::string expect = "@%p3 mbarrier.arrive.expect_tx.shared.b64 _, [full], 256;\n";
std::string wait_cluster(const std::string& guard, const std::string& barrier, const std::string& parity,
                         const std::string& label) {
    return guard + " bra " + label + "E;\n" + label +
           ":\nmbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p7, [" + barrier + "], " + parity +
           ";\n@!%p7 bra " + label + ";\n" + label + "E:\n";
}

} // namespace

TEST_CASE("overwrite-in-flight: the source of a copy that completes at another block's mbarrier") {
    const std::string fill = "@%p1 st.shared.u32 [%r10], %r6;\nfence.proxy.async;\nbar.sync 0;\n";
    const std::string answer = wait_cluster("@%p1", "full", "0", "F") +
                               "@!%p1 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r23];\n";
    const std::string again = "@%p1 st.shared.u32 [%r10], %r0;//!\n";
    const Case wrong{shared, start("64") + fill + expect + push + "bar.sync 0;\n" + answer + again + meet, 64,
                     2, 2};
    require_found("overwrite-in-flight", wrong);
    const auto outcome = run(wrong, {emu::CompletionOrder::late, 1});
    CHECK_THAT(outcome.result.diagnostics.front().message,
               ContainsSubstring("where only threads of that block"));
    CHECK_THAT(outcome.result.diagnostics.front().advice,
               ContainsSubstring("Let a thread of that block answer at an mbarrier of this block"));
    require_silent({shared,
                    start("64") + fill + expect + push + answer + wait_cluster("@!%p1", "empty", "0", "E") +
                        "@%p1 st.shared.u32 [%r10], %r0;\n" + meet,
                    64, 2, 2});
}

TEST_CASE("overwrite-in-flight: an issuer that waited for readers of its own block only") {
    // Block 0 fills the inbox of block 1 twice. Block 1 reads it and answers, or block 0 answers itself.
    const std::string fill = "st.shared.u32 [%r10], %r6;\nfence.proxy.async;\nbar.sync 0;\n";
    const std::string reads = wait_cluster("@%p1", "full", "0", "F") +
                              "@!%p1 ld.shared.u32 %r5, [inbox];//!\n@!%p1 st.global.u32 [%rd11], %r5;\n";
    const auto program = [&](const std::string& answer) {
        return Case{shared,
                    start("64") + fill + expect +
                        "@%p2 cp.async.bulk.shared::cluster.shared::cta.mbarrier::"
                        "complete_tx::bytes [%r20], [tile], 256, [%r21];//!\n" +
                        reads + answer + wait_cluster("@!%p1", "empty", "0", "E") + expect + push +
                        wait_cluster("@%p1", "full", "1", "G") + meet,
                    64, 2, 2};
    };
    const std::string by_reader = "@!%p1 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r23];\n";
    const std::string by_own = "@%p1 mbarrier.arrive.shared.b64 _, [empty];\n";
    require_silent(program(by_reader));
    for (const Order& order : async_test::all_orders()) {
        INFO(async_test::name_of(order));
        const auto outcome = run(program(by_own), order);
        std::string all;
        for (const auto& d : outcome.result.diagnostics)
            all += emu::format(d);
        INFO(all);
        CHECK_THAT(
            all, ContainsSubstring("no thread of the block that is written has arrived at mbarrier empty") &&
                     ContainsSubstring("Let the readers of every block of the mask arrive at it"));
    }
}
