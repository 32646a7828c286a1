/// @file two_stages.cu
/// Exercise: find out why two stages hide nothing.
///
/// Given    An array `in` of `size` floats, cut into tiles of 1024 (the last may be shorter). A block takes
///          the tiles blockIdx.x, blockIdx.x + gridDim.x, … in turn; Stream counts them as its tiles 0, 1,
///          2, … There are two stages of shared memory and a pipeline with two stages. fetch(k) acquires a
///          stage, starts the copy of tile k into it and commits. compute_tile(…, k) writes tile k to
///          `out`, each element plus one, last element first.
///          The results are right. The loop asks for tile k + 1 in round k, one round before it is used,
///          and yet no thread computes while a copy of its own is on its way.
/// Wanted   Find out why, and repair it: when a thread's wait for a tile ends, the next tile has been asked
///          for already. Two stages are enough.
/// Judged   By the result for several sizes and base addresses; by counters: the bytes that are on their way
///          when a thread has waited for a tile (32, its part of the next tile; none at the end); every byte
///          comes by cp.async.
#include "workbook/tile.cuh"

#include <cooperative_groups.h>
#include <cuda/pipeline>

#include <cstddef>
#include <cstdint>

namespace cg = cooperative_groups;

constexpr int block_threads = 128;
constexpr int tile_floats = 1024;

/// The array and the tiles of it that a block takes.
struct Stream {
    const float* in;
    float* out;
    std::size_t size;

    __device__ std::size_t start(std::size_t k) const { return (blockIdx.x + k * gridDim.x) * tile_floats; }
    __device__ bool has(std::size_t k) const { return start(k) < size; }
    __device__ int count(std::size_t k) const { return workbook::tile_count(start(k), tile_floats, size); }
};

/// Starts the copy of tile k into `stage`: 16 bytes at a time where that is possible, else 4.
template <class Pipeline>
__device__ void copy_tile(const cg::thread_block& block, float* stage, const Stream& stream, std::size_t k,
                          Pipeline& pipe) {
    const float* tile = stream.in + stream.start(k);
    const std::size_t bytes = stream.count(k) * sizeof(float);
    if (reinterpret_cast<std::uintptr_t>(tile) % 16 == 0 && bytes % 16 == 0)
        cuda::memcpy_async(block, stage, tile, cuda::aligned_size_t<16>(bytes), pipe);
    else
        cuda::memcpy_async(block, stage, tile, bytes, pipe);
}

/// Writes tile k: each element plus one, last element first.
__device__ void compute_tile(const float* stage, const Stream& stream, std::size_t k) {
    float* out = stream.out + stream.start(k);
    const int count = stream.count(k);
    for (int i = threadIdx.x; i < count; i += blockDim.x)
        out[i] = stage[count - 1 - i] + 1;
}

#pragma nv_diag_suppress static_var_with_dynamic_init // make_pipeline sets the state up, no constructor runs

__global__ void two_stages(Stream stream) {
    const auto block = cg::this_thread_block();
    __shared__ alignas(128) float stage[2][tile_floats];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    auto pipe = cuda::make_pipeline(block, &state);

    const auto fetch = [&](std::size_t k) {
        pipe.producer_acquire();
        copy_tile(block, stage[k % 2], stream, k, pipe);
        pipe.producer_commit();
    };

    if (stream.has(0))
        fetch(0);
    for (std::size_t k = 0; stream.has(k); ++k) {
        pipe.consumer_wait();
        compute_tile(stage[k % 2], stream, k);
        pipe.consumer_release();
        if (stream.has(k + 1))
            fetch(k + 1); // one tile ahead
    }
}
