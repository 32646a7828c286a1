// Hand-overs that do not order what they should: the finding says whose, and what to move.

#include "rules/check_support.hpp"

#include <algorithm>

using namespace check_test;

namespace {

const std::string ring = tile + ".shared .align 8 .b64 full;\n.shared .align 8 .b64 empty;\n";
const std::string start = addresses(64) +
                          "@%p0 mbarrier.init.shared.b64 [full], 1;\n@%p0 mbarrier.init.shared.b64 [empty], "
                          "1;\n@%p0 fence.proxy.async.shared::cta;\nbar.sync 0;\n";
const std::string arrive = "mbarrier.arrive.shared.b64 _, [empty];\n";
const std::string read_tile = "ld.shared.u32 %r5, [tile];\nst.global.u32 [%rd11], %r5;\n";

std::string fill(const std::string& wait) {
    return wait +
           "mbarrier.arrive.expect_tx.shared.b64 _, [full], 256;\ncp.async.bulk.shared::cluster.global."
           "mbarrier::complete_tx::bytes [tile], [%rd0], 256, [full];\n";
}

/// Thread 32 fills the tile twice, the threads of warp 0 for which `reads` is true read it.
std::string two_rounds(const std::string& reads, const std::string& producer_wait, const std::string& first,
                       const std::string& second) {
    return start + "setp.eq.u32 %p1, %r0, 32;\n@%p1 bra FILL;\n" + reads + "\n@!%p2 bra DONE;\n" +
           wait_parity("full", "0", "C1") + first + wait_parity("full", "1", "C2") + second +
           "bra DONE;\nFILL:\n" + fill("") + fill(producer_wait) + "DONE:\n";
}

std::vector<emu::Diagnostic> findings_of(const Case& c, const async_test::Order& order) {
    return run(c, order).result.diagnostics;
}

bool says(const emu::Diagnostic& d, const std::string& why, const std::string& instead) {
    return d.message.find(why) != std::string::npos && d.advice.find(instead) != std::string::npos;
}

/// In every order one finding of that name says why and what instead.
void require_told(const std::string& name, const Case& c, const std::string& why,
                  const std::string& instead) {
    for (const async_test::Order& order : async_test::all_orders()) {
        const auto found = findings_of(c, order);
        std::string all;
        for (const auto& each : found)
            all += emu::format(each);
        INFO(async_test::name_of(order) << all);
        REQUIRE(std::ranges::any_of(
            found, [&](const auto& each) { return each.name() == name && says(each, why, instead); }));
    }
}

const std::string one_reader = "setp.eq.u32 %p2, %r0, 0;";
const std::string one_warp = "setp.lt.u32 %p2, %r0, 32;";
const std::string wait_empty = wait_parity("empty", "0", "P1");

} // namespace

TEST_CASE("a thread that arrives before its last read is told to arrive behind it") {
    require_told("race-shared",
                 {ring, two_rounds(one_reader, wait_empty, read_tile + arrive + read_tile, read_tile)},
                 "thread (0,0,0) of block (0,0,0) had arrived at mbarrier empty before its read",
                 "Move the arrive after the last read");
    require_silent({ring, two_rounds(one_reader, wait_empty, read_tile + read_tile + arrive, read_tile)});
}

TEST_CASE("a producer that does not wait for the readers is not blamed on them") {
    const std::string right = read_tile + arrive;
    // Parity 1 passes at once on a fresh barrier: a wait for the round before.
    for (const std::string& wait : {std::string(), wait_parity("empty", "1", "P1")})
        for (const async_test::Order& order : async_test::all_orders()) {
            const auto found = findings_of({ring, two_rounds(one_reader, wait, right, read_tile)}, order);
            INFO(async_test::name_of(order));
            REQUIRE_FALSE(found.empty());
            for (const auto& each : found)
                CHECK(each.message.find("had arrived at") == std::string::npos);
        }
}

TEST_CASE("a lane that arrives for its warp needs __syncwarp before") {
    const std::string lane0 = "@%p0 " + arrive;
    require_told("race-shared", {ring, two_rounds(one_warp, wait_empty, read_tile + lane0, "")},
                 "which arrived for its warp", "__syncwarp() before the arrive");
    require_silent({ring, two_rounds(one_warp, wait_empty, read_tile + "bar.warp.sync -1;\n" + lane0, "")});
}

TEST_CASE("lanes of a warp for which one of them arrived, and which read after that") {
    const std::string for_all = "bar.warp.sync -1;\n@%p0 " + arrive;
    const std::string backwards = "ld.shared.u32 %r5, [%r11];\nst.global.u32 [%rd11], %r5;\n";
    require_told("race-shared", {ring, two_rounds(one_warp, wait_empty, read_tile + for_all + backwards, "")},
                 "had arrived at mbarrier empty for its warp before the read by thread (31,0,0)",
                 "Move the arrive after the last read");
    require_silent({ring, two_rounds(one_warp, wait_empty, read_tile + backwards + for_all, "")});
}

TEST_CASE("readers that never wait are told once, whether they come before a copy or behind it") {
    const auto program = [](const std::string& wait) {
        return Case{ring, start + "mov.u32 %r20, 0;\nAGAIN:\nand.b32 %r21, %r20, 1;\n@!%p0 bra READ;\n" +
                              fill("") + wait_parity("full", "%r21", "OWN") + "READ:\n" + wait +
                              "ld.shared.u32 %r5, [%r10];\nst.global.u32 [%rd11], %r5;\n"
                              "fence.proxy.async.shared::cta;\nbar.sync 0;\nadd.u32 %r20, %r20, 1;\n"
                              "setp.lt.u32 %p3, %r20, 3;\n@%p3 bra AGAIN;\n"};
    };
    require_silent(program(wait_parity("full", "%r21", "ALL")));
    for (const async_test::Order& order : async_test::all_orders()) {
        const auto found = findings_of(program(""), order);
        INFO(async_test::name_of(order));
        REQUIRE(found.size() == 1);
        CHECK(found.front().name() == "read-before-completion");
    }
}

TEST_CASE("who reads too early in one block, and finds what nobody wrote in another, is told of the first") {
    Case c{ring,
           start +
               "mov.u32 %r20, %ctaid.x;\nsetp.eq.u32 %p1, %r20, 0;\nsetp.eq.u32 %p2, %r0, 32;\n"
               "and.pred %p1, %p1, %p2;\n@!%p1 bra READ;\n" +
               fill("") + wait_parity("full", "0", "OWN") +
               "READ:\nld.shared.u32 %r5, [%r10];\nmad.lo.u32 %r5, %r20, 256, %r5;\n"
               "mul.wide.u32 %rd9, %r20, 1024;\nadd.u64 %rd11, %rd11, %rd9;\n"
               "st.global.u32 [%rd11], %r5;\n",
           64, 2};
    for (const async_test::Order& order : async_test::all_orders()) {
        const auto found = findings_of(c, order);
        INFO(async_test::name_of(order));
        REQUIRE(found.size() == 1);
        CHECK(found.front().name() == "read-before-completion");
    }
}

TEST_CASE("bar.arrive before the write that it hands over") {
    const auto program = [](const std::string& before, const std::string& behind) {
        return Case{tile, addresses(64) + "setp.lt.u32 %p1, %r0, 32;\n@!%p1 bra READ;\n" + before +
                              "st.shared.u32 [%r10], %r6;\n" + behind +
                              "bra DONE;\nREAD:\nbar.sync 3, 64;\nld.shared.u32 %r5, [%r11];\nDONE:\n"};
    };
    require_told("race-shared", program("bar.arrive 3, 64;\n", ""),
                 "had arrived at block barrier 3 before its write",
                 "Move the bar.arrive after the last write");
    require_silent(program("", "bar.arrive 3, 64;\n"));
}

TEST_CASE("an arrival does not wait for the bulk store of its thread") {
    const auto program = [](const std::string& wait) {
        return Case{ring, start +
                              "st.shared.u32 [%r10], %r6;\nfence.proxy.async;\nbar.sync 0;\n"
                              "setp.eq.u32 %p1, %r0, 32;\n@%p1 bra STORE;\n@!%p0 bra DONE;\n" +
                              wait_parity("empty", "0", "C1") +
                              "st.shared.u32 [tile], 7;\nbra DONE;\nSTORE:\n" + bulk_store +
                              "\ncp.async.bulk.commit_group;\n" + wait + arrive +
                              "cp.async.bulk.wait_group.read 0;\nDONE:\n"};
    };
    require_told("reuse-before-read-done", program(""), "arrived at the mbarrier without having waited until",
                 "wait_group.read before the arrive");
    require_silent(program("cp.async.bulk.wait_group.read 0;\n"));
}

TEST_CASE("a plain arrival does not wait for cp.async") {
    const auto program = [](const std::string& arrival) {
        return Case{ring, start + "setp.eq.u32 %p1, %r0, 32;\n@%p1 bra COPY;\n@!%p0 bra DONE;\n" +
                              wait_parity("empty", "0", "C1") +
                              "ld.shared.u32 %r5, [tile];\nst.global.u32 [%rd11], %r5;\nbra DONE;\nCOPY:\n"
                              "cp.async.ca.shared.global [tile], [%rd0], 4;\n" +
                              arrival + "cp.async.wait_all;\nDONE:\n"};
    };
    require_told("read-before-completion", program(arrive), "does not wait for its cp.async",
                 "cp.async.mbarrier.arrive.noinc");
    require_silent(program("cp.async.mbarrier.arrive.noinc.shared.b64 [empty];\n"));
}

TEST_CASE("barriers that order less than the two threads: the remedy is by who they are") {
    const auto program = [](const std::string& barrier, const std::string& other) {
        return Case{tile, addresses(64) + "st.shared.u32 [%r10], %r6;\n" + barrier + "ld.shared.u32 %r5, [" +
                              other + "];\nst.global.u32 [%rd11], %r5;\n"};
    };
    require_told("race-shared", program("bar.warp.sync -1;\n", "%r11"),
                 "__syncwarp() orders the threads of one warp only", "Put __syncthreads() in its place");
    require_silent(program("bar.sync 0;\n", "%r11"));
    require_told("race-shared", program("", "%r11"), "nothing orders", "Put __syncthreads() after line");
}

namespace {

/// Block 0 writes and sets a flag; thread 0 of block 1 waits for it, thread 32 of that block reads.
Case flagged(const std::string& store, const std::string& meet, const std::string& pass) {
    return {tile,
            addresses(64) + "mov.u32 %r20, %ctaid.x;\nsetp.eq.u32 %p1, %r20, 0;\n@!%p1 bra WAIT;\n" + meet +
                "setp.eq.u32 %p3, %r0, 33;\n@%p3 st.global.u32 [%rd1+512], 42;\n" +
                (meet.empty() ? "" : "bar.sync 0;\n") + "@%p0 " + store +
                " [%rd1+1024], 1;\nbra DONE;\nWAIT:\n@!%p0 bra READ;\nSPIN:\nld.acquire.gpu.global.u32 %r21, "
                "[%rd1+1024];\nsetp.eq.u32 %p2, %r21, 0;\n@%p2 bra SPIN;\nREAD:\n" +
                pass +
                "setp.eq.u32 %p4, %r0, 32;\n@%p4 ld.global.u32 %r22, [%rd1+512];\n"
                "@%p4 st.global.u32 [%rd1+2048], %r22;\nDONE:\n",
            64, 2};
}

const std::string meet = "bar.sync 0;\n", release = "st.release.gpu.global.u32";

} // namespace

TEST_CASE("flags: who sets it, how, and who waits") {
    require_silent(flagged(release, meet, meet));
    require_told("race-global", flagged("st.relaxed.gpu.global.u32", meet, meet), "but by a relaxed store",
                 "stored with cuda::memory_order_release");
    require_told("race-global", flagged("st.volatile.global.u32", meet, meet), "but by a volatile store",
                 "__threadfence() between the data and the flag");
    require_told("race-global", flagged(release, meet, ""),
                 "but only thread (0,0,0) of block (1,0,0) has waited", "__syncthreads() after the wait");
    require_told("race-global", flagged(release, "", meet),
                 "was released by thread (0,0,0) of block (0,0,0) before",
                 "__syncthreads() between the write and the release");
}
