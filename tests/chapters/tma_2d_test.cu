/// @file tma_2d_test.cu
/// The kernels of chapter 6 on random data, bit for bit, at all shapes, with coordinates that are negative,
/// overhang and lie outside; padding and guard zones must stay as they were.
#include "tma_2d.cuh"

#include "workbook/buffer.hpp"
#include "workbook/compare.hpp"
#include "workbook/random.hpp"

#include "device_case.hpp"
#include "shapes.hpp"

#include <catch2/catch_test_macros.hpp>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <type_traits>
#include <vector>

using namespace tma_2d;
using workbook::DeviceBuffer;
using workbook::Shape;

namespace {

constexpr workbook::DeviceNeeds hopper{.compute_major = 9};

/// x at the multiple of 16 bytes before it: boxes begin there.
int aligned(int x) { return (x >= 0 ? x : x - 3) / 4 * 4; }

/// Corners of a tile around those of a matrix: inside, on the edge, overhanging, just and far outside.
struct Corner {
    int x;
    int y;
};
std::vector<Corner> corners(Shape shape) {
    const int width = static_cast<int>(shape.width);
    const int height = static_cast<int>(shape.height);
    return {{0, 0},
            {4, 2},
            {-4, -1},
            {-8, 3},
            {12, -7},
            {aligned(width - 1), height - 1},
            {aligned(width - 40), 0},
            {0, height - 10},
            {-tile_width, 0},
            {0, -tile_height},
            {aligned(width), 0},
            {0, height},
            {-60, height - 1},
            {aligned(width - 1), -15},
            {-1'000'000, 5},
            {8, 2'000'000'000},
            {4 - tile_width, 1 - tile_height}};
}

int wrapping_add(int a, int b) {
    return static_cast<int>(static_cast<unsigned>(a) + static_cast<unsigned>(b));
}

} // namespace

TEST_CASE("add_tile adds to each element its number in the tile, wherever the tile is") {
    require_device(hopper);
    for_each_shape([](Shape shape) {
        for (const auto [x, y] : corners(shape)) {
            if (x < 0 || y < 0)
                continue; // what is written may not begin there
            INFO("tile at " << x << ", " << y);
            TestMatrix<int> matrix(shape, shape.width + 1);
            launch_add_tile(matrix.device(), x, y);
            for (int row = 0; row < tile_height; ++row)
                for (int column = 0; column < tile_width; ++column) {
                    const long long to_x = static_cast<long long>(x) + column;
                    const long long to_y = static_cast<long long>(y) + row;
                    if (to_x < 0 || to_y < 0 || to_x >= static_cast<long long>(shape.width) ||
                        to_y >= static_cast<long long>(shape.height))
                        continue;
                    int& element = matrix.at(static_cast<std::size_t>(to_x), static_cast<std::size_t>(to_y));
                    element = wrapping_add(element, row * tile_width + column);
                }
            matrix.check_elements();
        }
    });
}

TEST_CASE("add_one_matrix adds one to every element and to nothing else") {
    require_device(hopper);
    const auto check = [](Shape shape) {
        TestMatrix<int> matrix(shape, shape.height);
        launch_add_one_matrix(matrix.device());
        matrix.fill([&](std::size_t x, std::size_t y) { return wrapping_add(matrix.at(x, y), 1); });
        matrix.check_elements();
    };
    for_each_shape(check);
    check({1001, 507});
}

TEST_CASE("add_one_matrix takes a view into a larger matrix and leaves the rest alone") {
    require_device(hopper);
    TestMatrix<int> matrix({200, 50}, 9);
    const Matrix<int> all = matrix.device();
    launch_add_one_matrix({all.data + 5 * all.pitch + 8, 76, 33, all.pitch});
    for (std::size_t y = 5; y < 38; ++y)
        for (std::size_t x = 8; x < 84; ++x)
            matrix.at(x, y) = wrapping_add(matrix.at(x, y), 1);
    matrix.check();
}

TEST_CASE("a tensor store clips a row at the next multiple of 16 bytes and overwrites what lies there") {
    require_device(hopper);
    TestMatrix<int> matrix({200, 50}, 9);
    const Matrix<int> all = matrix.device();
    launch_add_one_matrix({all.data + 5 * all.pitch + 8, 77, 33, all.pitch});
    for (std::size_t y = 5; y < 38; ++y) {
        for (std::size_t x = 8; x < 85; ++x)
            matrix.at(x, y) = wrapping_add(matrix.at(x, y), 1);
        for (std::size_t x = 85; x < 88; ++x)
            matrix.at(x, y) = 1; // zero from beyond the view's edge, plus one
    }
    matrix.check();
}

TEST_CASE("overhanging_box brings the whole box, zeros where the matrix is not") {
    require_device(hopper);
    for_each_shape([](Shape shape) {
        if (shape.width == 0 || shape.height == 0)
            return;
        TestMatrix<int> matrix(shape, 5);
        for (const auto [x, y] : corners(shape)) {
            INFO("box at " << x << ", " << y);
            DeviceBuffer<int> out(tile_elements);
            out.poison();
            launch_overhanging_box(matrix.device(), x, y, out.span());
            std::vector<int> expected(tile_elements);
            for (int i = 0; i < tile_elements; ++i)
                expected[static_cast<std::size_t>(i)] =
                    matrix.at_or(static_cast<long long>(x) + i % tile_width,
                                 static_cast<long long>(y) + i / tile_width, 0);
            CHECK(workbook::compare_bits<int>(expected, out.download()).summary() == "ok");
        }
        matrix.check();
    });
}

TEST_CASE("overhanging_box refuses an output of another size") {
    DeviceBuffer<int> out;
    CHECK_THROWS_AS(launch_overhanging_box({}, 0, 0, out.span()), std::invalid_argument);
}

TEST_CASE("box_filter_3x3 sums neighbours, zeros beyond the edge") {
    require_device(hopper);
    const auto check = [](Shape shape) {
        TestMatrix<unsigned> in(shape, shape.width);
        TestMatrix<unsigned> out(shape, shape.width + 1);
        launch_box_filter_3x3(in.device(), out.device());
        out.fill([&](std::size_t x, std::size_t y) {
            unsigned sum = 0;
            for (int k = 0; k < 9; ++k)
                sum +=
                    in.at_or(static_cast<long long>(x) + k % 3 - 1, static_cast<long long>(y) + k / 3 - 1, 0);
            return sum;
        });
        out.check_elements();
        in.check();
    };
    for_each_shape(check);
    check({513, 260});
}

TEST_CASE("box_mean_3x3 takes the mean of the neighbours that exist") {
    require_device(hopper);
    for_each_shape([](Shape shape) {
        TestMatrix<float> in(shape, shape.width);
        TestMatrix<float> out(shape, shape.width + 1);
        launch_box_mean_3x3(in.device(), out.device());
        out.fill([&](std::size_t x, std::size_t y) {
            float sum = 0;
            int inside = 0;
            for (int k = 0; k < 9; ++k) {
                const long long column = static_cast<long long>(x) + k % 3 - 1;
                const long long row = static_cast<long long>(y) + k / 3 - 1;
                if (column < 0 || row < 0 || column >= static_cast<long long>(shape.width) ||
                    row >= static_cast<long long>(shape.height))
                    continue;
                sum += in.at_or(column, row, 0);
                ++inside;
            }
            return sum / static_cast<float>(inside);
        });
        out.check_elements();
        in.check();
    });
}

namespace {

/// The element of a padded tensor at these coordinates, 0 outside.
template <int rank>
int element(const std::vector<int>& values, const Tensor<const int, rank>& tensor, const Extents<rank>& at) {
    std::size_t index = 0;
    for (int i = 0; i < rank; ++i) {
        if (at.of[i] < 0 || static_cast<std::size_t>(at.of[i]) >= tensor.dims[static_cast<std::size_t>(i)])
            return 0;
        index += static_cast<std::size_t>(at.of[i]) * tensor.stride(i);
    }
    return values[index];
}

/// Copies a random tensor to another of other dimensions and compares every element.
template <int rank>
void check_copy(
    std::type_identity_t<void (*)(const CUtensorMap, const CUtensorMap, Extents<rank>, Extents<rank>)> kernel,
    const std::array<std::size_t, rank>& from, const std::array<std::size_t, rank>& to,
    const Extents<rank>& shift) {
    Tensor<const int, rank> in{nullptr, from};
    Tensor<int, rank> out{nullptr, to};
    const auto values = workbook::random_values<int>(in.padded_size(), 1);
    auto expected = workbook::random_values<int>(out.padded_size(), 2);
    const DeviceBuffer<int> in_device(values);
    DeviceBuffer<int> out_device(expected);
    in.data = in_device.data();
    out.data = out_device.data();
    launch_copy<rank>(kernel, in, out, shift);
    std::size_t elements = 1;
    for (const std::size_t side : to)
        elements *= in.padded_size() > 0 ? side : 0;
    for (std::size_t n = 0; n < elements; ++n) {
        Extents<rank> source{};
        std::size_t rest = n;
        std::size_t index = 0;
        for (int i = 0; i < rank; ++i) {
            const std::size_t side = to[static_cast<std::size_t>(i)];
            source.of[i] = static_cast<int>(rest % side) + shift.of[i];
            index += rest % side * out.stride(i);
            rest /= side;
        }
        expected[index] = element<rank>(values, in, source);
    }
    const std::vector<int> actual = out_device.download();
    workbook::adopt_padding<int>(expected, actual, {to[0], to[0] > 0 ? elements / to[0] : 0});
    CHECK(workbook::compare_bits<int>(expected, actual).summary() == "ok");
    CHECK(out_device.check_guards() == "");
}

} // namespace

TEST_CASE("copy_1d copies and shifts") {
    require_device(hopper);
    for (const std::size_t size : {0, 1, 15, 16, 17, 1000, 100'003})
        for (const int shift : {0, 4, -8, 20, -1'000'000})
            check_copy<1>(copy_1d, {size}, {size + 5}, {shift});
    check_copy<1>(copy_1d, {30}, {0}, {0});
}

TEST_CASE("copy_2d copies and shifts") {
    require_device(hopper);
    check_copy<2>(copy_2d, {37, 21}, {37, 21}, {0, 0});
    check_copy<2>(copy_2d, {37, 21}, {50, 3}, {-8, 11});
    check_copy<2>(copy_2d, {16, 5}, {16, 5}, {4, 0});
    check_copy<2>(copy_2d, {1, 70}, {9, 60}, {0, -4});
}

TEST_CASE("copy_3d copies tiles, with coordinates inside, overhanging and outside") {
    require_device(hopper);
    check_copy<3>(copy_3d, {16, 5, 3}, {16, 5, 3}, {0, 0, 0});
    check_copy<3>(copy_3d, {37, 11, 7}, {37, 11, 7}, {0, 0, 0});
    check_copy<3>(copy_3d, {37, 11, 7}, {20, 13, 9}, {4, -3, 2});
    check_copy<3>(copy_3d, {17, 6, 4}, {33, 12, 8}, {-12, -2, -1});
    check_copy<3>(copy_3d, {1, 1, 1}, {1, 1, 1}, {0, 0, 0});
    check_copy<3>(copy_3d, {30, 0, 4}, {30, 2, 4}, {0, 0, 0});
    check_copy<3>(copy_3d, {30, 2, 4}, {30, 2, 4}, {0, 2, 0});
    check_copy<3>(copy_3d, {130, 40, 23}, {130, 40, 23}, {0, 1, -1});
}

TEST_CASE("copy_4d copies and shifts") {
    require_device(hopper);
    check_copy<4>(copy_4d, {19, 6, 4, 3}, {19, 6, 4, 3}, {0, 0, 0, 0});
    check_copy<4>(copy_4d, {19, 6, 4, 3}, {23, 7, 2, 5}, {-4, 1, 1, -1});
}

TEST_CASE("copy_5d copies and shifts") {
    require_device(hopper);
    check_copy<5>(copy_5d, {18, 6, 4, 3, 3}, {18, 6, 4, 3, 3}, {0, 0, 0, 0, 0});
    check_copy<5>(copy_5d, {18, 6, 4, 3, 2}, {7, 9, 2, 4, 5}, {4, -2, 1, 1, -2});
    check_copy<5>(copy_5d, {1, 1, 1, 1, 1}, {2, 2, 2, 2, 3}, {0, 0, -1, 0, 0});
}

TEST_CASE("corners that the hardware would stop at are refused with a reason") {
    CHECK_THROWS_AS(launch_add_tile({}, 1, 0), std::invalid_argument);
    CHECK_THROWS_AS(launch_add_tile({}, -4, 0), std::invalid_argument);
    CHECK_THROWS_AS(launch_add_tile({}, 4, -1), std::invalid_argument);
    CHECK_THROWS_AS(launch_reduce_add({}, {}, 2, 0), std::invalid_argument);
    CHECK_THROWS_AS(launch_reduce_add({}, {}, 0, -1), std::invalid_argument);
    DeviceBuffer<int> out(tile_elements);
    CHECK_THROWS_AS(launch_overhanging_box({}, -1, 0, out.span()), std::invalid_argument);
    CHECK_NOTHROW(launch_overhanging_box({}, -4, -1, out.span()));
}

TEST_CASE("gather_rows takes every step-th row") {
    require_device(hopper);
    for (const int step : {1, 2, 3, 7, 8})
        for (const int first : {0, 1, 5, -1, -20})
            for (const Shape shape : {Shape{1, 1}, {65, 100}, {3, 301}, {130, 17}}) {
                INFO(shape.width << " x " << shape.height << ", step " << step << ", first " << first);
                TestMatrix<int> in(shape, 3);
                TestMatrix<int> out({shape.width + 2, shape.height / static_cast<std::size_t>(step) + 3}, 4);
                launch_gather_rows(in.device(), out.device(), first, step);
                out.fill([&](std::size_t x, std::size_t y) {
                    return in.at_or(static_cast<long long>(x), first + static_cast<long long>(y) * step, 0);
                });
                out.check_elements();
                in.check();
            }
}

TEST_CASE("gather_rows refuses a step that no tensor map has, and does nothing on empty matrices") {
    CHECK_THROWS_AS(launch_gather_rows({}, {}, 0, 0), std::invalid_argument);
    CHECK_THROWS_AS(launch_gather_rows({}, {}, 0, 9), std::invalid_argument);
    CHECK_NOTHROW(launch_gather_rows({}, {}, 0, 8));
}

TEST_CASE("reduce_add adds all tiles to one place, clipped at the edges of the totals") {
    require_device(hopper);
    for_each_shape([](Shape shape) {
        for (const Corner corner : {Corner{0, 0}, {4, 2}, {16, 7}, {60, 10}, {72, 0}}) {
            INFO("place " << corner.x << ", " << corner.y);
            TestMatrix<int> in(shape, 6);
            TestMatrix<int> totals({71, 19}, 7);
            launch_reduce_add(in.device(), totals.device(), corner.x, corner.y);
            for (std::size_t y = 0; y < shape.height; ++y)
                for (std::size_t x = 0; x < shape.width; ++x) {
                    const auto to_x = static_cast<std::size_t>(corner.x) + x % tile_width;
                    const auto to_y = static_cast<std::size_t>(corner.y) + y % tile_height;
                    if (to_x < 71 && to_y < 19)
                        totals.at(to_x, to_y) = wrapping_add(totals.at(to_x, to_y), in.at(x, y));
                }
            totals.check_elements();
            in.check();
        }
    });
}
