/// @file mistakes.cu
/// Chapter 4, wrong on purpose: a pipeline whose four calls do not match.
#include "workbook/buffer.hpp"
#include "workbook/launch.hpp"
#include "workbook/mistakes.hpp"

#include <cooperative_groups.h>
#include <cuda/pipeline>

#include <cstddef>
#include <numeric>
#include <vector>

namespace {

namespace cg = cooperative_groups;

constexpr int block_threads = 128;
constexpr int tiles = 2;

template <int stages>
using SharedState = cuda::pipeline_shared_state<cuda::thread_scope_block, stages>;

#pragma nv_diag_suppress static_var_with_dynamic_init // make_pipeline sets the state up, no constructor runs

/// The stage is committed and read, but nobody waits until it has landed. A thread cannot even count on the
/// element that it copied itself.
__global__ void read_before_wait(const float* in, float* out) {
    const auto block = cg::this_thread_block();
    __shared__ float tile[block_threads];
    __shared__ SharedState<1> state;
    auto pipe = cuda::make_pipeline(block, &state);
    pipe.producer_acquire();
    cuda::memcpy_async(block, tile, in, sizeof(tile), pipe); // expect: read-before-completion
    pipe.producer_commit();
    out[threadIdx.x] = tile[threadIdx.x]; // expect: read-before-completion
    pipe.consumer_wait();
    pipe.consumer_release();
}

/// One stage and two tiles: the second waits for a stage that nobody gives back.
__global__ void never_released(const float* in, float* out) {
    const auto block = cg::this_thread_block();
    __shared__ float tile[block_threads];
    __shared__ SharedState<1> state;
    auto pipe = cuda::make_pipeline(block, &state);
#pragma unroll 1 // in the copy of a loop's body that unrolling makes, nvcc loses the lines of inlined calls
    for (int k = 0; k < 2; ++k, in += block_threads, out += block_threads) {
        pipe.producer_acquire(); // expect: deadlock
        cuda::memcpy_async(block, tile, in, sizeof(tile), pipe);
        pipe.producer_commit();
        pipe.consumer_wait();
        out[threadIdx.x] = tile[block_threads - 1 - threadIdx.x];
        // no consumer_release
    }
}

/// Two stages are on their way, and one wait is for one stage: the older.
__global__ void all_written_one_waited(const float* in, float* out) {
    const auto block = cg::this_thread_block();
    __shared__ float stage[2][block_threads];
    __shared__ SharedState<2> state;
    auto pipe = cuda::make_pipeline(block, &state);
    for (int k = 0; k < 2; ++k) {
        const float* tile = in + k * block_threads;
        pipe.producer_acquire();
        cuda::memcpy_async(block, stage[k], tile, sizeof(stage[0]), pipe); // expect: read-before-completion
        pipe.producer_commit();
    }
    pipe.consumer_wait();
    const float older = stage[0][block_threads - 1 - threadIdx.x];
    out[threadIdx.x] = older + stage[1][threadIdx.x]; // expect: read-before-completion
    pipe.consumer_release();
    pipe.consumer_wait();
    pipe.consumer_release();
}

/// Only the even threads copy, but they name the whole block as the group: libcu++ leaves the odd threads'
/// share of the bytes to the odd threads, and nobody brings it.
__global__ void half_the_group_copies(const float* in, float* out) {
    const auto block = cg::this_thread_block();
    __shared__ float tile[block_threads];
    __shared__ SharedState<1> state;
    const bool even = threadIdx.x % 2 == 0;
    const auto role = even ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer;
    auto pipe = cuda::make_pipeline(block, &state, role);
    if (even) {
        pipe.producer_acquire();
        cuda::memcpy_async(block, tile, in, sizeof(tile), pipe);
        pipe.producer_commit();
    } else {
        pipe.consumer_wait();
        const int i = threadIdx.x / 2;
        out[2 * i] = tile[2 * i];
        out[2 * i + 1] = tile[2 * i + 1]; // expect: uninitialised-shared
        pipe.consumer_release();
    }
}

#pragma nv_diag_default static_var_with_dynamic_init

/// Launches one block over two tiles of different numbers.
void run(void (*kernel)(const float*, float*)) {
    std::vector<float> numbers(block_threads * tiles);
    std::iota(numbers.begin(), numbers.end(), 1.0f);
    const workbook::DeviceBuffer<float> in(numbers);
    workbook::DeviceBuffer<float> out(numbers.size());
    workbook::launch(kernel, {.block = block_threads}, in.data(), out.data());
    workbook::synchronize();
}

constexpr workbook::Mistake mistakes[] = {
    {"read_before_wait", "a stage is read before consumer_wait", [] { run(read_before_wait); }},
    {"never_released", "the stage is never released", [] { run(never_released); }},
    {"all_written_one_waited", "two stages are written, one is awaited, both are read",
     [] { run(all_written_one_waited); }},
    {"half_the_group_copies", "a group copy that only half of the group calls",
     [] { run(half_the_group_copies); }},
};

} // namespace

int main(int argc, char** argv) { return workbook::run_mistakes(mistakes, argc, argv); }
