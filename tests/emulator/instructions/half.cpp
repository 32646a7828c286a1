// Half-precision arithmetic and comparison (PTX ISA 9.7.4, 9.7.7). References decode the formats by their
// definition and search for the nearest representable number.

#include "support.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cmath>

using namespace emu::test;
using u16 = std::uint16_t;
using u32 = std::uint32_t;

namespace {

__extension__ using Exact = __float128;

/// A 16-bit format by its definition.
struct Format {
    int exponent_bits, fraction_bits;
    std::string name;

    int bias() const { return (1 << (exponent_bits - 1)) - 1; }
    u16 infinity() const { return static_cast<u16>(((1 << exponent_bits) - 1) << fraction_bits); }
    double value(u16 code) const {
        const int exponent = (code & 0x7fff) >> fraction_bits, fraction = code & ((1 << fraction_bits) - 1);
        const double sign = code & 0x8000 ? -1 : 1;
        if (exponent == (1 << exponent_bits) - 1)
            return fraction ? NAN : sign * INFINITY;
        return exponent
                   ? sign * std::ldexp((1 << fraction_bits) + fraction, exponent - bias() - fraction_bits)
                   : sign * std::ldexp(fraction, 1 - bias() - fraction_bits);
    }
    /// The code of the number nearest to `exact`, ties to even, by bisection over the codes, which are in
    /// order.
    u16 nearest(Exact exact, bool negative) const {
        const Exact size = exact < 0 ? -exact : exact;
        u16 low = 0, high = infinity();
        while (high - low > 1) {
            const u16 middle = static_cast<u16>((low + high) / 2);
            (static_cast<Exact>(value(middle)) <= size ? low : high) = middle;
        }
        // Halfway to infinity counts as halfway to the number that would come next.
        const Exact below = value(low);
        const Exact above = high == infinity()
                                ? below + (below - static_cast<Exact>(value(static_cast<u16>(low - 1))))
                                : static_cast<Exact>(value(high));
        const Exact down = size - below, up = above - size;
        const u16 code = down < up || (down == up && low % 2 == 0) ? low : high;
        return static_cast<u16>(code | (negative ? 0x8000 : 0));
    }
};
const Format f16{5, 10, "f16"}, bf16{8, 7, "bf16"};

/// Codes of every kind and random ones.
std::vector<u16> codes(const Format& format, std::size_t count, unsigned seed = 1) {
    std::vector<u16> values;
    const u16 inf = format.infinity(), least = static_cast<u16>(1 << format.fraction_bits);
    for (const int code : {0, 1, least - 1, int{least}, least + 1, inf - 1, int{inf}, inf + 1, 0x7fff,
                           format.bias() << format.fraction_bits, (format.bias() << format.fraction_bits) + 1,
                           (format.bias() << format.fraction_bits) - 1})
        for (const int sign : {0, 0x8000})
            values.push_back(static_cast<u16>(code | sign));
    std::mt19937 random(seed);
    while (values.size() < count) {
        const int spread = static_cast<int>(random() % 17) - 8;
        values.push_back(static_cast<u16>(((format.bias() + spread) << format.fraction_bits) |
                                          (random() & ((1u << format.fraction_bits) - 1)) |
                                          (random() & 0x8000)));
    }
    return values;
}

u16 canonical(const Format& format, u16 code) { return std::isnan(format.value(code)) ? u16{0x7fff} : code; }

/// Result code for an exact value that may be zero with the sign the host's arithmetic gives.
u16 expected(const Format& format, double host, Exact exact) {
    if (std::isnan(host))
        return 0x7fff;
    if (std::isinf(host) && !std::isfinite(static_cast<double>(exact)))
        return static_cast<u16>(format.infinity() | (host < 0 ? 0x8000 : 0));
    if (exact == 0)
        return std::signbit(host) ? 0x8000 : 0;
    return format.nearest(exact, exact < 0);
}

template <class E>
void check_two(const Format& format, const std::string& opcode, E exact) {
    const auto rows = pairs(codes(format, 80), codes(format, 80, 2));
    const auto results = run_ptx<u16>(opcode + "." + format.name + " %d, %a, %b;", rows);
    // Packed: the same operands in the low half, exchanged ones in the high half.
    const auto packed = run_ptx<u32>("mov.b32 %r0, {%a, %b}; mov.b32 %r1, {%b, %a};" + opcode + "." +
                                         format.name + "x2 %d, %r0, %r1;",
                                     rows);
    unsigned wrong = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const double a = format.value(std::get<0>(rows[i])), b = format.value(std::get<1>(rows[i]));
        const auto want = [&](double x, double y) {
            return expected(format, static_cast<double>(exact(Exact{x}, Exact{y})),
                            exact(Exact{x}, Exact{y}));
        };
        wrong += results[i] != want(a, b);
        wrong += packed[i] != (u32{want(a, b)} | u32{want(b, a)} << 16);
    }
    INFO(opcode << "." << format.name);
    CHECK(wrong == 0);
}

} // namespace

TEST_CASE("add, sub and mul of halves round once, to nearest even") {
    for (const Format& format : {f16, bf16}) {
        check_two(format, "add", [](Exact a, Exact b) { return a + b; });
        check_two(format, "add.rn", [](Exact a, Exact b) { return a + b; });
        check_two(format, "sub", [](Exact a, Exact b) { return a - b; });
        check_two(format, "mul", [](Exact a, Exact b) { return a * b; });
    }
}

TEST_CASE("fma of halves rounds once") {
    for (const Format& format : {f16, bf16}) {
        std::vector<std::tuple<u16, u16, u16>> rows;
        const auto a = codes(format, 60), b = codes(format, 60, 3), c = codes(format, 60, 4);
        for (std::size_t i = 0; i < a.size(); ++i)
            for (std::size_t j = 0; j < b.size(); ++j)
                for (std::size_t k = 0; k < 12; ++k)
                    rows.emplace_back(a[i], b[j], c[(i + j + 5 * k) % c.size()]);
        // A product halfway between two numbers, and addends far below that decide the tie.
        const u16 one = static_cast<u16>(format.bias() << format.fraction_bits);
        for (const int far : {1, 2, 0x8001, 0x8002, 0})
            rows.emplace_back(static_cast<u16>(one + 1),
                              static_cast<u16>(one + (1 << (format.fraction_bits - 1))),
                              static_cast<u16>(far));
        const auto results = run_ptx<u16>("fma.rn." + format.name + " %d, %a, %b, %c;", rows);
        const auto relu = run_ptx<u16>("fma.rn.relu." + format.name + " %d, %a, %b, %c;", rows);
        unsigned wrong = 0, wrong_relu = 0;
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const auto [x, y, z] = rows[i];
            const Exact product = static_cast<Exact>(format.value(x)) * format.value(y);
            const Exact addend = format.value(z), sum = product + addend;
            // What 113 bits lose is far below any tie, but it decides one.
            const Exact part = sum - product, lost = (product - (sum - part)) + (addend - part);
            const Exact exact =
                lost != 0 ? sum * (Exact{1} + ((lost > 0) == (sum > 0) ? 0x1p-100 : -0x1p-100)) : sum;
            const u16 want = expected(format, static_cast<double>(exact), exact);
            if (results[i] != want && ++wrong == 1)
                UNSCOPED_INFO(std::hex << x << " * " << y << " + " << z << ": " << results[i]
                                       << " instead of " << want);
            wrong_relu += relu[i] != (want != 0x7fff && want >= 0x8000 ? 0 : want);
        }
        INFO(format.name);
        CHECK(wrong == 0);
        CHECK(wrong_relu == 0);
    }
}

TEST_CASE("halves: .sat, .ftz and .oob") {
    CHECK(run_one<u16>("add.sat.f16 %d, %a, %b;", u16{0x3c00}, u16{0x3c00}) == 0x3c00);
    CHECK(run_one<u16>("add.sat.f16 %d, %a, %b;", u16{0x7e00}, u16{0x3c00}) == 0);
    CHECK(run_one<u16>("mul.sat.f16 %d, %a, %b;", u16{0xbc00}, u16{0x3c00}) == 0);
    CHECK(run_one<u16>("add.ftz.f16 %d, %a, %b;", u16{1}, u16{0x8000}) == 0);
    CHECK(run_one<u16>("mul.ftz.f16 %d, %a, %b;", u16{0x0400}, u16{0xb800}) == 0x8000);
    // Both would be rounded up to the least normal number with the bits of a subnormal one; an H200 gave
    // these.
    CHECK(run_one<u16>("mul.rn.ftz.f16 %d, %a, %b;", u16{0x0400}, u16{0xbbff}) == 0x8000);
    CHECK(run_one<u16>("fma.rn.ftz.sat.f16 %d, %a, %b, %c;", u16{0x8ce8}, u16{0x0400}, u16{0x0400}) == 0);
    CHECK(run_one<u16>("mul.f16 %d, %a, %b;", u16{0x0400}, u16{0xb800}) == 0x8200);
    CHECK(run_one<u16>("fma.rn.oob.f16 %d, %a, %b, %c;", u16{0x7ff7}, u16{0x3c00}, u16{0x3c00}) == 0);
    CHECK(run_one<u16>("fma.rn.oob.f16 %d, %a, %b, %c;", u16{0xfff7}, u16{0x3c00}, u16{0x3c00}) == 0);
    CHECK(run_one<u16>("fma.rn.oob.bf16 %d, %a, %b, %c;", u16{0x3f80}, u16{0xfff7}, u16{0x3f80}) == 0);
    CHECK(run_one<u16>("fma.rn.oob.f16 %d, %a, %b, %c;", u16{0xfeff}, u16{0x3c00}, u16{0x3c00}) == 0x7fff);
    CHECK(run_one<u16>("fma.rn.oob.f16 %d, %a, %b, %c;", u16{0x3c00}, u16{0x3c00}, u16{0x3c00}) == 0x4000);
    CHECK(refusal("add.ftz.bf16x2 %d, %a, %b;") != "");
    CHECK(refusal("add.rz.f16x2 %d, %a, %b;") != "");
}

TEST_CASE("min and max of halves") {
    for (const Format& format : {f16, bf16}) {
        const auto rows = pairs(codes(format, 50), codes(format, 50, 2));
        const auto run = [&](const std::string& form) {
            return run_ptx<u16>(form + "." + format.name + " %d, %a, %b;", rows);
        };
        const auto smaller = run("min"), larger = run("max"), nan_wins = run("max.NaN"),
                   magnitude = run("min.xorsign.abs");
        const auto pick = [&](u16 a, u16 b, bool max) {
            const double x = format.value(a), y = format.value(b);
            if (std::isnan(x) || std::isnan(y))
                return canonical(format, std::isnan(x) ? b : a);
            if (x == y)
                return std::signbit(x) == max ? b : a;
            return (x < y) == max ? b : a;
        };
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const auto [a, b] = rows[i];
            const bool has_nan = std::isnan(format.value(a)) || std::isnan(format.value(b));
            CHECK(smaller[i] == pick(a, b, false));
            CHECK(larger[i] == pick(a, b, true));
            CHECK(nan_wins[i] == (has_nan ? 0x7fff : pick(a, b, true)));
            const u16 size = pick(a & 0x7fff, b & 0x7fff, false);
            CHECK(magnitude[i] == (size == 0x7fff ? size : size | ((a ^ b) & 0x8000)));
        }
    }
}

TEST_CASE("neg and abs of halves make any NaN the one NaN, whose sign counts afterwards") {
    for (const u16 nan : {u16{0x7fff}, u16{0xffff}, u16{0x7fc1}, u16{0xff81}})
        for (const char* const form :
             {"neg.f16", "abs.f16", "neg.ftz.f16", "abs.ftz.f16", "neg.bf16", "abs.bf16"})
            CHECK(run_one<u16>(std::string(form) + " %d, %a;", nan) == 0x7fff);
    CHECK(run_one<u32>("neg.f16x2 %d, %a;", 0x7fff3c00u) == 0x7fffbc00u);
    CHECK(run_one<u32>("abs.bf16x2 %d, %a;", 0xbf80ffffu) == 0x3f807fffu);
    CHECK(run_one<u16>("{ .reg .b16 n; neg.f16 n, %a; min.xorsign.abs.f16 %d, n, %b; }", u16{0x7fff},
                       u16{0x4000}) == 0x4000);
    CHECK(run_one<u16>("{ .reg .b16 n; neg.bf16 n, %a; max.xorsign.abs.bf16 %d, n, %b; }", u16{0x7fff},
                       u16{0x4000}) == 0x4000);
}

TEST_CASE("neg, abs, tanh and ex2 of halves") {
    CHECK(run_one<u32>("neg.f16x2 %d, %a;", 0x3c008000u) == 0xbc000000u);
    CHECK(run_one<u32>("abs.bf16x2 %d, %a;", 0xbf808001u) == 0x3f800001u);
    CHECK(run_one<u16>("neg.ftz.f16 %d, %a;", u16{1}) == 0x8000);
    CHECK(run_one<u16>("abs.ftz.f16 %d, %a;", u16{0x8001}) == 0);
    for (const Format& format : {f16, bf16}) {
        const auto values = codes(format, 100);
        const auto tanh = run_ptx<u16>("tanh.approx." + format.name + " %d, %a;", singles(values));
        const auto power = run_ptx<u16>(std::string("ex2.approx.") + (format.name == "bf16" ? "ftz." : "") +
                                            format.name + " %d, %a;",
                                        singles(values));
        for (std::size_t i = 0; i < values.size(); ++i) {
            const double x = format.value(values[i]);
            if (std::isnan(x)) {
                CHECK(tanh[i] == 0x7fff);
                CHECK(power[i] == 0x7fff);
                continue;
            }
            // The manual: absolute error 2^-10.987 (f16) or 2^-8 (bf16) for tanh; about one place for ex2.
            CHECK(std::fabs(format.value(tanh[i]) - std::tanh(x)) <=
                  (format.name == "f16" ? 0x1p-10 : 0x1p-8));
            if (const double want = std::exp2(x); want < 60000 && want > 1e-4)
                CHECK(std::fabs(format.value(power[i]) / want - 1) <=
                      (format.name == "f16" ? 0x1p-9 : 0x1p-7));
        }
    }
    CHECK(refusal("ex2.approx.bf16x2 %d, %a;") != "");
}

TEST_CASE("set and setp of halves") {
    for (const Format& format : {f16, bf16}) {
        const auto rows = pairs(codes(format, 40), codes(format, 40, 2));
        const auto less = run_ptx<u32>("set.lt.u32." + format.name + " %d, %a, %b;", rows);
        const auto unordered =
            run_ptx<u16>("set.geu." + format.name + "." + format.name + " %d, %a, %b;", rows);
        const auto packed =
            run_ptx<u32>("mov.b32 %r0, {%a, %b}; mov.b32 %r1, {%b, %a}; setp.gt." + format.name +
                             "x2 %p0|%p1, %r0, %r1; selp.u32 %r2, 1, 0, %p0; selp.u32 %r3, 2, 0, %p1;"
                             "or.b32 %d, %r2, %r3;",
                         rows);
        const u16 one = static_cast<u16>(format.bias() << format.fraction_bits);
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const double a = format.value(std::get<0>(rows[i])), b = format.value(std::get<1>(rows[i]));
            CHECK(less[i] == (a < b ? 0xffffffffu : 0u));
            CHECK(unordered[i] == (a < b ? 0 : one));
            CHECK(packed[i] == static_cast<u32>(a > b) + 2 * static_cast<u32>(b > a));
        }
    }
    CHECK(run_one<u32>("set.eq.f16x2.f16x2 %d, %a, %b;", 0x3c004000u, 0x3c003c00u) == 0x3c000000u);
    CHECK(run_one<u32>("set.nan.bf16x2.bf16x2 %d, %a, %b;", 0x7fc00000u, 0u) == 0x3f800000u);
    CHECK(run_one<u32>("set.ge.u32.f16x2 %d, %a, %b;", 0x3c004000u, 0x40003c00u) == 0x0000ffffu);
    CHECK(run_one<u32>("set.ne.s32.bf16x2 %d, %a, %b;", 0x3f804000u, 0x3f803f80u) == 0x0000ffffu);
    CHECK(run_one<u32>("set.le.u32.f16x2 %d, %a, %b;", 0x3c003c00u, 0x3c003c00u) == 0xffffffffu);
    CHECK(refusal("set.eq.u16.f16x2 %d, %a, %b;") != "");
    CHECK(refusal("set.eq.bf16x2.f16x2 %d, %a, %b;") != "");
    CHECK(run_one<u16>("set.eq.ftz.u16.f16 %d, %a, %b;", u16{1}, u16{0x8002}) == 0xffff);
    CHECK(run_one<u16>("set.lt.f16.s32 %d, %a, %b;", -1, 0) == 0x3c00);
}
