// ldmatrix and stmatrix (PTX ISA 9.0, sections 9.7.14.5.15 and 9.7.14.5.16): which lane gets which element.

#include "kernel.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace emu;
using namespace emu::test;

namespace {

// Shared memory: half h holds 2 h + 1. Row j of matrix i begins at 16 (8 i + 7 - j): rows stand in falling
// order.
const std::string fill =
    "  .shared .align 16 .b8 tile[512];\n  mov.u32 %r20, tile;\n  shl.b32 %r2, %r1, 2;\n  add.u32 %r3, %r20, "
    "%r2;\n"
    "  mul.lo.u32 %r4, %r1, 0x00040004;\n  add.u32 %r4, %r4, 0x00030001;\n  st.shared.u32 [%r3], %r4;\n"
    "  st.shared.u32 [%r3+128], %r4;\n  add.u32 %r4, %r4, 0x00800080;\n  st.shared.u32 [%r3+128], %r4;\n"
    "  add.u32 %r4, %r4, 0x00800080;\n  st.shared.u32 [%r3+256], %r4;\n  add.u32 %r4, %r4, 0x00800080;\n"
    "  st.shared.u32 [%r3+384], %r4;\n  bar.warp.sync 0xffffffff;\n"
    "  xor.b32 %r5, %r1, 7;\n  shl.b32 %r5, %r5, 4;\n  add.u32 %r5, %r20, %r5;\n";
// Register i of lane l into word 32 i + l.
const std::string store_four =
    "  mul.wide.u32 %rd8, %r1, 4;\n  add.s64 %rd9, %rd0, %rd8;\n  st.global.u32 [%rd9], %r10;\n"
    "  st.global.u32 [%rd9+128], %r11;\n  st.global.u32 [%rd9+256], %r12;\n  st.global.u32 [%rd9+384], "
    "%r13;\n  ret;";

std::uint32_t half_at(unsigned matrix, unsigned row, unsigned column) {
    return 2 * (8 * (8 * matrix + 7 - row) + column) + 1;
}
std::uint32_t expected(unsigned matrix, unsigned lane, bool transposed) {
    const unsigned row = lane / 4, column = 2 * (lane % 4);
    return transposed ? half_at(matrix, column, row) | half_at(matrix, column + 1, row) << 16
                      : half_at(matrix, row, column) | half_at(matrix, row, column + 1) << 16;
}

} // namespace

TEST_CASE("ldmatrix gives each lane two elements of a row, or of a column") {
    for (const bool transposed : {false, true}) {
        const std::string load = "  ldmatrix.sync.aligned.m8n8.x4" + std::string(transposed ? ".trans" : "") +
                                 ".shared.b16 {%r10, %r11, %r12, %r13}, [%r5];\n";
        const auto outcome = run(kernel_text(fill + load + store_four), std::vector<std::uint32_t>(128));
        REQUIRE(outcome.message().empty());
        for (unsigned matrix = 0; matrix < 4; ++matrix)
            for (unsigned lane = 0; lane < 32; ++lane)
                CHECK(outcome.words[32 * matrix + lane] == expected(matrix, lane, transposed));
    }
}

TEST_CASE("ldmatrix reads the addresses of as many lanes as it loads rows") {
    // The addresses of the other lanes are wild.
    const std::string wild = "  setp.ge.u32 %p1, %r1, 16;\n  @%p1 mov.u32 %r5, 3;\n";
    const std::string load = "  mov.u32 %r12, 0;\n  mov.u32 %r13, 0;\n"
                             "  ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r10, %r11}, [%r5];\n";
    const auto outcome = run(kernel_text(fill + wild + load + store_four), std::vector<std::uint32_t>(128));
    REQUIRE(outcome.message().empty());
    for (unsigned lane = 0; lane < 32; ++lane)
        CHECK(outcome.words[32 + lane] == expected(1, lane, false));
    const std::string too_many =
        "  ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r10, %r11, %r12, %r13}, [%r5];\n";
    CHECK(run(kernel_text(fill + wild + too_many + store_four), std::vector<std::uint32_t>(128)).finding() ==
          "misaligned");
}

TEST_CASE("stmatrix is the way back") {
    for (const std::string trans : {"", ".trans"}) {
        // Loaded, overwritten, stored back and read as words.
        const std::string there_and_back =
            "  ldmatrix.sync.aligned.m8n8.x4" + trans + ".shared.b16 {%r10, %r11, %r12, %r13}, [%r5];\n" +
            "  bar.warp.sync 0xffffffff;\n  st.shared.u32 [%r3], 0;\n  st.shared.u32 [%r3+128], 0;\n"
            "  st.shared.u32 [%r3+256], 0;\n  st.shared.u32 [%r3+384], 0;\n  bar.warp.sync 0xffffffff;\n" +
            "  stmatrix.sync.aligned.m8n8.x4" + trans + ".shared.b16 [%r5], {%r10, %r11, %r12, %r13};\n" +
            "  bar.warp.sync 0xffffffff;\n  ld.shared.u32 %r10, [%r3];\n  ld.shared.u32 %r11, [%r3+128];\n"
            "  ld.shared.u32 %r12, [%r3+256];\n  ld.shared.u32 %r13, [%r3+384];\n";
        const auto outcome =
            run(kernel_text(fill + there_and_back + store_four), std::vector<std::uint32_t>(128));
        REQUIRE(outcome.message().empty());
        for (std::uint32_t word = 0; word < 128; ++word)
            CHECK(outcome.words[word] == ((4 * word + 1) | (4 * word + 3) << 16));
    }
}
