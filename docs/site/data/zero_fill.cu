/// @file zero_fill.cu
/// The tail of an array for an interactive picture of chapter 2: four threads copy 16 bytes each of an array
/// that ends somewhere in them. Prints what their tile holds for every length of the array.
#include "cp_async.cuh"

#include "workbook/buffer.hpp"
#include "workbook/check.hpp"
#include "workbook/launch.hpp"

#include <algorithm>
#include <exception>
#include <iostream>
#include <numeric>
#include <vector>

namespace {

using workbook::DeviceBuffer;

constexpr int threads = 4;
constexpr int chunk = 4;        ///< floats in a copy of 16 bytes
constexpr float old_value = 99; ///< what the tile holds before
constexpr int tile = threads * chunk;

/// Thread `t` copies the floats `4 t` to `4 t + 3`, as many of them as lie before `left`.
__global__ void copy_tail(const float* in, float* out, int left) {
    __shared__ alignas(16) float shared[tile];
    const int first = chunk * threadIdx.x;
    for (int i = first; i < first + chunk; ++i)
        shared[i] = old_value;
    const int src_size = max(0, min(left - first, chunk)) * static_cast<int>(sizeof(float));
    asm volatile(
        "cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(cp_async::shared_address(shared + first)),
        "l"(__cvta_generic_to_global(in + first)), "r"(src_size)
        : "memory");
    cp_async::cp_async_wait_all();
    for (int i = first; i < first + chunk; ++i)
        out[i] = shared[i];
}

void write() {
    DeviceBuffer<float> in(tile);
    std::vector<float> values(tile);
    std::iota(values.begin(), values.end(), 1.0f);
    in.upload(values);
    std::cout << "{\"threads\":" << threads << ",\"chunk\":" << chunk << ",\"before\":" << old_value
              << ",\"tiles\":[";
    for (int left = 0; left <= tile; ++left) {
        DeviceBuffer<float> out(tile);
        workbook::launch(copy_tail, {.block = threads}, in.data(), out.data(), left);
        std::cout << (left ? ",\n[" : "\n[");
        const std::vector<float> seen = out.download();
        for (int i = 0; i < tile; ++i)
            std::cout << (i ? "," : "") << seen[i];
        std::cout << ']';
    }
    std::cout << "]}\n";
}

} // namespace

int main() {
    try {
        write();
        return 0;
    } catch (const std::exception& error) {
        std::cerr << "zero_fill: " << error.what() << '\n';
        return 1;
    }
}
