/// @file matrix_layout_test.cpp
/// Matrix descriptors, bit by bit as the PTX ISA's table has them ('Matrix Descriptor Format'), and the
/// places of accumulators.
#include "workbook/matrix_layout.hpp"

#include <catch2/catch_test_macros.hpp>

#include <cstdint>
#include <set>
#include <utility>

using namespace workbook;

namespace {

/// Bits `from` to `to` of a descriptor.
constexpr std::uint64_t bits(std::uint64_t descriptor, int from, int to) {
    return descriptor >> from & ((std::uint64_t{1} << (to - from + 1)) - 1);
}

} // namespace

TEST_CASE("a descriptor has each number in its field, in units of 16 bytes") {
    constexpr std::uint64_t all = matrix_descriptor(
        0x2c400, {.leading = 0x12340, .stride = 0x3fff0, .swizzle = Swizzle::bytes64, .base_offset = 5});
    STATIC_CHECK(bits(all, 0, 13) == 0x2c40);
    STATIC_CHECK(bits(all, 16, 29) == 0x1234);
    STATIC_CHECK(bits(all, 32, 45) == 0x3fff);
    STATIC_CHECK(bits(all, 49, 51) == 5);
    STATIC_CHECK(bits(all, 62, 63) == 2);
    constexpr std::uint64_t reserved =
        bits(all, 14, 15) | bits(all, 30, 31) | bits(all, 46, 48) | bits(all, 52, 61);
    STATIC_CHECK(reserved == 0);
}

TEST_CASE("the modes count down in a descriptor, and up in a tensor map") {
    STATIC_CHECK(bits(matrix_descriptor(0, {.swizzle = Swizzle::none}), 62, 63) == 0);
    STATIC_CHECK(bits(matrix_descriptor(0, {.swizzle = Swizzle::bytes128}), 62, 63) == 1);
    STATIC_CHECK(bits(matrix_descriptor(0, {.swizzle = Swizzle::bytes64}), 62, 63) == 2);
    STATIC_CHECK(bits(matrix_descriptor(0, {.swizzle = Swizzle::bytes32}), 62, 63) == 3);
}

TEST_CASE("an advanced descriptor is that of an address further on") {
    constexpr MatrixLayout layout = k_major(Swizzle::bytes128, 64);
    STATIC_CHECK(advanced(matrix_descriptor(0x400, layout), 96) == matrix_descriptor(0x460, layout));
}

TEST_CASE("tiles along k: panels as wide as the mode, eight rows apart, steps of 32 bytes in a panel") {
    STATIC_CHECK(k_major(Swizzle::bytes128, 64).stride == 1024);
    STATIC_CHECK(k_major(Swizzle::bytes64, 64).stride == 512);
    STATIC_CHECK(k_major(Swizzle::bytes32, 64).stride == 256);
    STATIC_CHECK(k_major(Swizzle::none, 64).stride == 128);
    STATIC_CHECK(k_major(Swizzle::none, 64).leading == 1024);
    STATIC_CHECK(k_major_step(Swizzle::bytes128, 64, 3) == 96);
    STATIC_CHECK(k_major_step(Swizzle::bytes128, 64, 4) == 8192); // the next panel
    STATIC_CHECK(k_major_step(Swizzle::bytes64, 64, 3) == 4096 + 32);
    STATIC_CHECK(k_major_step(Swizzle::bytes32, 64, 3) == 3 * 2048);
    STATIC_CHECK(k_major_step(Swizzle::none, 64, 3) == 6 * 1024);
}

TEST_CASE("tiles across k: the two offsets change places without a swizzle") {
    STATIC_CHECK(mn_major(Swizzle::bytes128, 64).leading == 8192);
    STATIC_CHECK(mn_major(Swizzle::bytes128, 64).stride == 1024);
    STATIC_CHECK(mn_major(Swizzle::none, 64).leading == 128);
    STATIC_CHECK(mn_major(Swizzle::none, 64).stride == 1024);
    STATIC_CHECK(mn_major_step(Swizzle::bytes128, 1) == 2048);
    STATIC_CHECK(mn_major_step(Swizzle::none, 3) == 768);
}

TEST_CASE("128 threads hold every element of D once, for each N") {
    for (const int n : {8, 64, 256}) {
        std::set<std::pair<int, int>> elements;
        for (int thread = 0; thread < warpgroup_threads; ++thread)
            for (int i = 0; i < n / 2; ++i)
                elements.emplace(accumulator_row(thread, i), accumulator_column(thread, i));
        CHECK(elements.size() == static_cast<std::size_t>(64 * n));
        CHECK(elements.begin()->first == 0);
        CHECK(elements.rbegin()->first == 63);
        CHECK(elements.rbegin()->second == n - 1);
    }
}
