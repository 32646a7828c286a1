/// @file twins.cuh
/// What lies between meeting_ring and roles_ring, one change at a time: a ninth warp that asks for tiles, and
/// empty barriers. And what both have in common, alone. Nobody but the measurements uses these kernels.
#pragma once

#include "roles.cuh"

#include <cuda/ptx>

#include <span>

namespace roles {

/// The ninth warp of ninth_meets: comes to each meeting, and asks for a tile after it.
__device__ inline void ask_and_meet(Ring<>& ring, const CUtensorMap& map, const Work& work) {
    NextTile next{blockIdx.x};
    for (unsigned stage = 0; stage < stages; ++stage)
        next.load(ring, stage, map, work);
    RingState<stages> at;
    for (unsigned panel = blockIdx.x; panel < work.panels(); panel += gridDim.x)
        for (unsigned tile = 0; tile < work.tiles(); ++tile, at.advance()) {
            __syncthreads();
            next.load(ring, at.index, map, work);
        }
}

/// meeting_ring with a warp more: it asks for the tiles in place of warp 0, and still all meet for each of
/// them.
template <int count>
__global__ void __launch_bounds__(roles_threads, 1)
    ninth_meets(const __grid_constant__ CUtensorMap map, Work work, unsigned* out) {
    Ring<>& ring = *reinterpret_cast<Ring<>*>(ring_memory);
    if (threadIdx.x == 0)
        ring.initialise(1, 1); // nobody waits for an empty stage here
    __syncthreads();
    if (workbook::warp_index() == consumer_warps)
        return ask_and_meet(ring, map, work);
    RingState<stages> at;
    for (unsigned panel = blockIdx.x; panel < work.panels(); panel += gridDim.x) {
        Prints<count> prints;
        for (unsigned tile = 0; tile < work.tiles(); ++tile, at.advance()) {
            workbook::wait_parity(&ring.full[at.index], at.phase);
            prints.absorb(ring.tiles[at.index], threadIdx.x, work.rows_of(tile));
            ptx::fence_proxy_async(ptx::space_shared);
            __syncthreads();
        }
        if (const unsigned column = panel * panel_columns + threadIdx.x; column < work.width)
            prints.store(place_of(column, out, count));
    }
}

/// The tile that warp 0 of eight_ask asks for next, when its stage is empty.
struct NextWhenEmpty {
    NextTile next;
    RingState<stages> to = workbook::producer_start<stages>();

    /// A whole warp waits, one of its lanes asks, and all step on.
    __device__ void load(Ring<>& ring, const CUtensorMap& map, const Work& work) {
        if (next.panel < work.panels())
            workbook::wait_parity(&ring.empty[to.index], to.phase);
        next.load(ring, to.index, map, work);
        to.advance();
    }
};

/// roles_ring without the warp more: empty barriers, and warp 0 asks between its own tiles. It waits for the
/// stage that it gave back `late` tiles ago, so long are the other warps given; that stage's next tile comes
/// later by as much.
template <int count, int late>
__global__ void __launch_bounds__(consumer_threads, 1)
    eight_ask(const __grid_constant__ CUtensorMap map, Work work, unsigned* out) {
    Ring<>& ring = *reinterpret_cast<Ring<>*>(ring_memory);
    if (threadIdx.x == 0)
        ring.initialise(1, consumer_warps);
    __syncthreads();
    const bool loads = workbook::warp_index() == 0;
    NextWhenEmpty next{{blockIdx.x}};
    if (loads)
        for (int stage = 0; stage < stages - late; ++stage)
            next.load(ring, map, work);
    RingState<stages> at;
    for (unsigned panel = blockIdx.x; panel < work.panels(); panel += gridDim.x) {
        Prints<count> prints;
        // [eight-loop]
        for (unsigned tile = 0; tile < work.tiles(); ++tile, at.advance()) {
            workbook::wait_parity(&ring.full[at.index], at.phase);
            prints.absorb(ring.tiles[at.index], threadIdx.x, work.rows_of(tile));
            workbook::arrive_as_warp(&ring.empty[at.index]);
            if (loads)
                next.load(ring, map, work);
        }
        // [/eight-loop]
        if (const unsigned column = panel * panel_columns + threadIdx.x; column < work.width)
            prints.store(place_of(column, out, count));
    }
}

/// What tile `stage` of prints_alone holds.
__host__ __device__ constexpr unsigned filled(unsigned stage, unsigned row, unsigned column) {
    return stage * 13 + row * 7 + column;
}

/// The multiplications and stores of meeting_ring alone: the tiles are filled once, and nobody loads,
/// waits or meets.
template <int count>
__global__ void __launch_bounds__(consumer_threads, 1)
    prints_alone(const __grid_constant__ CUtensorMap, Work work, unsigned* out) {
    Ring<>& ring = *reinterpret_cast<Ring<>*>(ring_memory);
    for (int stage = 0; stage < stages; ++stage)
        for (int row = 0; row < tile_rows; ++row)
            ring.tiles[stage].at[row][threadIdx.x] = filled(stage, row, threadIdx.x);
    __syncthreads();
    RingState<stages> at;
    for (unsigned panel = blockIdx.x; panel < work.panels(); panel += gridDim.x) {
        Prints<count> prints;
        for (unsigned tile = 0; tile < work.tiles(); ++tile, at.advance())
            prints.absorb(ring.tiles[at.index], threadIdx.x, work.rows_of(tile));
        if (const unsigned column = panel * panel_columns + threadIdx.x; column < work.width)
            prints.store(place_of(column, out, count));
    }
}

template <int count>
void launch_prints_alone(Matrix<const unsigned> words, std::span<unsigned> out, unsigned most = all_blocks) {
    launch_ring(prints_alone<count>, consumer_threads, words, out, count, most);
}

template <int count = few_prints>
void launch_ninth_meets(Matrix<const unsigned> words, std::span<unsigned> out, unsigned most = all_blocks) {
    launch_ring(ninth_meets<count>, roles_threads, words, out, count, most);
}

template <int count, int late>
void launch_eight_ask(Matrix<const unsigned> words, std::span<unsigned> out, unsigned most = all_blocks) {
    launch_ring(eight_ask<count, late>, consumer_threads, words, out, count, most);
}

} // namespace roles
