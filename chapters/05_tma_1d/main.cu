/// @file main.cu
/// Chapter 5: bulk copies by the Tensor Memory Accelerator, checked and measured.
#include "copy_paths.cuh"
#include "issuers.cuh"
#include "tma_1d.cuh"

#include "workbook/program.hpp"
#include "workbook/random.hpp"
#include "workbook/tile_reference.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace {

using namespace tma_1d;
using workbook::Comparison;
using workbook::DeviceBuffer;

constexpr float factor = 1.75f;
constexpr int largest = 1'000'000; // of the random integers: no sum of a run overflows unnoticed

/// The arrays that the kernels work on.
struct Arrays {
    explicit Arrays(const workbook::RunContext& run)
        : integers(workbook::random_integers<int>(run.size, run.seed, -largest, largest)),
          x_host(workbook::random_values<float>(run.size, run.seed + 1, {.specials = true})),
          y_host(workbook::random_values<float>(run.size, run.seed + 2, {.specials = true})),
          totals_host(workbook::random_integers<int>(tile_elements, run.seed + 3, -largest, largest)),
          data(run.size), out(run.size), x(x_host), y(run.size), totals(tile_elements) {}

    std::vector<int> integers;
    std::vector<float> x_host;
    std::vector<float> y_host;
    std::vector<int> totals_host;
    DeviceBuffer<int> data;
    DeviceBuffer<int> out;
    DeviceBuffer<float> x;
    DeviceBuffer<float> y;
    DeviceBuffer<int> totals;
};

std::size_t bytes_in_place(const Arrays& arrays) { return 2 * arrays.data.size_bytes(); }
void restore_integers(Arrays& arrays) { arrays.data.upload(arrays.integers); }

/// Every element one larger, nothing else touched.
Comparison check_add_one(Arrays& arrays) {
    std::vector<int> expected = arrays.integers;
    for (int& value : expected)
        value += 1;
    return workbook::check_exact(arrays.data, expected);
}

/// The tile that add_one_at_offset takes: one from the middle of the array.
struct Place {
    std::size_t offset;
    std::size_t count;
};
Place middle_tile(const Arrays& arrays) {
    const std::size_t size = arrays.data.size();
    const std::size_t offset = size / 2 / 4 * 4;
    return {offset, std::min<std::size_t>(tile_elements, (size - offset) / 4 * 4)};
}

Comparison check_add_one_at_offset(Arrays& arrays) {
    std::vector<int> expected = arrays.integers;
    const auto [offset, count] = middle_tile(arrays);
    for (std::size_t i = offset; i < offset + count; ++i)
        expected[i] += 1;
    return workbook::check_exact(arrays.data, expected);
}

/// In each whole tile the chunks in reverse order; what is left, as it was.
Comparison check_copy_by_ring(Arrays& arrays) {
    constexpr std::size_t tile = copy_paths::ring_tile_bytes / sizeof(int);
    constexpr std::size_t chunk = copy_paths::chunk_bytes / sizeof(int);
    const auto whole = static_cast<std::ptrdiff_t>(arrays.integers.size() / tile * tile);
    const std::vector<int> tiles(arrays.integers.begin(), arrays.integers.begin() + whole);
    std::vector<int> expected = workbook::reversed_tiles(workbook::reversed_tiles(tiles, tile), chunk);
    expected.insert(expected.end(), arrays.integers.begin() + whole, arrays.integers.end());
    return workbook::check_exact(arrays.out, expected);
}

Comparison check_axpy(Arrays& arrays) {
    std::vector<float> expected = arrays.y_host;
    for (std::size_t i = 0; i < expected.size(); ++i)
        expected[i] = std::fma(factor, arrays.x_host[i], expected[i]);
    return workbook::check_values(arrays.y, expected);
}

/// Sums are taken modulo 2^32, as the hardware does.
Comparison check_sum_tiles(Arrays& arrays) {
    std::vector<unsigned> sums(arrays.totals_host.begin(), arrays.totals_host.end());
    for (std::size_t i = 0; i < arrays.integers.size(); ++i)
        sums[i % tile_elements] += static_cast<unsigned>(arrays.integers[i]);
    return workbook::check_exact(arrays.totals, std::vector<int>(sums.begin(), sums.end()));
}

constexpr workbook::KernelEntry<Arrays> kernels[] = {
    {.name = "add_one_memcpy_async",
     .shows = "cuda::memcpy_async + cuda::barrier",
     .bytes = bytes_in_place,
     .prepare = restore_integers,
     .launch = [](Arrays& arrays) { launch_add_one_memcpy_async(arrays.data.span()); },
     .check = check_add_one},
    {.name = "add_one_memcpy_async_tx",
     .shows = "cuda::device::memcpy_async_tx",
     .bytes = bytes_in_place,
     .prepare = restore_integers,
     .launch = [](Arrays& arrays) { launch_add_one_memcpy_async_tx(arrays.data.span()); },
     .check = check_add_one},
    {.name = "add_one_ptx",
     .shows = "cuda::ptx, one instruction per call",
     .bytes = bytes_in_place,
     .prepare = restore_integers,
     .launch = [](Arrays& arrays) { launch_add_one_ptx(arrays.data.span()); },
     .check = check_add_one},
    {.name = "add_one_at_offset",
     .shows = "one tile, addressed by offset",
     .bytes = [](const Arrays& arrays) { return 2 * sizeof(int) * middle_tile(arrays).count; },
     .prepare = restore_integers,
     .launch =
         [](Arrays& arrays) {
             const auto [offset, count] = middle_tile(arrays);
             launch_add_one_at_offset(arrays.data.span(), offset, count);
         },
     .check = check_add_one_at_offset},
    {.name = "add_one_loop",
     .shows = "several tiles per block, one barrier",
     .bytes = bytes_in_place,
     .prepare = restore_integers,
     .launch = [](Arrays& arrays) { launch_add_one_loop(arrays.data.span()); },
     .check = check_add_one},
    {.name = "add_one_prefetch",
     .shows = "the next tile prefetched into L2",
     .bytes = bytes_in_place,
     .prepare = restore_integers,
     .launch = [](Arrays& arrays) { launch_add_one_prefetch(arrays.data.span()); },
     .check = check_add_one},
    {.name = "add_one_from_registers",
     .shows = "the next tile into the same place",
     .bytes = bytes_in_place,
     .prepare = restore_integers,
     .launch = [](Arrays& arrays) { launch_add_one_from_registers(arrays.data.span()); },
     .check = check_add_one},
    {.name = "copy_by_ring",
     .shows = "each tile reversed, a ring of 2 stages",
     .bytes = bytes_in_place,
     .prepare =
         [](Arrays& arrays) {
             restore_integers(arrays);
             arrays.out.poison();
         },
     .launch =
         [](Arrays& arrays) {
             copy_paths::launch_copy_by_ring(std::as_const(arrays.data).span(), arrays.out.span());
         },
     .check = check_copy_by_ring},
    {.name = "axpy_ring",
     .shows = "y = a*x + y from a ring of 4 stages",
     .bytes = [](const Arrays& arrays) { return 3 * arrays.y.size_bytes(); },
     .prepare = [](Arrays& arrays) { arrays.y.upload(arrays.y_host); },
     .launch = [](Arrays& arrays) { launch_axpy_ring(factor, arrays.x.span(), arrays.y.span()); },
     .check = check_axpy},
    {.name = "axpy_full_empty",
     .shows = "the same ring, loaded by a warp",
     .bytes = [](const Arrays& arrays) { return 3 * arrays.y.size_bytes(); },
     .prepare = [](Arrays& arrays) { arrays.y.upload(arrays.y_host); },
     .launch = [](Arrays& arrays) { launch_axpy_full_empty(factor, arrays.x.span(), arrays.y.span()); },
     .check = check_axpy},
    {.name = "sum_tiles",
     .shows = "bulk reduce-add, no register touched",
     .bytes = [](const Arrays& arrays) { return arrays.data.size_bytes() + 2 * arrays.totals.size_bytes(); },
     .prepare =
         [](Arrays& arrays) {
             restore_integers(arrays);
             arrays.totals.upload(arrays.totals_host);
         },
     .launch =
         [](Arrays& arrays) { launch_sum_tiles(std::as_const(arrays.data).span(), arrays.totals.span()); },
     .check = check_sum_tiles},
};

} // namespace

int main(int argc, char** argv) {
    const workbook::ProgramInfo info{.name = "tma_1d",
                                     .summary = "bulk copies by the Tensor Memory Accelerator",
                                     .size_unit = "elements",
                                     .size_with_clock = 100'000'000,
                                     .size_without_clock = 100'001,
                                     .device_bytes_per_element = 4 * sizeof(float),
                                     .host_bytes_per_element = 5 * sizeof(float),
                                     .needs = {.compute_major = 9}};
    return workbook::run_program<Arrays>(info, kernels, argc, argv);
}
