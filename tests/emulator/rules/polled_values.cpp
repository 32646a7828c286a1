// A loop that waits for a value in memory acquires what was released up to the oldest value that ends it: the
// newest need not be the one that it reads on another run.

#include "rules/check_support.hpp"

#include <catch2/matchers/catch_matchers_string.hpp>

using namespace check_test;
using Catch::Matchers::ContainsSubstring;

namespace {

/// Waits until `condition`, a comparison of the place with a value, is false.
std::string poll(const std::string& n, const std::string& place, const std::string& goes_on_while,
                 const std::string& load = "ld.acquire.gpu.global.u32") {
    return "W" + n + ":\n" + load + " %r3" + n + ", [" + place + "];\nsetp." + goes_on_while.substr(0, 2) +
           ".u32 %p" + n + ", %r3" + n + ", " + goes_on_while.substr(3) + ";\n@%p" + n + " bra W" + n + ";\n";
}

/// Three blocks of a thread; in each of two rounds each writes a word and reads its neighbour's.
Case two_rounds(const std::string& second_wait, const std::string& load = "ld.acquire.gpu.global.u32",
                const std::string& behind = "") {
    const std::string count = "atom.release.gpu.global.add.u32 %r20, [%rd1+4096], 1;\n";
    const std::string where = "mov.u32 %r1, %ctaid.x;\nadd.u32 %r2, %r1, 1;\nrem.u32 %r2, %r2, 3;\n"
                              "mul.wide.u32 %rd2, %r1, 4;\nadd.u64 %rd2, %rd1, %rd2;\n"
                              "mul.wide.u32 %rd3, %r2, 4;\nadd.u64 %rd3, %rd1, %rd3;\n";
    return {"",
            where + "st.global.u32 [%rd2], 7;\n" + count + poll("1", "%rd1+4096", "lt 3", load) + behind +
                "ld.global.u32 %r5, [%rd3];\nst.global.u32 [%rd2+64], %r5;//!\n" + count +
                poll("2", "%rd1+4096", second_wait, load) + behind + "ld.global.u32 %r6, [%rd3+64];//!\n",
            1, 3};
}

} // namespace

TEST_CASE("race-global: a barrier of the grid whose target is that of the round before") {
    for (const Order& order : async_test::all_orders()) {
        const auto outcome = run(two_rounds("lt 3"), order);
        REQUIRE_FALSE(outcome.result.diagnostics.empty());
        const emu::Diagnostic& told = outcome.result.diagnostics.front();
        CHECK(told.name() == "race-global");
        CHECK_THAT(told.message, ContainsSubstring("a value of an earlier round"));
        CHECK_THAT(told.advice, ContainsSubstring("a target that grows with every round"));
    }
    require_silent(two_rounds("lt 6"));
    // The same by relaxed reads with a fence behind them.
    const std::string relaxed = "ld.relaxed.gpu.global.u32", fence = "fence.acq_rel.gpu;\n";
    CHECK_FALSE(
        run(two_rounds("lt 3", relaxed, fence), {emu::CompletionOrder::late, 1}).result.diagnostics.empty());
    require_silent(two_rounds("lt 6", relaxed, fence));
    require_silent(two_rounds("lt 6", "ld.volatile.global.u32", fence));
}

TEST_CASE("race-global: reads of a round that the next one overwrites, with one barrier a round") {
    const auto program = [](const std::string& next) {
        const Case right = two_rounds("lt 6");
        return Case{"", right.body + "st.global.u32 [%rd2" + next + "], 5;//!\n", 1, 3};
    };
    const auto outcome = run(program("+64"), {emu::CompletionOrder::late, 1});
    REQUIRE_FALSE(outcome.result.diagnostics.empty());
    require_silent(program("+128"));
    require_silent(program("")); // Read in the first round, and the second barrier lies between.
}

TEST_CASE("a flag goes up and down: who has read it down waits for it to go up once more") {
    // Block 1 tells by relaxed stores how far it is, so that nothing but the flag orders the data.
    const std::string relaxed = "st.relaxed.gpu.global.u32 ";
    const Case program{
        "",
        "mov.u32 %r1, %ctaid.x;\nsetp.ne.u32 %p0, %r1, 0;\n@%p0 bra READ;\nst.global.u32 [%rd1], 7;\n"
        "st.release.gpu.global.u32 [%rd1+4096], 1;\n" +
            poll("1", "%rd1+8192", "lt 1", "ld.relaxed.gpu.global.u32") + relaxed + "[%rd1+4096], 0;\n" +
            poll("2", "%rd1+8192", "lt 2", "ld.relaxed.gpu.global.u32") +
            "st.global.u32 [%rd1+4], 8;\nst.release.gpu.global.u32 [%rd1+4096], 1;\nbra END;\nREAD:\n" +
            poll("3", "%rd1+4096", "ne 1") + "ld.global.u32 %r5, [%rd1];\n" + relaxed + "[%rd1+8192], 1;\n" +
            poll("4", "%rd1+4096", "ne 0") + relaxed + "[%rd1+8192], 2;\n" + poll("5", "%rd1+4096", "ne 1") +
            "ld.global.u32 %r6, [%rd1+4];\nEND:\n",
        1, 2};
    require_silent(program);
}

TEST_CASE("a fence between a write and a wait may forbid the older value") {
    // Block 0 enters when block 1 has not announced itself; block 1 waits until block 0 is out.
    const auto enter = [](const std::string& n) {
        return "st.relaxed.gpu.global.u32 [%rd1+4096], 1;\nfence.sc.gpu;\n"
               "ld.relaxed.gpu.global.u32 %r2" +
               n + ", [%rd1+8192];\nsetp.ne.u32 %p" + n + ", %r2" + n + ", 0;\n@%p" + n + " bra OUT" + n +
               ";\nst.global.u32 [%rd1], " + n + ";\nOUT" + n +
               ":\nfence.acq_rel.gpu;\nst.relaxed.gpu.global.u32 [%rd1+4096], 0;\n";
    };
    const Case program{"",
                       "mov.u32 %r1, %ctaid.x;\nsetp.ne.u32 %p0, %r1, 0;\n@%p0 bra WAIT;\n" + enter("1") +
                           enter("2") +
                           "bra END;\nWAIT:\nst.relaxed.gpu.global.u32 [%rd1+8192], 1;\nfence.sc.gpu;\n" +
                           poll("3", "%rd1+4096", "ne 0") + "st.global.u32 [%rd1], 9;\nEND:\n",
                       1, 2};
    require_silent(program);
}

TEST_CASE("race-global: who counts with release order only has not acquired what others released") {
    const auto program = [](const std::string& count, const std::string& behind = "") {
        return Case{"",
                    "mov.u32 %r1, %ctaid.x;\nmul.wide.u32 %rd2, %r1, 4;\nadd.u64 %rd2, %rd1, %rd2;\n"
                    "add.u32 %r1, %r1, 7;\nst.global.u32 [%rd2], %r1;//!\n" +
                        count + " %r6, [%rd1+32768], 1;//!\n" + behind +
                        "bar.sync 0;\nsetp.ne.u32 %p1, %r6, 1;\n@%p1 bra DONE;\n"
                        "ld.global.u32 %r7, [%rd1];//!\nld.global.u32 %r8, [%rd1+4];\nDONE:\n",
                    1, 2};
    };
    for (const Order& order : async_test::all_orders()) {
        const auto outcome = run(program("atom.release.gpu.global.add.u32"), order);
        REQUIRE(outcome.result.diagnostics.size() == 1);
        CHECK_THAT(outcome.result.diagnostics.front().message,
                   ContainsSubstring("counted with release order only"));
        CHECK_THAT(outcome.result.diagnostics.front().advice,
                   ContainsSubstring("cuda::memory_order_acq_rel"));
    }
    require_silent(program("atom.acq_rel.gpu.global.add.u32"));
    require_silent(program("atom.release.gpu.global.add.u32", "fence.acq_rel.gpu;\n"));
    require_silent(
        program("atom.release.gpu.global.add.u32", "ld.acquire.gpu.global.u32 %r9, [%rd1+32768];\n"));
    require_silent(
        program("fence.acq_rel.gpu;\natom.relaxed.gpu.global.add.u32")); // NVIDIA's threadFenceReduction
}
