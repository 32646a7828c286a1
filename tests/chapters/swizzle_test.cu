/// @file swizzle_test.cu
/// The kernels of chapter 7 on random data, bit for bit, in every mode, at all shapes, and with tiles that
/// begin at and inside of the period of the pattern.
#include "swizzle.cuh"

#include "workbook/buffer.hpp"
#include "workbook/compare.hpp"
#include "workbook/random.hpp"

#include "device_case.hpp"
#include "shapes.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <vector>

using namespace swizzle;
using workbook::DeviceBuffer;
using workbook::Shape;

namespace {

constexpr workbook::DeviceNeeds hopper{.compute_major = 9};

int wrapping_add(int a, int b) {
    return static_cast<int>(static_cast<unsigned>(a) + static_cast<unsigned>(b));
}

/// Calls `test` with each mode that swizzles, as a constant.
template <class Test>
void for_each_mode(Test test) {
    test(std::integral_constant<Swizzle, Swizzle::bytes32>());
    test(std::integral_constant<Swizzle, Swizzle::bytes64>());
    test(std::integral_constant<Swizzle, Swizzle::bytes128>());
}

/// Reads the raw tile at (x, y) and compares it with the elements, each where the hardware puts it: bits 7
/// and up of its absolute address XORed into bits 4 and up. Written out here, so that the library is not its
/// own witness.
template <Swizzle mode>
void check_raw(TestMatrix<int>& matrix, int x, int y, int base) {
    INFO("mode " << static_cast<int>(mode) << ", tile at " << x << ", " << y << ", base " << base);
    constexpr auto elements = static_cast<std::size_t>(tile_elements(mode));
    constexpr unsigned mask = mode == Swizzle::bytes128  ? 7
                              : mode == Swizzle::bytes64 ? 3
                              : mode == Swizzle::bytes32 ? 1
                                                         : 0;
    DeviceBuffer<int> raw(elements);
    raw.poison();
    launch_read_raw_tile<mode>(matrix.device(), x, y, base, raw.span());
    std::vector<int> expected(elements);
    for (std::size_t i = 0; i < elements; ++i) {
        const auto address = static_cast<unsigned>(base) + static_cast<unsigned>(4 * i);
        const unsigned moved = address ^ ((address >> 7 & mask) << 4);
        const auto column = static_cast<long long>(i) % tile_columns(mode);
        const auto row = static_cast<long long>(i) / tile_columns(mode);
        expected[(moved - static_cast<unsigned>(base)) / 4] = matrix.at_or(x + column, y + row, 0);
    }
    CHECK(workbook::compare_bits<int>(expected, raw.download()).summary() == "ok");
    CHECK(raw.check_guards() == "");
}

} // namespace

TEST_CASE("raw shared memory holds each element where the absolute address says, at every base") {
    require_device(hopper);
    TestMatrix<int> matrix({75, 90}, 1);
    for (int base = 0; base < base_end; base += base_step) {
        check_raw<Swizzle::none>(matrix, 12, 20, base);
        check_raw<Swizzle::bytes32>(matrix, 12, 20, base);
        check_raw<Swizzle::bytes64>(matrix, 12, 20, base);
        check_raw<Swizzle::bytes128>(matrix, 12, 20, base);
    }
}

TEST_CASE("raw tiles that overhang or lie outside are swizzled zeros and all") {
    require_device(hopper);
    for (const Shape shape : {Shape{75, 90}, {1, 1}, {3, 200}, {40, 5}}) {
        TestMatrix<int> matrix(shape, 2);
        const int width = static_cast<int>(shape.width);
        const int height = static_cast<int>(shape.height);
        for (const int x : {0, -4, (width - 5) / 4 * 4, (width + 3) / 4 * 4, -100})
            for (const int y : {0, -7, height - 3, height, -32}) {
                check_raw<Swizzle::none>(matrix, x, y, 0);
                check_raw<Swizzle::bytes32>(matrix, x, y, 128);
                check_raw<Swizzle::bytes64>(matrix, x, y, 0);
                check_raw<Swizzle::bytes128>(matrix, x, y, 640);
            }
        matrix.check();
    }
}

TEST_CASE("element (1, 0) of a tile with 128-byte swizzle lies in bank 4, without swizzle in bank 0") {
    require_device(hopper);
    const Shape shape{32, 32};
    std::vector<int> numbers(shape.padded_size<int>());
    for (std::size_t i = 0; i < numbers.size(); ++i)
        numbers[i] = static_cast<int>(i % 32);
    TestMatrix<int> matrix(shape, numbers);
    DeviceBuffer<int> raw(numbers.size());
    launch_read_raw_tile<Swizzle::none>(matrix.device(), 0, 0, 0, raw.span());
    CHECK(raw.download() == numbers);
    launch_read_raw_tile<Swizzle::bytes128>(matrix.device(), 0, 0, 0, raw.span());
    const std::vector<int> swizzled = raw.download();
    CHECK(swizzled[32 + 4] == 0);
    CHECK(swizzled[32] == 4);
    CHECK(swizzled[7 * 32 + 28] == 0);
    CHECK(swizzled[8 * 32] == 0);
}

TEST_CASE("read_raw_tile refuses a base or an x that no tile may have, and an output of another size") {
    DeviceBuffer<int> tile(static_cast<std::size_t>(tile_elements(Swizzle::none)));
    CHECK_NOTHROW(launch_read_raw_tile<Swizzle::none>({}, 4, 0, 128, tile.span()));
    CHECK_THROWS_AS(launch_read_raw_tile<Swizzle::none>({}, 3, 0, 128, tile.span()), std::invalid_argument);
    CHECK_THROWS_AS(launch_read_raw_tile<Swizzle::none>({}, 0, 0, 64, tile.span()), std::invalid_argument);
    DeviceBuffer<int> out;
    for (const int base : {-128, 1, 64, 1024})
        CHECK_THROWS_AS(launch_read_raw_tile<Swizzle::none>({}, 0, 0, base, out.span()),
                        std::invalid_argument);
    CHECK_THROWS_AS(launch_read_raw_tile<Swizzle::none>({}, 0, 0, 0, out.span()), std::invalid_argument);
    CHECK_THROWS_AS(launch_add_place_swizzled<Swizzle::bytes32>({}, 100), std::invalid_argument);
}

TEST_CASE("add_one_swizzled finds every element, in every mode") {
    require_device(hopper);
    for_each_mode([](auto constant) {
        constexpr Swizzle mode = decltype(constant)::value;
        const auto check = [](Shape shape) {
            TestMatrix<int> in(shape, shape.width);
            TestMatrix<int> out(shape, shape.width + 1);
            launch_add_one_swizzled<mode>(in.device(), out.device());
            out.fill([&](std::size_t x, std::size_t y) { return wrapping_add(in.at(x, y), 1); });
            out.check_elements();
            in.check();
        };
        for_each_shape(check);
        check({517, 301});
    });
}

TEST_CASE("add_place_swizzled knows each element's place, in every mode and at every base") {
    require_device(hopper);
    for_each_mode([](auto constant) {
        constexpr Swizzle mode = decltype(constant)::value;
        const auto check = [](Shape shape, int base) {
            INFO("mode " << static_cast<int>(mode) << ", base " << base);
            TestMatrix<int> matrix(shape, shape.height);
            launch_add_place_swizzled<mode>(matrix.device(), base);
            matrix.fill([&](std::size_t x, std::size_t y) {
                constexpr auto columns = static_cast<std::size_t>(tile_columns(mode));
                const std::size_t place = y % tile_rows * columns + x % columns;
                return wrapping_add(matrix.at(x, y), static_cast<int>(place));
            });
            matrix.check_elements();
        };
        for_each_shape([&](Shape shape) {
            for (const int base : {0, 128, 384, 512, 896})
                check(shape, base);
        });
        for (int base = 0; base < base_end; base += base_step)
            check({70, 50}, base);
        check({301, 517}, 0);
    });
}

namespace {

using ColumnSums = void (*)(Matrix<const int>, std::span<unsigned>);

void check_column_sums(ColumnSums launch) {
    const auto check = [&](Shape shape) {
        TestMatrix<int> matrix(shape, shape.width + shape.height);
        DeviceBuffer<unsigned> sums(shape.width);
        std::vector<unsigned> expected(shape.width);
        sums.upload(expected);
        launch(matrix.device(), sums.span());
        for (std::size_t y = 0; y < shape.height; ++y)
            for (std::size_t x = 0; x < shape.width; ++x)
                expected[x] += static_cast<unsigned>(matrix.at(x, y));
        CHECK(workbook::compare_bits<unsigned>(expected, sums.download()).summary() == "ok");
        CHECK(sums.check_guards() == "");
        matrix.check();
    };
    for_each_shape(check);
    check({1001, 203});
}

} // namespace

TEST_CASE("column_sums without swizzle and with padding, 16 and 4 bytes a lane") {
    require_device(hopper);
    check_column_sums(launch_column_sums<Swizzle::none, Access::bytes16>);
    check_column_sums(launch_column_sums<Swizzle::none, Access::bytes4>);
    check_column_sums(launch_column_sums_padded<Access::bytes16>);
    check_column_sums(launch_column_sums_padded<Access::bytes4>);
}

TEST_CASE("column_sums in every mode, 16 and 4 bytes a lane") {
    require_device(hopper);
    for_each_mode([](auto constant) {
        constexpr Swizzle mode = decltype(constant)::value;
        check_column_sums(launch_column_sums<mode, Access::bytes16>);
        check_column_sums(launch_column_sums<mode, Access::bytes4>);
    });
}

TEST_CASE("column_sums refuses an output of another size") {
    DeviceBuffer<unsigned> sums;
    const Matrix<const int> wide{nullptr, 3, 0, 4};
    CHECK_THROWS_AS((launch_column_sums<Swizzle::none, Access::bytes16>(wide, sums.span())),
                    std::invalid_argument);
    CHECK_THROWS_AS(launch_column_sums_padded<Access::bytes4>(wide, sums.span()), std::invalid_argument);
}
