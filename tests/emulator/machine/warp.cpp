// Exchange between lanes, and barriers (PTX ISA 9.7.9.6, 9.7.13).

#include "kernel.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace emu;
using namespace emu::test;

namespace {

const std::string store_result =
    "  mul.wide.u32 %rd8, %r1, 4;\n  add.s64 %rd9, %rd0, %rd8;\n  st.global.u32 [%rd9], %r9;\n  ret;";

std::vector<std::uint32_t> by_lane(const std::string& body) {
    const auto outcome = run(kernel_text(body + store_result), std::vector<std::uint32_t>(32));
    REQUIRE(outcome.message().empty());
    return outcome.words;
}

} // namespace

TEST_CASE("shfl.down keeps the own value beyond the end and says so") {
    const auto words =
        by_lane("  shfl.sync.down.b32 %r9|%p1, %r1, 3, 31, 0xffffffff;\n  @!%p1 add.u32 %r9, %r9, 100;\n");
    for (std::uint32_t i = 0; i < 32; ++i)
        CHECK(words[i] == (i + 3 < 32 ? i + 3 : i + 100));
}

TEST_CASE("shfl.up stops at the start of its segment") {
    // Segments of 8 lanes: mask 0x18, clamp 0.
    const auto words = by_lane("  mov.u32 %r2, 0x1800;\n  shfl.sync.up.b32 %r9, %r1, 2, %r2, 0xffffffff;\n");
    for (std::uint32_t i = 0; i < 32; ++i)
        CHECK(words[i] == (i % 8 >= 2 ? i - 2 : i));
}

TEST_CASE("shfl.bfly and shfl.idx") {
    const auto swapped = by_lane("  shfl.sync.bfly.b32 %r9, %r1, 5, 31, 0xffffffff;\n");
    const auto first = by_lane("  shfl.sync.idx.b32 %r9, %r1, 6, 31, 0xffffffff;\n");
    for (std::uint32_t i = 0; i < 32; ++i) {
        CHECK(swapped[i] == (i ^ 5));
        CHECK(first[i] == 6);
    }
}

TEST_CASE("votes and ballots see every member") {
    const auto words = by_lane(
        "  setp.lt.u32 %p1, %r1, 5;\n  vote.sync.ballot.b32 %r9, %p1, 0xffffffff;\n  vote.sync.all.pred %p2, "
        "%p1, 0xffffffff;\n"
        "  vote.sync.any.pred %p3, !%p1, 0xffffffff;\n  @%p2 mov.u32 %r9, 0;\n  @!%p3 mov.u32 %r9, 0;\n");
    CHECK(words[0] == 0x1f);
    CHECK(words[31] == 0x1f);
}

TEST_CASE("lanes that come to a vote on different ways meet there") {
    const auto words = by_lane("  and.b32 %r2, %r1, 1;\n  setp.eq.u32 %p1, %r2, 0;\n  mov.u32 %r3, "
                               "0x55555555;\n  @!%p1 not.b32 %r3, %r3;\n"
                               "  @%p1 bra EVEN;\n  vote.sync.ballot.b32 %r9, 1, %r3;\n  bra JOIN;\nEVEN:\n  "
                               "vote.sync.ballot.b32 %r9, 1, %r3;\nJOIN:\n");
    for (std::uint32_t i = 0; i < 32; ++i)
        CHECK(words[i] == (i % 2 ? 0xaaaaaaaa : 0x55555555));
}

TEST_CASE("lanes that meet from different places use registers of their own") {
    const std::string apart =
        "  and.b32 %r2, %r1, 1;\n  setp.eq.u32 %p1, %r2, 0;\n  mul.lo.u32 %r3, %r1, 3;\n"
        "  mul.lo.u32 %r4, %r1, 5;\n  mov.u32 %r5, 7;\n  mov.u32 %r6, 7;\n  @%p1 bra EVEN;\n";
    const auto shuffled = by_lane(
        apart +
        "  shfl.sync.bfly.b32 %r5, %r3, 1, 31, 0xffffffff;\n  add.u32 %r9, %r5, 1000;\n  bra JOIN;\n"
        "EVEN:\n  shfl.sync.bfly.b32 %r6, %r4, 1, 31, 0xffffffff;\n  add.u32 %r9, %r6, 2000;\nJOIN:\n");
    for (std::uint32_t i = 0; i < 32; ++i)
        CHECK(shuffled[i] == (i % 2 ? 5 * (i - 1) + 1000 : 3 * (i + 1) + 2000));
    const auto voted = by_lane(
        apart + "  setp.lt.u32 %p2, %r1, 16;\n  vote.sync.ballot.b32 %r9, %p2, 0xffffffff;\n  bra JOIN;\n"
                "EVEN:\n  setp.lt.u32 %p3, %r1, 8;\n  vote.sync.ballot.b32 %r9, !%p3, 0xffffffff;\nJOIN:\n");
    for (std::uint32_t i = 0; i < 32; ++i)
        CHECK(voted[i] == (0x0000aaaau | 0x55555500u));
    const auto summed = by_lane(apart + "  redux.sync.add.u32 %r9, %r3, 0xffffffff;\n  bra JOIN;\n"
                                        "EVEN:\n  redux.sync.add.u32 %r9, %r4, 0xffffffff;\nJOIN:\n");
    for (std::uint32_t i = 0; i < 32; ++i)
        CHECK(summed[i] == 3 * 256 + 5 * 240);
    // A shuffle and a vote are two meetings.
    const auto outcome =
        run(kernel_text(apart + "  shfl.sync.bfly.b32 %r9, %r3, 1, 31, 0xffffffff;\n  bra JOIN;\n"
                                "EVEN:\n  vote.sync.ballot.b32 %r9, %p1, 0xffffffff;\nJOIN:\n  ret;"),
            std::vector<std::uint32_t>(32));
    CHECK(outcome.finding() == "deadlock");
}

TEST_CASE("match and redux") {
    const auto same = by_lane("  rem.u32 %r2, %r1, 3;\n  match.any.sync.b32 %r9, %r2, 0xffffffff;\n");
    for (std::uint32_t i = 0; i < 32; ++i)
        for (std::uint32_t j = 0; j < 32; ++j)
            CHECK((same[i] >> j & 1) == (i % 3 == j % 3));
    CHECK(by_lane("  redux.sync.add.u32 %r9, %r1, 0xffffffff;\n")[7] == 496);
    CHECK(by_lane("  sub.u32 %r2, %r1, 9;\n  redux.sync.min.s32 %r9, %r2, 0xffffffff;\n")[0] ==
          static_cast<std::uint32_t>(-9));
}

TEST_CASE("elect chooses one lane") {
    const auto words =
        by_lane("  mov.u32 %r9, 0;\n  elect.sync %r2|%p1, 0xffffffff;\n  @%p1 mov.u32 %r9, 1;\n");
    std::uint32_t sum = 0;
    for (const std::uint32_t w : words)
        sum += w;
    CHECK(sum == 1);
}

TEST_CASE("movmatrix turns a matrix of 8 x 8 halves") {
    // Element (row, column) is 8 row + column; a lane holds two neighbours of a row.
    const std::string fill = "  mul.lo.u32 %r2, %r1, 2;\n  add.u32 %r3, %r2, 1;\n  shl.b32 %r3, %r3, 16;\n"
                             "  or.b32 %r9, %r2, %r3;\n";
    const std::string turn = "  movmatrix.sync.aligned.m8n8.trans.b16 %r9, %r9;\n";
    const auto turned = by_lane(fill + turn), twice = by_lane(fill + turn + turn);
    for (std::uint32_t lane = 0; lane < 32; ++lane) {
        const std::uint32_t row = lane / 4, column = 2 * (lane % 4);
        CHECK(turned[lane] == ((8 * column + row) | (8 * (column + 1) + row) << 16));
        CHECK(twice[lane] == ((2 * lane) | (2 * lane + 1) << 16));
    }
    const auto refused = run(kernel_text("  movmatrix.sync.aligned.m8n8.b16 %r9, %r9;\n" + store_result),
                             std::vector<std::uint32_t>(32));
    CHECK(refused.launch.error == LaunchError::unsupported);
}

TEST_CASE("bar.sync orders the warps of a block") {
    const std::string body =
        "  .shared .align 4 .b8 tile[1024];\n  shl.b32 %r2, %r1, 2;\n  mov.u32 %r3, tile;\n  add.u32 %r4, "
        "%r3, %r2;\n"
        "  st.shared.u32 [%r4], %r1;\n  bar.sync 0;\n  xor.b32 %r5, %r2, 1020;\n  add.u32 %r6, %r3, %r5;\n"
        "  ld.shared.u32 %r9, [%r6];\n" +
        store_result;
    const auto outcome = run(kernel_text(body), std::vector<std::uint32_t>(256), {{1, 1, 1}, {256, 1, 1}});
    REQUIRE(outcome.message().empty());
    for (std::uint32_t i = 0; i < 256; ++i)
        CHECK(outcome.words[i] == 255 - i);
}

TEST_CASE("bar.red combines predicates of all threads") {
    const std::string body =
        "  setp.lt.u32 %p1, %r1, 70;\n  bar.red.popc.u32 %r9, 0, %p1;\n  barrier.cta.red.or.aligned.pred "
        "%p2, 1, %p1;\n"
        "  bar.red.and.pred %p3, 2, %p1;\n  @!%p2 mov.u32 %r9, 0;\n  @%p3 mov.u32 %r9, 0;\n" +
        store_result;
    const auto outcome = run(kernel_text(body), std::vector<std::uint32_t>(96), {{1, 1, 1}, {96, 1, 1}});
    REQUIRE(outcome.message().empty());
    CHECK(outcome.words[0] == 70);
    CHECK(outcome.words[95] == 70);
}

TEST_CASE("threads that ended are not waited for") {
    const auto outcome =
        run(kernel_text("  setp.ge.u32 %p1, %r1, 40;\n  @%p1 exit;\n  bar.sync 0;\n  mov.u32 %r9, 3;\n" +
                        store_result),
            std::vector<std::uint32_t>(64), {{1, 1, 1}, {64, 1, 1}});
    REQUIRE(outcome.message().empty());
    CHECK(outcome.words[39] == 3);
}

TEST_CASE("a named barrier that nobody completes is a deadlock report") {
    const auto outcome = run(kernel_text("  bar.sync 3, 64;\n  ret;"), {0});
    CHECK(outcome.finding() == "deadlock");
    CHECK(outcome.message().find("block barrier 3: 32 of 64 threads have arrived") != std::string::npos);
}
