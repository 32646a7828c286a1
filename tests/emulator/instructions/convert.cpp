// cvt between every pair of types and cvt.pack (PTX ISA 9.7.9.21, 9.7.9.22).

#include "instructions/exact.hpp"
#include "support.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>

using namespace emu::test;
using s8 = std::int8_t;
using u8 = std::uint8_t;
using s16 = std::int16_t;
using u16 = std::uint16_t;
using s32 = std::int32_t;
using u32 = std::uint32_t;
using s64 = std::int64_t;
using u64 = std::uint64_t;

namespace {

__extension__ using Int128 = __int128;
template <class T>
const std::string name = std::string(std::is_signed_v<T> ? "s" : "u") + std::to_string(8 * sizeof(T));

/// cvt{.sat}.D.S against 128-bit integers, with source and destination registers of their own and of 64 bits.
template <class D, class S>
void check_integers() {
    using limits = std::numeric_limits<D>;
    std::vector<std::tuple<u64>> wide;
    std::vector<std::tuple<S>> exact;
    for (const S value : integers<S>(40)) {
        // Garbage above the value must not matter.
        wide.emplace_back(sizeof(S) == 8 ? static_cast<u64>(value)
                                         : static_cast<std::make_unsigned_t<S>>(value) |
                                               0xa5a5a5a5ull << (8 * sizeof(S) % 64));
        exact.emplace_back(value);
    }
    const std::string types = name<D> + "." + name<S> + " %d, %a;";
    const auto into_wide = run_ptx<u64>("cvt." + types, wide);
    const bool can_saturate = Int128{std::numeric_limits<S>::min()} < Int128{limits::min()} ||
                              Int128{std::numeric_limits<S>::max()} > Int128{limits::max()};
    if (!can_saturate)
        CHECK_THROWS_AS(run_ptx<u64>("cvt.sat." + types, wide), std::runtime_error);
    const auto saturated = can_saturate ? run_ptx<u64>("cvt.sat." + types, wide) : std::vector<u64>();
    const auto plain = run_ptx<D>("cvt." + types, exact);
    unsigned wrong = 0;
    for (std::size_t i = 0; i < exact.size(); ++i) {
        const S value = std::get<0>(exact[i]);
        const D cut = static_cast<D>(value);
        const D clamped = static_cast<D>(std::clamp<Int128>(value, limits::min(), limits::max()));
        wrong += into_wide[i] != static_cast<u64>(static_cast<s64>(std::is_signed_v<D> ? cut : 0) |
                                                  static_cast<s64>(std::is_signed_v<D> ? 0 : cut));
        wrong +=
            can_saturate && saturated[i] != (std::is_signed_v<D> ? static_cast<u64>(static_cast<s64>(clamped))
                                                                 : static_cast<u64>(clamped));
        wrong += plain[i] != cut;
    }
    INFO(types);
    CHECK(wrong == 0);
}
template <class D>
void check_integers_to() {
    check_integers<D, u8>();
    check_integers<D, s8>();
    check_integers<D, u16>();
    check_integers<D, s16>();
    check_integers<D, u32>();
    check_integers<D, s32>();
    check_integers<D, u64>();
    check_integers<D, s64>();
}

const std::vector<double> interesting{0.0,           -0.0,
                                      0.5,           -0.5,
                                      1.5,           -1.5,
                                      2.5,           -2.5,
                                      0.4999,        127.5,
                                      128.0,         -128.5,
                                      255.5,         256.0,
                                      32767.5,       65535.5,
                                      -32769,        1e9,
                                      -1e9,          2147483647.0,
                                      2147483648.0,  -2147483648.0,
                                      -2147483649.0, 4294967295.0,
                                      4294967296.0,  9.3e18,
                                      -9.3e18,       1.9e19,
                                      1e30,          -1e30,
                                      0x1p-1074,     INFINITY,
                                      -INFINITY,     9007199254740993.0,
                                      123456.789,    -0.75};

/// Float to integer: rounded, clamped, NaN as the manual says.
template <class D, class F>
void check_to_integer() {
    using limits = std::numeric_limits<D>;
    const std::string float_name = sizeof(F) == 4 ? "f32" : "f64";
    std::vector<std::tuple<F>> rows;
    for (const double x : interesting)
        rows.emplace_back(static_cast<F>(x));
    const std::pair<std::string, double (*)(double)> modes[] = {
        {"rni", [](double x) { return std::nearbyint(x); }},
        {"rzi", [](double x) { return std::trunc(x); }},
        {"rmi", [](double x) { return std::floor(x); }},
        {"rpi", [](double x) { return std::ceil(x); }}};
    for (const auto& [mode, round] : modes) {
        const auto results = run_ptx<D>("cvt." + mode + "." + name<D> + "." + float_name + " %d, %a;", rows);
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const double x = round(std::get<0>(rows[i]));
            const D want = x >= static_cast<double>(limits::max())   ? limits::max()
                           : x <= static_cast<double>(limits::min()) ? limits::min()
                                                                     : static_cast<D>(x);
            INFO(mode << " " << name<D> << " of " << std::get<0>(rows[i]));
            CHECK(+results[i] == +want);
        }
    }
    const bool zero = sizeof(F) == 4 && sizeof(D) < 8;
    CHECK(+run_one<D>("cvt.rzi." + name<D> + "." + float_name + " %d, %a;", static_cast<F>(NAN)) ==
          +static_cast<D>(zero ? 0 : u64{1} << (8 * sizeof(D) - 1)));
}

template <class S, class F>
void check_from_integer() {
    const std::string types = std::string(sizeof(F) == 4 ? "f32" : "f64") + "." + name<S> + " %d, %a;";
    const auto values = integers<S>(80);
    for (const Mode mode : all_modes) {
        const auto results = run_ptx<F>("cvt." + name_of(mode) + "." + types, singles(values));
        unsigned wrong = 0;
        for (std::size_t i = 0; i < values.size(); ++i)
            wrong += results[i] != round_to<F>(static_cast<Exact>(values[i]), mode);
        INFO(name_of(mode) << " " << types);
        CHECK(wrong == 0);
    }
}

/// A 16-bit format by its definition, and rounding into it by search.
struct Format {
    int exponent_bits, fraction_bits;
    std::string name;
    int bias() const { return (1 << (exponent_bits - 1)) - 1; }
    int infinity() const { return ((1 << exponent_bits) - 1) << fraction_bits; }
    Exact size(int code) const {
        const int exponent = code >> fraction_bits, fraction = code & ((1 << fraction_bits) - 1);
        return exponent ? std::ldexp((1 << fraction_bits) + fraction, exponent - bias() - fraction_bits)
                        : std::ldexp(fraction, 1 - bias() - fraction_bits);
    }
    int round(double value, Mode mode) const {
        if (std::isnan(value))
            return 0x7fff;
        const int sign = std::signbit(value) ? 0x8000 : 0;
        if (std::isinf(value))
            return infinity() | sign;
        const Exact exact = std::fabs(value);
        int low = 0, high = infinity();
        while (high - low > 1) {
            const int middle = (low + high) / 2;
            (size(middle) <= exact ? low : high) = middle;
        }
        const Exact below = size(low), above = size(high); // Of infinity: the number that would come next.
        const bool away = mode == Mode::nearest
                              ? exact - below > above - exact || (exact - below == above - exact && low % 2)
                          : mode == Mode::zero ? false
                                               : exact != below && (sign != 0) == (mode == Mode::down);
        return (away ? high : low) | sign;
    }
};
const Format f16{5, 10, "f16"}, bf16{8, 7, "bf16"};

std::vector<double> halves_and_between(const Format& format) {
    std::vector<double> values{NAN, INFINITY, -INFINITY, 0.0, -0.0, 1e300, -1e300, 1e-300};
    std::mt19937 random(3);
    for (int i = 0; i < 300; ++i) {
        const int code = i < 20   ? i
                         : i < 40 ? format.infinity() - 1 - (i - 20)
                                  : static_cast<int>(random()) & (format.infinity() - 1);
        const double here = static_cast<double>(format.size(code)),
                     next = static_cast<double>(format.size(code + 1));
        for (const double x : {here, (here + next) / 2, std::nextafter((here + next) / 2, 0.0),
                               std::nextafter((here + next) / 2, 1e308), here + (next - here) / 4})
            values.push_back(i % 2 ? -x : x);
    }
    return values;
}

} // namespace

TEST_CASE("integers to integers of every size, with saturation, in registers of every width") {
    check_integers_to<u8>();
    check_integers_to<s8>();
    check_integers_to<u16>();
    check_integers_to<s16>();
    check_integers_to<u32>();
    check_integers_to<s32>();
    check_integers_to<u64>();
    check_integers_to<s64>();
}

TEST_CASE("8-bit results fill the whole register") {
    CHECK(run_one<u32>("cvt.s8.s32 %d, %a;", 0x1280) == 0xffffff80u);
    CHECK(run_one<u32>("cvt.u8.u32 %d, %a;", 0x1280u) == 0x80u);
    CHECK(run_one<u16>("cvt.s8.s32 %d, %a;", 0x1280) == 0xff80);
    CHECK(run_one<u32>("cvt.s32.s8 %d, %a;", 0x1280u) == 0xffffff80u);
    CHECK(run_one<u32>("cvt.sat.s8.s32 %d, %a;", -1000) == 0xffffff80u);
    CHECK(run_one<u64>("cvt.s16.f32.rzi %d, %a;", -2.5f) == ~u64{1});
}

TEST_CASE("floats to integers") {
    check_to_integer<u8, float>();
    check_to_integer<s8, float>();
    check_to_integer<u16, float>();
    check_to_integer<s16, float>();
    check_to_integer<u32, float>();
    check_to_integer<s32, float>();
    check_to_integer<u64, float>();
    check_to_integer<s64, float>();
    check_to_integer<u8, double>();
    check_to_integer<s16, double>();
    check_to_integer<u32, double>();
    check_to_integer<s32, double>();
    check_to_integer<u64, double>();
    check_to_integer<s64, double>();
    CHECK(run_one<s32>("cvt.rpi.s32.f32 %d, %a;", float_of(1)) == 1);
    CHECK(run_one<s32>("cvt.rpi.ftz.s32.f32 %d, %a;", float_of(1)) == 0);
    CHECK(run_one<u16>("cvt.rp.ftz.f16.f32 %d, %a;", float_of(1)) == 1); // As an H200 does.
}

TEST_CASE("integers to floats in every rounding mode") {
    check_from_integer<u8, float>();
    check_from_integer<s16, float>();
    check_from_integer<u32, float>();
    check_from_integer<s32, float>();
    check_from_integer<u64, float>();
    check_from_integer<s64, float>();
    check_from_integer<u32, double>();
    check_from_integer<s32, double>();
    check_from_integer<u64, double>();
    check_from_integer<s64, double>();
    for (const Mode mode : all_modes) {
        const auto values = integers<s64>(60);
        const auto halves = run_ptx<u16>("cvt." + name_of(mode) + ".f16.s64 %d, %a;", singles(values));
        const auto brains = run_ptx<u16>("cvt." + name_of(mode) + ".bf16.s64 %d, %a;", singles(values));
        for (std::size_t i = 0; i < values.size(); ++i) {
            // A double holds these integers but for their last bits; keep what decides the rounding.
            const double x = static_cast<double>(values[i] / 2048) * 2048 +
                             (values[i] % 2048 ? (values[i] < 0 ? -1024 : 1024) : 0);
            constexpr s64 limit = s64{1} << 53;
            const double exact = -limit < values[i] && values[i] < limit ? static_cast<double>(values[i]) : x;
            CHECK(halves[i] == f16.round(exact, mode));
            CHECK(brains[i] == bf16.round(exact, mode));
        }
    }
}

TEST_CASE("f64 to f32 in every rounding mode") {
    auto values = doubles(300);
    for (const double x :
         {1e300, -1e300, 0x1p-150, 0x1.8p-149, 0x1.fffffffp-127, 0x1.0000001p0, 0x1.ffffffp127})
        values.push_back(x);
    for (const Mode mode : all_modes) {
        const auto results = run_ptx<float>("cvt." + name_of(mode) + ".f32.f64 %d, %a;", singles(values));
        for (std::size_t i = 0; i < values.size(); ++i) {
            const double x = values[i];
            if (std::isnan(x))
                CHECK(std::isnan(results[i]));
            else
                CHECK(bits(results[i]) == bits(std::isinf(x) || x == 0 ? static_cast<float>(x)
                                                                       : round_to<float>(Exact{x}, mode)));
        }
    }
    CHECK(bits(run_one<float>("cvt.rn.ftz.f32.f64 %d, %a;", 0x1p-130)) == 0);
    CHECK(bits(run_one<float>("cvt.rn.sat.f32.f64 %d, %a;", 1.5)) == bits(1.0f));
    CHECK(bits(run_one<float>("cvt.rn.sat.f32.f64 %d, %a;", double{NAN})) == 0);
    CHECK(run_one<double>("cvt.f64.f32 %d, %a;", 0.1f) == static_cast<double>(0.1f));
    CHECK(run_one<double>("cvt.ftz.f64.f32 %d, %a;", float_of(3)) == 0.0);
    CHECK(run_one<double>("cvt.sat.f64.f32 %d, %a;", -4.0f) == 0.0);
}

TEST_CASE("f64 and f32 to f16 and bf16 in every rounding mode") {
    for (const Format& format : {f16, bf16})
        for (const Mode mode : all_modes) {
            const auto wide = halves_and_between(format);
            std::vector<float> narrow;
            for (const double x : wide)
                narrow.push_back(static_cast<float>(x));
            const std::string head = "cvt." + name_of(mode) + "." + format.name;
            const auto from_wide = run_ptx<u16>(head + ".f64 %d, %a;", singles(wide));
            const auto from_narrow = run_ptx<u16>(head + ".f32 %d, %a;", singles(narrow));
            unsigned wrong = 0;
            for (std::size_t i = 0; i < wide.size(); ++i) {
                wrong += from_wide[i] != format.round(wide[i], mode);
                wrong += from_narrow[i] != format.round(static_cast<double>(narrow[i]), mode);
            }
            INFO(head);
            CHECK(wrong == 0);
        }
}

TEST_CASE("f16 and bf16 to wider types are exact for every code") {
    for (const Format& format : {f16, bf16}) {
        std::vector<std::tuple<u16>> rows;
        for (int code = 0; code < 65536; code += 3)
            rows.emplace_back(static_cast<u16>(code));
        const auto single = run_ptx<float>("cvt.f32." + format.name + " %d, %a;", rows);
        const auto twice = run_ptx<double>("cvt.f64." + format.name + " %d, %a;", rows);
        unsigned wrong = 0;
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const int code = std::get<0>(rows[i]), magnitude = code & 0x7fff;
            const double sign = code & 0x8000 ? -1 : 1;
            if (magnitude > format.infinity()) {
                wrong += !std::isnan(single[i]) || !std::isnan(twice[i]);
                continue;
            }
            const double want = magnitude == format.infinity()
                                    ? sign * INFINITY
                                    : sign * static_cast<double>(format.size(magnitude));
            wrong += bits(static_cast<double>(single[i])) != bits(want) || bits(twice[i]) != bits(want);
        }
        INFO(format.name);
        CHECK(wrong == 0);
    }
}

TEST_CASE("rounding to an integral value in the same format; flushing; pass-through") {
    CHECK(run_one<float>("cvt.rni.f32.f32 %d, %a;", 2.5f) == 2.0f);
    CHECK(bits(run_one<float>("cvt.rpi.f32.f32 %d, %a;", -0.5f)) == bits(-0.0f));
    CHECK(run_one<double>("cvt.rmi.f64.f64 %d, %a;", -0.5) == -1.0);
    CHECK(run_one<float>("cvt.rpi.f32.f32 %d, %a;", float_of(1)) == 1.0f);
    CHECK(bits(run_one<float>("cvt.rpi.ftz.f32.f32 %d, %a;", float_of(1))) == 0);
    CHECK(bits(run_one<float>("cvt.rzi.f32.f32 %d, %a;", float_of(0xffc12345u))) == 0x7fffffffu);
    CHECK(bits(run_one<float>("cvt.f32.f32 %d, %a;", float_of(0xffc12345u))) == 0xffc12345u);
    CHECK(bits(run_one<float>("cvt.ftz.f32.f32 %d, %a;", float_of(0x80000001u))) == 0x80000000u);
    CHECK(run_one<float>("cvt.sat.f32.f32 %d, %a;", 7.0f) == 1.0f);
    CHECK(run_one<u16>("cvt.rni.f16.f16 %d, %a;", u16{0x3e00}) == 0x4000);
    CHECK(run_one<u16>("cvt.rn.bf16.f16 %d, %a;", u16{0x3c01}) == 0x3f80);
}

TEST_CASE("relu and satfinite") {
    CHECK(run_one<u16>("cvt.rn.relu.f16.f32 %d, %a;", -1.0f) == 0);
    CHECK(run_one<u16>("cvt.rn.relu.bf16.f32 %d, %a;", NAN) == 0x7fff);
    CHECK(run_one<u16>("cvt.rn.satfinite.f16.f32 %d, %a;", 1e9f) == 0x7bff);
    CHECK(run_one<u16>("cvt.rz.satfinite.bf16.f32 %d, %a;", -INFINITY) == 0xff7f);
    CHECK(run_one<u16>("cvt.rn.f16.f32 %d, %a;", 1e9f) == 0x7c00);
    CHECK(run_one<u32>("cvt.rn.f16x2.f32 %d, %a, %b;", 1.0f, 2.0f) == 0x3c004000u);
    CHECK(run_one<u32>("cvt.rz.bf16x2.f32 %d, %a, %b;", float_of(0x3f80ffffu), -2.0f) == 0x3f80c000u);
    CHECK(run_one<u32>("cvt.rn.bf16x2.f32 %d, %a, %b;", float_of(0x3f80ffffu), -2.0f) == 0x3f81c000u);
    CHECK(run_one<u32>("cvt.rn.relu.satfinite.f16x2.f32 %d, %a, %b;", 1e9f, -1.0f) == 0x7bff0000u);
}

TEST_CASE("tf32 keeps ten fraction bits") {
    CHECK(run_one<u32>("cvt.rna.tf32.f32 %d, %a;", float_of(0x3f801000u)) == 0x3f802000u);
    CHECK(run_one<u32>("cvt.rn.tf32.f32 %d, %a;", float_of(0x3f801000u)) == 0x3f800000u);
    CHECK(run_one<u32>("cvt.rn.tf32.f32 %d, %a;", float_of(0x3f803000u)) == 0x3f804000u);
    CHECK(run_one<u32>("cvt.rz.tf32.f32 %d, %a;", float_of(0xbf803fffu)) == 0xbf802000u);
    CHECK(run_one<u32>("cvt.rn.relu.tf32.f32 %d, %a;", -1.0f) == 0);
    CHECK(run_one<u32>("cvt.rna.satfinite.tf32.f32 %d, %a;", float_of(0x7f7fffffu)) == 0x7f7fe000u);
    CHECK(run_one<u32>("cvt.rna.tf32.f32 %d, %a;", INFINITY) == 0x7f800000u);
    CHECK(refusal("cvt.rn.satfinite.tf32.f32 %d, %a;").find("sm_100") != std::string::npos);
}

TEST_CASE("e4m3 and e5m2: every code widens exactly, narrowing saturates") {
    // Values by definition: e4m3 has bias 7 and no infinity, e5m2 is f16 without its low byte.
    const auto e4m3 = [](int code) {
        const int exponent = code >> 3 & 15, fraction = code & 7;
        return exponent ? std::ldexp(8 + fraction, exponent - 10) : std::ldexp(fraction, -9);
    };
    const auto e5m2 = [](int code) {
        const int exponent = code >> 2 & 31, fraction = code & 3;
        return exponent ? std::ldexp(4 + fraction, exponent - 17) : std::ldexp(fraction, -16);
    };
    const auto check = [&](const std::string& format, auto value, int largest) {
        for (int code = 0; code <= largest; ++code) {
            const double here = value(code);
            const u32 packed = run_one<u32>("cvt.rn.f16x2." + format + "x2 %d, %a;",
                                            static_cast<u16>(code | (code | 0x80) << 8));
            CHECK(static_cast<int>(packed & 0xffff) == f16.round(here, Mode::nearest));
            CHECK(static_cast<int>(packed >> 16) == (f16.round(here, Mode::nearest) | 0x8000));
            // The midpoint to the next code goes to the even one.
            const float middle = code < largest ? static_cast<float>((here + value(code + 1)) / 2)
                                                : static_cast<float>(here * 4);
            const int even = code < largest ? code + code % 2 : largest;
            CHECK(run_one<u16>("cvt.rn.satfinite." + format + "x2.f32 %d, %a, %b;", -middle,
                               static_cast<float>(here)) == (code | (even | 0x80) << 8));
        }
        CHECK(run_one<u16>("cvt.rn.satfinite." + format + "x2.f32 %d, %a, %b;", NAN, -INFINITY) ==
              (0x7f00 | 0x80 | largest));
        CHECK(run_one<u16>("cvt.rn.satfinite.relu." + format + "x2.f32 %d, %a, %b;", -3.0f, 0.0f) == 0);
        CHECK(run_one<u16>("cvt.rn.satfinite." + format + "x2.f16x2 %d, %a;", 0xfc000000u) ==
              ((0x80 | largest) << 8));
        CHECK((run_one<u32>("cvt.rn.f16x2." + format + "x2 %d, %a;", u16{0x7f}) & 0x7fff) == 0x7fff);
    };
    check("e4m3", e4m3, 0x7e);
    check("e5m2", e5m2, 0x7b);
}

TEST_CASE("cvt.pack saturates two integers and keeps what is above") {
    CHECK(run_one<u32>("cvt.pack.sat.u16.s32 %d, %a, %b;", 70000, -5) == 0xffff0000u);
    CHECK(run_one<u32>("cvt.pack.sat.s16.s32 %d, %a, %b;", -70000, 5) == 0x80000005u);
    CHECK(run_one<u32>("cvt.pack.sat.u8.s32.b32 %d, %a, %b, %c;", 300, -5, 0x12345678u) == 0x5678ff00u);
    CHECK(run_one<u32>("cvt.pack.sat.s8.s32.b32 %d, %a, %b, %c;", -3, 200, 0x12345678u) == 0x5678fd7fu);
    CHECK(run_one<u32>("cvt.pack.sat.u4.s32.b32 %d, %a, %b, %c;", 20, 3, 0x12345678u) == 0x345678f3u);
    CHECK(run_one<u32>("cvt.pack.sat.s2.s32.b32 %d, %a, %b, %c;", -9, 9, 1u) == 0x19u);
}

TEST_CASE("conversions that are wrong or belong to later GPUs are refused") {
    CHECK(refusal("cvt.s32.f32 %d, %a;").find(".rni") != std::string::npos);
    CHECK(refusal("cvt.f32.s32 %d, %a;").find(".rn") != std::string::npos);
    CHECK(refusal("cvt.rn.u32.s32 %d, %a;") != "");
    CHECK(refusal("cvt.rs.f16x2.f32 %d, %a, %b, %b;").find("sm_100") != std::string::npos);
    CHECK(refusal("cvt.rn.satfinite.e2m1x2.f32 %h0, %a, %b; mov.u32 %d, 0;") != "");
    CHECK(refusal("cvt.rzi.ftz.s32.f64 %d, %a;") != "");
}
