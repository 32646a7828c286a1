// Asynchronous operations that nobody waited for, or whose memory was used too early.

#include "rules/check_support.hpp"

using namespace check_test;

namespace {
const std::string meet = "bar.sync 0;\n";
const std::string fence = "fence.proxy.async.shared::cta;\n";
const std::string read_mirror = "ld.shared.u32 %r5, [%r11];//!\nst.global.u32 [%rd11], %r5;\n";
const std::string load = expect_256 + "@%p0 " + bulk_load + "//!\n";
} // namespace

TEST_CASE("read-before-completion: nobody waits for the bulk load") {
    const std::string start = addresses(64) + initialised_barrier() + load;
    const std::string later = wait_parity("bar", "0", "W1");
    require_found("read-before-completion", {tile_and_bar, start + read_mirror + later});
    require_found("read-before-completion", {tile_and_bar, start + meet + read_mirror + later});
    require_silent({tile_and_bar, start + later + read_mirror});
    // One thread waits and tells the others.
    require_silent({tile_and_bar, start + "@!%p0 bra WAITED;\n" + later + "WAITED:\n" + meet + read_mirror});
}

TEST_CASE("read-before-completion: only one thread waits, and no barrier follows") {
    const std::string body = addresses(64) + initialised_barrier() + load + meet + "@!%p0 bra WAITED;\n" +
                             wait_parity("bar", "0", "W1") + "WAITED:\n" + read_mirror;
    require_found("read-before-completion", {tile_and_bar, body});
}

TEST_CASE("read-before-completion: cp.async without a meet, or with a wait for too few groups") {
    const std::string copies = addresses(64) +
                               "add.u32 %r12, %r10, 512;\nadd.u32 %r13, %r11, 512;\n"
                               "cp.async.ca.shared.global [%r10], [%rd10], 4;\ncp.async.commit_group;\n"
                               "cp.async.ca.shared.global [%r12], [%rd10+256], 4;//!\n"
                               "cp.async.commit_group;\n";
    const std::string read = "ld.shared.u32 %r4, [%r11];\nld.shared.u32 %r5, [%r13];//!\n";
    const std::string end = "cp.async.wait_all;\n";
    require_found("read-before-completion",
                  {tile, copies + "cp.async.wait_group 1;//!\n" + meet + read + end});
    require_silent({tile, copies + "cp.async.wait_group 0;\n" + meet + read + end});
    require_silent({tile, copies + "cp.async.wait_all;\n" + meet + read});
    // The older group alone may be read after wait_group 1.
    require_silent({tile, copies + "cp.async.wait_group 1;\n" + meet + "ld.shared.u32 %r4, [%r11];\n" + end});
}

TEST_CASE("race-shared: cp.async waited for, but no barrier before others read") {
    const std::string copy = addresses(64) + "cp.async.ca.shared.global [%r10], [%rd10], 4;//!\n";
    require_found("race-shared", {tile, copy + "cp.async.wait_all;\n" + read_mirror});
    require_silent({tile, copy + "cp.async.wait_all;\n" + meet + read_mirror});
    // A thread may read its own copy after its own wait.
    require_silent({tile, copy + "cp.async.wait_all;\nld.shared.u32 %r5, [%r10];\n"});
}

TEST_CASE("cp.async that arrives at an mbarrier is visible to who waits there") {
    const std::string init = addresses(64) + "@%p0 mbarrier.init.shared.b64 [bar], 64;\n" + meet;
    const std::string copy = "cp.async.ca.shared.global [%r10], [%rd10], 4;//!\n";
    const std::string arrive = "cp.async.mbarrier.arrive.noinc.shared.b64 [bar];\n";
    require_silent({tile_and_bar, init + copy + arrive + wait_parity("bar", "0", "W1") + read_mirror});
    // A copy issued after that arrival is not covered.
    require_found("read-before-completion",
                  {tile_and_bar, init + arrive + copy + wait_parity("bar", "0", "W1") + meet + read_mirror +
                                     "cp.async.wait_all;\n"});
}

TEST_CASE("reuse-before-read-done: a bulk store's source overwritten") {
    const std::string store =
        addresses(64) + "st.shared.u32 [%r10], %r6;\n" + fence + meet + "@%p0 " + bulk_store + "//!\n";
    const std::string again = "add.u32 %r6, %r6, 1;\nst.shared.u32 [%r10], %r6;//!\n";
    const std::string commit = "@%p0 cp.async.bulk.commit_group;\n";
    const std::string wait_read = "@%p0 cp.async.bulk.wait_group.read 0;\n";
    require_found("reuse-before-read-done", {tile, store + commit + meet + again + wait_read});
    // Thread 0 waits, but does not tell the others.
    require_found("reuse-before-read-done", {tile, store + commit + wait_read + again, 32});
    require_silent({tile, store + commit + wait_read + meet + again});
    require_silent({tile, store + commit + "@%p0 cp.async.bulk.wait_group 0;\n" + meet + again});
    // Bulk groups belong to a thread: another thread's wait is none.
    require_found("reuse-before-read-done",
                  {tile, store + commit +
                             "setp.eq.u32 %p1, %r0, 1;\n@%p1 cp.async.bulk.wait_group.read 0;//!\n" + meet +
                             again + wait_read});
}

TEST_CASE("wait_group.read does not make the stored data readable; wait_group does") {
    const std::string store = addresses(64) + "st.shared.u32 [%r10], %r6;\n" + fence + meet + "@%p0 " +
                              bulk_store + "//!\n@%p0 cp.async.bulk.commit_group;\n";
    const std::string read = meet + "ld.global.u32 %r5, [%rd11];//!\n";
    require_found("read-before-completion",
                  {tile, store + "@%p0 cp.async.bulk.wait_group.read 0;//!\n" + read});
    require_silent({tile, store + "@%p0 cp.async.bulk.wait_group 0;\n" + read});
}

TEST_CASE("overwrite-in-flight: a store into the destination of a load") {
    const std::string start = addresses(64) + initialised_barrier() + load + meet;
    const std::string write = "add.u32 %r6, %r6, 77;\nst.shared.u32 [%r10], %r6;//!\n";
    require_found("overwrite-in-flight", {tile_and_bar, start + write + wait_parity("bar", "0", "W1")});
    require_silent({tile_and_bar, start + wait_parity("bar", "0", "W1") + meet + write});
}

TEST_CASE("overwrite-in-flight: a second load into the same stage, from another line") {
    const std::string start = addresses(64) + initialised_barrier();
    const std::string one = "@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 512;\n@%p0 " + bulk_load +
                            "//!\n@%p0 " + bulk_load + "//!\n" + wait_parity("bar", "0", "W1");
    require_found("overwrite-in-flight", {tile_and_bar, start + one});
    const std::string two = load + wait_parity("bar", "0", "W1") + meet + expect_256 + "@%p0 " + bulk_load +
                            "\n" + wait_parity("bar", "1", "W2");
    require_silent({tile_and_bar, start + two});
}

TEST_CASE("overwrite-in-flight: a thread's own copy to the same bytes, a round later, is no duplicate") {
    const auto rounds = [](const std::string& wait) {
        return addresses(64) +
               "mov.u32 %r12, 0;\nROUND:\ncp.async.ca.shared.global [%r10], [%rd10], 4;//!\n" +
               "cp.async.commit_group;\n" + wait + "add.u32 %r12, %r12, 1;\nsetp.lt.u32 %p1, %r12, 2;\n" +
               "@%p1 bra ROUND;\ncp.async.wait_all;\n";
    };
    require_found("overwrite-in-flight", {tile, rounds("")});
    require_silent({tile, rounds("cp.async.wait_group 0;\n")});
}

TEST_CASE("duplicate-copy: every thread issues the load") {
    const std::string all = addresses(64) +
                            "@%p0 mbarrier.init.shared.b64 [bar], 64;\n@%p0 fence.proxy.async;\n" + meet +
                            "mbarrier.arrive.expect_tx.shared.b64 _, [bar], 256;\n" + bulk_load + "//!\n" +
                            wait_parity("bar", "0", "W1");
    require_found("duplicate-copy", {tile_and_bar, all});
    // Every thread copies 16 bytes of its own.
    std::string own = all;
    own.replace(own.find("[tile], [%rd0], 256"), 19, "[%r16], [%rd16], 16");
    own.replace(own.find("[bar], 256"), 10, "[bar], 16");
    own = "mov.u32 %r15, tile;\nshl.b32 %r14, %r0, 4;\nadd.u32 %r16, %r15, %r14;\ncvt.u64.u32 %rd15, %r14;\n"
          "add.u64 %rd16, %rd0, %rd15;\n" +
          own;
    require_silent({tile_and_bar, own});
}

TEST_CASE("race-shared: a load into bytes that another thread may still read") {
    const std::string first = addresses(64) + initialised_barrier() + expect_256 + "@%p0 " + bulk_load +
                              "\n" + wait_parity("bar", "0", "W1") + "ld.shared.u32 %r5, [%r11];//!\n";
    const std::string second = expect_256 + "@%p0 " + bulk_load + "//!\n" + wait_parity("bar", "1", "W2");
    require_found("race-shared", {tile_and_bar, first + second});
    require_silent({tile_and_bar, first + meet + second});
}

TEST_CASE("reductions of several blocks into the same words are no conflict") {
    const std::string body =
        addresses(64) + "st.shared.u32 [%r10], %r6;\n" + fence + meet +
        "@%p0 cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd1], [tile], 256;\n" +
        commit_and_wait_read;
    require_silent({tile, body, 64, 4});
}

TEST_CASE("overlapping stores of two blocks are reported") {
    const std::string body = addresses(64) +
                             "mov.u32 %r20, %ctaid.x;\nadd.u32 %r6, %r6, %r20;\n"
                             "st.shared.u32 [%r10], %r6;\n" +
                             fence + meet + "@%p0 " + bulk_store + "//!\n" + commit_and_wait_read;
    require_found("duplicate-copy", {tile, body, 64, 2});
}

TEST_CASE("red.async: several threads of a cluster add to one counter; stores may not meet there") {
    const std::string shared = ".shared .align 8 .b8 tile[256];\n.shared .align 8 .b64 bar;\n";
    const std::string start = addresses(32) +
                              "@%p0 st.shared.u32 [tile], 0;\n@%p0 mbarrier.init.shared.b64 [bar], 1;\n"
                              "@%p0 fence.mbarrier_init.release.cluster;\n"
                              "@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 256;\n"
                              "barrier.cluster.arrive; barrier.cluster.wait;\n"
                              "mov.u32 %r12, bar; mapa.shared::cluster.u32 %r12, %r12, 0;\n"
                              "mapa.shared::cluster.u32 %r13, %r9, 0;\n"
                              "mov.u32 %r14, %cluster_ctarank; setp.ne.u32 %p2, %r14, 0;\n";
    const std::string end = "barrier.cluster.arrive; barrier.cluster.wait;\n";
    const std::string result = "@%p2 bra DONE;\n" + wait_parity("bar", "0", "W") +
                               "ld.shared.u32 %r5, [tile];\nst.global.u32 [%rd11], %r5;\nDONE:\n";
    const std::string form = ".shared::cluster.mbarrier::complete_tx::bytes";
    const std::string add = "red.async.relaxed.cluster" + form + ".add.u32 [%r13], 1, [%r12];//!\n";
    const std::string store = "st.async" + form + ".b32 [%r13], %r0, [%r12];//!\n";
    require_silent({shared, start + add + result + end, 32, 2, 2});
    require_found("duplicate-copy", {shared, start + store + result + end, 32, 2, 2});
}
