/// @file pipeline.cuh
/// Chapter 4: a pipeline of stages, so that the next tiles come while one is computed.
///
/// Every kernel streams the array through shared memory: a block takes every gridDim.x-th tile, computes each
/// element and writes the tile back in reverse order. They differ in how many tiles are on their way, and in
/// who copies and who computes.
#pragma once

#include "workbook/device.hpp"
#include "workbook/launch.hpp"
#include "workbook/tile.cuh"

#include <cooperative_groups.h>
#include <cuda/pipeline>
#include <cuda_pipeline_primitives.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

namespace pipeline {

namespace cg = cooperative_groups;

inline constexpr int block_threads = 256;
inline constexpr int warp_threads = 32;
inline constexpr int tile_floats = 1024; ///< 4 KiB per stage

template <int stages>
using SharedState = cuda::pipeline_shared_state<cuda::thread_scope_block, stages>;

#pragma nv_diag_suppress static_var_with_dynamic_init // make_pipeline sets the state up, no constructor runs

// ---- what is copied, and what is computed ----

/// The computation: `work` fused multiply-adds, each rounded once, so that the host gets the same bits.
__host__ __device__ inline float compute(float x, int work) {
    for (int k = 0; k < work; ++k)
        x = std::fma(x, 0.5f, 1.0f);
    return x;
}

/// The array and the tiles of it that a block takes. A block's tiles are numbered with 32 bits, enough for
/// 16 TiB.
struct Stream {
    const float* in;
    float* out;
    std::size_t size;
    int work; ///< multiply-adds per element

    __device__ std::size_t start(unsigned k) const {
        return (blockIdx.x + std::size_t{k} * gridDim.x) * tile_floats;
    }
    __device__ bool has(unsigned k) const { return start(k) < size; }
    __device__ int count(unsigned k) const { return workbook::tile_count(start(k), tile_floats, size); }
};

/// The stage of one tile after the other: 0, 1, …, stages - 1, 0, 1, … It is what the remainder of the tile's
/// number would be, without a division.
template <int stages>
struct StageIndex {
    int index = 0;
    __device__ void advance() { index = index + 1 < stages ? index + 1 : 0; }
};

/// The threads of `group` start the copy of tile k into `stage`: 16 bytes at a time, or 4 where the addresses
/// or the size do not allow it (chapter 2).
template <class Group, class Pipeline>
__device__ void copy_tile(const Group& group, float* stage, const Stream& stream, unsigned k,
                          Pipeline& pipe) {
    const float* tile = stream.in + stream.start(k);
    const std::size_t bytes = stream.count(k) * sizeof(float);
    if (reinterpret_cast<std::uintptr_t>(tile) % 16 == 0 && bytes % 16 == 0)
        cuda::memcpy_async(group, stage, tile, cuda::aligned_size_t<16>(bytes), pipe);
    else
        cuda::memcpy_async(group, stage, tile, bytes, pipe);
}

/// The threads of `group` compute tile k and write it back, last element first.
template <class Group>
__device__ void compute_tile(const Group& group, const float* stage, const Stream& stream, unsigned k) {
    float* out = stream.out + stream.start(k);
    const int count = stream.count(k);
    for (int i = group.thread_rank(); i < count; i += group.size())
        out[i] = compute(stage[count - 1 - i], stream.work);
}

// ---- all threads copy, all threads compute ----

/// One stage: acquire, copy, commit, wait, compute, release. Nothing overlaps; the pipeline only shows its
/// four calls.
__global__ void single_stage(Stream stream) {
    const auto block = cg::this_thread_block();
    __shared__ alignas(128) float stage[tile_floats];
    __shared__ SharedState<1> state;
    auto pipe = cuda::make_pipeline(block, &state);
    for (unsigned k = 0; stream.has(k); ++k) {
        pipe.producer_acquire(); // wait until the stage is free
        copy_tile(block, stage, stream, k, pipe);
        pipe.producer_commit(); // these copies make up the stage
        pipe.consumer_wait();   // wait until they have landed, everybody's
        compute_tile(block, stage, stream, k);
        pipe.consumer_release(); // the stage is free, as soon as all say so
    }
}

/// Two stages: the copy of the next tile starts before the computation of this one.
__global__ void with_staging(Stream stream) {
    const auto block = cg::this_thread_block();
    __shared__ alignas(128) float stage[2][tile_floats];
    __shared__ SharedState<2> state;
    auto pipe = cuda::make_pipeline(block, &state);
    const auto fetch = [&](unsigned k) {
        pipe.producer_acquire();
        copy_tile(block, stage[k % 2], stream, k, pipe);
        pipe.producer_commit();
    };
    if (stream.has(0))
        fetch(0);
    for (unsigned k = 0; stream.has(k); ++k) {
        if (stream.has(k + 1))
            fetch(k + 1);
        pipe.consumer_wait(); // for tile k, while k + 1 is on its way
        compute_tile(block, stage[k % 2], stream, k);
        pipe.consumer_release();
    }
}

/// Any number of stages: up to stages - 1 tiles are on their way while one is computed.
template <int stages>
__global__ void n_stages(Stream stream) {
    const auto block = cg::this_thread_block();
    __shared__ alignas(128) float stage[stages][tile_floats];
    __shared__ SharedState<stages> state;
    auto pipe = cuda::make_pipeline(block, &state);
    StageIndex<stages> head, tail;
    unsigned next = 0; // the next tile to ask for
    for (unsigned k = 0; stream.has(k); ++k) {
        for (; next < k + stages && stream.has(next); ++next) {
            pipe.producer_acquire();
            copy_tile(block, stage[head.index], stream, next, pipe);
            pipe.producer_commit();
            head.advance();
        }
        pipe.consumer_wait();
        compute_tile(block, stage[tail.index], stream, k);
        pipe.consumer_release();
        tail.advance();
    }
}

/// The same with a pipeline of thread scope: no shared state, no barrier inside, only this thread's groups of
/// cp.async. It knows nothing of other threads, so the block has to wait for itself, twice per tile.
template <int stages>
__global__ void thread_scope(Stream stream) {
    const auto block = cg::this_thread_block();
    __shared__ alignas(128) float stage[stages][tile_floats];
    auto pipe = cuda::make_pipeline();
    StageIndex<stages> head, tail;
    unsigned next = 0; // the next tile to ask for
    for (unsigned k = 0; stream.has(k); ++k) {
        for (; next < k + stages && stream.has(next); ++next) {
            pipe.producer_acquire();
            copy_tile(block, stage[head.index], stream, next, pipe);
            pipe.producer_commit();
            head.advance();
        }
        pipe.consumer_wait(); // my copies have landed,
        block.sync();         // and everybody's
        compute_tile(block, stage[tail.index], stream, k);
        pipe.consumer_release();
        block.sync(); // all have read
        tail.advance();
    }
}

// ---- some threads copy, the others compute ----

/// Some of the threads of a block. cuda::memcpy_async takes anything with size() and thread_rank() for a
/// group, and shares the bytes out by these two.
struct Part {
    unsigned threads;
    unsigned rank;
    __device__ unsigned size() const { return threads; }
    __device__ unsigned thread_rank() const { return rank; }
};

/// What a producer does: fill the stages in turn.
template <int stages, class Pipeline>
__device__ void produce(const Part& producers, float (*stage)[tile_floats], const Stream& stream,
                        Pipeline& pipe) {
    StageIndex<stages> head;
    for (unsigned k = 0; stream.has(k); ++k) {
        pipe.producer_acquire();
        copy_tile(producers, stage[head.index], stream, k, pipe);
        pipe.producer_commit();
        head.advance();
    }
}

/// What a consumer does: empty the stages in turn.
template <int stages, class Pipeline>
__device__ void consume(const Part& consumers, const float (*stage)[tile_floats], const Stream& stream,
                        Pipeline& pipe) {
    StageIndex<stages> tail;
    for (unsigned k = 0; stream.has(k); ++k) {
        pipe.consumer_wait();
        compute_tile(consumers, stage[tail.index], stream, k);
        pipe.consumer_release();
        tail.advance();
    }
}

/// A partitioned pipeline: even threads produce, odd threads consume. Both roles are in every warp, so that
/// each warp runs both halves one after the other: it shows the roles, and is no way to be fast.
__global__ void with_specialized_staging_unified(Stream stream) {
    const auto block = cg::this_thread_block();
    constexpr int stages = 2;
    __shared__ alignas(128) float stage[stages][tile_floats];
    __shared__ SharedState<stages> state;
    const unsigned rank = block.thread_rank();
    const auto role = rank % 2 == 0 ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer;
    auto pipe = cuda::make_pipeline(block, &state, role);
    const Part half{block_threads / 2, rank / 2};
    if (role == cuda::pipeline_role::producer)
        produce<stages>(half, stage, stream, pipe);
    else
        consume<stages>(half, stage, stream, pipe);
}

/// Warp specialisation: the roles go to whole warps. Warp 0 copies for the seven others.
template <int stages>
__global__ void specialized_warps(Stream stream) {
    const auto block = cg::this_thread_block();
    constexpr unsigned producers = warp_threads;
    __shared__ alignas(128) float stage[stages][tile_floats];
    __shared__ SharedState<stages> state;
    const unsigned rank = block.thread_rank();
    auto pipe = cuda::make_pipeline(block, &state, producers); // the number of producers; the rest consume
    if (rank < producers)
        produce<stages>(Part{producers, rank}, stage, stream, pipe);
    else
        consume<stages>(Part{block_threads - producers, rank - producers}, stage, stream, pipe);
}

// ---- wider accesses ----

/// thread_scope with 16 bytes per thread in every step, for arrays of whole tiles: fewer instructions per
/// byte.
template <int stages>
__global__ void four_at_a_time(Stream stream) {
    const auto block = cg::this_thread_block();
    __shared__ float4 stage[stages][block_threads];
    static_assert(sizeof(stage[0]) == tile_floats * sizeof(float));
    auto pipe = cuda::make_pipeline();
    const auto* in = reinterpret_cast<const float4*>(stream.in) + threadIdx.x;
    auto* out = reinterpret_cast<float4*>(stream.out) + threadIdx.x;
    StageIndex<stages> head, tail;
    unsigned next = 0;
    for (unsigned k = 0; stream.has(k); ++k) {
        for (; next < k + stages && stream.has(next); ++next) {
            pipe.producer_acquire();
            cuda::memcpy_async(&stage[head.index][threadIdx.x], in + stream.start(next) / 4,
                               cuda::aligned_size_t<16>(sizeof(float4)), pipe);
            pipe.producer_commit();
            head.advance();
        }
        pipe.consumer_wait();
        block.sync();
        const float4 four = stage[tail.index][block_threads - 1 - threadIdx.x];
        out[stream.start(k) / 4] = {compute(four.w, stream.work), compute(four.z, stream.work),
                                    compute(four.y, stream.work), compute(four.x, stream.work)};
        pipe.consumer_release();
        block.sync();
        tail.advance();
    }
}

/// One block for each SM, which has nobody else to fill its pauses; fewer where a block would take less than
/// eight tiles.
inline unsigned looping_grid(std::size_t size) {
    const auto sms = static_cast<unsigned>(workbook::device_attribute(cudaDevAttrMultiProcessorCount));
    return std::min(sms, workbook::blocks_for(size, std::size_t{8} * tile_floats));
}

/// Reverses tiles of tile_floats elements and computes each element. `in` and `out` have the same size.
inline void launch_stream(void (*kernel)(Stream), std::span<const float> in, std::span<float> out, int work) {
    workbook::launch(kernel, {.grid = looping_grid(in.size()), .block = block_threads},
                     Stream{in.data(), out.data(), in.size(), work});
}

inline void launch_single_stage(std::span<const float> in, std::span<float> out, int work) {
    launch_stream(single_stage, in, out, work);
}

inline void launch_with_staging(std::span<const float> in, std::span<float> out, int work) {
    launch_stream(with_staging, in, out, work);
}

template <int stages>
void launch_n_stages(std::span<const float> in, std::span<float> out, int work) {
    static_assert(stages >= 2 && stages <= 8);
    launch_stream(n_stages<stages>, in, out, work);
}

template <int stages>
void launch_thread_scope(std::span<const float> in, std::span<float> out, int work) {
    launch_stream(thread_scope<stages>, in, out, work);
}

inline void launch_with_specialized_staging_unified(std::span<const float> in, std::span<float> out,
                                                    int work) {
    launch_stream(with_specialized_staging_unified, in, out, work);
}

template <int stages>
void launch_specialized_warps(std::span<const float> in, std::span<float> out, int work) {
    launch_stream(specialized_warps<stages>, in, out, work);
}

/// The whole tiles go through four_at_a_time, if both arrays begin at a multiple of 16 bytes; what is left
/// goes through thread_scope.
template <int stages>
void launch_four_at_a_time(std::span<const float> in, std::span<float> out, int work) {
    const bool aligned =
        (reinterpret_cast<std::uintptr_t>(in.data()) | reinterpret_cast<std::uintptr_t>(out.data())) % 16 ==
        0;
    const std::size_t whole = aligned ? in.size() - in.size() % tile_floats : 0;
    launch_stream(four_at_a_time<stages>, in.first(whole), out.first(whole), work);
    launch_stream(thread_scope<stages>, in.subspan(whole), out.subspan(whole), work);
}

// ---- the time line ----

/// When the first thread of a block passed three places, for one tile. In cycles of the clock of its SM.
struct Interval {
    long long issued;   ///< the stage was free, and the copy was started
    long long landed;   ///< consumer_wait returned
    long long computed; ///< the tile was computed and written back
};

/// n_stages with a clock. The first block writes an interval for each of its first `most` tiles.
template <int stages>
__global__ void timeline(Stream stream, Interval* intervals, std::size_t most) {
    const auto block = cg::this_thread_block();
    __shared__ alignas(128) float stage[stages][tile_floats];
    __shared__ SharedState<stages> state;
    auto pipe = cuda::make_pipeline(block, &state);
    const auto stamp = [&](unsigned k, long long Interval::*place) {
        if (blockIdx.x == 0 && threadIdx.x == 0 && k < most)
            intervals[k].*place = clock64();
    };
    StageIndex<stages> head, tail;
    unsigned next = 0;
    for (unsigned k = 0; stream.has(k); ++k) {
        for (; next < k + stages && stream.has(next); ++next) {
            pipe.producer_acquire();
            stamp(next, &Interval::issued);
            copy_tile(block, stage[head.index], stream, next, pipe);
            pipe.producer_commit();
            head.advance();
        }
        pipe.consumer_wait();
        stamp(k, &Interval::landed);
        compute_tile(block, stage[tail.index], stream, k);
        stamp(k, &Interval::computed);
        pipe.consumer_release();
        tail.advance();
    }
}

/// Number of tiles that the first block takes.
inline std::size_t first_block_tiles(std::size_t size) {
    const std::size_t tiles = workbook::blocks_for(size, tile_floats);
    const std::size_t blocks = looping_grid(size);
    return blocks == 0 ? 0 : (tiles + blocks - 1) / blocks;
}

/// As launch_n_stages, and records the first tiles of the first block: as many as it takes and `intervals`
/// has room for.
template <int stages>
void launch_timeline(std::span<const float> in, std::span<float> out, int work,
                     std::span<Interval> intervals) {
    workbook::launch(timeline<stages>, {.grid = looping_grid(in.size()), .block = block_threads},
                     Stream{in.data(), out.data(), in.size(), work}, intervals.data(), intervals.size());
}

// ---- entanglement ----

/// What one warp's waits waited for.
struct Entangled {
    unsigned commits;    ///< commits of the warp: threads that commit together count once
    unsigned waited_for; ///< of all batches of the 32 threads, those that had to land before the waits ended
    long long cycles;    ///< what the wait took
};

/// The place of this thread's commit in the warp's sequence. Threads that are converged have the same.
__device__ inline unsigned place_in_warp(unsigned* commits) {
    const unsigned together = __activemask();
    const int first = __ffs(static_cast<int>(together)) - 1;
    unsigned place = 0;
    if (static_cast<int>(threadIdx.x) == first)
        place = atomicAdd(commits, 1u);
    return __shfl_sync(together, place, first);
}

/// Each thread of one warp copies an element in each of two batches and waits for the older. The hardware
/// counts batches for the warp and not for each thread. Converged threads commit once for all, and the wait
/// leaves the newer 32 copies pending. Diverged threads commit 32 times per batch; the wait leaves only the
/// warp's newest commit pending, so that 31 threads wait for their newer copy too.
/// Source: CUDA Programming Guide, 'Pipeline interface', 'Warp entanglement'.
template <bool diverged>
__global__ void entanglement(const float* in, float* out, Entangled* result) {
    __shared__ float stage[2][warp_threads];
    __shared__ unsigned commits;
    const int lane = threadIdx.x;
    if (lane == 0)
        commits = 0;
    __syncwarp();
    const auto copy = [&](int batch) {
        constexpr int rounds = diverged ? warp_threads : 1;
        unsigned place = 0;
        for (int round = 0; round < rounds; ++round)
            if (!diverged || lane == round) {
                __pipeline_memcpy_async(&stage[batch][lane], &in[batch * warp_threads + lane], sizeof(float));
                __pipeline_commit();
                place = place_in_warp(&commits);
            }
        __syncwarp();
        return place;
    };
    const unsigned older = copy(0);
    const unsigned newer = copy(1);
    const long long begin = clock64();
    __pipeline_wait_prior(1); // 'my newest batch may be pending'
    const long long cycles = clock64() - begin;
    const unsigned landed = commits - 1; // all the warp's batches but the newest one
    const unsigned mine = (older < landed ? 1 : 0) + (newer < landed ? 1 : 0);
    const unsigned all = __reduce_add_sync(~0u, mine);
    if (lane == 0)
        *result = {commits, all, cycles};
    __pipeline_wait_prior(0);
    __syncwarp();
    for (int batch = 0; batch < 2; ++batch)
        out[batch * warp_threads + lane] = stage[batch][warp_threads - 1 - lane];
}

/// Elements that entanglement copies: two batches of a warp.
inline constexpr int entangled_floats = 2 * warp_threads;

/// Reverses two times 32 elements; `in` and `out` have entangled_floats elements each.
template <bool diverged>
void launch_entanglement(std::span<const float> in, std::span<float> out, Entangled* result) {
    workbook::launch(entanglement<diverged>, {.block = warp_threads}, in.data(), out.data(), result);
}

#pragma nv_diag_default static_var_with_dynamic_init

} // namespace pipeline
