/// \file
/// Clusters: barrier.cluster, mapa, remote mbarriers, st.async, red.async, copies between blocks and
/// multicast.

#include "machine/async_support.hpp"

using namespace async_test;

namespace {

const std::string shared = ".shared .align 128 .b8 tile[512];\n.shared .align 128 .b8 from[512];\n"
                           ".shared .align 8 .b64 bar;\n";

/// %r20 = rank of the block; thread 0 of every block initialises its barrier for one arrival; then all meet.
const std::string begin = R"(
mov.u32 %r20, %cluster_ctarank;
setp.eq.u32 %p1, %r0, 0;
@%p1 mbarrier.init.shared.b64 [bar], 1;
@%p1 fence.mbarrier_init.release.cluster;
shl.b32 %r2, %r0, 2;
barrier.cluster.arrive.aligned;
barrier.cluster.wait.aligned;
)";
const std::string end = "\nbarrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;\n";

/// Each thread writes its word of the tile to output word rank * 32 + thread.
const std::string write_tile = R"(
mov.u32 %r21, tile; add.u32 %r21, %r21, %r2; ld.shared.u32 %r22, [%r21];
mad.lo.u32 %r23, %r20, 32, %r0; mul.wide.u32 %rd20, %r23, 4; add.u64 %rd20, %rd20, %rd1;
st.global.u32 [%rd20], %r22;
)";

/// Output of `blocks` blocks of 32 threads; %rd0 points to 128 words 1, 2, …
std::vector<std::uint32_t> run(const Order& order, std::uint32_t blocks, const std::string& body) {
    INFO(name_of(order));
    Machine machine(order);
    const auto in = machine.buffer(sequence(128));
    const auto out = machine.buffer(std::vector<std::uint32_t>(32 * blocks, 0));
    require_clean(machine.run(kernel(2, shared, body), {in, out}, 32, blocks));
    return machine.read<std::uint32_t>(out, 32 * blocks);
}

void finding(std::uint32_t blocks, const std::string& body, const std::string& name,
             const std::string& text) {
    INFO(body);
    for (const Order& order : all_orders()) {
        INFO(name_of(order));
        Machine machine(order);
        const auto in = machine.buffer(sequence(128));
        const auto out = machine.buffer(std::vector<std::uint32_t>(32 * blocks, 0));
        require_finding(machine.run(kernel(2, shared, body), {in, out}, 32, blocks), name, text);
    }
}

} // namespace

TEST_CASE("barrier.cluster orders a write to the neighbour's shared memory before its read") {
    // Block r writes 100 * r + thread into the tile of block (r + 1) % 4.
    const std::string body = begin + R"(
add.u32 %r3, %r20, 1; and.b32 %r3, %r3, 3;
mov.u32 %r4, tile; add.u32 %r4, %r4, %r2;
mapa.shared::cluster.u32 %r5, %r4, %r3;
mad.lo.u32 %r6, %r20, 100, %r0;
st.shared::cluster.u32 [%r5], %r6;
barrier.cluster.arrive;
barrier.cluster.wait;
)" + write_tile;
    for (const Order& order : all_orders()) {
        const auto out = run(order, 4, body);
        for (std::uint32_t i = 0; i < 128; ++i)
            REQUIRE(out[i] == ((i / 32 + 3) % 4) * 100 + i % 32);
    }
}

TEST_CASE("mapa and getctarank, generic and shared, 32 and 64 bits") {
    const std::string body = begin + R"(
mapa.shared::cluster.u32 %r3, tile, 1; getctarank.shared::cluster.u32 %r4, %r3;
mapa.shared::cluster.u64 %rd8, tile+4, 1; getctarank.shared::cluster.u64 %r5, %rd8;
mov.u64 %rd9, tile; cvta.shared.u64 %rd9, %rd9; mapa.u64 %rd10, %rd9, 1; getctarank.u64 %r6, %rd10;
getctarank.shared::cluster.u32 %r7, tile;
mov.u32 %r8, tile; shl.b32 %r9, %r20, 24;
sub.u32 %r10, %r3, %r8; // 1 << 24 minus the own rank << 24
add.u32 %r10, %r10, %r9;
setp.eq.u32 %p2, %r20, 0;
@!%p2 bra DONE;
st.global.u32 [%rd1], %r4; st.global.u32 [%rd1+4], %r5; st.global.u32 [%rd1+8], %r6;
st.global.u32 [%rd1+12], %r7; st.global.u32 [%rd1+16], %r10;
st.u32 [%rd10], 7;
DONE:
barrier.cluster.arrive; barrier.cluster.wait;
@%p2 bra LAST;
ld.shared.u32 %r11, [tile]; st.global.u32 [%rd1+20], %r11;
LAST:
)";
    const auto out = run(all_orders().front(), 2, body);
    REQUIRE(std::vector<std::uint32_t>(out.begin(), out.begin() + 6) ==
            std::vector<std::uint32_t>{1, 1, 1, 0, 1u << 24, 7});
}

TEST_CASE("A thread arrives at another block's mbarrier") {
    const std::string body = begin + R"(
setp.eq.u32 %p2, %r20, 1; and.pred %p2, %p2, %p1;
mov.u32 %r3, bar; mapa.shared::cluster.u32 %r3, %r3, 0;
@%p2 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r3];
setp.ne.u32 %p3, %r20, 0;
@%p3 bra DONE;
)" + wait_parity("bar", "0", "W") +
                             "st.global.u32 [%rd1], 5;\nDONE:" + end;
    for (const Order& order : all_orders())
        REQUIRE(run(order, 2, body)[0] == 5);
}

TEST_CASE("st.async and red.async bring values and count their bytes at the remote mbarrier") {
    // 32 threads of block 0 store a v2 into block 1's tile, then 16 of them add to it.
    const std::string body = begin + R"(
setp.eq.u32 %p2, %r20, 1;
mov.u32 %r3, tile; mapa.shared::cluster.u32 %r4, %r3, 1; mad.lo.u32 %r4, %r0, 8, %r4;
mov.u32 %r5, bar; mapa.shared::cluster.u32 %r5, %r5, 1;
and.pred %p4, %p2, %p1;
@%p4 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 256;
@%p2 bra RECEIVE;
add.u32 %r6, %r0, 1000;
st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [%r4], {%r0, %r6}, [%r5];
bra DONE;
RECEIVE:
)" + wait_parity("bar", "0", "W") +
                             R"(
DONE:
@%p4 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 128;
)" + end + R"(
@%p2 bra RECEIVE2;
red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r4], 50, [%r5];
bra DONE2;
RECEIVE2:
)" + wait_parity("bar", "1", "W2") +
                             "DONE2:\n" + end + write_tile;
    for (const Order& order : all_orders()) {
        const auto out = run(order, 2, body);
        for (std::uint32_t i = 0; i < 32; ++i)
            REQUIRE(out[32 + i] == (i % 2 ? 1000 + i / 2 : 50 + i / 2));
    }
}

TEST_CASE("A bulk copy and a bulk reduction from shared memory to another block's shared memory") {
    // Block r sends its words (input + 32 r) to the next block, twice: a copy, then an addition.
    const std::string body = begin + R"(
mov.u32 %r3, from; add.u32 %r3, %r3, %r2; mad.lo.u32 %r4, %r20, 32, %r0;
mul.wide.u32 %rd8, %r4, 4; add.u64 %rd8, %rd8, %rd0; ld.global.u32 %r5, [%rd8]; st.shared.u32 [%r3], %r5;
fence.proxy.async.shared::cta; bar.sync 0;
add.u32 %r6, %r20, 1; and.b32 %r6, %r6, 3;
mapa.shared::cluster.u32 %r7, tile, %r6; mapa.shared::cluster.u32 %r8, bar, %r6;
@!%p1 bra WAIT;
mbarrier.arrive.expect_tx.shared.b64 _, [bar], 128;
cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r7], [from], 128, [%r8];
WAIT:
)" + wait_parity("bar", "0", "W") +
                             end + R"(
@!%p1 bra WAIT2;
mbarrier.arrive.expect_tx.shared.b64 _, [bar], 128;
cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32 [%r7], [from], 128, [%r8];
WAIT2:
)" + wait_parity("bar", "1", "W2") +
                             end + write_tile;
    for (const Order& order : all_orders()) {
        const auto out = run(order, 4, body);
        for (std::uint32_t i = 0; i < 128; ++i)
            REQUIRE(out[i] == 2 * (((i / 32 + 3) % 4) * 32 + i % 32 + 1));
    }
}

TEST_CASE("A multicast load reaches the blocks of the mask and completes at the barrier of each") {
    const std::string body = begin + R"(
mov.u32 %r4, 55; mov.u32 %r3, tile; add.u32 %r3, %r3, %r2; st.shared.u32 [%r3], %r4;
mov.b32 %r5, 11; shr.u32 %r6, %r5, %r20; and.b32 %r6, %r6, 1; setp.eq.u32 %p2, %r6, 1; // mask 0b1011
fence.proxy.async; barrier.cluster.arrive; barrier.cluster.wait;
and.pred %p3, %p1, %p2;
@%p3 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 128;
mov.u16 %h1, 11;
setp.eq.u32 %p4, %r20, 0; and.pred %p4, %p4, %p1;
@%p4 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [tile], [%rd0], 128, [bar], %h1;
@!%p2 bra DONE;
)" + wait_parity("bar", "0", "W") +
                             "DONE:\n" + end + write_tile;
    for (const Order& order : all_orders()) {
        const auto out = run(order, 4, body);
        for (std::uint32_t i = 0; i < 128; ++i)
            REQUIRE(out[i] == (i / 32 == 2 ? 55 : i % 32 + 1));
    }
}

TEST_CASE("Mistakes in clusters are named") {
    const std::string bulk = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes";
    finding(2, begin + "mapa.shared::cluster.u32 %r3, tile, 2;", "rank-out-of-range", "rank 2");
    finding(2,
            begin + "mov.u16 %h1, 5;\n@%p1 " + bulk + ".multicast::cluster [tile], [%rd0], 128, [bar], %h1;",
            "multicast-mask-out-of-range", "0x5");
    finding(2,
            begin +
                "mapa.shared::cluster.u32 %r3, bar, 1;\n"
                "@%p1 mbarrier.test_wait.parity.shared::cta.b64 %p2, [%r3], 0;\n" +
                end,
            "rank-out-of-range", "own block");
    finding(2,
            begin +
                "mapa.shared::cluster.u32 %r3, bar, 1;\nmapa.shared::cluster.u32 %r4, tile, 0;\n"
                "@%p1 st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r4], %r0, [%r3];\n" +
                end,
            "rank-out-of-range", "same block");
    // Block 1 exits at once; block 0 comes later.
    const std::string late = begin + "setp.eq.u32 %p2, %r20, 1;\n@%p2 ret;\nmov.u32 %r7, 0;\nSPIN:\n"
                                     "add.u32 %r7, %r7, 1; setp.lt.u32 %p3, %r7, 20000;\n@%p3 bra SPIN;\n";
    finding(
        2, late + "mapa.shared::cluster.u32 %r3, bar, 1;\n@%p1 mbarrier.arrive.shared::cluster.b64 _, [%r3];",
        "remote-block-exited", "exited");
    finding(2,
            late + "mapa.shared::cluster.u32 %r3, tile, 1;\nmapa.shared::cluster.u32 %r4, bar, 1;\n"
                   "@%p1 st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r3], %r0, [%r4];",
            "remote-block-exited", "exited");
}

TEST_CASE("Copies from shared memory to the cluster's shared memory need a cluster launch") {
    const std::string own =
        begin + "mapa.shared::cluster.u32 %r3, tile, 0;\nmapa.shared::cluster.u32 %r4, bar, 0;\n";
    finding(1, own + "@%p1 st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r3], %r0, [%r4];",
            "no-cluster-launch", "not launched as a cluster");
    finding(1,
            own +
                "@%p1 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r3], [from], "
                "128, [%r4];",
            "no-cluster-launch", "not launched as a cluster");
}

TEST_CASE("A source block that exits before the neighbour has its copy is reported") {
    const std::string body = begin + R"(
setp.eq.u32 %p2, %r20, 0; and.pred %p2, %p2, %p1;
mapa.shared::cluster.u32 %r7, tile, 1; mapa.shared::cluster.u32 %r8, bar, 1;
@%p2 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r7], [from], 128, [%r8];
setp.eq.u32 %p3, %r20, 0;
@%p3 ret;
@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 128;
mov.u32 %r7, 0;
SPIN:
add.u32 %r7, %r7, 1; setp.lt.u32 %p3, %r7, 20000;
@%p3 bra SPIN;
)" + wait_parity("bar", "0", "W");
    finding(2, body, "exited-with-copies-in-flight", "All threads of block (0,0,0) have exited");
}
