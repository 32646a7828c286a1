/// @file causes_bench.cuh
/// Chapter 4's experiments that decide between causes: kernels that differ from those of the chapter in one
/// thing.
#pragma once

#include "pipeline.cuh"

#include "workbook/bench.hpp"
#include "workbook/buffer.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace pipeline {

#pragma nv_diag_suppress static_var_with_dynamic_init // as in pipeline.cuh

/// The four elements of a thread of a whole tile, reversed and computed, in one access of 16 bytes each way.
__device__ inline void compute_four(const float* stage, const Stream& stream, unsigned k) {
    const int last = tile_floats / 4 - 1;
    const float4 four = reinterpret_cast<const float4*>(stage)[last - static_cast<int>(threadIdx.x)];
    reinterpret_cast<float4*>(stream.out + stream.start(k))[threadIdx.x] = {
        compute(four.w, stream.work), compute(four.z, stream.work), compute(four.y, stream.work),
        compute(four.x, stream.work)};
}

/// thread_scope for whole tiles, with one or both of what sets four_at_a_time apart: copies without copy_tile
/// (`own_copies`), and accesses of 16 bytes (`wide`).
template <int stages, bool own_copies, bool wide>
__global__ void between(Stream stream) {
    const auto block = cg::this_thread_block();
    __shared__ alignas(128) float stage[stages][tile_floats];
    auto pipe = cuda::make_pipeline();
    StageIndex<stages> head, tail;
    unsigned fetch = 0;
    for (unsigned k = 0; stream.has(k); ++k) {
        for (; fetch < k + stages && stream.has(fetch); ++fetch) {
            pipe.producer_acquire();
            if constexpr (own_copies)
                cuda::memcpy_async(&stage[head.index][threadIdx.x * 4],
                                   stream.in + stream.start(fetch) + threadIdx.x * 4,
                                   cuda::aligned_size_t<16>(sizeof(float4)), pipe);
            else
                copy_tile(block, stage[head.index], stream, fetch, pipe);
            pipe.producer_commit();
            head.advance();
        }
        pipe.consumer_wait();
        block.sync();
        if constexpr (wide)
            compute_four(stage[tail.index], stream, k);
        else
            compute_tile(block, stage[tail.index], stream, k);
        pipe.consumer_release();
        block.sync();
        tail.advance();
    }
}

/// thread_scope whose block also sets up a pipeline of block scope, and never uses it.
template <int stages>
__global__ void set_up_for_nothing(Stream stream) {
    const auto block = cg::this_thread_block();
    __shared__ alignas(128) float stage[stages][tile_floats];
    __shared__ SharedState<stages> state;
    auto unused = cuda::make_pipeline(block, &state);
    auto pipe = cuda::make_pipeline();
    StageIndex<stages> head, tail;
    unsigned fetch = 0;
    for (unsigned k = 0; stream.has(k); ++k) {
        for (; fetch < k + stages && stream.has(fetch); ++fetch) {
            pipe.producer_acquire();
            copy_tile(block, stage[head.index], stream, fetch, pipe);
            pipe.producer_commit();
            head.advance();
        }
        pipe.consumer_wait();
        block.sync();
        compute_tile(block, stage[tail.index], stream, k);
        pipe.consumer_release();
        block.sync();
        tail.advance();
    }
}

#pragma nv_diag_default static_var_with_dynamic_init

/// One whole tile through one stage, by its number in the array: what four_at_a_time<1> does with it.
__device__ inline void pass_tile(float4* stage, const Stream& stream, std::size_t tile) {
    const std::size_t at = tile * (tile_floats / 4) + threadIdx.x;
    __pipeline_memcpy_async(&stage[threadIdx.x], reinterpret_cast<const float4*>(stream.in) + at,
                            sizeof(float4));
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    const float4 four = stage[block_threads - 1 - threadIdx.x];
    reinterpret_cast<float4*>(stream.out)[at] = {compute(four.w, stream.work), compute(four.z, stream.work),
                                                 compute(four.y, stream.work), compute(four.x, stream.work)};
    __syncthreads();
}

/// When a block began and ended, in nanoseconds of the device's clock.
struct Life {
    unsigned long long begin;
    unsigned long long end;
};

__device__ inline unsigned long long nanoseconds() {
    unsigned long long now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
}

/// Blocks that stay, with one stage: each takes every gridDim.x-th tile, dealt in advance.
__global__ void dealt(Stream stream, unsigned*, Life* lives) {
    __shared__ float4 stage[block_threads];
    const unsigned long long begin = nanoseconds();
    for (unsigned k = 0; stream.has(k); ++k)
        pass_tile(stage, stream, blockIdx.x + std::size_t{k} * gridDim.x);
    if (threadIdx.x == 0)
        lives[blockIdx.x] = {begin, nanoseconds()};
}

/// The same, but a block that has done its tiles claims the next `each`. `next` is 0 before the launch, and
/// again after it: the last claim of all sets it back.
template <unsigned each>
__global__ void claimed(Stream stream, unsigned* next, Life* lives) {
    __shared__ float4 stage[block_threads];
    __shared__ unsigned mine;
    const unsigned long long begin = nanoseconds();
    const auto tiles = static_cast<unsigned>(stream.size / tile_floats);
    for (;;) {
        if (threadIdx.x == 0)
            mine = atomicAdd(next, 1u);
        __syncthreads();
        const unsigned claim = mine;
        __syncthreads();
        const unsigned claims = (tiles + each - 1) / each;
        if (claim >= claims) {
            if (threadIdx.x == 0 && claim == claims + gridDim.x - 1)
                *next = 0;
            break;
        }
        for (unsigned tile = claim * each; tile < min(claim * each + each, tiles); ++tile)
            pass_tile(stage, stream, tile);
    }
    if (threadIdx.x == 0)
        lives[blockIdx.x] = {begin, nanoseconds()};
}

/// A kernel of the comparison and the grid that it gets.
struct Cause {
    const char* kernel;
    int stages;
    void (*launched)(Stream);
    int blocks_per_sm;   ///< 0: blocks end
    int tiles_per_block; ///< 0: blocks stay
};

inline constexpr Cause causes[] = {
    {"thread_scope", 4, between<4, false, false>, 1, 0},
    {"own copies", 4, between<4, true, false>, 1, 0},
    {"wide accesses", 4, between<4, false, true>, 1, 0},
    {"both", 4, between<4, true, true>, 1, 0},
    {"both, one stage", 1, between<1, true, true>, 1, 0},
    {"specialized_warps", 1, specialized_warps<1>, 1, 0},
    {"specialized_warps", 2, specialized_warps<2>, 1, 0},
    {"specialized_warps", 3, specialized_warps<3>, 1, 0},
    {"specialized_warps", 4, specialized_warps<4>, 1, 0},
    {"specialized_warps", 6, specialized_warps<6>, 1, 0},
    {"specialized_warps", 8, specialized_warps<8>, 1, 0},
    {"n_stages", 4, n_stages<4>, 0, 4},
    {"thread_scope", 4, thread_scope<4>, 0, 4},
    {"set_up_for_nothing", 4, set_up_for_nothing<4>, 0, 4},
    {"n_stages", 4, n_stages<4>, 0, 32},
    {"thread_scope", 4, thread_scope<4>, 0, 32},
    {"set_up_for_nothing", 4, set_up_for_nothing<4>, 0, 32},
};

/// Blocks that stay, by how they get their tiles.
struct Dealing {
    const char* tiles;
    void (*kernel)(Stream, unsigned*, Life*);
};

inline constexpr Dealing dealings[] = {
    {"dealt in advance", dealt},
    {"claimed, one at a time", claimed<1>},
    {"claimed, four at a time", claimed<4>},
};

/// When the blocks of one launch ended, in microseconds since the first began: at first, on average, at last.
inline std::vector<workbook::BenchCell> ends_of(const std::vector<Life>& lives) {
    unsigned long long begin = lives.front().begin;
    for (const Life& life : lives)
        begin = std::min(begin, life.begin);
    double first = static_cast<double>(lives.front().end - begin), last = 0, sum = 0;
    for (const Life& life : lives) {
        const auto end = static_cast<double>(life.end - begin);
        first = std::min(first, end);
        last = std::max(last, end);
        sum += end;
    }
    return {{"first", 1e-3 * first},
            {"mean", 1e-3 * sum / static_cast<double>(lives.size())},
            {"last", 1e-3 * last}};
}

} // namespace pipeline
