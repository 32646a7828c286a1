#include "workbook/random.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>

using namespace workbook;

TEST_CASE("the generator is SplitMix64: its first numbers are the published ones") {
    Random random(1234567); // reference values of the author's implementation
    CHECK(random.next() == 6457827717110365317u);
    CHECK(random.next() == 3203168211198807973u);
    CHECK(random.next() == 9817491932198370423u);
}

TEST_CASE("equal seeds give equal data, other seeds other data") {
    CHECK(random_values<float>(100, 7) == random_values<float>(100, 7));
    CHECK(random_values<float>(100, 7) != random_values<float>(100, 8));
    CHECK(random_values<int>(0, 7).empty());
}

TEST_CASE("floats lie in their range and are spread over it") {
    const auto values = random_values<float>(10'000, 3, {.low = 2, .high = 6});
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    CHECK(*low >= 2);
    CHECK(*low < 2.1f);
    CHECK(*high > 5.9f);
    CHECK(*high <= 6);
}

TEST_CASE("special values come on request only") {
    const auto special = random_values<float>(10'000, 3, {.specials = true});
    CHECK(std::any_of(special.begin(), special.end(), [](float x) { return std::isnan(x); }));
    CHECK(std::any_of(special.begin(), special.end(), [](float x) { return std::isinf(x); }));
    CHECK(std::any_of(special.begin(), special.end(),
                      [](float x) { return std::fpclassify(x) == FP_SUBNORMAL; }));
    CHECK(std::any_of(special.begin(), special.end(), [](float x) { return x == 0 && std::signbit(x); }));
    const auto plain = random_values<float>(10'000, 3);
    CHECK(std::all_of(plain.begin(), plain.end(), [](float x) { return std::isfinite(x); }));
}

TEST_CASE("integers in a range reach both ends and never leave it") {
    const auto values = random_integers<int>(10'000, 5, -3, 3);
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    CHECK(*low == -3);
    CHECK(*high == 3);
}

TEST_CASE("bytes take all values") {
    auto bytes = random_values<std::uint8_t>(10'000, 5);
    std::sort(bytes.begin(), bytes.end());
    CHECK(std::unique(bytes.begin(), bytes.end()) - bytes.begin() == 256);
}
