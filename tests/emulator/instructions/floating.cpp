// Floating-point arithmetic (PTX ISA 9.7.3) in every rounding mode, against 113-bit arithmetic.

#include "instructions/exact.hpp"
#include "support.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>

using namespace emu::test;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

namespace {

constexpr u32 nan32 = 0x7fffffff;

/// Bits of an f32 result: NaN is always the same one.
u32 bits_of(float value) { return std::isnan(value) ? nan32 : bits(value); }
/// Bits of an f64 result: any NaN counts as NaN.
u64 bits_of(double value) { return std::isnan(value) ? ~u64{0} : bits(value); }
float flush(float x) { return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0f, x) : x; }

/// A two-operand instruction in all modes against `exact(a, b)` in 113 bits, where those are enough (finite
/// operands, results that are not zero); the rest against the host's own nearest arithmetic `host(a, b)`.
template <class T, class E, class H>
void check_two(const std::string& opcode, const std::vector<std::tuple<T, T>>& rows, E exact, H host) {
    const std::string type = sizeof(T) == 4 ? "f32" : "f64";
    for (const Mode mode : all_modes) {
        const auto results = run_ptx<T>(opcode + "." + name_of(mode) + "." + type + " %d, %a, %b;", rows);
        unsigned wrong = 0;
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const auto [a, b] = rows[i];
            const T special = host(a, b);
            const bool finite = std::isfinite(a) && std::isfinite(b) && !(opcode == "div" && b == 0);
            T want = special;
            if (finite) {
                const Exact value = exact(Exact{a}, Exact{b});
                // An exact zero is -0 when rounding down, unless both terms of a sum are +0; products keep
                // their sign.
                if (value != 0)
                    want = round_to<T>(value, mode);
                else if (mode == Mode::down && (opcode == "add" || opcode == "sub") && a != 0)
                    want = T{-0.0};
                else if (mode == Mode::down && (opcode == "add" || opcode == "sub"))
                    want = std::signbit(a) || (std::signbit(b) == (opcode == "add")) ? T{-0.0} : T{0};
            }
            if (bits_of(results[i]) != bits_of(want) ||
                (sizeof(T) == 4 && std::isnan(want) && bits(results[i]) != nan32))
                if (++wrong == 1)
                    UNSCOPED_INFO(opcode << " " << name_of(mode) << " of " << a << " and " << b << ": "
                                         << results[i] << " instead of " << want);
        }
        CHECK(wrong == 0);
    }
}

/// Operands whose exact sums have at most 113 bits: random ones of nearby exponents.
template <class T>
std::vector<std::tuple<T, T>> near_pairs() {
    std::vector<std::tuple<T, T>> rows;
    std::vector<T> a, b;
    if constexpr (sizeof(T) == 4) {
        a = floats(600);
        b = floats(600, 5);
    } else {
        a = doubles(600);
        b = doubles(600, 5);
    }
    for (std::size_t i = 40; i < a.size(); ++i)
        rows.emplace_back(a[i], b[i]);
    rows.insert(rows.end(),
                {{T{1}, T{-1}}, {T{0}, T{-0.0}}, {T{-0.0}, T{-0.0}}, {T{0}, T{0}}, {T{-0.0}, T{0}}});
    return rows;
}
/// Every kind of number with every other, for nearest rounding against the host and for products and
/// quotients.
template <class T>
std::vector<std::tuple<T, T>> all_pairs() {
    if constexpr (sizeof(T) == 4)
        return pairs(floats(48), floats(48, 3));
    else
        return pairs(doubles(40), doubles(40, 3));
}

template <class T>
void check_nearest(const std::string& opcode, T (*host)(T, T)) {
    const auto rows = all_pairs<T>();
    const auto results = run_ptx<T>(opcode + (sizeof(T) == 4 ? ".f32" : ".f64") + " %d, %a, %b;", rows);
    unsigned wrong = 0;
    for (std::size_t i = 0; i < rows.size(); ++i)
        wrong += bits_of(results[i]) != bits_of(host(std::get<0>(rows[i]), std::get<1>(rows[i])));
    INFO(opcode);
    CHECK(wrong == 0);
}

template <class T>
void check_sums_and_products() {
    const auto near = near_pairs<T>();
    check_two<T>(
        "add", near, [](Exact a, Exact b) { return a + b; }, [](T a, T b) { return a + b; });
    check_two<T>(
        "sub", near, [](Exact a, Exact b) { return a - b; }, [](T a, T b) { return a - b; });
    const auto all = all_pairs<T>();
    check_two<T>(
        "mul", all, [](Exact a, Exact b) { return a * b; }, [](T a, T b) { return a * b; });
    check_two<T>(
        "div", all, [](Exact a, Exact b) { return a / b; }, [](T a, T b) { return a / b; });
    check_nearest<T>("add", [](T a, T b) { return a + b; });
    check_nearest<T>("sub", [](T a, T b) { return a - b; });
}

template <class T>
void check_fma() {
    std::vector<std::tuple<T, T, T>> rows;
    const auto factors = near_pairs<T>();
    for (std::size_t i = 0; i < factors.size(); ++i) {
        const auto [a, b] = factors[i];
        if (a == 0 || b == 0 || (sizeof(T) == 8 && i % 2))
            continue;
        // Near cancellation, where a second rounding would show; for doubles nothing else fits 113 bits.
        rows.emplace_back(a, b, -(a * b));
        rows.emplace_back(a, b, std::nextafter(-(a * b), T{0}));
        if constexpr (sizeof(T) == 4)
            rows.emplace_back(a, b, std::get<1>(factors[(i * 7) % factors.size()]));
    }
    for (const Mode mode : all_modes)
        for (const char* opcode : {"fma.", "mad."}) {
            const auto results = run_ptx<T>(
                opcode + name_of(mode) + (sizeof(T) == 4 ? ".f32" : ".f64") + " %d, %a, %b, %c;", rows);
            unsigned wrong = 0;
            for (std::size_t i = 0; i < rows.size(); ++i) {
                const auto [a, b, c] = rows[i];
                const Exact value = Exact{a} * b + c;
                const T want = value == 0 ? (mode == Mode::down ? T{-0.0} : T{0}) : round_to<T>(value, mode);
                wrong += bits(results[i]) != bits(want);
            }
            INFO(opcode << name_of(mode));
            CHECK(wrong == 0);
        }
}

} // namespace

TEST_CASE("add, sub, mul and div of f32 in every rounding mode") { check_sums_and_products<float>(); }
TEST_CASE("add, sub, mul and div of f64 in every rounding mode") { check_sums_and_products<double>(); }
TEST_CASE("fma and mad of f32 round once") { check_fma<float>(); }
TEST_CASE("fma and mad of f64 round once") { check_fma<double>(); }

TEST_CASE("a product and a sum are two roundings") {
    const float a = 1.0f + 0x1p-12f, c = -(1.0f + 0x1p-11f);
    CHECK(run_one<float>("mul.f32 %r0, %a, %a; add.f32 %d, %r0, %b;", a, c) == 0.0f);
    CHECK(run_one<float>("fma.rn.f32 %d, %a, %a, %b;", a, c) == 0x1p-24f);
}

TEST_CASE("overflow goes where the rounding mode says") {
    const float big = 0x1.fffffep127f;
    CHECK(run_one<float>("add.rn.f32 %d, %a, %a;", big) == INFINITY);
    CHECK(run_one<float>("add.rz.f32 %d, %a, %a;", big) == big);
    CHECK(run_one<float>("add.rm.f32 %d, %a, %a;", big) == big);
    CHECK(run_one<float>("mul.rp.f32 %d, %a, %b;", big, -2.0f) == -big);
    CHECK(run_one<float>("fma.rm.f32 %d, %a, %b, %a;", big, -3.0f) == -INFINITY);
}

TEST_CASE("invalid operations give the canonical NaN") {
    CHECK(bits(run_one<float>("sub.f32 %d, %a, %a;", INFINITY)) == nan32);
    CHECK(bits(run_one<float>("mul.f32 %d, %a, %b;", INFINITY, 0.0f)) == nan32);
    CHECK(bits(run_one<float>("fma.rn.f32 %d, %a, %b, %b;", float_of(0xff800001u), 0.0f)) == nan32);
    CHECK(bits(run_one<float>("div.rn.f32 %d, %a, %a;", 0.0f)) == nan32);
    CHECK(std::isnan(run_one<double>("sub.f64 %d, %a, %a;", double{INFINITY})));
}

TEST_CASE(".ftz flushes operands and results") {
    const float tiny = float_of(0x00000001), least = float_of(0x00800000);
    CHECK(bits(run_one<float>("add.ftz.f32 %d, %a, %b;", tiny, -0.0f)) == bits(0.0f));
    CHECK(bits(run_one<float>("mul.ftz.f32 %d, %a, %b;", -tiny, 0x1p100f)) == bits(-0.0f));
    CHECK(bits(run_one<float>("sub.ftz.f32 %d, %a, %b;", least, float_of(0x00800001))) == bits(-0.0f));
    CHECK(bits(run_one<float>("sub.f32 %d, %a, %b;", least, float_of(0x00800001))) == 0x80000001u);
    // 2^-126 (1 - 2^-24) rounds to the least normal number, yet with 24 bits and a free exponent it is
    // smaller: zero.
    CHECK(bits(run_one<float>("mul.f32 %d, %a, %b;", float_of(0x3f7fffffu), least)) == 0x007fffffu + 1);
    CHECK(bits(run_one<float>("mul.ftz.f32 %d, %a, %b;", float_of(0x3f7fffffu), least)) == 0);
    CHECK(bits(run_one<float>("fma.rn.ftz.f32 %d, %a, %b, %c;", -float_of(0x34000000u), 0x1p-120f, least)) ==
          0);
    CHECK(bits(run_one<float>("fma.rn.ftz.f32 %d, %a, %b, %c;", float_of(0x34000000u), 0x1p-120f, least)) ==
          bits(std::fma(0x1p-23f, 0x1p-120f, least)));
    // So close below it that 24 bits do not tell them apart: stays. An H200 gave this one.
    CHECK(bits(run_one<float>("fma.rn.ftz.f32 %d, %a, %b, %c;", float_of(0x03eae9f3u), float_of(0x84057870u),
                              least)) == bits(least));
    const auto rows = pairs(floats(60), floats(60, 2));
    const auto sums = run_ptx<float>("add.ftz.f32 %d, %a, %b;", rows);
    for (std::size_t i = 0; i < rows.size(); ++i)
        CHECK(bits(sums[i]) == bits_of(flush(flush(std::get<0>(rows[i])) + flush(std::get<1>(rows[i])))));
}

TEST_CASE(".sat clamps to [0, 1] and makes NaN zero") {
    CHECK(run_one<float>("add.sat.f32 %d, %a, %b;", 0.75f, 0.5f) == 1.0f);
    CHECK(bits(run_one<float>("add.sat.f32 %d, %a, %b;", -0.75f, 0.5f)) == 0);
    CHECK(bits(run_one<float>("add.sat.f32 %d, %a, %b;", -0.0f, -0.0f)) == 0);
    CHECK(bits(run_one<float>("mul.sat.f32 %d, %a, %b;", INFINITY, 0.0f)) == 0);
    CHECK(run_one<float>("fma.rz.ftz.sat.f32 %d, %a, %b, %b;", 0.5f, 0.25f) == 0.375f);
    CHECK(refusal("add.sat.f64 %d, %a, %b;") != "");
}

TEST_CASE("min and max order zeros and choose numbers over NaN") {
    const auto rows = pairs(floats(48), floats(48, 2));
    const auto smaller = run_ptx<float>("min.f32 %d, %a, %b;", rows),
               larger = run_ptx<float>("max.f32 %d, %a, %b;", rows);
    const auto nan_wins = run_ptx<float>("min.NaN.f32 %d, %a, %b;", rows);
    const auto magnitude = run_ptx<float>("max.xorsign.abs.f32 %d, %a, %b;", rows);
    const auto flushed = run_ptx<float>("max.ftz.f32 %d, %a, %b;", rows);
    const auto pick = [](float a, float b, bool max) {
        if (std::isnan(a) || std::isnan(b))
            return std::isnan(a) ? b : a;
        if (a == b)
            return std::signbit(a) == max ? b : a;
        return (a < b) == max ? b : a;
    };
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto [a, b] = rows[i];
        const bool has_nan = std::isnan(a) || std::isnan(b);
        CHECK(bits(smaller[i]) == bits_of(pick(a, b, false)));
        CHECK(bits(larger[i]) == bits_of(pick(a, b, true)));
        CHECK(bits(nan_wins[i]) == (has_nan ? nan32 : bits(pick(a, b, false))));
        const float size = pick(std::fabs(a), std::fabs(b), true);
        const float sign = std::signbit(a) != std::signbit(b) ? -1.0f : 1.0f;
        CHECK(bits(magnitude[i]) == bits_of(std::isnan(size) ? size : std::copysign(size, sign)));
        CHECK(bits(flushed[i]) == bits_of(pick(flush(a), flush(b), true)));
    }
    CHECK(run_one<double>("min.f64 %d, %a, %b;", -0.0, 0.0) == 0);
    CHECK(std::signbit(run_one<double>("min.f64 %d, %a, %b;", 0.0, -0.0)));
    CHECK(run_one<double>("max.f64 %d, %a, %b;", double{NAN}, 3.0) == 3.0);
}

TEST_CASE("abs, neg and copysign") {
    CHECK(bits(run_one<float>("abs.f32 %d, %a;", -0.0f)) == 0);
    CHECK(run_one<float>("abs.f32 %d, %a;", -INFINITY) == INFINITY);
    CHECK(bits(run_one<float>("abs.ftz.f32 %d, %a;", float_of(0x80000001u))) == 0);
    CHECK(bits(run_one<float>("neg.f32 %d, %a;", 0.0f)) == 0x80000000u);
    CHECK(bits(run_one<float>("neg.ftz.f32 %d, %a;", float_of(1u))) == 0x80000000u);
    CHECK(run_one<double>("neg.f64 %d, %a;", 2.5) == -2.5);
    for (const u64 nan : {u64{0x7ff8000000000123}, u64{0xfff8000000000000}}) // As on an H200.
        CHECK(bits(run_one<double>("neg.f64 %d, %a;", std::bit_cast<double>(nan))) == nan);
    CHECK(run_one<double>("abs.f64 %d, %a;", -2.5) == 2.5);
    CHECK(run_one<float>("copysign.f32 %d, %a, %b;", -1.0f, 5.0f) == -5.0f);
    CHECK(run_one<double>("copysign.f64 %d, %a, %b;", 1.0, -5.0) == 5.0);
}

TEST_CASE("abs and neg make any NaN the one NaN, whose sign counts afterwards") {
    for (const u32 nan : {0x7fffffffu, 0xffffffffu, 0x7fc00000u, 0xff800001u})
        for (const char* const form : {"abs", "neg", "abs.ftz", "neg.ftz"})
            CHECK(bits(run_one<float>(std::string(form) + ".f32 %d, %a;", float_of(nan))) == nan32);
    const char* const both = "{ .reg .f32 n; neg.f32 n, %a; min.xorsign.abs.f32 %d, n, %b; }";
    CHECK(run_one<float>(both, float_of(nan32), 2.0f) == 2.0f);
    CHECK(run_one<float>(both, 3.0f, 2.0f) == -2.0f);
}

TEST_CASE("what belongs to later GPUs is refused") {
    CHECK(refusal("add.f32.f16 %d, %a, %b;").find("sm_100") != std::string::npos);
    CHECK(refusal("min.f32 %d, %a, %b, %b;").find("sm_100") != std::string::npos);
    CHECK(refusal("fma.f32 %d, %a, %b, %b;").find("rounds") != std::string::npos);
    CHECK(refusal("add.rn.rz.f32 %d, %a, %b;") != "");
    CHECK(refusal("add.approx.f32 %d, %a, %b;").find("approx") != std::string::npos);
}
