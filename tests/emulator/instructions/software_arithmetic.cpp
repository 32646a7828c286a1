// Arithmetic in integers against the host's, bit for bit: in every rounding mode that the host has.

#include "machine/instructions/software_arithmetic.hpp"

#include <catch2/catch_test_macros.hpp>

#include <bit>
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <random>
#include <type_traits>

using emu::HostArithmetic;
using emu::Rounding;
using emu::SoftwareArithmetic;

namespace {

template <class T>
using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

/// Numbers of all kinds: any bits, small exponents, neighbours of powers of two, zeros, infinities.
template <class T>
class Numbers {
  public:
    T next() {
        constexpr int digits = std::numeric_limits<T>::digits;
        const auto bits = static_cast<Bits<T>>(random_());
        switch (random_() % 8) {
        case 0:
            return std::bit_cast<T>(bits);
        case 1: // Subnormal.
            return std::bit_cast<T>(static_cast<Bits<T>>(bits & ((Bits<T>{1} << (digits - 1)) - 1)));
        case 2: { // Few digits.
            const T few = static_cast<T>(static_cast<std::int64_t>(random_() % 2048) - 1024);
            return std::ldexp(few, static_cast<int>(random_() % 40) - 20);
        }
        case 3: { // Beside a power of two.
            const T power = std::ldexp(T{1}, static_cast<int>(random_() % 60) - 30);
            return std::nextafter(power, random_() % 2 ? T{0} : power * 2);
        }
        case 4: { // Near the largest and the least.
            using Limits = std::numeric_limits<T>;
            const T ends[] = {Limits::max(),      Limits::min(), Limits::denorm_min(),
                              Limits::infinity(), T{0},          -T{0}};
            return ends[random_() % 6];
        }
        default:
            return std::ldexp(static_cast<T>(static_cast<std::int64_t>(random_())),
                              static_cast<int>(random_() % 80) - 100);
        }
    }
    std::uint64_t word() { return random_(); }

  private:
    std::mt19937_64 random_{7};
};

/// The host in a rounding mode; volatile numbers keep the compiler from computing elsewhere.
template <class T, class F>
T by_host(int mode, F&& f, T a, T b, T c) {
    const volatile T given[] = {a, b, c};
    std::fesetround(mode);
    const volatile T result = f(HostArithmetic{}, T{given[0]}, T{given[1]}, T{given[2]});
    std::fesetround(FE_TONEAREST);
    return result;
}

template <class T>
bool same(T a, T b) {
    return (a != a && b != b) || std::bit_cast<Bits<T>>(a) == std::bit_cast<Bits<T>>(b);
}

template <class T, class F>
void compare(const char* name, F&& f) {
    struct Mode {
        Rounding rounding;
        int host;
    };
#if defined(__wasm__)
    constexpr Mode modes[] = {{Rounding::nearest, FE_TONEAREST}};
#else
    constexpr Mode modes[] = {{Rounding::nearest, FE_TONEAREST},
                              {Rounding::zero, FE_TOWARDZERO},
                              {Rounding::down, FE_DOWNWARD},
                              {Rounding::up, FE_UPWARD}};
#endif
    Numbers<T> numbers;
    unsigned wrong = 0;
    for (unsigned i = 0; i < 20'000; ++i) {
        const T a = numbers.next(), b = numbers.next();
        const T c = numbers.word() % 4 ? numbers.next() : -(a * b); // Where most digits cancel.
        for (const auto& [rounding, mode] : modes) {
            const T expected = by_host(mode, f, a, b, c), got = f(SoftwareArithmetic(rounding), a, b, c);
            INFO(name << " in mode " << static_cast<int>(rounding) << " of " << a << ", " << b << ", " << c);
            if (!same(expected, got) && ++wrong < 4)
                CHECK(std::bit_cast<Bits<T>>(expected) == std::bit_cast<Bits<T>>(got));
        }
    }
    CHECK(wrong == 0);
}

template <class T>
void compare_all() {
    compare<T>("add", [](const auto& in, T a, T b, T) { return in.add(a, b); });
    compare<T>("subtract", [](const auto& in, T a, T b, T) { return in.subtract(a, b); });
    compare<T>("multiply", [](const auto& in, T a, T b, T) { return in.multiply(a, b); });
    compare<T>("divide", [](const auto& in, T a, T b, T) { return in.divide(a, b); });
    compare<T>("fused", [](const auto& in, T a, T b, T c) { return in.fused(a, b, c); });
    compare<T>("root", [](const auto& in, T a, T, T) { return in.root(a); });
}

} // namespace

TEST_CASE("software arithmetic: f32 as the host") { compare_all<float>(); }
TEST_CASE("software arithmetic: f64 as the host") { compare_all<double>(); }

TEST_CASE("software arithmetic: conversions as the host") {
    compare<double>("f32 of f64", [](const auto& in, double a, double, double) {
        return static_cast<double>(in.template convert<float>(a));
    });
    compare<double>("f64 of s64", [](const auto& in, double a, double, double) {
        return in.template convert<double>(std::bit_cast<std::int64_t>(a));
    });
    compare<double>("f64 of u64", [](const auto& in, double a, double, double) {
        return in.template convert<double>(std::bit_cast<std::uint64_t>(a));
    });
}

TEST_CASE("software arithmetic: ties away from zero, which hosts do not have") {
    const SoftwareArithmetic away(Rounding::away);
    CHECK(away.add(1.0f, 0x1p-24f) == 1.0f + 0x1p-23f);
    CHECK(away.add(-1.0f, -0x1p-24f) == -1.0f - 0x1p-23f);
    CHECK(away.add(1.0f, 0x1.fffffep-25f) == 1.0f);
}

TEST_CASE("software arithmetic: a product too small for any number keeps its sign") {
    // By IEEE 754, 6.3; not by the host, whose library may be wrong (musl's fma() is).
    const auto keeps = [](const auto& in, auto tiny) {
        using T = decltype(tiny);
        CHECK(std::signbit(in.fused(-tiny, tiny, T{0})));
        CHECK_FALSE(std::signbit(in.fused(tiny, tiny, -T{0})));
        CHECK_FALSE(std::signbit(in.fused(-tiny, T{0}, T{0}))); // An exact zero: -0 + 0.
    };
    keeps(SoftwareArithmetic(Rounding::nearest), 0x1p-600);
    keeps(HostArithmetic(), 0x1p-600);
    keeps(SoftwareArithmetic(Rounding::nearest), 0x1p-100f);
    keeps(HostArithmetic(), 0x1p-100f);
}
