/// @file mistakes.cu
/// Chapter 2, wrong on purpose: copies whose end nobody awaits, or that promise what is not true.
/// One more mistake does not even assemble: does_not_assemble.cu.
#include "workbook/buffer.hpp"
#include "workbook/launch.hpp"
#include "workbook/mistakes.hpp"

#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
#include <cuda_pipeline_primitives.h>

#include <cstddef>
#include <numeric>
#include <vector>

namespace {

namespace cg = cooperative_groups;

constexpr int block_threads = 256;
constexpr int tiles_per_block = 2;

/// The group is committed, but nobody waits for it: a block barrier knows nothing of copies.
__global__ void no_wait(const float* in, float* out) {
    __shared__ float tile[block_threads];
    const int i = threadIdx.x;
    __pipeline_memcpy_async(&tile[i], &in[i], sizeof(float)); // expect: read-before-completion
    __pipeline_commit();
    __syncthreads();
    out[i] = tile[(i + 1) % block_threads]; // expect: read-before-completion
}

/// Two groups; the wait for the second allows one group to be pending, and that is the second.
__global__ void wait_group_off_by_one(const float* in, float* out) {
    __shared__ float tiles[tiles_per_block][block_threads];
    const int i = threadIdx.x;
    __pipeline_memcpy_async(&tiles[0][i], &in[i], sizeof(float));
    __pipeline_commit();
    const float* second = in + block_threads;
    __pipeline_memcpy_async(&tiles[1][i], &second[i], sizeof(float)); // expect: read-before-completion
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    out[i] = tiles[0][(i + 1) % block_threads];
    __pipeline_wait_prior(1); // should be 0
    __syncthreads();
    out[block_threads + i] = tiles[1][(i + 1) % block_threads]; // expect: read-before-completion
}

/// Each thread waits for its own copies and then reads what its neighbour copied.
__global__ void wait_without_barrier(const float* in, float* out) {
    __shared__ float tile[block_threads];
    const int i = threadIdx.x;
    __pipeline_memcpy_async(&tile[i], &in[i], sizeof(float)); // expect: race-shared
    __pipeline_commit();
    __pipeline_wait_prior(0);
    out[i] = tile[(i + 1) % block_threads]; // expect: race-shared
}

/// aligned_size_t<16> is a promise about both addresses; in + 1 breaks it.
__global__ void aligned_size_lies(const float* in, float* out) {
    __shared__ alignas(16) float tile[block_threads];
    const auto block = cg::this_thread_block();
    const auto size = cuda::aligned_size_t<16>(sizeof(tile));
    cg::memcpy_async(block, tile, in + 1, size); // expect: misaligned
    cg::wait(block);
    out[threadIdx.x] = tile[threadIdx.x];
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
    {"no_wait", "the tile is read though nobody waited for the copy", [] { run(no_wait); }},
    {"wait_group_off_by_one", "the wait leaves the group pending that is read next",
     [] { run(wait_group_off_by_one); }},
    {"wait_without_barrier", "each thread waits for itself and reads its neighbour's copy",
     [] { run(wait_without_barrier); }},
    {"aligned_size_lies", "aligned_size_t<16> on an address that is not", [] { run(aligned_size_lies); }},
};

} // namespace

int main(int argc, char** argv) { return workbook::run_mistakes(mistakes, argc, argv); }
