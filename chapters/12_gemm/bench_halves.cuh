/// @file bench_halves.cuh
/// The rung `tuned` with one of its two halves left out, to see which of them takes the time.
#pragma once

#include "rungs/tuned.cuh"
#include "rungs/warp_products.cuh"

namespace gemm::halves {

/// What a launch does.
enum class Part {
    loads,   ///< stages are filled and given back, nothing is multiplied, zeros are stored
    products ///< each stage is filled once, and multiplied again and again
};

/// A warpgroup: its steps of one tile, without the other half.
template <class C, Part part, int sums>
__device__ void consume(float (&d)[sums], typename C::Memory& memory, workbook::RingState<C::stage_count>& at,
                        unsigned group, unsigned steps) {
    std::uint64_t* before = nullptr;
    for (unsigned step = 0; step < steps; ++step, at.advance()) {
        if constexpr (part == Part::loads) {
            workbook::wait_parity(&memory.bars.full[at.index], at.phase);
            if (before != nullptr)
                tuned::give_back<C>(before);
            before = &memory.bars.empty[at.index];
        } else {
            const auto& stage = memory.stages[at.index];
            workbook::wgmma_fence();
            multiply(d, stage.a + group * 64 * C::T::depth, stage.b, step > 0);
            workbook::wgmma_commit();
            workbook::wgmma_wait<1>();
        }
    }
    if constexpr (part == Part::products)
        workbook::wgmma_wait<0>(d);
    if (before != nullptr)
        tuned::give_back<C>(before);
}

/// tuned_gemm, but for what `part` leaves out.
template <class C, Part part>
__global__ void __launch_bounds__(C::threads, 1)
    half_gemm(unsigned k, TileOrder order, const __grid_constant__ CUtensorMap a,
              const __grid_constant__ CUtensorMap b, const __grid_constant__ CUtensorMap out) {
    using T = typename C::T;
    const auto cluster = cooperative_groups::this_cluster();
    extern __shared__ __align__(1024) unsigned char shared[];
    auto& memory = *reinterpret_cast<typename C::Memory*>(shared);
    if (threadIdx.x == 0)
        memory.bars.initialise(1, C::blocks * C::consumers * workbook::warpgroup_threads / 32);
    cluster.sync();
    const unsigned rank = cluster.block_rank();
    const unsigned steps = pieces(k, T::depth);
    const auto corner_of = [&](unsigned i) {
        const Corner tile = order.at(i);
        return Corner{(tile.row * C::down + rank / C::across) * T::rows,
                      (tile.column * C::across + rank % C::across) * T::columns};
    };
    const unsigned first = blockIdx.x / C::blocks, clusters = gridDim.x / C::blocks;
    if constexpr (part == Part::products) {
        if (threadIdx.x == 0)
            for (int i = 0; i < C::stage_count; ++i)
                tuned::load_parts<C>(memory.stages[i], a, b, corner_of(first), i, rank, &memory.bars.full[i]);
        for (int i = 0; i < C::stage_count; ++i)
            workbook::wait_parity(&memory.bars.full[i], 0);
    }
    const unsigned group = workbook::warp_index() / 4;
    if (group == C::consumers) {
        workbook::keep_registers<C::loading_registers>();
        if (part == Part::loads && workbook::warp_index() % 4 == 0 && workbook::elect_one()) {
            auto at = workbook::producer_start<C::stage_count>();
            for (unsigned i = first; i < order.count(); i += clusters)
                tuned::produce<C>(memory, at, a, b, corner_of(i), steps, rank);
        }
    } else {
        workbook::take_registers<C::multiplying_registers>();
        workbook::RingState<C::stage_count> at;
        float d[T::columns / 2] = {};
        for (unsigned i = first; i < order.count(); i += clusters) {
            consume<C, part>(d, memory, at, group, steps);
            const Corner corner = corner_of(i);
            tuned::write<C>(d, memory.panels_of[group], out, {corner.row + group * 64, corner.column}, group);
        }
    }
    ptx::cp_async_bulk_wait_group(ptx::n32_t<0>());
    cluster.sync();
}

/// Launches it. The matrices must be such that gemm::problem() has nothing to say.
template <class C, Part part>
void launch(const Operands& of, unsigned band) {
    using T = typename C::T;
    const auto [m, n, k] = of.extent;
    const TileOrder order = order_of(of.extent, C::down * T::rows, C::across * T::columns, band);
    workbook::launch(half_gemm<C, part>,
                     clusters_that_stay(order, C::blocks, C::threads, sizeof(typename C::Memory)), k, order,
                     operand_map(of.a, m, k, T::rows / C::across),
                     operand_map(of.b, n, k, T::columns / C::down), operand_map(of.out, m, n, 64));
}

/// warp_products_gemm, but each stage is filled once and multiplied again and again: waits, barriers and
/// products stay, only the copies and their addresses are gone.
static __global__ void __launch_bounds__(warp_products::threads)
    warp_products_filled_once(Extent extent, const bf16* a, const bf16* b, bf16* out) {
    using namespace warp_products;
    extern __shared__ __align__(1024) unsigned char shared[];
    auto* stages = reinterpret_cast<Stage<warp_products::T>*>(shared);
    const Corner corner{blockIdx.y * T::rows, blockIdx.x * T::columns};
    const unsigned steps = pieces(extent.k, T::depth);
    const auto load = [&](unsigned step) {
        if (step < min(steps, static_cast<unsigned>(stage_count))) {
            Stage<T>& stage = stages[step % stage_count];
            copy_operand(stage.a, a, corner.row, extent.m, extent.k, step * T::depth);
            copy_operand(stage.b, b, corner.column, extent.n, extent.k, step * T::depth);
        }
        asm volatile("cp.async.commit_group;" ::: "memory");
    };
    for (int i = 0; i < stage_count - 1; ++i)
        load(i);
    const unsigned warp = threadIdx.x / 32, down = warp / 4 * 64, across = warp % 4 * 32;
    float sums[4][4][4] = {};
    for (unsigned step = 0; step < steps; ++step) {
        asm volatile("cp.async.wait_group %0;" ::"n"(stage_count - 2) : "memory");
        __syncthreads();
        load(step + stage_count - 1);
        multiply_stage(sums, stages[step % stage_count], down, across);
    }
    const unsigned lane = threadIdx.x % 32;
    for (int y = 0; y < 4; ++y)
        for (int x = 0; x < 4; ++x)
            for (int i = 0; i < 4; i += 2) {
                const unsigned row = corner.row + down + y * 16 + lane / 4 + i * 4;
                const unsigned column = corner.column + across + x * 8 + lane % 4 * 2;
                if (row < extent.m && column < extent.n)
                    *reinterpret_cast<__nv_bfloat162*>(out + std::size_t{row} * extent.n + column) =
                        __floats2bfloat162_rn(sums[y][x][i], sums[y][x][i + 1]);
            }
}

} // namespace gemm::halves
