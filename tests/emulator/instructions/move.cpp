// mov and prmt (PTX ISA 9.7.9.3, 9.7.9.4, 9.7.9.7) and special registers (section 10).

#include "support.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace emu::test;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

TEST_CASE("mov of registers, immediates and predicates") {
    CHECK(run_one<u32>("mov.u32 %d, 0x12345678;") == 0x12345678u);
    CHECK(run_one<u64>("mov.u64 %d, -1;") == ~u64{0});
    CHECK(run_one<float>("mov.f32 %d, 0f3fc00000;") == 1.5f);
    CHECK(run_one<double>("mov.f64 %d, 0dbff8000000000000;") == -1.5);
    CHECK(run_one<u16>("mov.b16 %d, %a;", u16{0xabcd}) == 0xabcd);
    CHECK(run_one<u32>("setp.eq.u32 %p0, 0, 0; mov.pred %p1, !%p0; mov.pred %p2, 1; and.pred %p1, %p2, %p0;"
                       "selp.u32 %d, 1, 2, %p1;") == 1);
    CHECK(run_one<u64>(
              "mov.b128 %q0, {%a, %b}; mov.b128 %q1, %q0; mov.b128 {%l0, %l1}, %q1; sub.u64 %d, %l1, %l0;",
              u64{5}, u64{12}) == 7);
}

TEST_CASE("mov packs and unpacks, lowest part first") {
    CHECK(run_one<u64>("mov.b64 %d, {%a, %b};", 0x11223344u, 0xaabbccddu) == 0xaabbccdd11223344ull);
    CHECK(run_one<u32>("mov.b32 %d, {%a, %b};", u16{0x1122}, u16{0xaabb}) == 0xaabb1122u);
    CHECK(run_one<u64>("mov.b64 %d, {%a, %b, %c, %e};", u16{1}, u16{2}, u16{3}, u16{4}) ==
          0x0004000300020001ull);
    CHECK(run_one<u32>("mov.b64 {%r0, %d}, %a;", 0xaabbccdd11223344ull) == 0xaabbccddu);
    CHECK(run_one<u32>("mov.b64 {%d, _}, %a;", 0xaabbccdd11223344ull) == 0x11223344u);
    CHECK(run_one<u16>("mov.b32 {%d, %h0}, %a;", 0xaabb1122u) == 0x1122);
    CHECK(run_one<u16>("mov.b64 {%h0, %h1, %d, %h3}, %a;", 0x0004000300020001ull) == 3);
    CHECK(run_one<u32>("mov.b32 %d, {1, 2};") == 0x00020001u);
    CHECK(
        run_one<u32>("{.reg .b8 %x, %y, %z, %w; mov.b32 {%x, %y, %z, %w}, %a; mov.b32 %d, {%w, %z, %y, %x};}",
                     0x01020384u) == 0x84030201u);
}

TEST_CASE("mov.v2 and mov.v4 move part by part") {
    CHECK(run_one<u64>(
              "{.reg .v4 .u16 %v, %w; mov.v4.u16 %v, {%a, 4, 5, 6}; mov.v4.u16 %w, %v; mov.b64 %d, %w;}",
              u16{3}) == 0x0006000500040003ull);
    CHECK(run_one<u32>("{.reg .v4 .f32 %v; mov.v4.f32 %v, {%a, %b, %a, %b}; mov.b32 %d, %v.w;}", 1.5f,
                       2.5f) == 0x40200000u);
    CHECK(run_one<u64>("{.reg .v2 .u64 %v; mov.v2.u64 %v, {%a, %b}; sub.u64 %d, %v.y, %v.x;}", u64{5},
                       u64{12}) == 7);
    // All parts are read first.
    CHECK(run_one<u64>("mov.u32 %r0, %a; mov.u32 %r1, %b; mov.v2.u32 {%r0, %r1}, {%r1, %r0};"
                       "mov.b64 %d, {%r0, %r1};",
                       1u, 2u) == 0x0000000100000002ull);
}

TEST_CASE("a constant may be added to a register where it is read") {
    CHECK(run_one<u32>("mov.u32 %d, %a+1;", 5u) == 6);
    CHECK(run_one<u32>("add.u32 %d, 3, %a+(2*4);", 5u) == 16);
    CHECK(run_one<u32>("sub.u32 %d, %a+1, %b+WARP_SZ;", 50u, 1u) == 18);
    CHECK(run_one<u64>("mov.u64 %d, %a+8;", ~u64{0}) == 7);
    CHECK(run_one<u16>("mov.u16 %d, %a+1;", u16{0xffff}) == 0);
    CHECK(run_one<u32>("mov.u32 %d, 1; setp.eq.u32 %p0, %a+1, 9; @%p0 mov.u32 %d, %a+4;", 8u) == 12);
    CHECK(run_one<u32>("mov.u32 %d, 1; setp.eq.u32 %p0, %a+1, 9; @%p0 mov.u32 %d, %a+4;", 9u) == 1);
    CHECK(run_one<u32>(
              "mov.u32 %r0, %a; L: mov.u32 %d, %r0+1; mov.u32 %r0, %d; setp.lt.u32 %p0, %d, 9; @%p0 bra L;",
              5u) == 9);
}

TEST_CASE("prmt picks bytes and replicates signs") {
    const u32 a = 0x83828180, b = 0x07860504;
    const auto byte = [&](u32 i) { return static_cast<u32>((u64{b} << 32 | a) >> (8 * (i & 7)) & 0xff); };
    for (const u32 selector : {0x3210u, 0x7654u, 0x0000u, 0x4567u, 0xba98u, 0xfedcu, 0x1e2fu}) {
        u32 want = 0;
        for (u32 k = 0; k < 4; ++k) {
            const u32 s = selector >> (4 * k) & 15;
            want |= (s & 8 ? (byte(s) & 0x80 ? 0xffu : 0u) : byte(s)) << (8 * k);
        }
        CHECK(run_one<u32>("prmt.b32 %d, %a, %b, %c;", a, b, selector) == want);
    }
    // The table of the manual, most significant byte first, for c = 0 to 3.
    const std::pair<std::string, std::array<const char*, 4>> modes[] = {
        {"f4e", {"3210", "4321", "5432", "6543"}}, {"b4e", {"5670", "6701", "7012", "0123"}},
        {"rc8", {"0000", "1111", "2222", "3333"}}, {"ecl", {"3210", "3211", "3222", "3333"}},
        {"ecr", {"0000", "1110", "2210", "3210"}}, {"rc16", {"1010", "3232", "1010", "3232"}}};
    for (const auto& [mode, table] : modes)
        for (u32 c = 0; c < 4; ++c) {
            u32 want = 0;
            for (int k = 0; k < 4; ++k)
                want = want << 8 | byte(static_cast<u32>(table[c][k] - '0'));
            CHECK(run_one<u32>("prmt.b32." + mode + " %d, %a, %b, %c;", a, b, c) == want);
        }
}

TEST_CASE("special registers of threads and blocks") {
    const std::vector<std::tuple<u32>> rows(64, std::tuple<u32>{0});
    const auto lanes = run_ptx<u32>("mov.u32 %r0, %tid.x; rem.u32 %r0, %r0, 32; mov.u32 %r1, %laneid;"
                                    "sub.u32 %d, %r0, %r1;",
                                    rows);
    for (const u32 difference : lanes)
        CHECK(difference == 0);
    CHECK(run_one<u32>("mov.u32 %d, WARP_SZ;") == 32);
    CHECK(run_one<u32>("mov.u32 %d, %ntid.y;") == 1);
    CHECK(run_one<u32>("mov.u32 %r0, %lanemask_lt; mov.u32 %r1, %lanemask_ge; add.u32 %d, %r0, %r1;") ==
          0xffffffffu);
    CHECK(run_one<u16>("mov.u16 %d, %ntid.z;") == 1);
    CHECK(run_one<u32>("mov.pred %p0, %is_explicit_cluster; selp.u32 %d, 1, 0, %p0;") == 0);
}

TEST_CASE("clocks never run backwards") {
    const std::string later = "; sub.u64 %l2, %l1, %l0; setp.gt.s64 %p0, %l2, 0; selp.u32 %d, 1, 0, %p0;";
    CHECK(run_one<u32>("mov.u64 %l0, %clock64; mov.u64 %l1, %clock64" + later) == 1);
    CHECK(run_one<u32>("mov.u64 %l0, %globaltimer; mov.u64 %l1, %globaltimer" + later) == 1);
    CHECK(run_one<u32>(
              "mov.u32 %r0, %clock; mov.u32 %r1, %clock; sub.u32 %r2, %r1, %r0; setp.ne.u32 %p0, %r2, 0;"
              "selp.u32 %d, 1, 0, %p0;") == 1);
    CHECK(run_one<u32>("mov.u64 %l0, %globaltimer; nanosleep.u32 100000; mov.u64 %l1, %globaltimer;"
                       "sub.u64 %l2, %l1, %l0; setp.ge.u64 %p0, %l2, 100000; selp.u32 %d, 1, 0, %p0;") == 1);
    CHECK(refusal("mov.u64 %d, %clock;") != "");
    CHECK(refusal("mov.u32 %d, %nosuch;") != "");
}
