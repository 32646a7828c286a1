// Integer arithmetic (PTX ISA 9.7.1) against wider integers of the host.

#include "support.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>

using namespace emu::test;

namespace {

__extension__ using Int128 = __int128;
template <class T>
constexpr const char* suffix = sizeof(T) == 2   ? (std::is_signed_v<T> ? "s16" : "u16")
                               : sizeof(T) == 4 ? (std::is_signed_v<T> ? "s32" : "u32")
                                                : (std::is_signed_v<T> ? "s64" : "u64");

/// Compares `opcode`.type on all pairs with `expected(a, b)` in 128 bits, cut to the result's type.
template <class R, class T, class F>
void check_pairs(const std::string& opcode, F expected) {
    const auto rows = pairs(integers<T>(24), integers<T>(24, 2));
    const auto results = run_ptx<R>(opcode + "." + suffix<T> + " %d, %a, %b;", rows);
    unsigned wrong = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto [a, b] = rows[i];
        const R want = static_cast<R>(expected(Int128{a}, Int128{b}));
        if (results[i] != want && ++wrong == 1)
            UNSCOPED_INFO(opcode << "." << suffix<T> << " of " << +a << " and " << +b << ": " << +results[i]
                                 << " instead of " << +want);
    }
    CHECK(wrong == 0);
}

template <template <class> class Check>
void for_all_types() {
    Check<std::uint16_t>::run();
    Check<std::int16_t>::run();
    Check<std::uint32_t>::run();
    Check<std::int32_t>::run();
    Check<std::uint64_t>::run();
    Check<std::int64_t>::run();
}

template <class T>
struct Sums {
    static void run() {
        check_pairs<T, T>("add", [](Int128 a, Int128 b) { return a + b; });
        check_pairs<T, T>("sub", [](Int128 a, Int128 b) { return a - b; });
        check_pairs<T, T>("min", [](Int128 a, Int128 b) { return std::min(a, b); });
        check_pairs<T, T>("max", [](Int128 a, Int128 b) { return std::max(a, b); });
    }
};
/// Products by hand where 128 bits do not hold them: unsigned 64 times unsigned 64.
template <class T>
struct Products {
    static void run() {
        check_pairs<T, T>("mul.lo", [](Int128 a, Int128 b) {
            return static_cast<Int128>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
        });
        check_pairs<T, T>("mul.hi", [](Int128 a, Int128 b) {
            if constexpr (std::is_same_v<T, std::uint64_t>) {
                const auto half = [](Int128 x) {
                    return std::pair(static_cast<std::uint64_t>(x) & 0xffffffffu,
                                     static_cast<std::uint64_t>(x) >> 32);
                };
                const auto [al, ah] = half(a);
                const auto [bl, bh] = half(b);
                const std::uint64_t middle = ah * bl + (al * bl >> 32);
                const std::uint64_t other = al * bh + (middle & 0xffffffffu);
                return static_cast<Int128>(ah * bh + (middle >> 32) + (other >> 32));
            } else {
                return (a * b) >> (8 * sizeof(T));
            }
        });
    }
};
template <class T>
struct Quotients {
    static void run() {
        // By zero: all ones, as NVIDIA's GPUs do it; PTX leaves it open.
        check_pairs<T, T>("div", [](Int128 a, Int128 b) { return b == 0 ? Int128{-1} : a / b; });
        check_pairs<T, T>("rem", [](Int128 a, Int128 b) { return b == 0 ? Int128{-1} : a % b; });
    }
};

} // namespace

TEST_CASE("add, sub, min and max of every integer type wrap and order as defined") { for_all_types<Sums>(); }
TEST_CASE("mul.lo and mul.hi of every integer type") { for_all_types<Products>(); }
TEST_CASE("div and rem, by zero and of the smallest number by -1 too") { for_all_types<Quotients>(); }

TEST_CASE("mul.wide and mad.wide give twice the bits") {
    check_pairs<std::uint32_t, std::uint16_t>("mul.wide", [](Int128 a, Int128 b) { return a * b; });
    check_pairs<std::int32_t, std::int16_t>("mul.wide", [](Int128 a, Int128 b) { return a * b; });
    check_pairs<std::uint64_t, std::uint32_t>("mul.wide", [](Int128 a, Int128 b) { return a * b; });
    check_pairs<std::int64_t, std::int32_t>("mul.wide", [](Int128 a, Int128 b) { return a * b; });
    CHECK(run_one<std::int64_t>("mad.wide.s32 %d, %a, %b, %c;", INT32_MIN, INT32_MIN, std::int64_t{-5}) ==
          (std::int64_t{1} << 62) - 5);
    CHECK(run_one<std::uint32_t>("mad.wide.u16 %d, %a, %b, %c;", std::uint16_t{0xffff}, std::uint16_t{0xffff},
                                 std::uint32_t{7}) == 0xffffu * 0xffffu + 7);
}

TEST_CASE("mad.lo and mad.hi, wrapping and saturating") {
    CHECK(run_one<std::int32_t>("mad.lo.s32 %d, %a, %b, %c;", 100000, 100000, -7) ==
          static_cast<std::int32_t>(10000000000ll - 7));
    CHECK(run_one<std::int16_t>("mad.lo.s16 %d, %a, %b, %c;", std::int16_t{300}, std::int16_t{300},
                                std::int16_t{1}) == static_cast<std::int16_t>(90001));
    CHECK(run_one<std::uint64_t>("mad.hi.u64 %d, %a, %b, %c;", ~0ull, ~0ull, 3ull) == 1ull);
    CHECK(run_one<std::int32_t>("mad.hi.s32 %d, %a, %b, %c;", INT32_MIN, INT32_MIN, INT32_MAX) ==
          static_cast<std::int32_t>(0x40000000u + 0x7fffffffu));
    CHECK(run_one<std::int32_t>("mad.hi.sat.s32 %d, %a, %b, %c;", INT32_MIN, INT32_MIN, INT32_MAX) ==
          INT32_MAX);
    CHECK(run_one<std::int32_t>("mad.hi.sat.s32 %d, %a, %b, %c;", INT32_MIN, INT32_MAX, INT32_MIN) ==
          INT32_MIN);
}

TEST_CASE("mul24 and mad24 use 24 bits with their sign") {
    CHECK(run_one<std::uint32_t>("mul24.lo.u32 %d, %a, %b;", 0xff000003u, 5u) == 15);
    CHECK(run_one<std::int32_t>("mul24.lo.s32 %d, %a, %b;", 0x00ffffff, 5) == -5);
    CHECK(run_one<std::uint32_t>("mul24.hi.u32 %d, %a, %b;", 0xffffffu, 0xffffffu) ==
          static_cast<std::uint32_t>(0xffffffull * 0xffffffull >> 16));
    CHECK(run_one<std::int32_t>("mul24.hi.s32 %d, %a, %b;", 0x800000, 0x7fffff) ==
          static_cast<std::int32_t>(-0x800000ll * 0x7fffffll >> 16));
    CHECK(run_one<std::uint32_t>("mad24.lo.u32 %d, %a, %b, %c;", 3u, 4u, 0xffffffffu) == 11);
    CHECK(run_one<std::int32_t>("mad24.hi.sat.s32 %d, %a, %b, %c;", 0x7fffff, 0x7fffff, INT32_MAX) ==
          INT32_MAX);
}

TEST_CASE("saturating add and sub") {
    const auto clamp = [](Int128 x) { return std::clamp<Int128>(x, INT32_MIN, INT32_MAX); };
    check_pairs<std::int32_t, std::int32_t>("add.sat", [&](Int128 a, Int128 b) { return clamp(a + b); });
    check_pairs<std::int32_t, std::int32_t>("sub.sat", [&](Int128 a, Int128 b) { return clamp(a - b); });
}

TEST_CASE("abs, neg and sad") {
    CHECK(run_one<std::int32_t>("abs.s32 %d, %a;", INT32_MIN) == INT32_MIN);
    CHECK(run_one<std::int16_t>("abs.s16 %d, %a;", std::int16_t{-32767}) == 32767);
    CHECK(run_one<std::int64_t>("abs.s64 %d, %a;", std::int64_t{-5}) == 5);
    CHECK(run_one<std::int32_t>("neg.s32 %d, %a;", INT32_MIN) == INT32_MIN);
    CHECK(run_one<std::int16_t>("neg.s16 %d, %a;", std::int16_t{5}) == -5);
    CHECK(run_one<std::uint32_t>("sad.u32 %d, %a, %b, %c;", 3u, 0xffffffffu, 10u) == 0xfffffffcu + 10u);
    CHECK(run_one<std::int32_t>("sad.s32 %d, %a, %b, %c;", INT32_MIN, INT32_MAX, 2) == 1);
    CHECK(run_one<std::uint16_t>("sad.u16 %d, %a, %b, %c;", std::uint16_t{9}, std::uint16_t{4},
                                 std::uint16_t{1}) == 6);
}

TEST_CASE("packed 16-bit add, min and max; relu") {
    CHECK(run_one<std::uint32_t>("add.u16x2 %d, %a, %b;", 0xffff0001u, 0x0001ffffu) == 0x00000000u);
    CHECK(run_one<std::uint32_t>("add.s16x2 %d, %a, %b;", 0x7fff8000u, 0x00018000u) == 0x80000000u);
    CHECK(run_one<std::uint32_t>("min.u16x2 %d, %a, %b;", 0xffff0001u, 0x0001ffffu) == 0x00010001u);
    CHECK(run_one<std::uint32_t>("max.s16x2 %d, %a, %b;", 0xffff0001u, 0x0001ffffu) == 0x00010001u);
    CHECK(run_one<std::uint32_t>("min.s16x2 %d, %a, %b;", 0xffff0001u, 0x0001ffffu) == 0xffffffffu);
    CHECK(run_one<std::uint32_t>("min.relu.s16x2 %d, %a, %b;", 0xffff0003u, 0x00010005u) == 0x00000003u);
    CHECK(run_one<std::int32_t>("max.relu.s32 %d, %a, %b;", -3, -9) == 0);
    CHECK(run_one<std::int32_t>("min.relu.s32 %d, %a, %b;", 3, 9) == 3);
}

TEST_CASE("forms that do not exist are refused by name") {
    CHECK(refusal("add.sat.u32 %d, %a, %b;").find("sat") != std::string::npos);
    CHECK(refusal("mul.u32 %d, %a, %b;").find(".lo") != std::string::npos);
    CHECK(refusal("add.bogus.u32 %d, %a, %b;").find("bogus") != std::string::npos);
    CHECK(refusal("add.f32x2 %d, %a, %b;").find("f32x2") != std::string::npos);
    CHECK(refusal("add.u64 %d, %a, %b;") != "");
    CHECK(refusal("add.u32 %d, %a;") != "");
    CHECK(refusal("add.u32 %d, %a, %b;") == "");
}
