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
#include <array>
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

/// Where the hardware puts a byte: bits 7 and up of its absolute address XORed into bits 4 and up. Written
/// out here, so that the library is not its own witness.
constexpr unsigned moved(unsigned address, Swizzle mode) {
    const unsigned mask = mode == Swizzle::bytes128  ? 7
                          : mode == Swizzle::bytes64 ? 3
                          : mode == Swizzle::bytes32 ? 1
                                                     : 0;
    return address ^ ((address >> 7 & mask) << 4);
}

/// Reads the raw box at (x, y) and compares it with the elements, each where the hardware puts it, and with
/// what was there before in the gaps behind rows that are narrower than the mode.
template <Swizzle mode>
void check_raw(TestMatrix<int>& matrix, int x, int y, int base, int columns = tile_columns(mode)) {
    INFO("mode " << static_cast<int>(mode) << ", box of " << columns << " at " << x << ", " << y << ", base "
                 << base);
    constexpr auto elements = static_cast<std::size_t>(tile_elements(mode));
    DeviceBuffer<int> raw(elements);
    raw.poison();
    launch_read_raw_tile<mode>(matrix.device(), x, y, base, raw.span(), columns);
    std::vector<int> expected(elements, untouched);
    for (int row = 0; row < tile_rows; ++row)
        for (int column = 0; column < columns; ++column) {
            const auto address = static_cast<unsigned>(base + 4 * (row * tile_columns(mode) + column));
            expected[(moved(address, mode) - static_cast<unsigned>(base)) / 4] =
                matrix.at_or(x + column, y + row, 0);
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

TEST_CASE("rows of a box narrower than the mode lie at the mode's pitch, the gaps are left alone") {
    require_device(hopper);
    for (const Shape shape : {Shape{75, 90}, {5, 40}}) {
        TestMatrix<int> matrix(shape, 3);
        for_each_mode([&](auto constant) {
            constexpr Swizzle mode = decltype(constant)::value;
            for (int columns = 4; columns < tile_columns(mode); columns += 4)
                for (int base = 0; base < base_end; base += base_step) {
                    check_raw<mode>(matrix, 12, 20, base, columns);
                    check_raw<mode>(matrix, -4, 70, base, columns);
                }
        });
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

constexpr int wide_columns = 64; // of a tile of 256 bytes a row: 2, 4 or 8 panels
constexpr int wide_ints = wide_columns * tile_rows;

/// Copies a tile of several panels to `out` as it lies in shared memory, and stores what `in` has in the same
/// way to the place where the tile came from.
__global__ void exchange_panels(const __grid_constant__ CUtensorMap map, int y, int panel, const int* in,
                                int* out) {
    __shared__ alignas(1024) int tile[wide_ints];
    __shared__ std::uint64_t bar;
    const std::int32_t at[] = {0, y, panel};
    if (threadIdx.x == 0)
        load(tile, sizeof(tile), map, at, &bar);
    __syncthreads();
    swizzle::wait(&bar, 0);
    for (int i = threadIdx.x; i < wide_ints; i += blockDim.x) {
        out[i] = tile[i];
        tile[i] = in[i];
    }
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (threadIdx.x == 0)
        store(map, at, tile);
}

/// One copy of several panels against copies of single panels, as the places in shared memory are known.
template <Swizzle mode>
void check_panels(Shape shape, int x, int y) {
    INFO("mode " << static_cast<int>(mode) << ", tile at " << x << ", " << y);
    constexpr int panel = tile_columns(mode);
    TestMatrix<int> matrix(shape, shape.height);
    const std::vector<int> written = workbook::random_values<int>(wide_ints, 5);
    const DeviceBuffer<int> in(written);
    DeviceBuffer<int> out(wide_ints);
    out.poison();
    const auto map = workbook::make_tensor_map(
        matrix.device().data,
        workbook::panel_layout(
            matrix.device(),
            {.panel = panel, .rows = tile_rows, .panels = wide_columns / panel, .swizzle = mode}));
    workbook::launch(exchange_panels, {.block = block_threads}, map, y, x / panel, in.data(), out.data());
    std::vector<int> expected(wide_ints);
    for (int row = 0; row < tile_rows; ++row)
        for (int column = 0; column < wide_columns; ++column) {
            const int offset = (column / panel * tile_rows + row) * panel + column % panel;
            const std::size_t place = moved(static_cast<unsigned>(4 * offset), mode) / 4;
            expected[place] = matrix.at_or(x + column, y + row, 0);
            if (x + column < static_cast<int>(shape.width) && y + row < static_cast<int>(shape.height))
                matrix.at(static_cast<std::size_t>(x + column), static_cast<std::size_t>(y + row)) =
                    written[place];
        }
    CHECK(workbook::compare_bits<int>(expected, out.download()).summary() == "ok");
    CHECK(out.check_guards() == "");
    matrix.check();
}

} // namespace

TEST_CASE("one copy brings and takes a tile of several panels, each swizzled for itself") {
    require_device(hopper);
    const auto check = [](auto constant) {
        constexpr Swizzle mode = decltype(constant)::value;
        check_panels<mode>({96, 70}, 0, 5);
        check_panels<mode>({96, 70}, 32, 60); // lower edge
        check_panels<mode>({96, 33}, 64, 8);  // panels beyond the right edge
        check_panels<mode>({32, 5}, 0, 0);
    };
    check(std::integral_constant<Swizzle, Swizzle::none>());
    for_each_mode(check);
}

TEST_CASE("add_place_padded adds to every element its place, in rows of 36, and writes nothing else") {
    require_device(hopper);
    const auto check = [](Shape shape) {
        INFO(shape.width << " x " << shape.height);
        const std::size_t pitch = workbook::panel_pitch(shape.width, sum_columns);
        TestMatrix<int> matrix({pitch, shape.height}, shape.width);
        launch_add_place_padded({matrix.device().data, shape.width, shape.height, pitch});
        if (shape.width != 0)
            matrix.fill([&](std::size_t x, std::size_t y) {
                const std::size_t place = y % tile_rows * (sum_columns + map_pad) + x % sum_columns;
                return wrapping_add(matrix.at(x, y), static_cast<int>(place));
            });
        matrix.check();
    };
    for_each_shape(check);
    check({64, 60});
    check({517, 301});
}

TEST_CASE("panels are refused where the last would leave its row") {
    int element = 0;
    const workbook::PanelBox box{.panel = 32, .rows = 8};
    CHECK_THROWS_AS(workbook::panel_layout(Matrix<int>{&element, 33, 5, 36}, box), std::invalid_argument);
    CHECK_THROWS_AS(workbook::panel_layout(Matrix<int>{&element, 31, 5, 31}, box), std::invalid_argument);
    const auto layout = workbook::panel_layout(Matrix<int>{&element, 33, 5, 64}, box);
    CHECK(layout.dims == std::array<std::uint64_t, 3>{32, 5, 2});
    CHECK(layout.strides == std::array<std::uint64_t, 2>{256, 128});
}

namespace {

using ColumnSums = void (*)(Matrix<const int>, std::span<unsigned>);

/// Sums of matrices whose rows are padded to 128 bytes with random ints, which must not be added to anything.
void check_column_sums(ColumnSums launch) {
    const auto check = [&](Shape shape) {
        const std::size_t pitch = workbook::panel_pitch(shape.width, sum_columns);
        TestMatrix<int> matrix({pitch, shape.height}, shape.width + shape.height);
        DeviceBuffer<unsigned> sums(shape.width);
        std::vector<unsigned> expected(shape.width);
        sums.upload(expected);
        launch({matrix.device().data, shape.width, shape.height, pitch}, sums.span());
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

TEST_CASE("column_sums without swizzle, 16 and 4 bytes a lane: dense, padded by the map, by the threads") {
    require_device(hopper);
    check_column_sums(launch_column_sums<Swizzle::none, 0, Access::bytes16>);
    check_column_sums(launch_column_sums<Swizzle::none, 0, Access::bytes4>);
    check_column_sums(launch_column_sums<Swizzle::none, map_pad, Access::bytes16>);
    check_column_sums(launch_column_sums<Swizzle::none, map_pad, Access::bytes4>);
    check_column_sums(launch_column_sums_padded<Access::bytes16>);
    check_column_sums(launch_column_sums_padded<Access::bytes4>);
}

TEST_CASE("column_sums in every mode, 16 and 4 bytes a lane") {
    require_device(hopper);
    for_each_mode([](auto constant) {
        constexpr Swizzle mode = decltype(constant)::value;
        check_column_sums(launch_column_sums<mode, 0, Access::bytes16>);
        check_column_sums(launch_column_sums<mode, 0, Access::bytes4>);
    });
}

TEST_CASE("short_column_sums, plain and with the 128-byte swizzle") {
    require_device(hopper);
    check_column_sums(launch_short_column_sums<Swizzle::none>);
    check_column_sums(launch_short_column_sums<Swizzle::bytes128>);
}

TEST_CASE("column_sums refuses an output of another size") {
    DeviceBuffer<unsigned> sums;
    const Matrix<const int> wide{nullptr, 3, 0, 4};
    CHECK_THROWS_AS((launch_column_sums<Swizzle::none, 0, Access::bytes16>(wide, sums.span())),
                    std::invalid_argument);
    CHECK_THROWS_AS(launch_column_sums_padded<Access::bytes4>(wide, sums.span()), std::invalid_argument);
}
