// Bits, bit fields and dot products (PTX ISA 9.7.1.14 to 9.7.1.24), and carry chains (9.7.2), against the
// manual's definitions written as loops.

#include "support.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>

using namespace emu::test;

namespace {

__extension__ using UInt128 = unsigned __int128;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

/// The low 8 bits, says the manual; an H200 takes all bits for a value of 64 bits.
template <class T>
int bit_count(u32 operand) {
    return static_cast<int>(sizeof(T) == 8 ? operand : operand & 0xff);
}
/// bfe by the loop in the manual.
template <class T>
T extract_reference(T a, u32 b, u32 c) {
    using U = std::make_unsigned_t<T>;
    const int msb = 8 * sizeof(T) - 1;
    const int pos = bit_count<T>(b), len = bit_count<T>(c);
    const auto bit = [&](int i) { return static_cast<U>(a) >> i & 1; };
    const U sign = !std::is_signed_v<T> || len == 0 ? U{0} : bit(std::min(pos + len - 1, msb));
    U d = 0;
    for (int i = 0; i <= msb; ++i)
        d |= static_cast<U>((i < len && pos + i <= msb ? bit(pos + i) : sign) << i);
    return static_cast<T>(d);
}
template <class U>
U insert_reference(U a, U b, u32 c, u32 d) {
    const int msb = 8 * sizeof(U) - 1;
    const int pos = bit_count<U>(c), len = bit_count<U>(d);
    U f = b;
    for (int i = 0; i < len && pos + i <= msb; ++i)
        f = static_cast<U>((f & ~(U{1} << (pos + i))) | (a >> i & 1) << (pos + i));
    return f;
}

const std::vector<u32> positions{0, 1, 5, 16, 31, 32, 33, 63, 64, 200, 255, 256, 300};

template <class T>
void check_bfe(const std::string& type) {
    std::vector<std::tuple<T, u32, u32>> rows;
    for (const T a : integers<T>(16))
        for (const u32 b : positions)
            for (const u32 c : positions)
                rows.emplace_back(a, b, c);
    const auto results = run_ptx<T>("bfe." + type + " %d, %a, %b, %c;", rows);
    unsigned wrong = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto [a, b, c] = rows[i];
        wrong += results[i] != extract_reference(a, b, c);
    }
    CHECK(wrong == 0);
}
template <class U>
void check_bfi(const std::string& type) {
    std::vector<std::tuple<U, U, u32, u32>> rows;
    for (const U a : integers<U>(14))
        for (const u32 c : positions)
            for (const u32 d : positions)
                rows.emplace_back(a, static_cast<U>(~a * 3), c, d);
    const auto results = run_ptx<U>("bfi." + type + " %d, %a, %b, %c, %e;", rows);
    unsigned wrong = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto [a, b, c, d] = rows[i];
        wrong += results[i] != insert_reference(a, b, c, d);
    }
    CHECK(wrong == 0);
}

} // namespace

TEST_CASE("bfe follows the manual's loop for every position and length") {
    check_bfe<u32>("u32");
    check_bfe<std::int32_t>("s32");
    check_bfe<u64>("u64");
    check_bfe<std::int64_t>("s64");
}
TEST_CASE("bfi follows the manual's loop for every position and length") {
    check_bfi<u32>("b32");
    check_bfi<u64>("b64");
}

TEST_CASE("popc, clz and brev") {
    const auto rows = singles(integers<u32>(64));
    const auto ones = run_ptx<u32>("popc.b32 %d, %a;", rows), zeros = run_ptx<u32>("clz.b32 %d, %a;", rows);
    const auto reversed = run_ptx<u32>("brev.b32 %d, %a;", rows);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const u32 a = std::get<0>(rows[i]);
        u32 mirror = 0;
        for (int k = 0; k < 32; ++k)
            mirror |= (a >> k & 1) << (31 - k);
        CHECK(ones[i] == static_cast<u32>(__builtin_popcount(a)));
        CHECK(zeros[i] == (a ? static_cast<u32>(__builtin_clz(a)) : 32));
        CHECK(reversed[i] == mirror);
    }
    CHECK(run_one<u32>("popc.b64 %d, %a;", ~0ull) == 64);
    CHECK(run_one<u32>("clz.b64 %d, %a;", 0ull) == 64);
    CHECK(run_one<u32>("clz.b64 %d, %a;", 1ull << 40) == 23);
    CHECK(run_one<u64>("brev.b64 %d, %a;", 0x13ull) == 0xc800000000000000ull);
}

TEST_CASE("bfind finds the first bit that is not sign") {
    CHECK(run_one<u32>("bfind.u32 %d, %a;", 0u) == 0xffffffffu);
    CHECK(run_one<u32>("bfind.u32 %d, %a;", 0x80000000u) == 31);
    CHECK(run_one<u32>("bfind.s32 %d, %a;", -1) == 0xffffffffu);
    CHECK(run_one<u32>("bfind.s32 %d, %a;", -256) == 7);
    CHECK(run_one<u32>("bfind.shiftamt.u32 %d, %a;", 1u) == 31);
    CHECK(run_one<u32>("bfind.shiftamt.s64 %d, %a;", std::int64_t{-2}) == 63);
    CHECK(run_one<u32>("bfind.u64 %d, %a;", 1ull << 40) == 40);
    CHECK(run_one<u32>("bfind.shiftamt.u64 %d, %a;", 0ull) == 0xffffffffu);
}

TEST_CASE("fns counts set bits upwards and downwards") {
    // The manual's own examples, then the edges.
    CHECK(run_one<u32>("fns.b32 %d, %a, %b, %c;", 0xaaaaaaaau, 3u, 1) == 3);
    CHECK(run_one<u32>("fns.b32 %d, %a, %b, %c;", 0xaaaaaaaau, 3u, -1) == 3);
    CHECK(run_one<u32>("fns.b32 %d, %a, %b, %c;", 0xaaaaaaaau, 2u, 1) == 3);
    CHECK(run_one<u32>("fns.b32 %d, %a, %b, %c;", 0xaaaaaaaau, 2u, -1) == 1);
    CHECK(run_one<u32>("fns.b32 %d, %a, %b, %c;", 0xaaaaaaaau, 2u, 0) == 0xffffffffu);
    CHECK(run_one<u32>("fns.b32 %d, %a, %b, %c;", 0xaaaaaaaau, 3u, 0) == 3);
    CHECK(run_one<u32>("fns.b32 %d, %a, %b, %c;", 0x80000001u, 0u, 2) == 31);
    CHECK(run_one<u32>("fns.b32 %d, %a, %b, %c;", 0x80000001u, 5u, INT32_MIN) == 0); // As on an H200.
    CHECK(run_one<u32>("fns.b32 %d, %a, %b, %c;", 0x80000001u, 5u, INT32_MIN + 1) == 0xffffffffu);
    CHECK(run_one<u32>("fns.b32 %d, %a, %b, %c;", 0x80000001u, 0u, 3) == 0xffffffffu);
}

TEST_CASE("szext and bmsk clamp or wrap") {
    CHECK(run_one<std::int32_t>("szext.clamp.s32 %d, %a, %b;", 0x1ff, 9u) == -1);
    CHECK(run_one<std::int32_t>("szext.clamp.s32 %d, %a, %b;", 0x1ff, 40u) == 0x1ff);
    CHECK(run_one<std::int32_t>("szext.wrap.s32 %d, %a, %b;", 0x1ff, 33u) == -1);
    CHECK(run_one<u32>("szext.wrap.u32 %d, %a, %b;", 0xffffffffu, 0u) == 0);
    CHECK(run_one<u32>("szext.wrap.u32 %d, %a, %b;", 0xffffffffu, 32u) == 0);
    CHECK(run_one<u32>("bmsk.wrap.b32 %d, %a, %b;", 1u, 2u) == 6);
    CHECK(run_one<u32>("bmsk.clamp.b32 %d, %a, %b;", 32u, 2u) == 0);
    CHECK(run_one<u32>("bmsk.clamp.b32 %d, %a, %b;", 4u, 32u) == 0xfffffff0u);
    CHECK(run_one<u32>("bmsk.wrap.b32 %d, %a, %b;", 33u, 34u) == 6);
    CHECK(run_one<u32>("bmsk.clamp.b32 %d, %a, %b;", 31u, 1u) == 0x80000000u);
    CHECK(run_one<u32>("bmsk.clamp.b32 %d, %a, %b;", 7u, 0u) == 0);
}

TEST_CASE("dp4a and dp2a with every pair of signs") {
    const u32 a = 0x80ff7f01, b = 0xfe02ff80, c = 1000;
    const auto byte = [](u32 word, int i, bool is_signed) {
        const int value = static_cast<int>(word >> (8 * i) & 0xff);
        return is_signed && value > 127 ? value - 256 : value;
    };
    const auto half = [](u32 word, int i, bool is_signed) {
        const int value = static_cast<int>(word >> (16 * i) & 0xffff);
        return is_signed && value > 32767 ? value - 65536 : value;
    };
    for (const bool sa : {false, true})
        for (const bool sb : {false, true}) {
            const std::string types =
                std::string(sa ? ".s32" : ".u32") + (sb ? ".s32" : ".u32") + " %d, %a, %b, %c;";
            long four = c, low = c, high = c;
            for (int i = 0; i < 4; ++i)
                four += byte(a, i, sa) * byte(b, i, sb);
            for (int i = 0; i < 2; ++i) {
                low += half(a, i, sa) * byte(b, i, sb);
                high += half(a, i, sa) * byte(b, i + 2, sb);
            }
            CHECK(run_one<u32>("dp4a" + types, a, b, c) == static_cast<u32>(four));
            CHECK(run_one<u32>("dp2a.lo" + types, a, b, c) == static_cast<u32>(low));
            CHECK(run_one<u32>("dp2a.hi" + types, a, b, c) == static_cast<u32>(high));
        }
}

TEST_CASE("carry chains add, subtract and multiply 128 bits in words") {
    // %a and %b are 64 bits; 128-bit operands are (a, b) and (b, ~a).
    const auto rows = pairs(integers<u64>(24), integers<u64>(24, 7));
    const std::string split = "mov.b64 {%r0, %r1}, %a; mov.b64 {%r2, %r3}, %b; not.b64 %l0, %a;"
                              "mov.b64 {%r4, %r5}, %l0;";
    const auto upper_sum = run_ptx<u64>(split + "add.cc.u32 %r6, %r0, %r2; addc.cc.u32 %r6, %r1, %r3;"
                                                "addc.cc.u32 %r6, %r2, %r4; addc.u32 %r7, %r3, %r5;"
                                                "mov.b64 %d, {%r6, %r7};",
                                        rows);
    const auto upper_difference = run_ptx<u64>(split + "sub.cc.u32 %r6, %r0, %r2; subc.cc.u32 %r6, %r1, %r3;"
                                                       "subc.cc.u32 %r6, %r2, %r4; subc.u32 %r7, %r3, %r5;"
                                                       "mov.b64 %d, {%r6, %r7};",
                                               rows);
    const auto upper_sum_64 =
        run_ptx<u64>("not.b64 %l0, %a; add.cc.u64 %l1, %a, %b; addc.u64 %d, %b, %l0;", rows);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto [a, b] = rows[i];
        const UInt128 x = UInt128{b} << 64 | a, y = UInt128{~a} << 64 | b;
        CHECK(upper_sum[i] == static_cast<u64>((x + y) >> 64));
        CHECK(upper_sum_64[i] == static_cast<u64>((x + y) >> 64));
        CHECK(upper_difference[i] == static_cast<u64>((x - y) >> 64));
    }
}

TEST_CASE("mad.cc and madc make a 64-bit product from words") {
    const auto rows = pairs(integers<u64>(24), integers<u64>(24, 9));
    const auto results = run_ptx<u64>("mov.b64 {%r0, %r1}, %a; mov.b64 {%r2, %r3}, %b;"
                                      "mul.lo.u32 %r4, %r0, %r2; mul.hi.u32 %r5, %r0, %r2;"
                                      "mad.lo.u32 %r5, %r0, %r3, %r5; mad.lo.u32 %r5, %r1, %r2, %r5;"
                                      "mov.b64 %d, {%r4, %r5};",
                                      rows);
    // (a.lo * b.lo + ~0) with its carry into a.hi * b.hi.
    const auto carried =
        run_ptx<u64>("mov.b64 {%r0, %r1}, %a; mov.b64 {%r2, %r3}, %b;"
                     "mad.lo.cc.u32 %r4, %r0, %r2, 0xffffffff; madc.hi.cc.u32 %r5, %r0, %r2, %r1;"
                     "madc.lo.u32 %r6, %r1, %r3, 0; mov.b64 %d, {%r5, %r6};",
                     rows);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto [a, b] = rows[i];
        CHECK(results[i] == a * b);
        const u64 al = a & 0xffffffff, ah = a >> 32, bl = b & 0xffffffff, bh = b >> 32;
        const u64 first = (al * bl & 0xffffffff) + 0xffffffff;
        const u64 second = (al * bl >> 32) + ah + (first >> 32);
        const u64 third = (ah * bh + (second >> 32)) & 0xffffffff;
        CHECK(carried[i] == ((second & 0xffffffff) | third << 32));
    }
}

TEST_CASE("a carry and a borrow that did not happen are the same bit, as on an H200") {
    // The manual speaks of a carry after add.cc and of a borrow after sub.cc; an H200 has one flag, and
    // sub.cc sets it where nothing was borrowed. Every chain that keeps to one of the two is the same either
    // way.
    const auto run = [](const std::string& first, const std::string& second, u32 a, u32 b) {
        return run_one<u32>(first + ".u32 %r0, %a, %b; mov.u32 %r1, 10; " + second + ".u32 %d, %r1, 3;", a,
                            b);
    };
    const auto pair = [&](const std::string& first, const std::string& second) {
        return std::pair{run(first, second, 5, 3), run(first, second, 3, 5)};
    };
    CHECK(pair("sub.cc", "subc") == std::pair{7u, 6u}); // 3 - 5 borrows
    CHECK(pair("sub.cc", "addc") == std::pair{14u, 13u});
    CHECK(run("add.cc", "addc", 5, 3) == 13);
    CHECK(run("add.cc", "addc", 0xffffffff, 1) == 14);
    CHECK(run("add.cc", "subc", 5, 3) == 6);
    CHECK(run("add.cc", "subc", 0xffffffff, 1) == 7);
    // What goes out is the carry of the sum that was made.
    CHECK(run_one<u32>("add.cc.u32 %r0, %a, %b; subc.cc.u32 %r1, 0, 0; addc.u32 %d, 0, 0;", 5u, 3u) == 0);
    CHECK(run_one<u32>("sub.cc.u32 %r0, %a, %b; subc.cc.u32 %r1, 0, 0; addc.u32 %d, 0, 0;", 5u, 3u) == 1);
    CHECK(run_one<u64>("sub.cc.u64 %l0, %a, %b; addc.u64 %d, 0, 0;", u64{5}, u64{3}) == 1);
    CHECK(run_one<u64>("sub.cc.u64 %l0, %a, %b; madc.lo.u64 %d, 0, 0, 0;", u64{3}, u64{5}) == 0);
}

TEST_CASE("the carry belongs to the lane") {
    // Odd lanes carry, even ones do not, and the branch between does not disturb it.
    const std::vector<std::tuple<u32>> rows{{0u}, {1u}, {0u}, {1u}};
    const auto results = run_ptx<u32>("setp.eq.u32 %p0, %a, 1; mov.u32 %r0, 0; @%p0 mov.u32 %r0, 0xffffffff;"
                                      "add.cc.u32 %r1, %r0, 1; @%p0 bra SKIP; mov.u32 %r2, 5; SKIP:"
                                      "addc.u32 %d, %a, 10;",
                                      rows);
    CHECK(results == std::vector<u32>{10, 12, 10, 12});
}
