// Logic and shifts (PTX ISA 9.7.8), comparison and selection (9.7.6).

#include "support.hpp"

#include <catch2/catch_test_macros.hpp>

#include <cmath>

using namespace emu::test;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

TEST_CASE("and, or, xor, not and cnot of words and predicates") {
    const auto rows = pairs(integers<u64>(20), integers<u64>(20, 3));
    const auto both = run_ptx<u64>("and.b64 %l0, %a, %b; or.b64 %l1, %a, %b; xor.b64 %l0, %l0, %l1;"
                                   "not.b64 %d, %l0;",
                                   rows);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto [a, b] = rows[i];
        CHECK(both[i] == ~(a ^ b));
    }
    CHECK(run_one<std::uint16_t>("cnot.b16 %d, %a;", std::uint16_t{0}) == 1);
    CHECK(run_one<u32>("cnot.b32 %d, %a;", 7u) == 0);
    const std::vector<std::tuple<u32, u32>> bits{{0, 0}, {0, 1}, {1, 0}, {1, 1}};
    const auto predicates = run_ptx<u32>(
        "setp.ne.u32 %p0, %a, 0; setp.ne.u32 %p1, %b, 0; and.pred %p2, %p0, !%p1; or.pred %p3, %p2, %p1;"
        "xor.pred %p4, %p0, %p3; not.pred %p5, %p4; selp.u32 %d, 1, 0, %p5;",
        bits);
    for (std::size_t i = 0; i < bits.size(); ++i) {
        const bool a = std::get<0>(bits[i]), b = std::get<1>(bits[i]);
        CHECK(predicates[i] == static_cast<u32>(!(a ^ ((a && !b) || b))));
    }
}

TEST_CASE("lop3 with every truth table") {
    for (int table = 0; table < 256; ++table) {
        const u32 a = 0xf0f0aaaa, b = 0xcccc5a5a, c = 0xaaaa0ff0;
        u32 want = 0;
        for (int k = 0; k < 32; ++k) {
            const int index = static_cast<int>((a >> k & 1) << 2 | (b >> k & 1) << 1 | (c >> k & 1));
            want |= static_cast<u32>(table >> index & 1) << k;
        }
        CHECK(run_one<u32>("lop3.b32 %d, %a, %b, %c, " + std::to_string(table) + ";", a, b, c) == want);
    }
}

TEST_CASE("lop3.BoolOp also says whether the result is not zero") {
    const std::vector<std::tuple<u32, u32>> rows{{0, 0}, {0, 1}, {6, 0}, {6, 1}};
    const std::string set = "setp.ne.u32 %p0, %b, 0; ";
    CHECK(run_ptx<u32>(set + "lop3.or.b32 %r0|%p1, %a, %a, %a, 0x80, %p0; selp.u32 %d, 1, 0, %p1;", rows) ==
          std::vector<u32>{0, 1, 1, 1});
    CHECK(run_ptx<u32>(set + "lop3.and.b32 %r0|%p1, %a, %a, %a, 0x80, !%p0; selp.u32 %d, %r0, 9, %p1;",
                       rows) == std::vector<u32>{9, 9, 6, 9});
}

TEST_CASE("shl and shr clamp their amount at the width") {
    const std::vector<u32> amounts{0, 1, 15, 16, 17, 31, 32, 33, 63, 64, 65, 0x80000000u, 0xffffffffu};
    const auto check = [&]<class T>(T, const std::string& type) {
        const u32 width = 8 * sizeof(T);
        const auto rows = pairs(integers<T>(12), amounts);
        const auto right = run_ptx<T>("shr." + type + " %d, %a, %b;", rows);
        const auto left = run_ptx<T>("shl.b" + std::to_string(width) + " %d, %a, %b;", rows);
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const auto [a, n] = rows[i];
            // Shifting by one, `n` times.
            T r = a, l = a;
            for (u32 k = 0; k < std::min(n, width); ++k) {
                r = static_cast<T>(r >> 1);
                l = static_cast<T>(static_cast<std::make_unsigned_t<T>>(l) * 2u);
            }
            CHECK(right[i] == r);
            CHECK(left[i] == l);
        }
    };
    check(std::uint16_t{}, "u16");
    check(std::int16_t{}, "s16");
    check(u32{}, "u32");
    check(std::int32_t{}, "s32");
    check(u64{}, "b64");
    check(std::int64_t{}, "s64");
}

TEST_CASE("shf in its four forms") {
    for (const u32 n : {0u, 1u, 8u, 31u, 32u, 33u, 40u, 0xffffffffu}) {
        const u32 low = 0x89abcdef, high = 0x01234567;
        const u64 value = u64{high} << 32 | low;
        const u32 clamped = std::min(n, 32u), wrapped = n % 32;
        const auto left = [&](u32 s) { return s == 32 ? low : static_cast<u32>((value << s) >> 32); };
        const auto right = [&](u32 s) { return s == 32 ? high : static_cast<u32>(value >> s); };
        CHECK(run_one<u32>("shf.l.clamp.b32 %d, %a, %b, %c;", low, high, n) == left(clamped));
        CHECK(run_one<u32>("shf.l.wrap.b32 %d, %a, %b, %c;", low, high, n) == left(wrapped));
        CHECK(run_one<u32>("shf.r.clamp.b32 %d, %a, %b, %c;", low, high, n) == right(clamped));
        CHECK(run_one<u32>("shf.r.wrap.b32 %d, %a, %b, %c;", low, high, n) == right(wrapped));
    }
}

TEST_CASE("integer setp with every operator and sign") {
    const auto check = [&]<class T>(T, const std::string& type) {
        const auto rows = pairs(integers<T>(14), integers<T>(14, 5));
        const auto one = [&](const std::string& name, auto compare) {
            const auto results =
                run_ptx<u32>("setp." + name + "." + type + " %p0, %a, %b; selp.u32 %d, 1, 0, %p0;", rows);
            const auto sets = run_ptx<u32>("set." + name + ".u32." + type + " %d, %a, %b;", rows);
            for (std::size_t i = 0; i < rows.size(); ++i) {
                const auto [a, b] = rows[i];
                CHECK(results[i] == static_cast<u32>(compare(a, b)));
                CHECK(sets[i] == (compare(a, b) ? 0xffffffffu : 0u));
            }
        };
        one("eq", [](T a, T b) { return a == b; });
        one("ne", [](T a, T b) { return a != b; });
        one("lt", [](T a, T b) { return a < b; });
        one("le", [](T a, T b) { return a <= b; });
        one("gt", [](T a, T b) { return a > b; });
        one("ge", [](T a, T b) { return a >= b; });
        if constexpr (std::is_unsigned_v<T>) {
            one("lo", [](T a, T b) { return a < b; });
            one("ls", [](T a, T b) { return a <= b; });
            one("hi", [](T a, T b) { return a > b; });
            one("hs", [](T a, T b) { return a >= b; });
        }
    };
    check(std::uint16_t{}, "u16");
    check(std::int16_t{}, "s16");
    check(u32{}, "u32");
    check(std::int32_t{}, "s32");
    check(u64{}, "u64");
    check(std::int64_t{}, "s64");
    CHECK(refusal("setp.lt.b32 %p0, %a, %b; mov.u32 %d, 0;").find(".eq and .ne") != std::string::npos);
    CHECK(refusal("setp.hi.s32 %p0, %a, %b; mov.u32 %d, 0;") != "");
}

TEST_CASE("floating-point setp: ordered and unordered operators") {
    const auto rows = pairs(floats(40), floats(40, 2));
    const auto wide_rows = pairs(doubles(30), doubles(30, 2));
    const auto one = [&](const std::string& name, auto compare) {
        const auto f32 = run_ptx<u32>("setp." + name + ".f32 %p0, %a, %b; selp.u32 %d, 1, 0, %p0;", rows);
        const auto f64 = run_ptx<float>("set." + name + ".f32.f64 %d, %a, %b;", wide_rows);
        unsigned wrong = 0;
        for (std::size_t i = 0; i < rows.size(); ++i)
            wrong += f32[i] != static_cast<u32>(compare(std::get<0>(rows[i]), std::get<1>(rows[i])));
        for (std::size_t i = 0; i < wide_rows.size(); ++i)
            wrong += f64[i] != (compare(std::get<0>(wide_rows[i]), std::get<1>(wide_rows[i])) ? 1.0f : 0.0f);
        INFO(name);
        CHECK(wrong == 0);
    };
    const auto nan = [](double a, double b) { return std::isnan(a) || std::isnan(b); };
    one("eq", [](double a, double b) { return a == b; });
    one("ne", [&](double a, double b) { return a != b && !nan(a, b); });
    one("lt", [](double a, double b) { return std::isless(a, b); });
    one("le", [](double a, double b) { return std::islessequal(a, b); });
    one("gt", [](double a, double b) { return std::isgreater(a, b); });
    one("ge", [](double a, double b) { return std::isgreaterequal(a, b); });
    one("equ", [&](double a, double b) { return a == b || nan(a, b); });
    one("neu", [&](double a, double b) { return a != b; });
    one("ltu", [&](double a, double b) { return std::isless(a, b) || nan(a, b); });
    one("leu", [&](double a, double b) { return std::islessequal(a, b) || nan(a, b); });
    one("gtu", [&](double a, double b) { return std::isgreater(a, b) || nan(a, b); });
    one("geu", [&](double a, double b) { return std::isgreaterequal(a, b) || nan(a, b); });
    one("num", [&](double a, double b) { return !nan(a, b); });
    one("nan", nan);
    // Two different subnormal numbers are equal when flushed.
    CHECK(run_one<u32>("set.eq.ftz.u32.f32 %d, %a, %b;", float_of(1), float_of(0x80000002u)) == 0xffffffffu);
    CHECK(run_one<u32>("set.eq.u32.f32 %d, %a, %b;", float_of(1), float_of(0x80000002u)) == 0);
}

TEST_CASE("setp combines with a predicate and also gives the opposite") {
    const std::vector<std::tuple<u32, u32>> rows{{1, 0}, {1, 1}, {2, 0}, {2, 1}}; // result = a < 2, c = b.
    const auto run = [&](const std::string& form) {
        return run_ptx<u32>("setp.ne.u32 %p0, %b, 0; " + form +
                                " selp.u32 %r0, 1, 0, %p1; selp.u32 %r1, 2, 0, %p2;"
                                "or.b32 %d, %r0, %r1;",
                            rows);
    };
    for (const auto& [name, op] : {std::pair<std::string, int>{"and", 0}, {"or", 1}, {"xor", 2}})
        for (const bool negated : {false, true}) {
            const auto results =
                run("setp.lt." + name + ".u32 %p1|%p2, %a, 2, " + (negated ? "!" : "") + "%p0;");
            for (std::size_t i = 0; i < rows.size(); ++i) {
                const bool result = std::get<0>(rows[i]) < 2, c = (std::get<1>(rows[i]) != 0) != negated;
                const auto apply = [&, op = op](bool r) {
                    return op == 0 ? r && c : op == 1 ? r || c : r != c;
                };
                CHECK(results[i] == static_cast<u32>(apply(result)) + 2 * static_cast<u32>(apply(!result)));
            }
        }
    CHECK(run("setp.lt.u32 %p1|%p2, %a, 2;") == std::vector<u32>{1, 1, 2, 2});
    CHECK(run("setp.lt.u32 _|%p2, %a, 2; setp.eq.u32 %p1, 0, 1;") == std::vector<u32>{0, 0, 2, 2});
}

TEST_CASE("setp writes only the lanes that execute it") {
    const std::vector<std::tuple<u32>> rows{{0}, {1}, {2}, {3}};
    CHECK(run_ptx<u32>("setp.eq.u32 %p1, 0, 0; setp.lt.u32 %p0, %a, 2; @%p0 setp.eq.u32 %p1, %a, 0;"
                       "selp.u32 %d, 1, 0, %p1;",
                       rows) == std::vector<u32>{1, 0, 1, 1});
}

TEST_CASE("selp and slct") {
    CHECK(run_one<u64>("setp.eq.u32 %p0, 0, 0; selp.b64 %d, %a, %b, !%p0;", u64{5}, u64{6}) == 6);
    CHECK(run_one<std::uint16_t>("setp.eq.u32 %p0, 0, 0; selp.b16 %d, %a, %b, %p0;", std::uint16_t{5},
                                 std::uint16_t{6}) == 5);
    CHECK(run_one<u32>("slct.u32.s32 %d, %a, %b, %c;", 5u, 6u, -1) == 6);
    CHECK(run_one<u32>("slct.u32.s32 %d, %a, %b, %c;", 5u, 6u, 0) == 5);
    CHECK(run_one<float>("slct.f32.f32 %d, %a, %b, %c;", 5.0f, 6.0f, -0.0f) == 5.0f);
    CHECK(run_one<float>("slct.f32.f32 %d, %a, %b, %c;", 5.0f, 6.0f, NAN) == 6.0f);
    CHECK(run_one<u64>("slct.u64.f32 %d, %a, %b, %c;", u64{5}, u64{6}, float_of(0x80000001u)) == 6);
    CHECK(run_one<u64>("slct.ftz.u64.f32 %d, %a, %b, %c;", u64{5}, u64{6}, float_of(0x80000001u)) == 5);
}

TEST_CASE("testp sorts numbers into classes") {
    const auto rows = singles(floats(40));
    const auto wide_rows = singles(doubles(30));
    const auto one = [&](const std::string& name, auto test) {
        const std::string tail = " %p0, %a; selp.u32 %d, 1, 0, %p0;";
        const auto f32 = run_ptx<u32>("testp." + name + ".f32" + tail, rows);
        const auto f64 = run_ptx<u32>("testp." + name + ".f64" + tail, wide_rows);
        for (std::size_t i = 0; i < rows.size(); ++i)
            CHECK(f32[i] == static_cast<u32>(test(std::fpclassify(std::get<0>(rows[i])))));
        for (std::size_t i = 0; i < wide_rows.size(); ++i)
            CHECK(f64[i] == static_cast<u32>(test(std::fpclassify(std::get<0>(wide_rows[i])))));
    };
    one("finite", [](int k) { return k != FP_NAN && k != FP_INFINITE; });
    one("infinite", [](int k) { return k == FP_INFINITE; });
    one("number", [](int k) { return k != FP_NAN; });
    one("notanumber", [](int k) { return k == FP_NAN; });
    one("normal", [](int k) { return k == FP_NORMAL || k == FP_ZERO; });
    one("subnormal", [](int k) { return k == FP_SUBNORMAL; });
}
