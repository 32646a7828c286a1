// Reads that a copy of the async proxy may overtake: the value is used only behind the barrier that orders
// the two. What hardware does with each of these: docs/measurements/h200_behaviour.md, 'Proxies'.

#include "rules/check_support.hpp"

using namespace check_test;

namespace {

const std::string name = "read-overtaken";
const std::string memory =
    ".shared .align 128 .b8 tile[1024];\n.shared .align 8 .b64 bar;\n.shared .align 8 .b64 empty;\n";
const std::string use = "st.global.u32 [%rd11], %r5;\n";
const std::string fence = "fence.proxy.async.shared::cta;\n";

std::string marked(std::string line) { return line.insert(line.size() - 1, "//!"); }

/// Thread 0 loads 256 bytes; `parity` is that of the phase the copy completes.
std::string copy(const std::string& mark = "") {
    return "@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 256;\n"
           "@%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%rd0], 256, "
           "[bar];" +
           mark + "\n";
}

/// A tile is loaded, read, and loaded again. `middle` stands between the read and the second load, `behind`
/// behind that.
Case reload(const std::string& middle, const std::string& behind, bool wrong = false,
            const std::string& read = "ld.shared.u32 %r5, [%r10];\n", std::uint32_t threads = 64,
            std::uint32_t cluster = 1) {
    const std::string start = addresses(threads) +
                              "@%p0 mbarrier.init.shared.b64 [bar], 1;\n@%p0 mbarrier.init.shared.b64 "
                              "[empty], " +
                              std::to_string(threads) + ";\n@%p0 " + fence + "bar.sync 0;\n";
    return {memory,
            start + copy() + wait_parity("bar", "0", "W0") + (wrong ? marked(read) : read) + middle +
                copy(wrong ? "//!" : "") + (wrong ? marked(behind) : behind) + wait_parity("bar", "1", "W1"),
            threads, cluster, cluster};
}

void require_overtaken(const std::string& middle, const std::string& behind) {
    require_found(name, reload(middle, behind, true));
}

} // namespace

TEST_CASE("read-overtaken: __syncthreads() between a read and the next copy does not wait for the read") {
    require_overtaken("bar.sync 0;\n", use);
    // However many barriers stand between the copy and the use.
    require_found(name, reload("bar.sync 0;\n", "bar.sync 0;\nbar.sync 0;\n" + use, true));
    // Each thread fences, or the issuing thread does behind the barrier.
    require_silent(reload(fence + "bar.sync 0;\n", use));
    require_silent(reload("bar.sync 0;\n@%p0 " + fence, use));
    // A fence behind the copy comes too late, and one before the read does not cover it.
    require_found(name, reload("bar.sync 0;\n", fence + use, true));
    Case before = reload("bar.sync 0;\n", use, true);
    before.body.insert(before.body.find("ld.shared.u32 %r5"), fence);
    require_found(name, before);
}

TEST_CASE("read-overtaken: a value that was used before had arrived") {
    require_silent(reload(use + "bar.sync 0;\n", ""));
    require_silent(reload("add.u32 %r5, %r5, 1;\nbar.sync 0;\n", use));
    require_silent(reload("st.shared.u32 [%r10+512], %r5;\nbar.sync 0;\n", use));
    require_silent(reload("setp.eq.u32 %p2, %r5, 77;\n@%p2 trap;\nbar.sync 0;\n", use));
    // Never used at all.
    require_silent(reload("bar.sync 0;\n", ""));
    require_silent(reload("bar.sync 0;\n", "mov.u32 %r5, 3;\n" + use));
    // One element of a vector stands for all: they arrive together.
    const std::string pair = "ld.shared.v2.u32 {%r5, %r4}, [tile+8];\n";
    require_silent(reload("add.u32 %r4, %r4, 1;\nbar.sync 0;\n", use, false, pair));
    require_found(name, reload("bar.sync 0;\n", use, true, pair));
    // A copy to another register is no use.
    require_found(name, reload("mov.u32 %r4, %r5;\nbar.sync 0;\n", "st.global.u32 [%rd11], %r4;\n", true));
    require_silent(
        reload("mov.u32 %r4, %r5;\nadd.u32 %r3, %r5, 1;\nbar.sync 0;\n", "st.global.u32 [%rd11], %r4;\n"));
}

TEST_CASE("read-overtaken: the use counts by thread") {
    // Only half of the threads use their value before.
    const std::string half = "setp.lt.u32 %p1, %r0, 32;\n";
    require_found(name, reload(half + "@%p1 st.global.u32 [%rd11], %r5;\nbar.sync 0;\n",
                               "@!%p1 st.global.u32 [%rd11], %r5;\n", true));
    require_silent(reload(half + "@%p1 st.global.u32 [%rd11], %r5;\nbar.sync 0;\n",
                          "@%p1 st.global.u32 [%rd11], %r5;\n"));
}

TEST_CASE("read-overtaken: barriers of every kind") {
    const std::string wait = wait_parity("empty", "0", "E0");
    require_overtaken("mbarrier.arrive.shared.b64 _, [empty];\n" + wait, use);
    require_overtaken("mbarrier.arrive.shared.b64 %rd20, [empty];\n" + wait, use);
    require_silent(reload(fence + "mbarrier.arrive.shared.b64 _, [empty];\n" + wait, use));
    require_silent(reload(use + "mbarrier.arrive.shared.b64 _, [empty];\n" + wait, ""));
    require_found(name, reload("bar.warp.sync 0xffffffff;\n", use, true, "ld.shared.u32 %r5, [%r10];\n", 32));
    require_silent(
        reload(use + "bar.warp.sync 0xffffffff;\n", "", false, "ld.shared.u32 %r5, [%r10];\n", 32));
    // Named: the second warp arrives, the first waits.
    const std::string named = "setp.lt.u32 %p1, %r0, 32;\n@%p1 bar.sync 1, 64;\n@!%p1 bar.arrive 1, 64;\n";
    require_overtaken(named, use);
    // A release of cluster scope and a memory fence of a wide scope wait for the loads before them.
    require_silent(reload("barrier.cluster.arrive;\nbarrier.cluster.wait;\n", use));
    require_silent(reload("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [empty];\n" + wait, use));
    require_silent(reload("membar.gl;\nbar.sync 0;\n", use));
    require_overtaken("membar.cta;\nbar.sync 0;\n", use);
    require_overtaken("barrier.cluster.arrive.relaxed;\nbarrier.cluster.wait;\nbar.sync 0;\n", use);
}

TEST_CASE("read-overtaken: a stage that is filled again one barrier later") {
    // Used between the first barrier and the second, behind which the copy is issued.
    require_silent(reload("bar.sync 0;\n" + use + "bar.sync 0;\n", ""));
    require_overtaken("bar.sync 0;\nbar.sync 0;\n", use);
    // A ring in a loop: each tile is used behind the barrier of its round, and its stage is filled a round
    // later.
    const auto ring = [](const std::string& order) {
        return Case{memory, addresses(64) + "@%p0 mbarrier.init.shared.b64 [bar], 1;\n@%p0 " + fence +
                                "bar.sync 0;\n" + copy() +
                                "mov.u32 %r20, 0;\nROUND:\nand.b32 %r21, %r20, 1;\nAGAIN:\n"
                                "mbarrier.try_wait.parity.shared.b64 %p7, [bar], %r21;\n@!%p7 bra AGAIN;\n" +
                                order +
                                "add.u32 %r20, %r20, 1;\nsetp.lt.u32 %p6, %r20, 6;\n@%p6 bra ROUND;\n" +
                                wait_parity("bar", "0", "LAST")};
    };
    require_silent(ring("ld.shared.u32 %r5, [%r10];\nbar.sync 0;\n" + use + "bar.sync 0;\n" + copy()));
    require_found(name, ring("ld.shared.u32 %r5, [%r10];//!\nbar.sync 0;\n" + copy("//!") + marked(use)));
    require_silent(ring("ld.shared.u32 %r5, [%r10];\n" + fence + "bar.sync 0;\n" + copy() + use));
    require_silent(ring("ld.shared.u32 %r5, [%r10];\n" + use + "bar.sync 0;\n" + copy()));
}
