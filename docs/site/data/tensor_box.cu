/// @file tensor_box.cu
/// Writes the data of the interactive picture of a box over the edge of a matrix: for each corner what a load
/// brings, how many bytes the barrier counted, and what a store of the box changes. The tensor map and the
/// steps are those of chapter 6; only the box is smaller.
#include "tma_2d.cuh"

#include "workbook/buffer.hpp"
#include "workbook/check.hpp"
#include "workbook/matrix.hpp"

#include <exception>
#include <iostream>
#include <numeric>
#include <string>
#include <vector>

namespace {

namespace ptx = cuda::ptx;
using workbook::DeviceBuffer;

constexpr workbook::Shape shape{14, 6}; ///< of ints: a row of 56 bytes is padded to 64
constexpr int box_width = 8;
constexpr int box_height = 4;
constexpr int box_elements = box_width * box_height;
constexpr int unwritten = -1;
constexpr int added = 1000; ///< what the box holds more when it is stored

/// Loads the box at (x, y), writes all of it to `tile_out`, and, if asked to, stores the box with `added`
/// more in each element.
__global__ void visit(const __grid_constant__ CUtensorMap map, int x, int y, int* tile_out, bool store) {
    __shared__ alignas(128) int tile[box_elements];
    __shared__ std::uint64_t bar;
    const std::int32_t at[] = {x, y};
    tile[threadIdx.x] = unwritten;
    ptx::fence_proxy_async(ptx::space_shared); // the copy comes after these writes
    __syncthreads();
    if (threadIdx.x == 0) {
        tma_2d::expect(&bar, sizeof(tile)); // all bytes of the box, wherever it lies
        ptx::cp_async_bulk_tensor(ptx::space_shared, ptx::space_global, tile, &map, at, &bar);
    }
    __syncthreads();
    tma_2d::wait(&bar, 0);
    tile_out[threadIdx.x] = tile[threadIdx.x];
    tile[threadIdx.x] += added;
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (threadIdx.x == 0 && store)
        tma_2d::store(map, at, tile);
}

std::string list(const std::vector<int>& values) {
    std::string joined;
    for (const int value : values)
        joined += (joined.empty() ? "" : ",") + std::to_string(value);
    return "[" + joined + "]";
}

/// One corner: the tile after the load and, where a store may begin there, the memory after the store.
std::string corner(int x, int y, const std::vector<int>& memory) {
    DeviceBuffer<int> matrix(memory.size());
    matrix.upload(memory);
    DeviceBuffer<int> tile(box_elements);
    const bool stores = x >= 0 && y >= 0;
    const auto view = shape.view(matrix.data());
    workbook::launch(visit, {.block = box_elements}, tma_2d::matrix_map(view, box_width, box_height), x, y,
                     tile.data(), stores);
    workbook::check(cudaDeviceSynchronize());
    return "\n{\"x\":" + std::to_string(x) + ",\"y\":" + std::to_string(y) +
           ",\"tile\":" + list(tile.download()) +
           ",\"memory\":" + (stores ? list(matrix.download()) : "null") + "}";
}

void write() {
    std::vector<int> memory(shape.padded_size<int>(), unwritten);
    const auto view = shape.view(memory.data());
    for (std::size_t y = 0; y < view.height; ++y)
        std::iota(view.data + y * view.pitch, view.data + y * view.pitch + view.width,
                  static_cast<int>(y * view.width) + 1);
    std::string corners;
    for (int y = -box_height / 2; y < static_cast<int>(view.height); ++y)
        for (int x = -box_width / 2; x < static_cast<int>(view.pitch); x += tma_2d::x_step)
            corners += (corners.empty() ? "" : ",") + corner(x, y, memory);
    std::cout << "{\"width\":" << view.width << ",\"height\":" << view.height << ",\"pitch\":" << view.pitch
              << ",\"box_width\":" << box_width << ",\"box_height\":" << box_height
              << ",\"counted_bytes\":" << box_elements * sizeof(int) << ",\"added\":" << added
              << ",\"memory\":" << list(memory) << ",\"corners\":[" << corners << "]}\n";
}

} // namespace

int main() {
    try {
        write();
        return 0;
    } catch (const std::exception& error) {
        std::cerr << "tensor_box: " << error.what() << '\n';
        return 1;
    }
}
