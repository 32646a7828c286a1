// Races in shared memory: each mistake beside a correct look-alike.

#include "rules/check_support.hpp"

using namespace check_test;

namespace {
const std::string barrier = "bar.sync 0;\n";
}

TEST_CASE("race-shared: no barrier between write and read") {
    const std::string write = addresses(64) + "st.shared.u32 [%r10], %r6;//!\n";
    const std::string read = "ld.shared.u32 %r5, [%r11];//!\nst.global.u32 [%rd11], %r5;\n";
    require_found("race-shared", {tile, write + read});
    require_silent({tile, write + barrier + read});
}

TEST_CASE("race-shared: no barrier between read and the next write") {
    const std::string first =
        addresses(64) + "st.shared.u32 [%r10], %r6;\n" + barrier + "ld.shared.u32 %r5, [%r11];//!\n";
    const std::string second = "add.u32 %r5, %r5, 1;\nst.shared.u32 [%r10], %r5;//!\n";
    require_found("race-shared", {tile, first + second});
    require_silent({tile, first + barrier + second});
}

TEST_CASE("race-shared: lanes of a warp need bar.warp.sync, and a shuffle does not replace it") {
    const std::string write = addresses(32) + "st.shared.u32 [%r10], %r6;//!\n";
    const std::string read = "ld.shared.u32 %r5, [%r11];//!\nst.global.u32 [%rd11], %r5;\n";
    const std::string shuffle = "shfl.sync.bfly.b32 %r4, %r6, 1, 31, 0xffffffff;\n";
    require_found("race-shared", {tile, write + shuffle + read, 32});
    require_silent({tile, write + "bar.warp.sync 0xffffffff;\n" + read, 32});
}

TEST_CASE("bar.warp.sync orders those who came also when the other lanes of its mask exit instead") {
    // Lanes 0 and 1 go on alone; the rest of the warp ends while they wait.
    const std::string write = addresses(32) + "xor.b32 %r7, %r8, 4;\nadd.u32 %r11, %r9, %r7;\n"
                                              "setp.gt.u32 %p1, %r0, 1;\n@%p1 bra DONE;\n"
                                              "st.shared.u32 [%r10], %r6;//!\n";
    const std::string read = "ld.shared.u32 %r5, [%r11];//!\nst.global.u32 [%rd11], %r5;\nDONE:\n";
    require_found("race-shared", {tile, write + read, 32});
    require_silent({tile, write + "bar.warp.sync 0xffffffff;\n" + read, 32});
}

TEST_CASE("race-shared: two writes of different values; the same value is no race") {
    const std::string start = addresses(64);
    require_found("race-shared",
                  {tile, start + "setp.lt.u32 %p1, %r0, 32;\n@%p1 st.shared.u32 [tile], 1;//!\n"
                                 "@!%p1 st.shared.u32 [tile], 2;//!\n"});
    require_silent({tile, start + "st.shared.u32 [tile], 7;\n" + barrier + "ld.shared.u32 %r5, [tile];\n"});
}

TEST_CASE("race-shared: bytes of one word belong to different threads") {
    const std::string start = "mov.u32 %r9, tile;\nadd.u32 %r10, %r9, %r0;\ncvt.u16.u32 %h0, %r0;\n";
    require_silent({tile, start + "st.shared.u8 [%r10], %h0;\nld.shared.u8 %h1, [%r10];\n"
                                  "st.shared.u8 [%r10], %h1;\n"});
    require_found(
        "race-shared",
        {tile, start + "st.shared.u8 [%r10], %h0;//!\n"
                       "xor.b32 %r8, %r0, 1;\nadd.u32 %r10, %r9, %r8;\nld.shared.u8 %h1, [%r10];//!\n"});
    // Halves of a word, and a whole-word read after a barrier.
    require_silent(
        {tile, "mov.u32 %r9, tile;\nshl.b32 %r8, %r0, 1;\nadd.u32 %r10, %r9, %r8;\ncvt.u16.u32 %h0, %r0;\n"
               "st.shared.u16 [%r10], %h0;\n" +
                   barrier +
                   "and.b32 %r8, %r8, 0x7c;\nadd.u32 %r10, %r9, %r8;\n"
                   "ld.shared.u32 %r5, [%r10];\n"});
}

TEST_CASE("race-shared: atomics do not race with each other but with ordinary reads") {
    const std::string zero = addresses(64) + "@%p0 st.shared.u32 [tile], 0;\n" + barrier;
    const std::string add = "atom.shared.add.u32 %r5, [tile], 1;//!\n";
    const std::string read = "ld.shared.u32 %r4, [tile];//!\n";
    require_found("race-shared", {tile, zero + add + read});
    require_silent({tile, zero + add + add + barrier + read});
}

TEST_CASE("release and acquire order what came before") {
    // Thread 0 publishes data with a flag; thread 32 spins on the flag.
    const std::string start = addresses(64) + "mov.u32 %r20, 0;\n@%p0 st.shared.u32 [tile+512], 0;\n" +
                              barrier + "setp.eq.u32 %p1, %r0, 32;\n";
    const auto program = [&](const std::string& store, const std::string& load) {
        return Case{tile, start + "@%p0 st.shared.u32 [tile], 42;//!\n@%p0 " + store +
                              " [tile+512], 1;//!\n@!%p1 bra DONE;\nSPIN:\n" + load +
                              " %r21, [tile+512];//!\nsetp.eq.u32 %p2, %r21, 0;\n@%p2 bra SPIN;\n"
                              "ld.shared.u32 %r22, [tile];//!\nst.global.u32 [%rd1], %r22;\nDONE:\n"};
    };
    require_silent(program("st.release.cta.shared.u32", "ld.acquire.cta.shared.u32"));
    require_silent(
        program("fence.acq_rel.cta;\n@%p0 st.relaxed.cta.shared.u32", "ld.acquire.cta.shared.u32"));
    require_found("race-shared", program("st.relaxed.cta.shared.u32", "ld.relaxed.cta.shared.u32"));
}

TEST_CASE("named barriers: arrive releases, sync acquires") {
    // Warp 0 writes and only arrives; warp 1 waits and reads.
    const std::string body = addresses(64) + "setp.lt.u32 %p1, %r0, 32;\n@!%p1 bra READ;\n"
                                             "st.shared.u32 [%r10], %r6;//!\n";
    const std::string read = "READ:\nBARRIER\nld.shared.u32 %r5, [%r11];//!\nDONE:\n";
    const auto with = [&](const std::string& arrive, const std::string& meet) {
        std::string rest = read;
        rest.replace(rest.find("BARRIER"), 7, meet);
        return Case{tile, body + arrive + "bra DONE;\n" + rest};
    };
    require_silent(with("bar.arrive 3, 64;\n", "bar.sync 3, 64;"));
    // What is written after the arrival is not covered.
    const std::string late = addresses(64) +
                             "setp.lt.u32 %p1, %r0, 32;\n@!%p1 bra READ;\nbar.arrive 3, 64;//!\n"
                             "st.shared.u32 [%r10], %r6;//!\nbra DONE;\n"
                             "READ:\nbar.sync 3, 64;//!\nld.shared.u32 %r5, [%r11];//!\nDONE:\n";
    require_found("race-shared", {tile, late});
}

TEST_CASE("a cluster barrier orders blocks, unless its arrival is relaxed") {
    const std::string write = addresses(64) + "st.shared.u32 [%r10], %r6;//!\n";
    const std::string read =
        "mov.u32 %r20, %cluster_ctarank;\nxor.b32 %r20, %r20, 1;\n"
        "mapa.shared::cluster.u32 %r21, %r10, %r20;\nld.shared::cluster.u32 %r5, [%r21];//!\n"
        "st.global.u32 [%rd11], %r5;\nbarrier.cluster.arrive;\nbarrier.cluster.wait;\n";
    Case c{tile, write + "barrier.cluster.arrive;\nbarrier.cluster.wait;\n" + read, 64, 2, 2};
    c.body.replace(c.body.find("st.global"), 27, ""); // Both blocks would write the same words.
    require_silent(c);
    c.body.replace(c.body.find("arrive;"), 7, "arrive.relaxed;//!");
    require_found("race-shared", c);
    const emu::LaunchOutcome outcome = run(c, {emu::CompletionOrder::late, 1});
    REQUIRE(outcome.result.diagnostics.front().message.find("passed the cluster barrier") !=
            std::string::npos);
    c.body.replace(c.body.find("barrier.cluster.arrive.relaxed;//!"), 0, "fence.acq_rel.cluster;\n");
    require_silent(c);
}

TEST_CASE("race-shared, race-global: lanes of one store write different values to one place") {
    const std::string half = addresses(64) +
                             "shr.u32 %r12, %r8, 3;\nshl.b32 %r12, %r12, 2;\nadd.u32 %r12, %r9, %r12;\n"
                             "cvt.u64.u32 %rd12, %r12;\n";
    const Case one_warp{tile, half + "st.shared.u32 [%r12], %r6;//!\n", 32};
    require_found("race-shared", one_warp);
    require_found("race-global", {tile, addresses(64) + "st.global.u32 [%rd1], %r6;//!\n", 32});
    require_silent({tile, half + "mov.u32 %r6, 5;\nst.shared.u32 [%r12], %r6;\n", 32});
    require_silent({tile, half + "st.volatile.shared.u32 [%r12], %r6;\n", 32});
    require_silent({tile, addresses(64) + "st.shared.u32 [%r11], %r6;\n", 64});
}

TEST_CASE("race-shared: who writes where a copy lands is told to wait for it") {
    // In one order of the threads the write comes before the issue of the copy that it should have waited
    // for.
    const std::string body = addresses(64) + initialised_barrier() + "st.shared.u32 [%r10], %r6;//!\n" +
                             expect_256 + "@%p0 " + bulk_load + "//!\n" + wait_parity("bar", "0", "W0");
    const auto outcome = run({tile_and_bar, body}, {emu::CompletionOrder::late, 1});
    REQUIRE_FALSE(outcome.result.diagnostics.empty());
    const emu::Diagnostic& d = outcome.result.diagnostics.front();
    INFO(emu::format(d));
    REQUIRE(d.name() == "race-shared");
    REQUIRE(d.advice.find("Wait for the phase of the mbarrier") != std::string::npos);
    REQUIRE(d.advice.find("__syncthreads() between its access and the issue") != std::string::npos);
}

TEST_CASE("race-shared: volatile accesses that count on lockstep are a warning, polls are not") {
    const std::string write = addresses(32) + "st.volatile.shared.u32 [%r10], %r6;";
    const std::string read = "ld.volatile.shared.u32 %r5, [%r11];";
    const std::string end = "st.global.u32 [%rd11], %r5;\n";
    require_found("race-shared", {tile, write + "//!\n" + read + "//!\n" + end, 32}, emu::Fault::none);
    require_silent({tile, write + "\nbar.warp.sync 0xffffffff;\n" + read + "\n" + end, 32});
    const std::string zero = addresses(32) + "st.volatile.shared.u32 [%r10], 0;\nbar.warp.sync 0xffffffff;\n";
    require_silent({tile,
                    zero + "st.volatile.shared.u32 [%r10], 1;\nPOLL:\n" + read +
                        "\nsetp.eq.u32 %p1, %r5, 0;\n@%p1 bra POLL;\n" + end,
                    32});
}

TEST_CASE("a race names the thread of the byte, and never one thread as both") {
    // Lanes that write neighbouring bytes are kept as one word; each byte has its own lane.
    const std::string address = "mov.u32 %r9, tile;\nadd.u32 %r10, %r9, %r0;\nxor.b32 %r8, %r0, 1;\n"
                                "add.u32 %r11, %r9, %r8;\nadd.u32 %r6, %r0, 1;\n";
    const std::string read = "ld.shared.u8 %r5, [%r11];//!\n", write = "st.shared.u8 [%r10], %r6;//!\n";
    for (const std::string& body : {read + write, write + read}) {
        const Case c{tile, address + "st.shared.u8 [%r10], 0;\nbar.warp.sync 0xffffffff;\n" + body, 32};
        require_found("race-shared", c);
        const std::string message =
            run(c, {emu::CompletionOrder::late, 1}).result.diagnostics.front().message;
        INFO(message);
        const bool low =
            message.find("1 byte at tile by") != std::string::npos; // lane 0 writes, lane 1 reads
        CHECK(message.find(low == (body == read + write) ? "first thread (1,0,0)" : "first thread (0,0,0)") !=
              std::string::npos);
        CHECK(message.find(low == (body == read + write) ? "then thread (0,0,0)" : "then thread (1,0,0)") !=
              std::string::npos);
    }
}

TEST_CASE("a race of one lane with its neighbours' bytes names a neighbour") {
    // Lanes 0 to 3 write the bytes of the first word, and lane 0 reads the word: its own byte is no race.
    const auto program = [](const std::string& width, const std::string& shift) {
        return Case{tile,
                    "mov.u32 %r9, tile;\nshl.b32 %r8, %r0, " + shift +
                        ";\nadd.u32 %r10, %r9, %r8;\n"
                        "add.u32 %r6, %r0, 1;\nsetp.eq.u32 %p0, %r0, 0;\nst.shared.u" +
                        width +
                        " [%r10], %r6;//!\n"
                        "@%p0 ld.shared.u32 %r5, [tile];//!\n",
                    32};
    };
    for (const auto& [width, shift, bytes] :
         {std::tuple{"8", "0", "3 bytes at tile + 1"}, std::tuple{"16", "1", "2 bytes at tile + 2"}}) {
        const Case c = program(width, shift);
        require_found("race-shared", c);
        const std::string message =
            run(c, {emu::CompletionOrder::late, 1}).result.diagnostics.front().message;
        INFO(message);
        CHECK(message.find(bytes) != std::string::npos);
        CHECK(message.find("first thread (1,0,0)") != std::string::npos);
        CHECK(message.find("then thread (0,0,0)") != std::string::npos);
    }
}
