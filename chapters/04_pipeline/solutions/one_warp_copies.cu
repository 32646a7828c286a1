/// @file one_warp_copies.cu
/// Exercise: choose the stages of a partitioned pipeline, and write it.
///
/// Given    An array `in` of `size` floats, cut into tiles of 512 (the last may be shorter). A block of 128
///          threads takes the tiles blockIdx.x, blockIdx.x + gridDim.x, …; Stream counts them as its tiles
///          0, 1, 2, … copy_tile(part, stage, …) starts the copy of a tile, shared out among the threads of
///          `part`. Its aligned_size_t<16> is a promise that the stage, too, lies at a multiple of 16
///          bytes: declare the stages alignas(16) or more. compute_tile(part, stage, …) writes a tile to
///          `out`, each element plus one, last element first.
///          And two measurements to decide by. Say that a block takes 1.50 µs for each tile with one stage,
///          and 0.60 µs with as many stages as fit.
/// Wanted   The kernel, with the number of stages that the rule gives (1 + L/C, rounded up), and no more.
///          Warp 0 is the producer: it fills the stages in turn and does nothing else. Warps 1 to 3 are the
///          consumers: they compute the tiles in turn and do nothing else. All threads of a part call
///          copy_tile or compute_tile; `rank` counts from 0 in each part.
/// Missing  1. `stages`: how many are enough?
///          2. the kernel.
/// Judged   By the result for several sizes and base addresses; by counters: which warps copied and which
///          computed, how far the producer ran ahead, and that every byte came by cp.async; by the shared
///          memory that the kernel has.
#include "workbook/tile.cuh"

#include <cooperative_groups.h>
#include <cuda/pipeline>

#include <cstddef>
#include <cstdint>

namespace cg = cooperative_groups;

constexpr unsigned block_threads = 128;
constexpr unsigned warp_threads = 32;
constexpr int tile_floats = 512;
//@ hole
constexpr int stages = 3; // L + C is 1.50 and C 0.60: in one round of a stage 2.5 tiles could be used
//? constexpr int stages = 1; // YOUR CODE (1)
//@ end

/// The array and the tiles of it that a block takes.
struct Stream {
    const float* in;
    float* out;
    std::size_t size;

    __device__ std::size_t start(std::size_t k) const { return (blockIdx.x + k * gridDim.x) * tile_floats; }
    __device__ bool has(std::size_t k) const { return start(k) < size; }
    __device__ int count(std::size_t k) const { return workbook::tile_count(start(k), tile_floats, size); }
};

/// Some of the threads of a block: how many, and which of them this thread is.
struct Part {
    unsigned threads;
    unsigned rank;
    __device__ unsigned size() const { return threads; }
    __device__ unsigned thread_rank() const { return rank; }
};

/// The threads of `part` start the copy of tile k into `stage`.
template <class Pipeline>
__device__ void copy_tile(const Part& part, float* stage, const Stream& stream, std::size_t k,
                          Pipeline& pipe) {
    const float* tile = stream.in + stream.start(k);
    const std::size_t bytes = stream.count(k) * sizeof(float);
    if (reinterpret_cast<std::uintptr_t>(tile) % 16 == 0 && bytes % 16 == 0)
        cuda::memcpy_async(part, stage, tile, cuda::aligned_size_t<16>(bytes), pipe);
    else
        cuda::memcpy_async(part, stage, tile, bytes, pipe);
}

/// The threads of `part` write tile k: each element plus one, last element first.
__device__ inline void compute_tile(const Part& part, const float* stage, const Stream& stream,
                                    std::size_t k) {
    float* out = stream.out + stream.start(k);
    const int count = stream.count(k);
    for (int i = part.rank; i < count; i += part.threads)
        out[i] = stage[count - 1 - i] + 1;
}

#pragma nv_diag_suppress static_var_with_dynamic_init // make_pipeline sets the state up, no constructor runs

__global__ void one_warp_copies(Stream stream) {
    //@ hole
    const auto block = cg::this_thread_block();
    __shared__ alignas(128) float stage[stages][tile_floats];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> state;
    auto pipe = cuda::make_pipeline(block, &state, warp_threads);
    if (threadIdx.x < warp_threads) {
        const Part producers{warp_threads, threadIdx.x};
        for (std::size_t k = 0; stream.has(k); ++k) {
            pipe.producer_acquire();
            copy_tile(producers, stage[k % stages], stream, k, pipe);
            pipe.producer_commit();
        }
    } else {
        const Part consumers{block_threads - warp_threads, threadIdx.x - warp_threads};
        for (std::size_t k = 0; stream.has(k); ++k) {
            pipe.consumer_wait();
            compute_tile(consumers, stage[k % stages], stream, k);
            pipe.consumer_release();
        }
    }
    //? // YOUR CODE (2): the stages, a pipeline of the block that knows how many threads produce, and a loop
    //? // for each of the two roles.
    //@ end
}
