// Integers divided by zero: told where the result is used.

#include "rules/check_support.hpp"

#include <catch2/matchers/catch_matchers_string.hpp>

using namespace check_test;
using Catch::Matchers::ContainsSubstring;

namespace {

const std::string name = "division-by-zero";
const std::string use = "st.global.u32 [%rd11], %r5;//!\n";
const std::string store = "st.global.u32 [%rd11], %r5;\n";
// %r4: 0 in the first four threads, their number less 3 in the others, which %p1 tells.
const std::string divisor = "max.u32 %r4, %r0, 3;\nsub.u32 %r4, %r4, 3;\nsetp.gt.u32 %p1, %r0, 3;\n";

Case program(const std::string& body) { return {tile, addresses(32) + divisor + body, 32}; }
emu::Diagnostic told(const std::string& body) {
    const auto outcome = run(program(body), {emu::CompletionOrder::late, 1});
    REQUIRE(outcome.result.diagnostics.size() == 1);
    return outcome.result.diagnostics.front();
}

} // namespace

TEST_CASE("division-by-zero: a quotient or remainder that is used, of every size") {
    for (const std::string what : {"div.u32", "div.s32", "rem.u32", "rem.s32"})
        require_found(name, program(what + " %r5, %r6, %r4;//!\n" + use), emu::Fault::none);
    for (const std::string what : {"div.u64", "rem.s64"})
        require_found(name,
                      program("cvt.u64.u32 %rd5, %r4;\n" + what + " %rd6, %rd1, %rd5;//!\n" +
                              "cvt.u32.u64 %r5, %rd6;\n" + use),
                      emu::Fault::none);
    for (const std::string what : {"div.s16", "rem.u16"})
        require_found(name,
                      program("cvt.u16.u32 %h1, %r4;\nmov.u16 %h2, 7;\n" + what + " %h3, %h2, %h1;//!\n" +
                              "cvt.u32.u16 %r5, %h3;\n" + use),
                      emu::Fault::none);
    require_found(name, program("div.u32 %r5, %r6, 0;//!\n" + use), emu::Fault::none);
}

TEST_CASE("division-by-zero: the words name the thread, the use and what to look at") {
    const emu::Diagnostic d = told("div.u32 %r5, %r6, %r4;\nadd.u32 %r5, %r5, 1;\n@!%p1 " + store);
    CHECK_THAT(d.message, ContainsSubstring("thread (0,0,0) of block (0,0,0) divides an integer by zero") &&
                              ContainsSubstring("stored to global memory"));
    CHECK_THAT(d.advice, ContainsSubstring("(n + parts - 1) / parts"));
    CHECK(d.locations.size() == 2);
    CHECK_THAT(told("rem.u32 %r5, %r6, %r4;\nsetp.eq.u32 %p2, %r5, 0;\n@%p2 bra END;\nEND:\n").message,
               ContainsSubstring("takes the remainder of a division by zero") &&
                   ContainsSubstring("what a branch"));
}

TEST_CASE("division-by-zero: a result that is dropped, and a divisor that is not zero, are silent") {
    require_silent(program("div.u32 %r5, %r6, %r4;\n@%p1 " + store));
    require_silent(program("@%p1 div.u32 %r5, %r6, %r4;\n@%p1 " + store));
    require_silent(program("div.u32 %r5, %r6, %r4;\nselp.u32 %r5, %r5, 0, %p1;\n" + store));
    require_silent(program("div.u32 %r5, %r6, %r4;\nsetp.gt.u32 %p2, %r5, 3;\nand.pred %p2, %p2, %p1;\n"
                           "selp.u32 %r5, 1, 0, %p2;\n" +
                           store));
    require_silent(program("or.b32 %r4, %r4, 1;\nrem.u32 %r5, %r6, %r4;\n" + store));
    // Only the upper half of the divisor is not zero.
    require_silent(program("cvt.u64.u32 %rd5, %r0;\nadd.u64 %rd5, %rd5, 1;\nshl.b64 %rd5, %rd5, 32;\n"
                           "div.u64 %rd6, %rd1, %rd5;\ncvt.u32.u64 %r5, %rd6;\n" +
                           store));
    // What was divided by zero is written over before anybody looks.
    require_silent(program("div.u32 %r5, %r6, %r4;\nmov.u32 %r5, 1;\n" + store));
    // Division of floating-point numbers by zero is defined.
    require_silent(program("mov.f32 %f1, 0f00000000;\nmov.f32 %f2, 0f3f800000;\ndiv.rn.f32 %f3, %f2, %f1;\n"
                           "st.global.f32 [%rd11], %f3;\n"));
}
