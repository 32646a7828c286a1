// Matrices in shared memory: what their loads and stores race with, and values that nobody has written on
// their way through products.

#include "rules/check_support.hpp"

using namespace check_test;

namespace {

const std::string meet = "bar.sync 0;\n";
const std::string unwritten = "uninitialised-shared";

/// %r12: the address of row `lane % 16` of 16 bytes in the tile. %r20, %r21: lane / 4 and lane % 4.
const std::string rows = "and.b32 %r12, %r0, 15;\nshl.b32 %r12, %r12, 4;\nadd.u32 %r12, %r9, %r12;\n"
                         "shr.u32 %r20, %r0, 2;\nand.b32 %r20, %r20, 7;\nand.b32 %r21, %r0, 3;\n";
/// 16 rows of 16 bytes, 64 words, of which all but word 63 (row 15, elements 6 and 7) are written.
const std::string partly_filled =
    addresses(64) + rows + "setp.lt.u32 %p1, %r0, 63;\n@%p1 st.shared.u32 [%r10], %r6;\n" + meet;
const std::string filled = addresses(64) + rows + "st.shared.u32 [%r10], %r6;\n" + meet;

std::string load(const std::string& end) {
    return "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r4, %r5}, [%r12];" + end + "\n";
}
/// A: 16 rows of 8 elements. D = A B + 0, B all ones.
const std::string multiply = "mov.u32 %r13, 0x3c003c00;\nmov.f32 %f0, 0f00000000;\n"
                             "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, "
                             "{%r4, %r5}, {%r13}, {%f0, %f0, %f0, %f0};\n";
/// As B: 8 columns of 16 elements, the last column not all written.
const std::string multiply_b = "mov.u32 %r13, 0x3c003c00;\nmov.f32 %f0, 0f00000000;\n"
                               "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, "
                               "{%r13, %r13, %r13, %r13}, {%r4, %r5}, {%f0, %f0, %f0, %f0};\n";

std::string store(const std::string& value, const std::string& guard = "", const std::string& end = "//!") {
    return guard + "st.global.f32 [%rd11], " + value + ";" + end + "\n";
}

} // namespace

TEST_CASE("uninitialised-shared: through ldmatrix and mma by rows of A") {
    // Row 15 is in the upper half of D, in lanes 28 to 31.
    require_silent({tile, partly_filled + load("")});
    require_silent({tile, partly_filled + load("") + multiply + store("%f1", "", "") + store("%f2", "", "")});
    require_found(unwritten, {tile, partly_filled + load("//!") + multiply + store("%f3")});
    require_found(unwritten, {tile, partly_filled + load("//!") + multiply + store("%f4")});
    const std::string last = "setp.eq.u32 %p2, %r20, 7;\n";
    require_silent({tile, partly_filled + load("") + multiply + last + store("%f3", "@!%p2 ", "")});
    require_found(unwritten, {tile, partly_filled + load("//!") + multiply + last + store("%f3", "@%p2 ")});
    require_silent({tile, filled + load("") + multiply + store("%f3", "", "")});
}

TEST_CASE("uninitialised-shared: through ldmatrix and mma by columns of B") {
    // Row 15 is column 7 of B's second register: of D, the second element of each third lane of four.
    const std::string last = "setp.eq.u32 %p2, %r21, 3;\n";
    require_silent({tile, partly_filled + load("") + multiply_b + last + store("%f1", "", "") +
                              store("%f2", "@!%p2 ", "") + store("%f4", "@!%p2 ", "")});
    require_found(unwritten, {tile, partly_filled + load("//!") + multiply_b + last + store("%f2", "@%p2 ")});
    require_found(unwritten, {tile, partly_filled + load("//!") + multiply_b + last + store("%f4", "@%p2 ")});
}

TEST_CASE("uninitialised-shared: ldmatrix.trans gives a row's elements to other lanes") {
    // Elements 6 and 7 of row 7 of the second matrix go to lanes 27 and 31.
    const std::string transposed = "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%r4, %r5}, [%r12];";
    const auto lane = [](const std::string& number) {
        return "and.b32 %r14, %r0, 31;\nsetp.eq.u32 %p2, %r14, " + number + ";\n";
    };
    const std::string use = "st.global.u32 [%rd11], %r5;";
    require_silent({tile, partly_filled + transposed + "\n" + lane("27") +
                              "setp.ne.and.u32 %p2, %r14, 31, !%p2;\n@%p2 " + use +
                              "\nst.global.u32 [%rd11+512], %r4;\n"});
    for (const std::string number : {"27", "31"})
        require_found(unwritten,
                      {tile, partly_filled + transposed + "//!\n" + lane(number) + "@%p2 " + use + "//!\n"});
}

TEST_CASE("uninitialised-shared: accumulators and wmma") {
    // Only the lane that read the word has it in its own element of C.
    const std::string word = "ld.shared.f32 %f5, [%r10];";
    const std::string add = "mov.u32 %r13, 0x3c003c00;\nmov.f32 %f0, 0f00000000;\n"
                            "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, "
                            "{%r13, %r13}, {%r13}, {%f0, %f5, %f0, %f0};\n";
    require_silent(
        {tile, partly_filled + word + "\n" + add + store("%f1", "", "") + store("%f2", "@%p1 ", "")});
    require_found(unwritten, {tile, partly_filled + word + "//!\n" + add + store("%f2", "@!%p1 ")});
    // wmma: a fragment of 8 words, two of them alike in each pair of lanes.
    const auto fragment = [](const std::string& end) {
        return "wmma.load.c.sync.aligned.row.m8n8k32.shared.s32 {%r4, %r5}, [%r9];" + end + "\n";
    };
    const std::string one = "st.global.u32 [%rd11], %r4;", other = "st.global.u32 [%rd11], %r5;";
    require_silent({tile, partly_filled + fragment("") + one + "\n"});
    require_found(unwritten, {tile, partly_filled + fragment("//!") + other + "//!\n"});
    const std::string product =
        "mov.u32 %r13, 1;\n"
        "wmma.mma.sync.aligned.row.col.m8n8k32.s32.s4.s4.s32 {%r14, %r15}, {%r13}, {%r13}, "
        "{%r4, %r5};\n";
    require_silent({tile, partly_filled + fragment("") + product});
    require_found(unwritten,
                  {tile, partly_filled + fragment("//!") + product + "st.global.u32 [%rd11], %r14;//!\n"});
}

TEST_CASE("uninitialised-shared: elements of f16 fragments come more than once") {
    // 8 rows of 32 bytes: a tile of A with 8 rows, whose two different registers come four times.
    const auto with = [](const std::string& end, const std::string& rest) {
        return Case{tile, partly_filled +
                              "wmma.load.a.sync.aligned.row.m8n32k16.shared.f16 "
                              "{%r4, %r5, %r13, %r14, %r15, %r16, %r17, %r18}, [%r9];" +
                              end + "\n" + rest};
    };
    require_silent(with("", "st.global.u32 [%rd11], %r4;\nst.global.u32 [%rd11], %r17;\n"));
    require_found(unwritten, with("//!", "st.global.u32 [%rd11], %r5;//!\n"));
    require_found(unwritten, with("//!", "st.global.u32 [%rd11], %r18;//!\n"));
}

TEST_CASE("uninitialised-shared: through stmatrix and wmma.store") {
    // The word comes to its place in a second tile: row 15 there.
    const std::string copy = "stmatrix.sync.aligned.m8n8.x2.shared.b16 [%r12+512], {%r4, %r5};\n" + meet;
    const std::string back = "ld.shared.u32 %r3, [%r10+512];\n";
    const std::string use = "st.global.u32 [%rd11], %r3;";
    require_silent({tile, partly_filled + load("") + copy + back + "@%p1 " + use + "\n"});
    require_found(unwritten, {tile, partly_filled + load("//!") + copy + back + "@!%p1 " + use + "//!\n"});
    const std::string fragment = "wmma.load.c.sync.aligned.row.m8n8k32.shared.s32 {%r4, %r5}, [%r9];";
    const std::string copy_fragment =
        "wmma.store.d.sync.aligned.row.m8n8k32.shared.s32 [%r9+512], {%r4, %r5};\n" + meet;
    require_silent({tile, partly_filled + fragment + "\n" + copy_fragment + back + "@%p1 " + use + "\n"});
    require_found(unwritten, {tile, partly_filled + fragment + "//!\n" + copy_fragment + back + "@!%p1 " +
                                        use + "//!\n"});
    require_found(
        unwritten,
        {tile, partly_filled + fragment +
                   "//!\nwmma.store.d.sync.aligned.row.m8n8k32.global.s32 [%rd1], {%r4, %r5};//!\n"});
}

TEST_CASE("race-shared: ldmatrix reads what other warps write") {
    const std::string write = addresses(64) + rows + "st.shared.u32 [%r10], %r6;//!\n";
    const std::string end = multiply + store("%f3", "", "");
    require_found("race-shared", {tile, write + load("//!") + end});
    require_silent({tile, write + meet + load("") + end});
    // Lanes of one warp need bar.warp.sync.
    const std::string own = addresses(32) + rows + "st.shared.u32 [%r10], %r6;//!\n";
    const std::string one = "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r4}, [%r12];";
    const std::string use = "\nst.global.u32 [%rd11], %r4;\n";
    require_found("race-shared", {tile, own + one + "//!" + use, 32});
    require_silent({tile, own + "bar.warp.sync -1;\n" + one + use, 32});
    // A read without a barrier before the next write.
    require_found("race-shared",
                  {tile, filled + load("//!") + "add.u32 %r6, %r6, 1;\nst.shared.u32 [%r10], %r6;//!\n"});
    require_silent({tile, filled + load("") + meet + "add.u32 %r6, %r6, 1;\nst.shared.u32 [%r10], %r6;\n"});
}

TEST_CASE("race-shared: stmatrix and wmma.store write") {
    const std::string start = addresses(32) + rows;
    const std::string matrix = "stmatrix.sync.aligned.m8n8.x2.shared.b16 [%r12], {%r6, %r7};";
    const std::string read = "ld.shared.u32 %r5, [%r11];";
    const std::string use = "\nst.global.u32 [%rd11], %r5;\n";
    require_found("race-shared", {tile, start + matrix + "//!\n" + read + "//!" + use, 32});
    require_silent({tile, start + matrix + "\nbar.warp.sync -1;\n" + read + use, 32});
    const std::string fragment = "wmma.store.d.sync.aligned.row.m8n8k32.shared.s32 [%r9], {%r6, %r7};";
    require_found("race-shared", {tile, start + fragment + "//!\n" + read + "//!" + use, 32});
    require_silent({tile, start + fragment + "\nbar.warp.sync -1;\n" + read + use, 32});
    // All rows at one address.
    require_found("race-shared",
                  {tile, start + "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r9], {%r6};//!\n", 32});
    require_silent({tile, start + "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r12], {%r6};\n", 32});
    require_found(
        "race-shared",
        {tile, start + "wmma.store.d.sync.aligned.row.m8n8k32.shared.s32 [%r9], {%r6, %r7}, 0;//!\n", 32});
}
