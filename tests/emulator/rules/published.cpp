// Habits of published code that go beyond the letter of the PTX ISA and that hardware runs as meant: no
// finding.

#include "rules/check_support.hpp"

using namespace check_test;

namespace {

const std::string meet = "bar.sync 0;\n";
const std::string init = addresses(64) + "@%p0 mbarrier.init.shared.b64 [bar], 1;//!\n" + meet;
const std::string wait_and_read = wait_parity("bar", "0", "W0") + "ld.shared.u32 %r5, [%r11];\n";

} // namespace

TEST_CASE("libcu++ copies first, then expects the bytes, and never fences after init") {
    const std::string then_arrive = "@%p0 " + bulk_load + "//!\n" + expect_256;
    require_silent({tile_and_bar, init + then_arrive + wait_and_read});
    require_silent({tile_and_bar, init + "@%p0 " + bulk_load +
                                      "\n@%p0 mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], 256;\n"
                                      "@%p0 mbarrier.arrive.shared.b64 _, [bar];\n" +
                                      wait_and_read});
}

TEST_CASE("a thread that initialises an mbarrier issues the copy itself, without a fence") {
    const std::string alone = addresses(64) + "@!%p0 bra MEET;\nmbarrier.init.shared.b64 [bar], 1;\n";
    const std::string copy = expect_256 + bulk_load + "\nMEET:\n" + meet + wait_and_read;
    require_silent({tile_and_bar, alone + copy}); // CuTe's tests
    const std::string later = "MEET:\n" + meet + expect_256 + "@%p0 " + bulk_load + "\n" + wait_and_read;
    require_silent({tile_and_bar, alone + later});
    // ThunderKittens meets its warp in between.
    const std::string warp = addresses(64) +
                             "@%p0 mbarrier.init.shared.b64 [bar], 1;\nbar.warp.sync 0xffffffff;\n" +
                             expect_256 + "@%p0 " + bulk_load + "\n" + meet + wait_and_read;
    require_silent({tile_and_bar, warp});
}

TEST_CASE("no header decides whether an initialisation without a proxy fence is told") {
    const auto names = [](const std::string& header) {
        const Case c{tile_and_bar, addresses(64) + "@!%p0 bra MEET;\n" +
                                       ".loc 2 40 5, function_name $L__info_string0, inlined_at 1 7 3\n"
                                       "mbarrier.init.shared.b64 [bar], 1;\n.loc 1 8 3\n" +
                                       expect_256 + bulk_load + "\nMEET:\n" + meet + wait_and_read};
        const auto outcome = run_inlined_from(header, c);
        INFO(outcome.message);
        std::vector<std::string> found;
        for (const auto& d : outcome.result.diagnostics)
            found.push_back(d.name());
        return found;
    };
    const std::string cccl = "/usr/local/cuda/include/cccl/cuda/";
    CHECK(names(cccl + "__ptx/instructions/generated/mbarrier_init.h").empty()); // cuda::ptx
    CHECK(names(cccl + "__barrier/barrier_block_scope.h").empty());              // cuda::barrier
    CHECK(names("/home/reader/cute/arch/copy_sm90_desc.hpp").empty());           // CuTe
    CHECK(names("/home/reader/cutlass/arch/barrier.h").empty());                 // ClusterBarrier
}

TEST_CASE("a full cluster barrier publishes initialisations to other blocks, a relaxed one does not") {
    const auto program = [](const std::string& between) {
        return Case{tile_and_bar,
                    addresses(64) + "@%p0 mbarrier.init.shared.b64 [bar], 1;//!\n" + between +
                        "barrier.cluster.wait;\nmov.u32 %r20, bar;\nmov.u32 %r21, %cluster_ctarank;\n"
                        "xor.b32 %r21, %r21, 1;\nmapa.shared::cluster.u32 %r22, %r20, %r21;\n"
                        "@%p0 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r22];//!\n" +
                        wait_parity("bar", "0", "W0") + "barrier.cluster.arrive;\nbarrier.cluster.wait;\n",
                    64, 2, 2};
    };
    require_silent(program("barrier.cluster.arrive;\n"));
    require_silent(program("barrier.cluster.arrive.release;\n"));
    require_silent(program("@%p0 fence.mbarrier_init.release.cluster;\nbarrier.cluster.arrive.relaxed;\n"));
    require_found("barrier-init-not-visible", program("barrier.cluster.arrive.relaxed;//!\n"));
    require_found("barrier-init-not-visible",
                  program("@%p0 fence.proxy.async;\nbarrier.cluster.arrive.relaxed;//!\n"));
}

TEST_CASE("a bulk load reads global memory behind __threadfence") {
    const std::string body = addresses(64) + initialised_barrier() +
                             "st.global.u32 [%rd10], %r0;\nfence.acq_rel.gpu;\n" + meet + expect_256 +
                             "@%p0 " + bulk_load + "\n" + wait_and_read;
    require_silent({tile_and_bar, body});
}

TEST_CASE("the last block learns at its barrier what one thread's ticket told it") {
    const std::string body =
        "mov.u32 %r1, %ctaid.x;\nshl.b32 %r4, %r1, 2;\ncvt.u64.u32 %rd9, %r4;\nadd.u64 %rd11, %rd1, %rd9;\n"
        "setp.ne.u32 %p0, %r0, 0;\n@%p0 bra MEET;\n"
        "st.global.u32 [%rd11], %r1;\nfence.acq_rel.gpu;\natom.global.inc.u32 %r6, [%rd1+32768], 3;\n"
        "st.shared.u32 [tile], %r6;\nMEET:\nbar.sync 0;\nld.shared.u32 %r7, [tile];\n"
        "setp.ne.u32 %p1, %r7, 3;\n@%p1 bra DONE;\nand.b32 %r8, %r0, 3;\nmul.wide.u32 %rd10, %r8, 4;\n"
        "add.u64 %rd10, %rd10, %rd1;\nld.global.u32 %r9, [%rd10];\nDONE:\n";
    require_silent({tile, body, 64, 4});
}

TEST_CASE("libcu++ destroys a barrier when the first thread is done with it") {
    const std::string body = addresses(64) + "@%p0 mbarrier.init.shared.b64 [bar], 64;\n" + meet +
                             "st.shared.u32 [%r10], %r6;\nmbarrier.arrive.shared.b64 _, [bar];\n" +
                             wait_parity("bar", "0", "W") +
                             "setp.eq.u32 %p1, %r0, 63;\n@%p1 mbarrier.inval.shared.b64 [bar];\n";
    require_silent({tile_and_bar, body + "ld.shared.u32 %r5, [%r11];\nst.global.u32 [%rd11], %r5;\n"});
}

TEST_CASE("all threads write the same pointer to shared memory, and each reads it") {
    const std::string write = "st.shared.u32 [tile], 7;//!\n";
    const std::string read = "ld.shared.u32 %r5, [tile];//!\nst.global.u32 [%rd11], %r5;\n";
    require_silent({tile, addresses(64) + write + read, 64});
    require_silent({tile, addresses(32) + write + read, 32});
    // Who did not write it needs a barrier.
    require_found("race-shared",
                  {tile, addresses(64) + "setp.lt.u32 %p1, %r0, 32;\n@%p1 " + write + read, 64});
}
