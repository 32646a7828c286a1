// Accesses that leave the array their address was computed from, and their right twins.

#include "rules/check_support.hpp"

#include <catch2/matchers/catch_matchers_string.hpp>

using namespace check_test;
using Catch::Matchers::ContainsSubstring;

namespace {

const std::string two = ".shared .align 16 .b8 first[256];\n.shared .align 16 .b8 second[256];\n"
                        ".shared .align 8 .b8 full[16];\n.shared .align 8 .b8 empty[16];\n";
/// %r10: the thread's word of `first`, %r11: of `second`; %p0: thread 0.
const std::string words = "mov.u32 %r2, first;\nmov.u32 %r3, second;\nshl.b32 %r4, %r0, 2;\n"
                          "add.s32 %r10, %r2, %r4;\nadd.s32 %r11, %r3, %r4;\nsetp.eq.u32 %p0, %r0, 0;\n"
                          "setp.eq.u32 %p1, %r0, 63;\n";
const std::string found = "shared-array-overrun";

std::string message(const Case& c) {
    return run(c, {emu::CompletionOrder::late, 1}).result.diagnostics.front().message;
}

} // namespace

TEST_CASE("a store behind the end of its array") {
    const Case wrong{two, words + "st.shared.u32 [%r10+4], %r0;//!\n"};
    require_found(found, wrong);
    CHECK_THAT(message(wrong),
               ContainsSubstring("thread (63,0,0) of block (0,0,0) writes 4 bytes right behind "
                                 "first (256 bytes), in second. The address"));
    require_silent({two, words + "@!%p1 st.shared.u32 [%r10+4], %r0;\n"});
}

TEST_CASE("a store before its array, and one far behind") {
    const Case before{two, words + "st.shared.u32 [%r11+-8], %r0;//!\n"};
    require_found(found, before);
    CHECK_THAT(message(before),
               ContainsSubstring("that begin 8 bytes before second (256 bytes), in first + 248"));
    const Case far{two, words + "@%p0 st.shared.u32 [%r10+264], %r0;//!\n"};
    require_found(found, far);
    CHECK_THAT(message(far), ContainsSubstring("8 bytes past the end of first (256 bytes), in second + 8"));
}

TEST_CASE("a vector store that begins inside ends outside") {
    const Case wrong{two, words + "@%p0 st.shared.v2.u32 [%r10+248], {%r0, %r0};\n"
                                  "@%p1 st.shared.v4.u32 [%r10+-12], {%r0, %r0, %r0, %r0};\n"
                                  "@%p0 st.shared.v4.u32 [first+240], {%r0, %r0, %r0, %r0};\n"};
    // Thread 63 writes words 60 to 63, as thread 0 does: a race, and no overrun.
    const auto outcome = run(wrong, {emu::CompletionOrder::late, 1});
    for (const auto& each : outcome.result.diagnostics)
        CHECK(each.name() != found);
    const Case over{two, words + "mov.u32 %r9, second;\n"
                                 "@%p0 st.shared.v2.u32 [%r9+252], {%r0, %r0};//!\n"};
    // Not aligned: that is told first, whatever else is wrong.
    CHECK(run(over, {emu::CompletionOrder::late, 1}).result.diagnostics.front().name() == "misaligned");
    const std::string odd = ".shared .align 16 .b8 first[12];\n.shared .align 4 .b8 second[20];\n";
    require_found(found, {odd, words + "@%p0 st.shared.v4.u32 [first], {%r0, %r0, %r0, %r0};//!\n"});
    require_silent({odd, words + "@%p0 st.shared.v2.u32 [first], {%r0, %r0};\n"});
}

TEST_CASE("a read is a warning, and may take along what lies behind") {
    const std::string fill = "st.shared.u32 [%r10], %r0;\nst.shared.u32 [%r11], %r0;\nbar.sync 0;\n";
    require_found(found, {two, words + fill + "ld.shared.u32 %r5, [%r10+4];//!\n", 64, 1}, emu::Fault::none);
    // Three floats, read as four.
    const std::string three = ".shared .align 16 .b8 first[12];\n.shared .align 4 .b8 second[20];\n";
    require_silent({three, words +
                               "@%p0 st.shared.v2.u32 [first], {%r0, %r0};\n@%p0 st.shared.u32 [first+8], "
                               "%r0;\n@%p0 st.shared.u32 [second], %r0;\nbar.warp.sync -1;\n"
                               "@%p0 ld.shared.v4.u32 {%r5, %r6, %r7, %r8}, [first];\n"});
}

TEST_CASE("an atomic operation on the word around a byte") {
    const std::string bytes = ".shared .align 1 .b8 front[2];\n.shared .align 1 .b8 behind[2];\n"
                              ".shared .align 4 .b8 other[8];\n";
    const std::string zero =
        "@%p0 st.shared.u8 [front], %r0;\n@%p0 st.shared.u8 [front+1], %r0;\n"
        "@%p0 st.shared.u8 [behind], %r0;\n@%p0 st.shared.u8 [behind+1], %r0;\n"
        "@%p0 st.shared.u32 [other], 0;\n@%p0 st.shared.u32 [other+4], 0;\nbar.sync 0;\n";
    const std::string word = "mov.u32 %r9, behind;\nand.b32 %r9, %r9, -4;\n";
    require_silent(
        {bytes, words.substr(words.find("setp")) + zero + word + "atom.shared.or.b32 %r5, [%r9], 65536;\n"});
    require_found(found, {bytes, words.substr(words.find("setp")) + zero + word +
                                     "atom.shared.or.b32 %r5, [%r9+4], 65536;//!\n"});
}

TEST_CASE("an mbarrier of the next array") {
    const std::string index = "mov.u32 %r5, full;\nmov.u32 %r6, 16;\nadd.s32 %r7, %r5, %r6;\n";
    const Case wrong{two, words + index + "@%p0 mbarrier.init.shared.b64 [%r7], 1;//!\n"};
    require_found(found, wrong);
    CHECK_THAT(message(wrong), ContainsSubstring("initialises an mbarrier right behind full (16 bytes), in "
                                                 "empty"));
    require_silent({two, words + index + "@%p0 mbarrier.init.shared.b64 [%r7+-8], 1;\n"});
}

TEST_CASE("a copy that begins in one array and ends in the next") {
    const std::string init =
        words + "@%p0 mbarrier.init.shared.b64 [full], 1;\n@%p0 fence.proxy.async.shared::cta;\nbar.sync 0;\n"
                "@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [full], 272;\n";
    const auto load = [&](const std::string& to) {
        return init + "@%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [" + to +
               "], [%rd0], 272, [full];";
    };
    const std::string wait = wait_parity("full", "0", "$L_wait");
    const std::string three = ".shared .align 16 .b8 wide[272];\n" + two;
    const Case wrong{two, load("first") + "//!\n" + wait};
    require_found(found, wrong);
    CHECK_THAT(message(wrong),
               ContainsSubstring("The bulk load of thread (0,0,0) of block (0,0,0) writes 272 "
                                 "bytes from first on: the last 16 bytes lie past the end of "
                                 "first (256 bytes), in second."));
    require_silent({three, load("wide") + "\n" + wait});
    // The same where the text does not tell the array: the destination does.
    require_found(found, {two, words + "selp.b32 %r12, %r2, %r3, %p0;\n" + load("%r12") + "//!\n" + wait});
}

TEST_CASE("a copy's last 16 bytes may reach over the end where no array lies") {
    const std::string init =
        words + "@%p0 mbarrier.init.shared.b64 [full], 1;\n@%p0 fence.proxy.async.shared::cta;\nbar.sync 0;\n"
                "@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [full], 256;\n";
    const std::string load = init + "@%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                                    "[first], [%rd0], 256, [full];";
    const std::string wait = wait_parity("full", "0", "$L_wait");
    const std::string next = ".shared .align 16 .b8 second[256];\n.shared .align 8 .b8 full[16];\n";
    require_silent({".shared .align 16 .b8 first[244];\n" + next, load + "\n" + wait});
    require_found(found, {".shared .align 16 .b8 first[244];\n.shared .align 4 .b8 between[4];\n" + next,
                          load + "//!\n" + wait});
}

TEST_CASE("a race behind the end of an array is a consequence") {
    // Thread 63 writes what thread 0 writes too.
    const Case wrong{two, words + "st.shared.u32 [%r11], %r0;\nst.shared.u32 [%r10+4], 7;//!\n"};
    require_found(found, wrong);
}

TEST_CASE("the distance between arrays, from memory or a parameter, is nobody's mistake") {
    require_silent({two, words + "sub.s32 %r5, %r3, %r2;\nadd.s32 %r6, %r10, %r5;\n"
                                 "st.shared.u32 [%r6], %r0;\n"});
}
