// Reciprocals, roots and transcendental functions (PTX ISA 9.7.3.8, 9.7.3.13 to 9.7.3.22). IEEE forms
// exactly, approximations within the error that the manual states.

#include "instructions/exact.hpp"
#include "support.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace emu::test;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

namespace {

constexpr u32 nan32 = 0x7fffffff;

/// Distance of an f32 from the exact value in units of its last place.
double ulps(float got, double want) {
    const float near = static_cast<float>(want);
    const double unit = std::fabs(static_cast<double>(std::nextafter(near, INFINITY)) - near);
    return std::fabs(got - want) / unit;
}

std::vector<float> numbers(double low, double high) {
    std::vector<float> values;
    for (int i = 0; i < 500; ++i)
        values.push_back(static_cast<float>(low + (high - low) * i / 499));
    return values;
}

/// Largest deviation of an approximation, `measure(got, exact(x))`.
template <class F, class M>
double worst(const std::string& instruction, const std::vector<float>& values, F exact, M measure) {
    const auto results = run_ptx<float>(instruction + " %d, %a;", singles(values));
    double most = 0;
    for (std::size_t i = 0; i < values.size(); ++i)
        most =
            std::max(most, static_cast<double>(measure(results[i], exact(static_cast<double>(values[i])))));
    return most;
}
double absolute(float got, double want) { return std::fabs(got - want); }
double relative(float got, double want) { return want == 0 ? std::fabs(got) : std::fabs(got / want - 1); }

} // namespace

TEST_CASE("rcp with IEEE rounding") {
    auto values = floats(400);
    for (const Mode mode : all_modes) {
        const auto results = run_ptx<float>("rcp." + name_of(mode) + ".f32 %d, %a;", singles(values));
        for (std::size_t i = 0; i < values.size(); ++i) {
            const float x = values[i];
            const float want = !std::isfinite(x) || x == 0 ? 1.0f / x : round_to<float>(Exact{1} / x, mode);
            CHECK(bits(results[i]) == (std::isnan(want) ? nan32 : bits(want)));
        }
    }
    CHECK(run_one<double>("rcp.rz.f64 %d, %a;", 3.0) == round_to<double>(Exact{1} / 3, Mode::zero));
    CHECK(run_one<double>("rcp.rp.f64 %d, %a;", 3.0) == round_to<double>(Exact{1} / 3, Mode::up));
    CHECK(bits(run_one<float>("rcp.rn.ftz.f32 %d, %a;", 0x1.8p126f)) == 0);
    CHECK(run_one<float>("rcp.rn.ftz.f32 %d, %a;", float_of(1)) == INFINITY);
}

TEST_CASE("sqrt with IEEE rounding: the square brackets the operand") {
    for (const Mode mode : all_modes) {
        const auto values = floats(300);
        const auto results = run_ptx<float>("sqrt." + name_of(mode) + ".f32 %d, %a;", singles(values));
        for (std::size_t i = 0; i < values.size(); ++i) {
            const float x = values[i], r = results[i];
            if (std::isnan(x) || x < 0) {
                CHECK(bits(r) == nan32);
                continue;
            }
            if (x == 0 || std::isinf(x)) {
                CHECK(bits(r) == bits(x));
                continue;
            }
            const Exact above = std::nextafter(r, INFINITY), below = std::nextafter(r, 0.0f),
                        square = Exact{r} * r;
            if (mode == Mode::up)
                CHECK((square >= x && below * below < x));
            else if (mode == Mode::nearest)
                CHECK(((Exact{r} + above) * (Exact{r} + above) >= 4 * Exact{x} &&
                       (Exact{r} + below) * (Exact{r} + below) <= 4 * Exact{x}));
            else
                CHECK((square <= x && above * above > x));
        }
    }
    CHECK(run_one<double>("sqrt.rn.f64 %d, %a;", 2.0) == 0x1.6a09e667f3bcdp+0);
    CHECK(run_one<double>("sqrt.rz.f64 %d, %a;", 2.0) == 0x1.6a09e667f3bccp+0);
    CHECK(run_one<double>("sqrt.rp.f64 %d, %a;", 4.0) == 2.0);
}

TEST_CASE("approximate division, and its divisors beyond 2^126") {
    const auto rows = pairs(numbers(-3, 7), numbers(0.1, 5));
    for (const char* kind : {"approx", "full", "approx.ftz", "full.ftz"}) {
        const auto results = run_ptx<float>(std::string("div.") + kind + ".f32 %d, %a, %b;", rows);
        double most = 0;
        for (std::size_t i = 0; i < rows.size(); i += 7)
            most = std::max(
                most, ulps(results[i], static_cast<double>(std::get<0>(rows[i])) / std::get<1>(rows[i])));
        CHECK(most <= 2);
    }
    const float beyond = 0x1.8p127f;
    CHECK(bits(run_one<float>("div.approx.f32 %d, %a, %b;", 1.0f, -beyond)) == bits(-0.0f));
    CHECK(bits(run_one<float>("div.approx.f32 %d, %a, %b;", INFINITY, beyond)) == nan32);
    CHECK(run_one<float>("div.full.f32 %d, %a, %b;", beyond, beyond) == 1.0f);
    CHECK(run_one<float>("div.approx.f32 %d, %a, %b;", 1.0f, -0.0f) == -INFINITY);
    CHECK(refusal("div.f32 %d, %a, %b;") != "");
}

TEST_CASE("approximations err no more than the manual allows") {
    const auto reciprocal = [](double x) { return 1 / x; };
    const auto ulp = [](float got, double want) { return ulps(got, want); };
    CHECK(worst("rcp.approx.f32", numbers(0.01, 9), reciprocal, ulp) <= 1);
    CHECK(worst(
              "sqrt.approx.f32", numbers(0, 1000), [](double x) { return std::sqrt(x); }, relative) <=
          0x1p-22);
    CHECK(worst(
              "rsqrt.approx.f32", numbers(0.01, 1000), [](double x) { return 1 / std::sqrt(x); }, relative) <=
          0x1p-22);
    CHECK(worst(
              "sin.approx.f32", numbers(-3.14159, 3.14159), [](double x) { return std::sin(x); }, absolute) <=
          0x1p-20);
    CHECK(worst(
              "cos.approx.f32", numbers(-3.14159, 3.14159), [](double x) { return std::cos(x); }, absolute) <=
          0x1p-20);
    CHECK(worst(
              "lg2.approx.f32", numbers(0.5, 2), [](double x) { return std::log2(x); }, absolute) <= 0x1p-22);
    CHECK(worst(
              "lg2.approx.f32", numbers(3, 1e6), [](double x) { return std::log2(x); }, relative) <= 0x1p-22);
    CHECK(worst(
              "ex2.approx.f32", numbers(-120, 120), [](double x) { return std::exp2(x); }, ulp) <= 2);
    CHECK(worst(
              "tanh.approx.f32", numbers(-5, 5), [](double x) { return std::tanh(x); }, relative) <= 0x1p-11);
}

TEST_CASE("special values of the functions, as the manual's tables list them") {
    const auto f = [](const char* instruction, float x) {
        return bits(run_one<float>(std::string(instruction) + " %d, %a;", x));
    };
    CHECK(f("rcp.approx.f32", -INFINITY) == bits(-0.0f));
    CHECK(f("rcp.approx.f32", -0.0f) == bits(-INFINITY));
    CHECK(f("rcp.approx.ftz.f32", float_of(0x80000001u)) == bits(-INFINITY));
    CHECK(f("sqrt.approx.f32", -0.0f) == bits(-0.0f));
    CHECK(f("sqrt.approx.f32", -1.0f) == nan32);
    CHECK(f("rsqrt.approx.f32", -0.0f) == bits(-INFINITY));
    CHECK(f("rsqrt.approx.f32", INFINITY) == bits(0.0f));
    CHECK(f("rsqrt.approx.f32", -1.0f) == nan32);
    CHECK(f("sin.approx.f32", -0.0f) == bits(-0.0f));
    CHECK(f("sin.approx.f32", INFINITY) == nan32);
    CHECK(f("cos.approx.ftz.f32", float_of(1)) == bits(1.0f));
    CHECK(f("lg2.approx.f32", 0.0f) == bits(-INFINITY));
    CHECK(f("lg2.approx.f32", -1.0f) == nan32);
    CHECK(f("lg2.approx.f32", float_of(1)) == bits(-149.0f));
    CHECK(f("lg2.approx.ftz.f32", float_of(1)) == bits(-INFINITY));
    CHECK(f("ex2.approx.f32", -INFINITY) == bits(0.0f));
    CHECK(f("ex2.approx.f32", 128.0f) == bits(INFINITY));
    CHECK(f("ex2.approx.f32", -149.0f) == 1);
    CHECK(f("ex2.approx.ftz.f32", -149.0f) == 0);
    CHECK(f("ex2.approx.f32", float_of(1)) == bits(1.0f));
    CHECK(f("tanh.approx.f32", -INFINITY) == bits(-1.0f));
    CHECK(f("tanh.approx.f32", float_of(0x7f800001u)) == nan32);
}

TEST_CASE("the gross approximations of f64 set only the upper word") {
    const auto values = doubles(200);
    const auto reciprocals = run_ptx<u64>("rcp.approx.ftz.f64 %d, %a;", singles(values));
    const auto roots = run_ptx<u64>("rsqrt.approx.ftz.f64 %d, %a;", singles(values));
    for (std::size_t i = 0; i < values.size(); ++i) {
        CHECK((reciprocals[i] & 0xffffffffu) == 0);
        CHECK((roots[i] & 0xffffffffu) == 0);
        const double x = double_of(bits(values[i]) & 0xffffffff00000000u);
        if (std::isnormal(x) && std::isnormal(1 / x))
            CHECK(std::fabs(double_of(reciprocals[i]) * x - 1) < 0x1p-19);
        if (std::isnormal(x) && x > 0)
            CHECK(std::fabs(double_of(roots[i]) * std::sqrt(x) - 1) < 0x1p-19);
    }
    CHECK(run_one<u64>("rcp.approx.ftz.f64 %d, %a;", double{NAN}) == 0x7fffffff00000000u);
    CHECK(run_one<double>("rcp.approx.ftz.f64 %d, %a;", double_of(0x8000000100000000u)) == -INFINITY);
    CHECK(run_one<u64>("rsqrt.approx.ftz.f64 %d, %a;", -1.0) == 0x7fffffff00000000u);
    CHECK(run_one<double>("rsqrt.approx.f64 %d, %a;", 4.0) == 0.5);
}
