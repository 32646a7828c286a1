#include "workbook/compare.hpp"

#include <catch2/catch_test_macros.hpp>

#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

using namespace workbook;

namespace {
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

Comparison bits(const std::vector<float>& expected, const std::vector<float>& actual) {
    return compare_bits<float>(expected, actual);
}
Comparison values(const std::vector<float>& expected, const std::vector<float>& actual,
                  Tolerance tolerance = {}) {
    return compare_near<float>(expected, actual, tolerance);
}
} // namespace

TEST_CASE("equal data is equal, and none is equal to none") {
    CHECK(bits({1, -0.0f, not_a_number, infinity}, {1, -0.0f, not_a_number, infinity}));
    CHECK(bits({}, {}));
    CHECK(values({1, -0.0f, not_a_number, infinity}, {1, -0.0f, not_a_number, infinity}));
}

TEST_CASE("the first wrong index, both values and the number of wrong elements are reported") {
    const Comparison result = bits({1, 2, 3, 4}, {1, 5, 3, 6});
    CHECK_FALSE(result);
    CHECK(result.wrong == 2);
    CHECK(result.first_wrong == 1);
    CHECK(result.summary() == "2 of 4 wrong, first at index 1: expected 2 (0x40000000), got 5 (0x40a00000)");
}

TEST_CASE("data of another length is wrong, even if its beginning is right") {
    CHECK_FALSE(bits({1, 2}, {1}));
    CHECK_FALSE(bits({}, {1}));
    CHECK_FALSE(values({1}, {1, 2}));
    CHECK(bits({1, 2}, {1}).summary() == "expected 2 elements, got 1");
}

TEST_CASE("a bitwise comparison sees what == does not") {
    CHECK_FALSE(bits({0.0f}, {-0.0f}));
    const float other_nan = std::bit_cast<float>(std::uint32_t{0x7FC00001});
    CHECK_FALSE(bits({not_a_number}, {other_nan}));
    CHECK_FALSE(bits({0.0f}, {std::numeric_limits<float>::denorm_min()}));
}

TEST_CASE("a NaN where none is expected fails at every tolerance") {
    CHECK_FALSE(values({1}, {not_a_number}));
    CHECK_FALSE(values({1}, {not_a_number}, {.relative = 1e30, .absolute = 1e30}));
    CHECK_FALSE(values({not_a_number}, {1}, {.relative = 1e30, .absolute = 1e30}));
    CHECK_FALSE(values({infinity}, {not_a_number}, {.absolute = 1e30}));
}

TEST_CASE("an expected NaN matches any NaN") {
    CHECK(values({not_a_number}, {std::bit_cast<float>(std::uint32_t{0xFFC00001})}));
}

TEST_CASE("an infinity matches only itself") {
    CHECK_FALSE(values({infinity}, {-infinity}, {.absolute = 1e30}));
    CHECK_FALSE(values({infinity}, {1}, {.relative = 1}));
    CHECK_FALSE(values({1}, {infinity}, {.absolute = 1e30}));
}

TEST_CASE("tolerance 0 wants equality, the sign of zero included") {
    CHECK_FALSE(values({1}, {std::nextafter(1.0f, 2.0f)}));
    CHECK_FALSE(values({0.0f}, {-0.0f}));
    CHECK(values({0.0f}, {-0.0f}, {.absolute = 1e-9}));
}

TEST_CASE("the tolerance is absolute plus relative to the expected value, borders included") {
    CHECK(values({100}, {101}, {.relative = 0.01}));
    CHECK_FALSE(values({100}, {101.5f}, {.relative = 0.01}));
    CHECK(values({0}, {0.5f}, {.absolute = 0.5}));
    CHECK_FALSE(values({0}, {0.6f}, {.absolute = 0.5}));
    CHECK_FALSE(values({-1}, {1}, {.relative = 1}));
}

TEST_CASE("integers and structures are described too") {
    CHECK(compare_bits<int>(std::vector{-1}, std::vector{7}).summary() ==
          "1 of 1 wrong, first at index 0: expected -1, got 7");
    struct Pair {
        unsigned char a;
        unsigned char b;
    };
    CHECK(describe(Pair{1, 255}) == "bytes 01 ff");
    struct Half { // as __half and __nv_bfloat16
        std::uint16_t bits;
        explicit operator float() const { return 1.5F; }
    };
    CHECK(describe(Half{0x3fc0}) == "1.5 (0x3fc0)");
}
