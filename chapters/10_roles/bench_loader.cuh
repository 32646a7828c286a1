/// @file bench_loader.cuh
/// A measurement: who should load, if to load takes longer. The chapter's rings once more, with a loader that
/// has something to work out before each copy.
#pragma once

#include "roles.cuh"
#include "twins.cuh"

namespace roles {

/// Who loads, and how the others tell it that a stage is empty.
enum class Loader {
    meets,       ///< warp 0, and all meet: meeting_ring
    ninth_meets, ///< a ninth warp, and all meet: ninth_meets
    among_all,   ///< warp 0, and empty barriers: eight_ask, at once
    ninth        ///< a ninth warp, and empty barriers: roles_ring
};

/// Whether a ninth warp loads.
template <Loader loader>
constexpr bool has_ninth = loader == Loader::ninth_meets || loader == Loader::ninth;

/// Whether all meet after each tile.
template <Loader loader>
constexpr bool meets_each_tile = loader == Loader::meets || loader == Loader::ninth_meets;

/// `steps` multiplications, each of which needs the result of the one before. What begins odd stays odd, but
/// the compiler does not know it, and cannot leave them out where the result decides something.
template <int steps>
__device__ unsigned multiplied(unsigned odd) {
#pragma unroll 10
    for (int step = 0; step < steps; ++step)
        odd *= odd + 2;
    return odd;
}

template <int count, Loader loader, int steps>
__global__ void __launch_bounds__(has_ninth<loader> ? roles_threads : consumer_threads, 1)
    ring_by_loader(const __grid_constant__ CUtensorMap map, Work work, unsigned* out) {
    Ring<>& ring = *reinterpret_cast<Ring<>*>(ring_memory);
    if (threadIdx.x == 0)
        ring.initialise(1, meets_each_tile<loader> ? 1 : consumer_warps);
    __syncthreads();
    const bool loads = workbook::warp_index() == (has_ninth<loader> ? consumer_warps : 0);
    NextWhenEmpty next{{blockIdx.x}};
    const auto load = [&](unsigned stage) {
        if (multiplied<steps>(2 * stage + 1) == 0) // never
            return;
        if constexpr (meets_each_tile<loader>)
            next.next.load(ring, stage, map, work);
        else
            next.load(ring, map, work);
    };
    if (loads)
        for (unsigned stage = 0; stage < stages; ++stage)
            load(stage);
    if (loader == Loader::ninth && loads) {
        while (next.next.panel < work.panels())
            load(next.to.index);
        return;
    }
    RingState<stages> at;
    if (loader == Loader::ninth_meets && loads) {
        for (unsigned panel = blockIdx.x; panel < work.panels(); panel += gridDim.x)
            for (unsigned tile = 0; tile < work.tiles(); ++tile, at.advance()) {
                __syncthreads();
                load(at.index);
            }
        return;
    }
    for (unsigned panel = blockIdx.x; panel < work.panels(); panel += gridDim.x) {
        Prints<count> prints;
        for (unsigned tile = 0; tile < work.tiles(); ++tile, at.advance()) {
            workbook::wait_parity(&ring.full[at.index], at.phase);
            prints.absorb(ring.tiles[at.index], threadIdx.x, work.rows_of(tile));
            if constexpr (meets_each_tile<loader>) {
                ptx::fence_proxy_async(ptx::space_shared);
                __syncthreads();
            } else
                workbook::arrive_as_warp(&ring.empty[at.index]);
            if (loads)
                load(at.index);
        }
        if (const unsigned column = panel * panel_columns + threadIdx.x; column < work.width)
            prints.store(place_of(column, out, count));
    }
}

} // namespace roles
