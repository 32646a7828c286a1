/// @file mistakes.cu
/// Chapter 1, wrong on purpose: copies to shared memory that lack a barrier.
#include "workbook/buffer.hpp"
#include "workbook/launch.hpp"
#include "workbook/mistakes.hpp"

#include <cstddef>
#include <numeric>
#include <vector>

namespace {

constexpr int block_threads = 256;
constexpr int tiles_per_block = 2;

/// Nobody waits until the whole tile is written: a thread may read what its neighbour has not brought yet.
__global__ void first_sync_missing(const float* in, float* out) {
    __shared__ float tile[block_threads];
    const int i = threadIdx.x;
    tile[i] = in[i];                        // expect: race-shared
    out[i] = tile[(i + 1) % block_threads]; // expect: race-shared
}

/// Nobody waits until the whole tile is read: a fast thread overwrites what a slow one still needs.
__global__ void second_sync_missing(const float* in, float* out) {
    __shared__ float tile[block_threads];
    const int i = threadIdx.x;
    for (int batch = 0; batch < tiles_per_block; ++batch) {
        const int start = batch * block_threads;
        tile[i] = in[start + i]; // expect: race-shared
        __syncthreads();
        out[start + i] = tile[(i + 1) % block_threads]; // expect: race-shared
    }
}

/// Launches one block over two tiles of different numbers.
void run(void (*kernel)(const float*, float*)) {
    std::vector<float> numbers(block_threads * tiles_per_block);
    std::iota(numbers.begin(), numbers.end(), 1.0f);
    const workbook::DeviceBuffer<float> in(numbers);
    workbook::DeviceBuffer<float> out(numbers.size());
    workbook::launch(kernel, {.block = block_threads}, in.data(), out.data());
    workbook::synchronize();
}

constexpr workbook::Mistake mistakes[] = {
    {"first_sync_missing", "the tile is read before all of it is written", [] { run(first_sync_missing); }},
    {"second_sync_missing", "the tile is overwritten while others still read it",
     [] { run(second_sync_missing); }},
};

} // namespace

int main(int argc, char** argv) { return workbook::run_mistakes(mistakes, argc, argv); }
