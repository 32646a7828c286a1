// Video instructions (PTX ISA 9.7.18): the manual's definitions and hand-made values; where an H200 departs
// from the manual, what it gives.

#include "support.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace emu::test;
using u32 = std::uint32_t;

TEST_CASE("vadd, vsub, vabsdiff, vmin and vmax on words and parts") {
    CHECK(run_one<u32>("vadd.s32.u32.s32 %d, %a, %b;", 5u, 0xfffffffeu) == 3);
    CHECK(run_one<u32>("vadd.s32.u32.s32.sat %d, %a, %b;", 0xffffffffu, 1u) == 0x7fffffffu);
    CHECK(run_one<u32>("vadd.u32.s32.s32.sat %d, %a, %b;", 0xffffffffu, 0u) == 0);
    CHECK(run_one<u32>("vsub.s32.s32.s32 %d, %a.b1, %b.h1;", 0x0000fe00u, 0x00030000u) == 0xfffffffbu);
    CHECK(run_one<u32>("vsub.u32.u32.u32 %d, %a.b1, %b.h1;", 0x0000fe00u, 0x00030000u) == 0xfb);
    CHECK(run_one<u32>("vabsdiff.u32.s32.s32 %d, %a, %b;", 0x80000000u, 0x7fffffffu) == 0xffffffffu);
    CHECK(run_one<u32>("vmin.s32.s32.u32 %d, %a, %b;", 0xffffffffu, 1u) == 0xffffffffu);
    CHECK(run_one<u32>("vmax.u32.u32.u32 %d, %a.h0, %b.b3;", 0xffff0007u, 0x09000000u) == 9);
}

TEST_CASE("the second operation of a scalar video instruction") {
    CHECK(run_one<u32>("vadd.u32.u32.u32.add %d, %a, %b, %c;", 1u, 2u, 0xfffffffdu) == 0);
    CHECK(run_one<u32>("vadd.s32.s32.s32.min %d, %a, %b, %c;", 1u, 2u, 0xfffffffdu) == 0xfffffffdu);
    CHECK(run_one<u32>("vadd.u32.u32.u32.max %d, %a, %b, %c;", 1u, 2u, 0xfffffffdu) == 0xfffffffdu);
    CHECK(run_one<u32>("vadd.u32.u32.u32 %d.b1, %a, %b, %c;", 0x101u, 2u, 0x11223344u) == 0x11220344u);
    CHECK(run_one<u32>("vadd.u32.u32.u32.sat %d.b1, %a, %b, %c;", 0x101u, 2u, 0x11223344u) == 0x1122ff44u);
}

TEST_CASE("an unsigned video result saturates below and wraps above, as on an H200") {
    CHECK(run_one<u32>("vsub.u32.u32.u32.sat %d, %a, %b;", 3u, 5u) == 0);
    CHECK(run_one<u32>("vadd.u32.u32.u32.sat %d, %a, %b;", 0xffffffffu, 3u) == 2);
    CHECK(run_one<u32>("vabsdiff.u32.s32.u32.sat %d, %a, %b;", 0x80000000u, 0xffffffffu) == 0x7fffffffu);
    CHECK(run_one<u32>("vabsdiff.u32.s32.u32.sat %d, %a.b0, %b.b0;", 0x80u, 0xffu) == 0x17f);
    CHECK(run_one<u32>("vabsdiff.s32.s32.u32.sat %d, %a, %b;", 0x80000000u, 0xffffffffu) == 0x7fffffffu);
    CHECK(run_one<u32>("vmin.u32.s32.s32.sat %d, %a, %b;", 0xffffffffu, 7u) == 0);
}

TEST_CASE("a byte or half of a video result saturates to its top, also where it is negative, as on an H200") {
    const char* const difference = "vsub.s32.u32.u32.sat %d.h0, %a, %b, %c;";
    CHECK(run_one<u32>(difference, 0u, 40000u, 0x11223344u) == 0x11227fffu);
    CHECK(run_one<u32>(difference, 5u, 7u, 0x11223344u) == 0x11227fffu);
    CHECK(run_one<u32>(difference, 7u, 5u, 0x11223344u) == 0x11220002u);
    CHECK(run_one<u32>("vadd.u32.s32.s32.sat %d.b0, %a, %b, %c;", 0xfffffffdu, 1u, 0x11223344u) ==
          0x112233ffu);
    CHECK(run_one<u32>("vabsdiff.s32.u32.u32.sat %d.b1, %a, %b, %c;", 1u, 200u, 0x11223344u) == 0x11227f44u);
}

TEST_CASE("the second operation compares 64 bits, a sum sign-extended, as on an H200") {
    // The sum is 0x80000000; an unsigned comparison sees 0xffffffff80000000.
    CHECK(run_one<u32>("vadd.u32.u32.u32.min %d, %a, %b, %c;", 0x7fffffffu, 1u, 0xfffffff0u) == 0xfffffff0u);
    CHECK(run_one<u32>("vadd.u32.u32.u32.max %d, %a, %b, %c;", 0x7fffffffu, 1u, 0xfffffff0u) == 0x80000000u);
    // A difference has all of its bits: 2^32 - 1 is no -1.
    CHECK(run_one<u32>("vabsdiff.s32.u32.u32.min %d, %a, %b, %c;", 0u, 0xffffffffu, 5u) == 5);
    CHECK(run_one<u32>("vmax.s32.u32.u32.max %d, %a, %b, %c;", 0u, 0xffffffffu, 5u) == 0xffffffffu);
    CHECK(run_one<u32>("vset.s32.u32.lt.min %d, %a, %b, %c;", 1u, 2u, 0xffffffffu) == 0xffffffffu);
    CHECK(run_one<u32>("vset.u32.s32.lt.min %d, %a, %b, %c;", 1u, 2u, 0xffffffffu) == 1);
}

TEST_CASE("vshl, vshr and vset") {
    CHECK(run_one<u32>("vshl.u32.u32.u32.clamp %d, %a, %b;", 3u, 40u) == 0);
    CHECK(run_one<u32>("vshl.u32.u32.u32.wrap %d, %a, %b;", 3u, 33u) == 6);
    CHECK(run_one<u32>("vshl.u32.u32.u32.sat.clamp %d, %a, %b;", 3u, 31u) == 0xffffffffu);
    CHECK(run_one<u32>("vshl.u32.u32.u32.sat.clamp %d, %a, %b;", 1u, 32u) == 0xffffffffu);
    // Of the value 34 bits are seen: nothing of 4 << 32, and of 2 << 32 a sign.
    CHECK(run_one<u32>("vshl.u32.u32.u32.sat.clamp %d, %a, %b;", 4u, 32u) == 0);
    CHECK(run_one<u32>("vshl.u32.u32.u32.sat.clamp %d, %a, %b;", 2u, 32u) == 0);
    CHECK(run_one<u32>("vshl.s32.s32.u32.sat.clamp %d, %a, %b;", 2u, 32u) == 0x80000000u);
    // A byte takes the lowest bits of a word that saturated as a word.
    CHECK(run_one<u32>("vshl.u32.u32.u32.sat.clamp %d.b1, %a, %b, %c;", 3u, 8u, 0x11223344u) == 0x11220044u);
    CHECK(run_one<u32>("vshr.s32.s32.u32.clamp %d, %a.b3, %b;", 0x80000000u, 3u) == 0xfffffff0u);
    CHECK(run_one<u32>("vshr.u32.u32.u32.clamp %d, %a, %b;", 0x80000000u, 99u) == 0);
    CHECK(run_one<u32>("vset.s32.u32.lt %d, %a, %b;", 0xffffffffu, 0u) == 1);
    CHECK(run_one<u32>("vset.u32.u32.lt.add %d, %a, %b, %c;", 1u, 2u, 10u) == 11);
    CHECK(run_one<u32>("vset.u32.u32.ge %d.b3, %a.b0, %b.b0, %c;", 7u, 7u, 0x11223344u) == 0x01223344u);
}

TEST_CASE(".h1 of a destination takes the upper half of the result, as on an H200") {
    CHECK(run_one<u32>("vset.u32.u32.ge %d.h1, %a.b0, %b.b0, %c;", 7u, 7u, 0x11223344u) == 0x00003344u);
    CHECK(run_one<u32>("vmax.u32.u32.u32 %d.h1, %a, %b.h1, %c;", 0x00020821u, 0x00020821u, 0xffu) ==
          0x000200ffu);
    CHECK(run_one<u32>("vmax.u32.u32.u32 %d.h0, %a, %b.h1, %c;", 0x00020821u, 0x00020821u, 0xff0000ffu) ==
          0xff000821u);
}

TEST_CASE("vmad multiplies, adds, scales and saturates") {
    CHECK(run_one<u32>("vmad.u32.u32.u32 %d, %a, %b, %c;", 3u, 4u, 5u) == 17);
    CHECK(run_one<u32>("vmad.s32.s32.u32 %d, %a, %b, -%c;", 0xfffffffdu, 4u, 5u) == static_cast<u32>(-17));
    CHECK(run_one<u32>("vmad.s32.u32.u32 %d, -%a, %b, %c;", 3u, 4u, 5u) == static_cast<u32>(-7));
    CHECK(run_one<u32>("vmad.u32.u32.u32.po %d, %a, %b, %c;", 3u, 4u, 5u) == 18);
    CHECK(run_one<u32>("vmad.u32.u32.u32.shr7 %d, %a.h0, %b.h0, %c;", 0x8000u, 0x8000u, 0x80u) ==
          (0x40000080u >> 7));
    CHECK(run_one<u32>("vmad.s32.s32.s32.sat.shr15 %d, %a, %b, %c;", 0x7fffffffu, 0x7fffffffu, 0u) ==
          0x7fffffffu);
}

TEST_CASE("vmad takes words for signed ones, as on an H200") {
    CHECK(run_one<u32>("vmad.u32.u32.u32.sat %d, %a, %b, %c;", 0xffffffffu, 2u, 0u) == 0);
    CHECK(run_one<u32>("vmad.u32.u32.u32.sat %d, %a, %b, %c;", 0x7fffffffu, 3u, 0u) == 0xffffffffu);
    CHECK(run_one<u32>("vmad.u32.u32.u32.sat %d, %a.h1, %b.h1, %c;", 0xffff0000u, 0xffff0000u, 0x20000u) ==
          0xffffffffu);
    CHECK(run_one<u32>("vmad.u32.u32.u32.shr7 %d, %a, %b, %c;", 1u, 1u, 0xffffffffu) == 0);
    CHECK(run_one<u32>("vmad.u32.u32.u32.shr7 %d, %a, %b, %c;", 1u, 1u, 0xfffffffeu) == 0xffffffffu);
    CHECK(run_one<u32>("vmad.s32.s32.s32.sat %d, %a, %b, %c;", 0x80000000u, 2u, 0u) == 0x80000000u);
}

TEST_CASE("SIMD video instructions on halves") {
    CHECK(run_one<u32>("vadd2.u32.u32.u32 %d, %a, %b, %c;", 0xffff0001u, 0x00020003u, 0u) == 0x00010004u);
    CHECK(run_one<u32>("vadd2.u32.u32.u32.sat %d, %a, %b, %c;", 0xffff0001u, 0x00020003u, 0u) == 0xffff0004u);
    CHECK(run_one<u32>("vsub2.s32.s32.s32 %d.h0, %a.h01, %b.h32, %c;", 0x00050009u, 0x00010002u,
                       0xaaaabbbbu) == 0xaaaa0003u);
    CHECK(run_one<u32>("vavrg2.s32.s32.s32 %d, %a, %b, %c;", 0xfffd0003u, 0x00000004u, 0u) == 0xfffe0004u);
    CHECK(run_one<u32>("vabsdiff2.u32.s32.s32.add %d, %a, %b, %c;", 0xfffd0003u, 0x00020009u, 100u) == 111);
    CHECK(run_one<u32>("vmin2.s32.s32.u32 %d, %a, %b, %c;", 0xffff0003u, 0x00010002u, 0u) == 0xffff0002u);
    CHECK(run_one<u32>("vmax2.u32.u32.u32 %d, %a, %b, %c;", 0xffff0003u, 0x00010002u, 0u) == 0xffff0003u);
    CHECK(run_one<u32>("vset2.u32.u32.lt %d, %a, %b, %c;", 0xffff0001u, 0x00010002u, 0u) == 0x00000001u);
}

TEST_CASE("SIMD video instructions on bytes") {
    CHECK(run_one<u32>("vadd4.u32.u32.u32.sat %d, %a, %b, %c;", 0xff010203u, 0x01010101u, 0u) == 0xff020304u);
    CHECK(run_one<u32>("vabsdiff4.u32.u32.u32.add %d, %a, %b, %c;", 0x10203040u, 0x11223344u, 1000u) == 1010);
    CHECK(run_one<u32>("vmin4.s32.s32.s32 %d, %a, %b, %c;", 0x80017f00u, 0x01020304u, 0u) == 0x80010300u);
    CHECK(run_one<u32>("vset4.u32.u32.ne %d.b310, %a, %b, %c;", 0x01020304u, 0x01020305u, 0xccddeeffu) ==
          0x00dd0001u);
    CHECK(run_one<u32>("vavrg4.u32.u32.u32 %d, %a.b0123, %b.b7777, %c;", 0x01020304u, 0x03000000u, 0u) ==
          0x04030302u);
    CHECK(refusal("vadd4.u32.u32.u32 %d, %a.h0, %b, %b;") != "");
}
