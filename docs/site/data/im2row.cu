/// @file im2row.cu
/// Writes the data of the interactive picture of im2col copies: for each tap of a 3 x 3 filter, and each run
/// of output pixels, which pixels of the image one tensor copy put one below the other in shared memory. What
/// is written was read back; no formula takes part.
#include "workbook/buffer.hpp"
#include "workbook/check.hpp"
#include "workbook/launch.hpp"

#include <cuda/ptx>

#include <cudaTypedefs.h>

#include <cstdint>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

namespace ptx = cuda::ptx;
using workbook::DeviceBuffer;

constexpr int width = 8;
constexpr int height = 6;
constexpr int channels = 4; ///< of an int each: 16 bytes are the least that the driver takes
constexpr int taps = 3;     ///< of the filter, in each direction; its middle stands on the pixel
constexpr int pixels = 16;  ///< that one copy brings
constexpr int runs = width * height / pixels;

/// Brings `pixels` pixels, the first for the output pixel that stands at (x, y) of the image, moved by (dx,
/// dy). PTX ISA, 'cp.async.bulk.tensor': the offsets are those of the tap from the first one, so never
/// negative.
__global__ void column(const __grid_constant__ CUtensorMap map, int x, int y, std::uint16_t dx,
                       std::uint16_t dy, int* out) {
    __shared__ alignas(128) int tile[pixels * channels];
    __shared__ std::uint64_t bar;
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&bar, 1);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar,
                                       sizeof(tile));
        const auto to = static_cast<std::uint32_t>(__cvta_generic_to_shared(tile));
        const auto at = static_cast<std::uint32_t>(__cvta_generic_to_shared(&bar));
        asm volatile(
            "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%0], "
            "[%1, {%2, %3, %4, %5}], [%6], {%7, %8};" ::"r"(to),
            "l"(&map), "r"(0), "r"(x), "r"(y), "r"(0), "r"(at), "h"(dx), "h"(dy)
            : "memory");
    }
    __syncthreads();
    while (!ptx::mbarrier_try_wait_parity(&bar, 0)) {
    }
    out[threadIdx.x] = tile[threadIdx.x * channels];
}

/// The map of an image whose pixels have `channels` ints, for a filter of `taps` x `taps`.
CUtensorMap image_map(int* image) {
    void* function = nullptr;
    cudaDriverEntryPointQueryResult found{};
    workbook::check(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeIm2col", &function, 12000,
                                                     cudaEnableDefault, &found));
    if (found != cudaDriverEntryPointSuccess)
        throw std::runtime_error("the driver has no cuTensorMapEncodeIm2col");
    const cuuint64_t dims[] = {channels, width, height, 1};
    const cuuint64_t strides[] = {sizeof(int) * channels, sizeof(int) * channels * width,
                                  sizeof(int) * channels * width * height};
    const int lower[] = {-(taps / 2), -(taps / 2)}, upper[] = {taps / 2 - (taps - 1), taps / 2 - (taps - 1)};
    const cuuint32_t steps[] = {1, 1, 1, 1};
    CUtensorMap map;
    if (reinterpret_cast<PFN_cuTensorMapEncodeIm2col_v12000>(function)(
            &map, CU_TENSOR_MAP_DATA_TYPE_INT32, 4, image, dims, strides, lower, upper, channels, pixels,
            steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
            CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) != CUDA_SUCCESS)
        throw std::runtime_error("the driver refuses the map");
    return map;
}

void write() {
    std::vector<int> numbered(std::size_t(width) * height * channels);
    for (std::size_t i = 0; i < numbered.size(); ++i)
        numbered[i] = static_cast<int>(i / channels) + 1;
    DeviceBuffer<int> image(numbered.size());
    image.upload(numbered);
    const CUtensorMap map = image_map(image.data());
    DeviceBuffer<int> out(pixels);
    std::string columns;
    for (int dy = 0; dy < taps; ++dy)
        for (int dx = 0; dx < taps; ++dx)
            for (int run = 0; run < runs; ++run) {
                const int first = run * pixels;
                workbook::launch(column, {.block = pixels}, map, first % width - taps / 2,
                                 first / width - taps / 2, static_cast<std::uint16_t>(dx),
                                 static_cast<std::uint16_t>(dy), out.data());
                workbook::check(cudaDeviceSynchronize());
                columns += (columns.empty() ? "\n[" : ",\n[");
                for (const char* separator = ""; const int value : out.download()) {
                    columns += separator + std::to_string(value);
                    separator = ",";
                }
                columns += "]";
            }
    std::cout << "{\"width\":" << width << ",\"height\":" << height << ",\"taps\":" << taps
              << ",\"pixels\":" << pixels << ",\"columns\":[" << columns << "]}\n";
}

} // namespace

int main() {
    try {
        write();
        return 0;
    } catch (const std::exception& error) {
        std::cerr << "im2row: " << error.what() << '\n';
        return 1;
    }
}
