// mma.sync where the place at which a term is cut shows what the sum is made of. All forms are compared with
// an H200's results in tests/hardware.

#include "kernel.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace emu;
using namespace emu::test;

namespace {

/// D of m16n8k16 where every row of A and every column of B has these elements at k = 0 and 1.
std::uint32_t sum_of(const std::string& types, unsigned a0, unsigned b0, unsigned a1, unsigned b1) {
    const std::string a = std::to_string(a0 | a1 << 8), b = std::to_string(b0 | b1 << 8);
    const std::string text =
        // The lowest bytes of a row and of a column are those of every fourth lane.
        "  and.b32 %r2, %r1, 3;\n  setp.eq.u32 %p1, %r2, 0;\n  selp.b32 %r3, " + a +
        ", 0, %p1;\n  selp.b32 %r4, " + b +
        ", 0, %p1;\n  mov.u32 %r5, 0;\n  mov.b32 %f0, 0f00000000;\n"
        "  mma.sync.aligned.m16n8k16.row.col.f32." +
        types +
        ".f32 {%f1, %f2, %f3, %f4}, {%r3, %r3}, {%r4}, {%f0, %f0, %f0, %f0};\n"
        "  mul.wide.u32 %rd8, %r1, 4;\n  add.s64 %rd9, %rd0, %rd8;\n  st.global.f32 [%rd9], %f1;\n  ret;";
    const auto outcome = run(kernel_text(text), std::vector<std::uint32_t>(32));
    REQUIRE(outcome.message().empty());
    for (unsigned lane = 1; lane < 32; ++lane)
        CHECK(outcome.words[lane] == outcome.words[0]);
    return outcome.words[0];
}

} // namespace

TEST_CASE("bytes are multiplied as f16, in which a subnormal e4m3 number is normal") {
    // 2^15 times 2^-9, and 2^-8 times 2^-9. With the exponent of e4m3's least normal number the first product
    // would count as one of 2^9, and the second be cut.
    constexpr std::uint32_t exact = 0x42800001; // 2^6 + 2^-17
    CHECK(sum_of("e5m2.e4m3", 0x78, 0x01, 0x1c, 0x01) == exact);
    CHECK(sum_of("e4m3.e5m2", 0x01, 0x78, 0x01, 0x1c) == exact);
    // A term that lies below 25 bits is cut: 2^15 times 1 and 2^-9 times 2^-6.
    CHECK(sum_of("e5m2.e4m3", 0x78, 0x38, 0x18, 0x08) == 0x47000000);
}
