// Branches, calls, loops under divergence, and the fairness lanes need to wait for each other (PTX
// ISA 9.7.12).

#include "kernel.hpp"

#include <catch2/catch_test_macros.hpp>

#include <chrono>

using namespace emu;
using namespace emu::test;

namespace {

/// Stores %r9 to buffer[tid].
const std::string store_result =
    "  mul.wide.u32 %rd8, %r1, 4;\n  add.s64 %rd9, %rd0, %rd8;\n  st.global.u32 [%rd9], %r9;\n";

} // namespace

TEST_CASE("lanes take both sides of a branch and meet again") {
    const auto outcome =
        run(kernel_text("  and.b32 %r2, %r1, 1;\n  setp.eq.u32 %p1, %r2, 0;\n  @%p1 bra EVEN;\n"
                        "  mov.u32 %r9, 100;\n  bra.uni JOIN;\nEVEN:\n  mov.u32 %r9, 200;\nJOIN:\n"
                        "  activemask.b32 %r3;\n  setp.ne.u32 %p2, %r3, 0xffffffff;\n"
                        "  @%p2 add.u32 %r9, %r9, 1000;\n" +
                        store_result + "  ret;"),
            std::vector<std::uint32_t>(32));
    REQUIRE(outcome.finding().empty());
    for (std::uint32_t i = 0; i < 32; ++i)
        CHECK(outcome.words[i] == (i % 2 ? 100u : 200u));
}

TEST_CASE("each lane loops its own number of times") {
    const auto outcome = run(
        kernel_text("  mov.u32 %r9, 0;\n  mov.u32 %r2, 0;\nL:\n  setp.ge.u32 %p1, %r2, %r1;\n"
                    "  @%p1 bra OUT;\n  add.u32 %r9, %r9, %r2;\n  add.u32 %r2, %r2, 1;\n  bra L;\nOUT:\n" +
                    store_result + "  ret;"),
        std::vector<std::uint32_t>(32));
    for (std::uint32_t i = 0; i < 32; ++i)
        CHECK(outcome.words[i] == i * (i - 1) / 2);
}

TEST_CASE("a guarded exit ends some lanes only") {
    const auto outcome = run(kernel_text("  setp.lt.u32 %p1, %r1, 10;\n  @%p1 exit;\n  mov.u32 %r9, 7;\n" +
                                         store_result + "  ret;"),
                             std::vector<std::uint32_t>(32, 1));
    for (std::uint32_t i = 0; i < 32; ++i)
        CHECK(outcome.words[i] == (i < 10 ? 1u : 7u));
}

TEST_CASE("brx.idx jumps by a table") {
    const auto outcome = run(
        kernel_text(
            "T: .branchtargets A, B, C;\n  rem.u32 %r2, %r1, 3;\n  brx.idx %r2, T;\n"
            "A: mov.u32 %r9, 10;\n  bra END;\nB: mov.u32 %r9, 11;\n  bra END;\nC: mov.u32 %r9, 12;\nEND:\n" +
            store_result + "  ret;"),
        std::vector<std::uint32_t>(32));
    REQUIRE(outcome.finding().empty());
    for (std::uint32_t i = 0; i < 32; ++i)
        CHECK(outcome.words[i] == 10 + i % 3);
}

TEST_CASE("a recursive function has its own registers in each frame") {
    const std::string factorial =
        ".func (.param .b32 result) fact(.param .b32 n)\n{\n  .reg .pred %p<2>;\n  .reg .b32 %r<8>;\n"
        "  ld.param.u32 %r1, [n];\n  setp.gt.u32 %p1, %r1, 1;\n  mov.u32 %r4, 1;\n  @!%p1 bra DONE;\n  "
        "sub.u32 %r2, %r1, 1;\n"
        "  {\n  .param .b32 a;\n  .param .b32 b;\n  st.param.b32 [a], %r2;\n  call (b), fact, (a);\n  "
        "ld.param.b32 %r3, [b];\n  }\n"
        "  mul.lo.u32 %r4, %r3, %r1;\nDONE:\n  st.param.b32 [result], %r4;\n  ret;\n}\n";
    const auto outcome =
        run(kernel_text("  rem.u32 %r2, %r1, 10;\n  {\n  .param .b32 a;\n  .param .b32 b;\n"
                        "  st.param.b32 [a], %r2;\n  call (b), fact, (a);\n  ld.param.b32 %r9, [b];\n  }\n" +
                            store_result + "  ret;",
                        factorial),
            std::vector<std::uint32_t>(32));
    REQUIRE(outcome.message().empty());
    const std::uint32_t expected[] = {1, 1, 2, 6, 24, 120, 720, 5040, 40320, 362880};
    for (std::uint32_t i = 0; i < 32; ++i)
        CHECK(outcome.words[i] == expected[i % 10]);
}

TEST_CASE("functions that call each other many ways are decoded in no time") {
    // Each function calls the others three times: there are more paths through them than anybody could
    // follow.
    std::string functions;
    for (const std::string name : {"f", "g", "h"})
        functions += ".func " + name + "(.param .b32 n);\n";
    for (const std::string name : {"f", "g", "h"})
        functions +=
            ".func " + name +
            "(.param .b32 n)\n{\n .local .b8 frame[64];\n .reg .pred %p<2>;\n .reg .b32 %r<3>;\n"
            " ld.param.u32 %r1, [n];\n setp.eq.u32 %p1, %r1, 0;\n @%p1 ret;\n sub.u32 %r1, %r1, 1;\n"
            " {\n .param .b32 a;\n st.param.b32 [a], %r1;\n call f, (a);\n call g, (a);\n call h, (a);\n"
            " }\n ret;\n}\n";
    const auto outcome =
        run(kernel_text("  {\n  .param .b32 a;\n  st.param.b32 [a], 2;\n  call f, (a);\n  }\n"
                        "  mov.u32 %r9, 7;\n" +
                            store_result + "  ret;",
                        functions),
            std::vector<std::uint32_t>(32));
    REQUIRE(outcome.message().empty());
    CHECK(outcome.words[31] == 7);
}

TEST_CASE("arguments and results in registers") {
    const std::string functions = ".func (.reg .b32 %sum) add(.reg .b32 %a, .reg .b64 %b)\n{\n .reg .b32 "
                                  "%low;\n cvt.u32.u64 %low, %b;\n"
                                  " add.u32 %sum, %a, %low;\n ret;\n}\n";
    const auto outcome =
        run(kernel_text("  mov.u64 %rd1, 40;\n  call (%r9), add, (%r1, %rd1);\n" + store_result + "  ret;",
                        functions),
            std::vector<std::uint32_t>(32));
    REQUIRE(outcome.message().empty());
    for (std::uint32_t i = 0; i < 32; ++i)
        CHECK(outcome.words[i] == i + 40);
}

TEST_CASE("a diverged loop goes on where it was when the others got their turn") {
    const auto outcome =
        run(kernel_text(
                "  mov.u32 %r2, 0;\n  mov.u32 %r9, 0;\n  setp.lt.u32 %p1, %r1, 16;\n  @%p1 bra FIRST;\n"
                "SECOND:\n  add.u32 %r9, %r9, 3;\n  add.u32 %r2, %r2, 1;\n  setp.lt.u32 %p2, %r2, 70000;\n"
                "  @%p2 bra SECOND;\n  bra OUT;\n"
                "FIRST:\n  add.u32 %r9, %r9, 2;\n  add.u32 %r2, %r2, 1;\n  setp.lt.u32 %p2, %r2, 70000;\n"
                "  @%p2 bra FIRST;\nOUT:\n" +
                store_result + "  ret;"),
            std::vector<std::uint32_t>(32));
    REQUIRE(outcome.message().empty());
    for (std::uint32_t i = 0; i < 32; ++i)
        CHECK(outcome.words[i] == (i < 16 ? 140000u : 210000u));
}

TEST_CASE("lanes may call different functions through a pointer") {
    const std::string functions =
        ".func (.param .b32 o) twice(.param .b32 i)\n{\n .reg .b32 %r<3>;\n ld.param.b32 %r1, [i];\n add.u32 "
        "%r2, %r1, %r1;\n"
        " st.param.b32 [o], %r2;\n ret;\n}\n"
        ".func (.param .b32 o) square(.param .b32 i)\n{\n .reg .b32 %r<3>;\n ld.param.b32 %r1, [i];\n "
        "mul.lo.u32 %r2, %r1, %r1;\n"
        " st.param.b32 [o], %r2;\n ret;\n}\n.global .u64 table[2] = {twice, square};\n";
    const auto outcome = run(kernel_text("  and.b32 %r2, %r1, 1;\n  mul.wide.u32 %rd1, %r2, 8;\n  mov.u64 "
                                         "%rd2, table;\n  add.s64 %rd3, %rd2, %rd1;\n"
                                         "  ld.global.u64 %rd4, [%rd3];\n  {\n  .param .b32 a;\n  .param "
                                         ".b32 b;\n  st.param.b32 [a], %r1;\n"
                                         "  P: .callprototype (.param .b32 _) _ (.param .b32 _);\n  call "
                                         "(b), %rd4, (a), P;\n  ld.param.b32 %r9, [b];\n  }\n" +
                                             store_result + "  ret;",
                                         functions),
                             std::vector<std::uint32_t>(32));
    REQUIRE(outcome.message().empty());
    for (std::uint32_t i = 0; i < 32; ++i)
        CHECK(outcome.words[i] == (i % 2 ? i * i : 2 * i));
}

TEST_CASE("lanes that are in two functions at once keep their registers") {
    // The even lanes wait in a function of wide registers for the odd ones, which fill many narrow ones.
    std::string functions =
        ".func (.param .b32 o) waits(.param .b32 i, .param .b64 flag)\n{\n .reg .pred %p<2>;\n .reg .b32 "
        "%r<4>;\n"
        " .reg .b64 %rd<6>;\n ld.param.b32 %r1, [i];\n ld.param.b64 %rd5, [flag];\n cvt.u64.u32 %rd1, %r1;\n"
        " add.u64 %rd2, %rd1, 1;\n add.u64 %rd3, %rd1, 2;\nSPIN:\n ld.volatile.global.u32 %r2, [%rd5];\n"
        " setp.eq.u32 %p1, %r2, 0;\n @%p1 bra SPIN;\n add.u64 %rd4, %rd1, %rd2;\n add.u64 %rd4, %rd4, %rd3;\n"
        " cvt.u32.u64 %r3, %rd4;\n st.param.b32 [o], %r3;\n ret;\n}\n"
        ".func (.param .b32 o) fills(.param .b32 i, .param .b64 flag)\n{\n .reg .b32 %r<20>;\n .reg .b64 "
        "%rd<2>;\n"
        " ld.param.b32 %r1, [i];\n ld.param.b64 %rd1, [flag];\n";
    for (int i = 2; i < 20; ++i)
        functions += " add.u32 %r" + std::to_string(i) + ", %r1, " + std::to_string(1000 * i) + ";\n";
    functions += " st.volatile.global.u32 [%rd1], %r19;\n";
    for (int i = 3; i < 20; ++i)
        functions += " add.u32 %r2, %r2, %r" + std::to_string(i) + ";\n";
    functions += " st.param.b32 [o], %r2;\n ret;\n}\n";
    const std::string call =
        "  {\n  .param .b32 a;\n  .param .b64 f;\n  .param .b32 b;\n  st.param.b32 [a], %r1;\n"
        "  st.param.b64 [f], %rd7;\n  call (b), ";
    const auto outcome =
        run(kernel_text("  add.s64 %rd7, %rd0, 128;\n  and.b32 %r2, %r1, 1;\n  setp.eq.u32 %p1, %r2, 1;\n"
                        "  @%p1 bra ODD;\n" +
                            call + "waits, (a, f);\n  ld.param.b32 %r9, [b];\n  }\n  bra.uni JOIN;\nODD:\n" +
                            call + "fills, (a, f);\n  ld.param.b32 %r9, [b];\n  }\nJOIN:\n" + store_result +
                            "  ret;",
                        functions),
            std::vector<std::uint32_t>(33));
    REQUIRE(outcome.message().empty());
    for (std::uint32_t i = 0; i < 32; ++i)
        CHECK(outcome.words[i] == (i % 2 ? 18 * i + 1000 * (19 * 20 / 2 - 1) : 3 * i + 3));
}

TEST_CASE("endless recursion is a stack overflow, not a crash") {
    const std::string endless =
        ".func down(.param .b32 n)\n{\n  .local .b8 room[1024];\n  .reg .b32 %r<3>;\n  ld.param.u32 %r1, "
        "[n];\n"
        "  {\n  .param .b32 a;\n  st.param.b32 [a], %r1;\n  call down, (a);\n  }\n  ret;\n}\n";
    const auto outcome =
        run(kernel_text("  {\n  .param .b32 a;\n  st.param.b32 [a], %r1;\n  call down, (a);\n  }\n  ret;",
                        endless),
            {0});
    CHECK(outcome.finding() == "stack-overflow");
    CHECK(outcome.launch.result.fault == Fault::illegal_address);
}

TEST_CASE("a lane that spins lets the lane it waits for run") {
    // Lane 0 waits in a loop at a lower program counter than the lane that releases it.
    const auto outcome =
        run(kernel_text(
                "  mul.wide.u32 %rd8, %r1, 4;\n  add.s64 %rd9, %rd0, %rd8;\n  setp.ne.u32 %p1, %r1, 0;\n"
                "  @%p1 bra RELEASE;\nSPIN:\n  ld.volatile.global.u32 %r2, [%rd0+4];\n  setp.eq.u32 %p2, "
                "%r2, 0;\n"
                "  @%p2 bra SPIN;\n  mov.u32 %r3, 5;\n  st.global.u32 [%rd0], %r3;\n  bra END;\nRELEASE:\n"
                "  mov.u32 %r4, 9;\n  st.volatile.global.u32 [%rd9], %r4;\nEND:\n  ret;"),
            std::vector<std::uint32_t>(32));
    REQUIRE(outcome.words[0] == 5);
    CHECK(outcome.words[1] == 9);
}

TEST_CASE("blocks wait for blocks that have not started yet") {
    // Block 0 spins until the last block has written, on one host thread.
    Settings settings;
    settings.threads = 1;
    const auto outcome = run(
        kernel_text(
            "  mov.u32 %r2, %ctaid.x;\n  setp.eq.u32 %p1, %r2, 0;\n  @%p1 bra SPIN;\n"
            "  atom.global.add.u32 %r3, [%rd0], 1;\n  ret;\nSPIN:\n  ld.relaxed.gpu.global.u32 %r4, [%rd0];\n"
            "  setp.lt.u32 %p2, %r4, 63;\n  @%p2 bra SPIN;\n  mov.u32 %r5, 1;\n  st.global.u32 [%rd0+4], "
            "%r5;\n  ret;"),
        {0, 0}, {{64, 1, 1}, {1, 1, 1}}, settings);
    REQUIRE(outcome.message().empty());
    CHECK(outcome.words[0] == 63);
    CHECK(outcome.words[1] == 1);
}

TEST_CASE("a loop that counts without end meets the watchdog's limit, if there is one") {
    Settings settings;
    settings.watchdog = 50'000'000;
    const auto outcome = run(kernel_text("L:\n  add.u32 %r2, %r2, 1;\n  bra L;"), {0}, {}, settings);
    CHECK(outcome.finding() == "watchdog");
    CHECK(outcome.message().find("50000000 instructions") != std::string::npos);
}

TEST_CASE("a loop that comes back to where it was meets the watchdog without a limit") {
    const std::string loops[]{
        "L:\n  bra L;",
        // Seven values in turn, and a barrier behind the loop that the other warps wait at.
        "  setp.ge.u32 %p1, %r1, 32;\n  @%p1 bra END;\nL:\n  add.u32 %r2, %r2, 1;\n  rem.u32 %r2, %r2, 7;\n"
        "  bra L;\nEND:\n  bar.sync 0;\n  ret;",
        // Nobody changes the word, and the load is an ordinary one.
        "L:\n  ld.global.u32 %r2, [%rd0];\n  setp.eq.u32 %p1, %r2, 0;\n  @%p1 bra L;\n  ret;",
    };
    for (const CompletionOrder order : {CompletionOrder::late, CompletionOrder::random})
        for (const std::string& loop : loops) {
            INFO(loop);
            Settings settings;
            settings.order = order;
            const auto outcome = run(kernel_text(loop), {0}, {{2, 1, 1}, {96, 1, 1}}, settings);
            CHECK(outcome.finding() == "watchdog");
            CHECK(outcome.message().find("comes back to the same state") != std::string::npos);
        }
}

TEST_CASE("a long computation that writes nothing until its end is no endless loop") {
    // 30 million rounds of a generator of numbers whose period is 2^32.
    constexpr std::uint32_t rounds = 30'000'000;
    const auto outcome =
        run(kernel_text("  mov.u32 %r3, 0;\nL:\n  mad.lo.u32 %r2, %r2, 1664525, 1013904223;\n"
                        "  add.u32 %r3, %r3, 1;\n  setp.lt.u32 %p1, %r3, " +
                        std::to_string(rounds) + ";\n  @%p1 bra L;\n  st.global.u32 [%rd0], %r2;\n  ret;"),
            {0}, {{1, 1, 1}, {1, 1, 1}});
    REQUIRE(outcome.message().empty());
    std::uint32_t expected = 0;
    for (std::uint32_t i = 0; i < rounds; ++i)
        expected = expected * 1664525 + 1013904223;
    CHECK(outcome.words[0] == expected);
}

TEST_CASE("an unknown instruction is named with its place") {
    const auto outcome = run(kernel_text("  frobnicate.b32 %r2, %r1;\n  ret;"), {0});
    CHECK(outcome.launch.error == LaunchError::unsupported);
    CHECK(outcome.message().find("frobnicate.b32") != std::string::npos);
    CHECK(outcome.message().find("line") != std::string::npos);
}

TEST_CASE("trap stops the launch") {
    const auto outcome = run(kernel_text("  trap;\n  ret;"), {0});
    CHECK(outcome.finding() == "trap");
    CHECK(outcome.launch.result.fault == Fault::trap);
}

TEST_CASE("brkpt ends the launch as a trap does") {
    const auto outcome = run(kernel_text("  setp.eq.u32 %p1, %r1, 3;\n  @%p1 brkpt;\n  ret;"), {0});
    CHECK(outcome.finding() == "trap");
    CHECK(outcome.launch.result.fault == Fault::trap);
    CHECK(outcome.message().find("brkpt") != std::string::npos);
    CHECK(run(kernel_text("  setp.eq.u32 %p1, %r1, 77;\n  @%p1 brkpt;\n  ret;"), {0}).finding().empty());
}

TEST_CASE("constants, vectors and nothing as arguments and results of a call") {
    const auto value = [](const std::string& function, const std::string& body) {
        const auto outcome =
            run(kernel_text(body + store_result + "  ret;", function), std::vector<std::uint32_t>(32));
        INFO(outcome.message() << outcome.launch.message);
        REQUIRE(outcome.finding().empty());
        REQUIRE(outcome.launch.error == LaunchError::none);
        CHECK(outcome.words[31] == outcome.words[0]);
        return outcome.words[0];
    };
    const std::string add = ".func (.reg .u32 %r) f(.reg .u32 %q) { add.u32 %r, %q, 1; ret; }\n";
    CHECK(value(add, "call (%r9), f, (5);\n") == 6);
    CHECK(value(add, "call (%r9), f, (5+1);\n") == 7);
    CHECK(value(add, "mov.u32 %r9, 3;\ncall (_), f, (5);\n") == 3);
    CHECK(value(".func (.reg .f32 %r) f(.reg .f32 %q) { add.f32 %r, %q, 0f3f800000; ret; }\n",
                "call (%f1), f, (1.5);\nmov.b32 %r9, %f1;\n") == 0x40200000);
    CHECK(value(".func (.reg .u32 %r) f(.reg .v4 .u32 %q, .reg .u32 %s) { add.u32 %r, %q.y, %s; ret; }\n",
                ".reg .v4 .u32 %v;\nmov.v4.u32 %v, {5, 6, 7, 8};\nmov.u32 %r2, 10;\n"
                "call (%r9), f, (%v, %r2);\n") == 16);
    CHECK(value(".func (.reg .v2 .u32 %q) f(.reg .u32 %r) { mov.v2.u32 %q, {%r, 9}; ret; }\n",
                ".reg .v2 .u32 %v;\nmov.u32 %r2, 5;\ncall (%v), f, (%r2);\n"
                "mad.lo.u32 %r9, %v.x, 100, %v.y;\n") == 509);
    CHECK(
        value(".func (.reg .v2 .u16 %q) f(.param .b32 p) { .reg .u32 %r; .reg .u16 %h; ld.param.u32 %r, [p]; "
              "cvt.u16.u32 %h, %r; mov.v2.u16 %q, {%h, 9}; ret; }\n",
              ".reg .v2 .u16 %v;\n.param .b32 p;\nst.param.u32 [p], 7;\ncall (%v), f, (p);\n"
              "mov.b32 %r9, %v;\n") == 0x00090007);
}

TEST_CASE("a call costs the same however many functions with local variables the kernel could call") {
    // Unoptimised code has thousands of such functions, and addresses of variables in each.
    const auto seconds = [](unsigned functions) {
        std::string module, never;
        for (unsigned f = 0; f < functions; ++f) {
            const std::string name = "f" + std::to_string(f);
            module +=
                ".func (.param .b32 r) " + name + "(.param .b32 a)\n{\n.reg .b32 %r<3>; .reg .b64 %rd<9>;\n";
            for (unsigned v = 0; v < 8; ++v)
                module += ".local .align 4 .b8 v" + std::to_string(v) + "[8];\n";
            module += "ld.param.u32 %r1, [a];\n";
            for (unsigned v = 0; v < 8; ++v)
                module += "mov.u64 %rd" + std::to_string(v) + ", v" + std::to_string(v) + ";\n";
            module += "st.local.u32 [%rd7], %r1;\nst.local.u32 [%rd0], 7;\nld.local.u32 %r2, [%rd7];\n"
                      "add.u32 %r2, %r2, 1;\nst.param.b32 [r], %r2;\nret;\n}\n";
            never += "@%p1 call (%r3), " + name + ", (%r3);\n";
        }
        const std::string text =
            kernel_text("mov.u32 %r3, %r1; mov.u32 %r4, 0; setp.ne.u32 %p1, %r0, 32;\n" + never +
                            "AGAIN: call (%r3), f0, (%r3); add.u32 %r4, %r4, 1;\n"
                            "setp.lt.u32 %p2, %r4, 2000; @%p2 bra AGAIN;\n"
                            "mul.wide.u32 %rd1, %r1, 4; add.u64 %rd1, %rd0, %rd1;\n"
                            "st.global.u32 [%rd1], %r3; ret;",
                        module);
        const auto start = std::chrono::steady_clock::now();
        const Outcome outcome = run(text, std::vector<std::uint32_t>(32));
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
        for (std::uint32_t i = 0; i < 32; ++i)
            REQUIRE(outcome.words[i] == 2000 + i);
        return took.count();
    };
    const double one = seconds(1), many = seconds(300);
    INFO(one << " s with one function, " << many << " s with 300");
    CHECK(many < 10 * one + 0.2); // 300 functions are parsed as well.
}
