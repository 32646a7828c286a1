// Races in global memory, within a block and between blocks.

#include "rules/check_support.hpp"

#include <catch2/matchers/catch_matchers_string.hpp>

using namespace check_test;

namespace {
const std::string own_word =
    "mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %ntid.x;\nmad.lo.u32 %r3, %r1, %r2, %r0;\n"
    "shl.b32 %r4, %r3, 2;\ncvt.u64.u32 %rd9, %r4;\nadd.u64 %rd10, %rd0, %rd9;\n"
    "add.u64 %rd11, %rd1, %rd9;\nld.global.u32 %r5, [%rd10];\nadd.u32 %r5, %r5, %r1;\n";
}

TEST_CASE("race-global: the block offset was forgotten") {
    const Case right{"", own_word + "st.global.u32 [%rd11], %r5;//!\n", 64, 4};
    require_silent(right);
    Case wrong = right;
    wrong.body = own_word + "shl.b32 %r4, %r0, 2;\ncvt.u64.u32 %rd9, %r4;\nadd.u64 %rd11, %rd1, %rd9;\n"
                            "st.global.u32 [%rd11], %r5;//!\n";
    require_found("race-global", wrong);
}

TEST_CASE("race-global: a neighbour's element without a barrier") {
    const std::string write = own_word + "st.global.u32 [%rd11], %r5;//!\n";
    const std::string read = "xor.b32 %r4, %r4, 128;\ncvt.u64.u32 %rd9, %r4;\nadd.u64 %rd12, %rd1, %rd9;\n"
                             "ld.global.u32 %r6, [%rd12];//!\n";
    require_found("race-global", {"", write + read, 64});
    require_silent({"", write + "bar.sync 0;\n" + read, 64});
}

TEST_CASE("race-global: atomics of all blocks are no race, an ordinary add is") {
    require_silent({"", own_word + "red.global.add.u32 [%rd1], %r5;\n", 64, 4});
    require_found("race-global",
                  {"", own_word + "setp.eq.u32 %p0, %r0, 0;\n@%p0 st.global.u32 [%rd1], %r5;//!\n", 64, 4});
}

TEST_CASE("the last block reads what the others wrote: fence and atomic counter") {
    const auto program = [](const std::string& fence) {
        return Case{
            "",
            own_word + "st.global.u32 [%rd11], %r5;//!\n" + fence +
                "bar.sync 0;\nsetp.ne.u32 %p0, %r0, 0;\n@%p0 bra DONE;\n"
                "atom.global.add.u32 %r6, [%rd1+32768], 1;\nsetp.ne.u32 %p1, %r6, 3;\n@%p1 bra DONE;\n" +
                fence +
                "ld.global.u32 %r7, [%rd1+4];//!\nld.global.u32 %r8, [%rd1+260];\n"
                "ld.global.u32 %r8, [%rd1+516];\nld.global.u32 %r8, [%rd1+772];\nDONE:\n",
            64, 4};
    };
    require_silent(program("fence.acq_rel.gpu;\n"));
    // A fence of block scope does not reach the other blocks.
    Case narrow = program("fence.acq_rel.cta;\n");
    const emu::LaunchOutcome outcome = run(narrow, {emu::CompletionOrder::late, 1});
    REQUIRE(outcome.result.diagnostics.size() >= 1);
    for (const auto& d : outcome.result.diagnostics)
        REQUIRE(d.name() == "race-global");
}

TEST_CASE("race-global: an atomic of block scope is not atomic for other blocks") {
    const Case wrong{"", own_word + "red.relaxed.cta.global.add.u32 [%rd1], %r5;//!\n", 64, 4};
    require_found("race-global", wrong);
    const auto outcome = run(wrong, {emu::CompletionOrder::late, 1});
    CHECK_THAT(outcome.result.diagnostics.front().advice,
               Catch::Matchers::ContainsSubstring("Use device scope"));
    require_silent({"", own_word + "red.relaxed.cta.global.add.u32 [%rd1], %r5;\n", 64, 1});
}

TEST_CASE("race-global: a flag that is read without a fence behind it is named") {
    const auto program = [](const std::string& fence) {
        return Case{
            "",
            "mov.u32 %r1, %ctaid.x;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra READ;\n"
            "st.global.u32 [%rd1], 7;//!\nfence.acq_rel.gpu;\nst.relaxed.gpu.global.u32 [%rd1+4096], 1;\n"
            "bra END;\nREAD:\nld.relaxed.gpu.global.u32 %r2, [%rd1+4096];\nsetp.eq.u32 %p2, %r2, 0;\n"
            "@%p2 bra READ;\n" +
                fence + "ld.global.u32 %r3, [%rd1];//!\nst.global.u32 [%rd1+8192], %r3;\nEND:\n",
            1, 2};
    };
    require_found("race-global", program(""));
    const auto outcome = run(program(""), {emu::CompletionOrder::late, 1});
    CHECK(outcome.result.diagnostics.front().message.find("has read a flag") != std::string::npos);
    CHECK(outcome.result.diagnostics.front().advice.find("__threadfence()") != std::string::npos);
    require_silent(program("fence.acq_rel.gpu;\n"));
}

TEST_CASE("race-global: a store that changes nothing, unordered before another thread's change") {
    // out is zero already; in another order the zero would destroy a sum.
    const std::string zero =
        "setp.eq.u32 %p0, %r0, 0;\nmov.u32 %r1, %ctaid.x;\nsetp.eq.and.u32 %p1, %r1, 0, %p0;\n"
        "@%p1 st.global.u32 [%rd1], 0;";
    const std::string add = "@%p0 red.global.add.u32 [%rd1], 1;";
    require_found("race-global", {"", zero + "//!\n" + add + "//!\n", 32, 2});
    require_silent({"", zero + "\n@%p1 " + add.substr(5) + "\n", 32, 2});
    // All write the same: whoever comes first changes it, the others do not.
    require_silent({"", "st.global.u32 [%rd1], 1;\n", 64, 4});
}

TEST_CASE("the finding does not depend on the number of host threads") {
    const Case wrong{"",
                     own_word + "shl.b32 %r4, %r0, 2;\ncvt.u64.u32 %rd9, %r4;\nadd.u64 %rd11, %rd1, %rd9;\n"
                                "st.global.u32 [%rd11], %r5;//!\n",
                     64, 64};
    const Case right{"", own_word + "st.global.u32 [%rd11], %r5;\n", 64, 64};
    for (unsigned threads : {1u, 2u, 4u}) {
        const auto found = run(wrong, {emu::CompletionOrder::late, 1}, threads);
        REQUIRE(found.result.diagnostics.size() == 1);
        REQUIRE(found.result.diagnostics.front().name() == "race-global");
        async_test::require_clean(run(right, {emu::CompletionOrder::late, 1}, threads));
    }
}
