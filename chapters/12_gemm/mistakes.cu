/// @file mistakes.cu
/// Chapter 12, wrong on purpose: stages that are given back before their products are complete, or to one
/// block of two; results that leave before they are there; roles that lose their place.
#include "operands.cuh"

#include "workbook/buffer.hpp"
#include "workbook/launch.hpp"
#include "workbook/mistakes.hpp"
#include "workbook/warpgroups.cuh"

#include <cooperative_groups.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace {

using namespace gemm;
using workbook::elect_one;
using workbook::RingState;
using workbook::wait_parity;
using workbook::wgmma_commit;
using workbook::wgmma_fence;
using workbook::wgmma_wait;

using T = Tile<64, 64>;
constexpr unsigned steps = 3; ///< of each tile
constexpr int stage_count = 2;
constexpr int group = workbook::warpgroup_threads;
constexpr int group_warps = group / 32;
constexpr unsigned threads = group + 32; ///< a warpgroup that multiplies, and a warp that loads
constexpr unsigned cluster_blocks = 2;
using Sums = float[T::columns / 2];

/// Shared memory of the kernels with roles.
struct Memory {
    Stage<T> stages[stage_count];
    workbook::RingBarriers<stage_count> bars;
};

/// The producer's warp.
__device__ bool is_loading() { return workbook::warp_index() == group_warps; }

/// The whole block: the barriers of a ring in one block.
__device__ void prepare(Memory& memory) {
    if (threadIdx.x == 0)
        memory.bars.initialise(1, group_warps);
    __syncthreads();
}

/// One thread: loads the steps of one tile. (Here loops are not unrolled: of copies of a line nvcc's line
/// tables do not say which call it was.)
__device__ void produce(Memory& memory, RingState<stage_count>& at, const CUtensorMap& a,
                        const CUtensorMap& b) {
#pragma unroll 1
    for (unsigned step = 0; step < steps; ++step, at.advance()) {
        wait_parity(&memory.bars.empty[at.index], at.phase);
        load_stage(memory.stages[at.index], a, b, {0, 0}, step, &memory.bars.full[at.index]);
    }
}

/// The warpgroup: the products of one stage, as a group of their own.
__device__ void multiply_stage(Sums& d, const Stage<T>& stage, unsigned step) {
    wgmma_fence();
    multiply(d, stage.a, stage.b, step > 0);
    wgmma_commit();
}

/// The warpgroup: multiplies the steps of one tile.
__device__ void consume(Sums& d, Memory& memory, RingState<stage_count>& at) {
    for (unsigned step = 0; step < steps; ++step, at.advance()) {
        wait_parity(&memory.bars.full[at.index], at.phase);
        multiply_stage(d, memory.stages[at.index], step);
        wgmma_wait<0>(d);
        release(&memory.bars.empty[at.index]);
    }
}

constexpr Extent extent{T::rows, T::columns, steps* T::depth};

/// A stage is given back when its products were asked for. They may not have read it yet.
__global__ void given_back_too_early(const __grid_constant__ CUtensorMap a,
                                     const __grid_constant__ CUtensorMap b,
                                     const __grid_constant__ CUtensorMap, bf16* out) {
    __shared__ Memory memory;
    prepare(memory);
    if (is_loading()) {
        auto at = workbook::producer_start<stage_count>();
#pragma unroll 1
        for (unsigned step = elect_one() ? 0 : steps; step < steps; ++step, at.advance()) {
            wait_parity(&memory.bars.empty[at.index], at.phase);
            std::uint64_t* full = &memory.bars.full[at.index];
            load_stage(memory.stages[at.index], a, b, {0, 0}, step, full); // expect: reuse-before-read-done
        }
        return;
    }
    Sums d;
    RingState<stage_count> at;
    for (unsigned step = 0; step < steps; ++step, at.advance()) {
        wait_parity(&memory.bars.full[at.index], at.phase);
        multiply_stage(d, memory.stages[at.index], step); // expect: reuse-before-read-done
        release(&memory.bars.empty[at.index]);            // should be that of the step before, after
                                                          // wgmma_wait<1>()
    }
    wgmma_wait<0>(d);
    store_sums(d, out, extent, {0, 0});
}

/// After the last step the products of one group are still under way.
__global__ void one_group_left(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                               const __grid_constant__ CUtensorMap, bf16* out) {
    __shared__ Memory memory;
    prepare(memory);
    if (is_loading()) {
        auto at = workbook::producer_start<stage_count>();
        if (elect_one())
            produce(memory, at, a, b);
        return;
    }
    Sums d;
    RingState<stage_count> at;
    std::uint64_t* before = nullptr;
    for (unsigned step = 0; step < steps; ++step, at.advance()) {
        wait_parity(&memory.bars.full[at.index], at.phase);
        multiply_stage(d, memory.stages[at.index], step); // expect: wgmma-register-in-flight
        wgmma_wait<1>();
        if (before != nullptr)
            release(before);
        before = &memory.bars.empty[at.index];
    }
    wgmma_wait<1>(d);                   // should be wgmma_wait<0>(d)
    store_sums(d, out, extent, {0, 0}); // expect: wgmma-register-in-flight
    wgmma_wait<0>();
}

/// For the second tile the producer begins at the first stage again, where nobody waits for it.
__global__ void place_forgotten(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                                const __grid_constant__ CUtensorMap, bf16* out) {
    __shared__ Memory memory;
    prepare(memory);
    if (is_loading()) {
        if (elect_one())
            for (int tile = 0; tile < 2; ++tile) {
                auto at = workbook::producer_start<stage_count>(); // should stand before the loop
                produce(memory, at, a, b);                         // expect: deadlock
            }
        return;
    }
    RingState<stage_count> at;
    for (int tile = 0; tile < 2; ++tile) {
        Sums d;
        consume(d, memory, at);
        store_sums(d, out, extent, {0, 0});
    }
}

// ---- results through shared memory: one warpgroup, one stage, and a tile that is two panels wide ----

using Wide = Tile<64, 128>;

struct WideMemory {
    Stage<Wide> stage;
    Panel panel;
    std::uint64_t full;
};

/// A warpgroup: the sums of the tile.
__device__ void multiply_wide(float (&d)[Wide::columns / 2], WideMemory& memory, const CUtensorMap& a,
                              const CUtensorMap& b) {
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&memory.full, 1);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
        load_stage(memory.stage, a, b, {0, 0}, 0, &memory.full);
    }
    __syncthreads();
    wait_parity(&memory.full, 0);
    wgmma_fence();
    multiply(d, memory.stage.a, memory.stage.b, false);
    wgmma_commit();
    wgmma_wait<0>(d);
}

/// The panel is filled with the next sums while the copy may still read the last ones.
__global__ void panel_filled_again(const __grid_constant__ CUtensorMap a,
                                   const __grid_constant__ CUtensorMap b,
                                   const __grid_constant__ CUtensorMap out, bf16*) {
    __shared__ WideMemory memory;
    float d[Wide::columns / 2];
    multiply_wide(d, memory, a, b);
#pragma unroll
    for (unsigned first = 0; first < Wide::columns / 2; first += panel_sums) {
        fill_panel(memory.panel, d, first); // expect: reuse-before-read-done
        ptx::fence_proxy_async(ptx::space_shared);
        __syncthreads();
        if (threadIdx.x == 0)
            store_panel(memory.panel, out, {0, first * 2}); // expect: reuse-before-read-done
        __syncthreads(); // thread 0 should wait before: ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>())
    }
    ptx::cp_async_bulk_wait_group(ptx::n32_t<0>());
}

/// stmatrix writes as every thread does. The copy that takes the panel away reads as the async proxy.
__global__ void panel_without_a_fence(const __grid_constant__ CUtensorMap a,
                                      const __grid_constant__ CUtensorMap b,
                                      const __grid_constant__ CUtensorMap out, bf16*) {
    __shared__ WideMemory memory;
    float d[Wide::columns / 2];
    multiply_wide(d, memory, a, b);
    fill_panel(memory.panel, d, 0); // expect: missing-proxy-fence
    // should be followed by ptx::fence_proxy_async(ptx::space_shared)
    __syncthreads();
    if (threadIdx.x == 0)
        store_panel(memory.panel, out, {0, 0}); // expect: missing-proxy-fence
    ptx::cp_async_bulk_wait_group(ptx::n32_t<0>());
}

// ---- clusters ----

/// The whole cluster: the barriers of a ring whose stages `readers` warps give back. Returns this block's
/// rank.
__device__ unsigned prepare_cluster(Memory& memory, unsigned readers) {
    const auto cluster = cooperative_groups::this_cluster();
    if (threadIdx.x == 0)
        memory.bars.initialise(1, readers);
    cluster.sync();
    return cluster.block_rank();
}

constexpr std::uint32_t all_bytes = Stage<T>::bytes;

/// One thread: asks for this block's tile of a, and for its half of b for both blocks. Announces `bytes`.
__device__ void load_for_both(Memory& memory, unsigned index, unsigned rank, const CUtensorMap& a,
                              const CUtensorMap& b, unsigned step, std::uint32_t bytes) {
    constexpr std::uint16_t both = 0b11;
    constexpr unsigned half = T::columns / cluster_blocks;
    Stage<T>& stage = memory.stages[index];
    std::uint64_t* full = &memory.bars.full[index];
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, full, bytes);
    load_box(stage.a, a, step * T::depth, 0, full);
    load_box_for(both, stage.b + rank * half * T::depth, b, step * T::depth, rank * half, full);
}

/// Each block's consumers give a stage back to their own producer only. The other one writes into it too.
__global__ void neighbour_not_told(const __grid_constant__ CUtensorMap a,
                                   const __grid_constant__ CUtensorMap b, const __grid_constant__ CUtensorMap,
                                   bf16* out) {
    __shared__ Memory memory;
    const unsigned rank = prepare_cluster(memory, group_warps); // should count those of both blocks
    if (is_loading()) {
        auto at = workbook::producer_start<stage_count>();
#pragma unroll 1
        for (unsigned step = elect_one() ? 0 : steps; step < steps; ++step, at.advance()) {
            wait_parity(&memory.bars.empty[at.index], at.phase);
            load_for_both(memory, at.index, rank, a, b, step, all_bytes); // expect: overwrite-in-flight
        }
    } else {
        Sums d;
        RingState<stage_count> at;
        consume(d, memory, at); // its release should be release_in_cluster<2>
        store_sums(d, out, extent, {0, 0});
    }
    cooperative_groups::this_cluster().sync();
}

/// A block announces the bytes that it asks for itself: its tile of a, and half of b. The other half comes
/// too.
__global__ void own_bytes_announced(const __grid_constant__ CUtensorMap a,
                                    const __grid_constant__ CUtensorMap b,
                                    const __grid_constant__ CUtensorMap, bf16* out) {
    __shared__ Memory memory;
    const unsigned rank = prepare_cluster(memory, cluster_blocks * group_warps);
    if (is_loading()) {
        auto at = workbook::producer_start<stage_count>();
#pragma unroll 1
        for (unsigned step = elect_one() ? 0 : steps; step < steps; ++step, at.advance()) {
            wait_parity(&memory.bars.empty[at.index], at.phase);
            constexpr auto asked =
                all_bytes - sizeof(bf16) * T::columns * T::depth / 2; // should be all_bytes
            load_for_both(memory, at.index, rank, a, b, step, asked); // expect: tx-count-mismatch
        }
    } else {
        Sums d;
        RingState<stage_count> at;
        for (unsigned step = 0; step < steps; ++step, at.advance()) {
            wait_parity(&memory.bars.full[at.index], at.phase);
            multiply_stage(d, memory.stages[at.index], step); // expect: tx-count-mismatch
            wgmma_wait<0>(d);
            release_in_cluster<cluster_blocks>(&memory.bars.empty[at.index]);
        }
        store_sums(d, out, extent, {0, 0});
    }
    cooperative_groups::this_cluster().sync();
}

/// A block that has finished exits, and the other one gives it back a stage once more.
__global__ void exits_too_early(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                                const __grid_constant__ CUtensorMap, bf16* out) {
    __shared__ Memory memory;
    const unsigned rank = prepare_cluster(memory, cluster_blocks * group_warps);
    if (is_loading()) {
        auto at = workbook::producer_start<stage_count>();
#pragma unroll 1
        for (unsigned step = elect_one() ? 0 : steps; step < steps; ++step, at.advance()) {
            wait_parity(&memory.bars.empty[at.index], at.phase);
            load_for_both(memory, at.index, rank, a, b, step, all_bytes);
        }
    } else {
        Sums d;
        RingState<stage_count> at;
        for (unsigned step = 0; step < steps; ++step, at.advance()) {
            wait_parity(&memory.bars.full[at.index], at.phase);
            multiply_stage(d, memory.stages[at.index], step);
            wgmma_wait<0>(d);
            release_in_cluster<cluster_blocks>(&memory.bars.empty[at.index]); // expect: remote-block-exited
        }
        store_sums(d, out, extent, {0, 0});
    }
    // should be followed by cooperative_groups::this_cluster().sync()
}

// ---- registers ----

constexpr int registers = 168; ///< of each of 384 threads
constexpr unsigned role_threads = 3 * group;

/// Two warpgroups want 240 for each thread, and the third one keeps 40: 66,560 of 64,512.
__maxnreg__(registers) __global__ void no_registers_left(CUtensorMap, CUtensorMap, CUtensorMap, bf16* out) {
    if (workbook::warp_index() / 4 == 2) {
        workbook::keep_registers<40>();
    } else {
        workbook::take_registers<240>(); // expect: deadlock
        out[threadIdx.x] = bf16(1.0F);
    }
}

/// Launches one cluster of `blocks` with matrices of ones.
template <auto kernel, unsigned blocks = 1, class Tile = T, unsigned block_threads = threads>
void run() {
    const workbook::DeviceBuffer<bf16> a(std::vector<bf16>(Tile::rows * extent.k, 1.0F)),
        b(std::vector<bf16>(Tile::columns * extent.k, 1.0F));
    workbook::DeviceBuffer<bf16> out(Tile::rows * Tile::columns);
    workbook::launch(kernel, {.grid = blocks, .block = block_threads, .cluster = dim3(blocks)},
                     operand_map(a.data(), Tile::rows, extent.k, Tile::rows),
                     operand_map(b.data(), Tile::columns, extent.k, Tile::columns / blocks),
                     operand_map(out.data(), Tile::rows, Tile::columns, 64), out.data());
    workbook::synchronize();
}

constexpr workbook::Mistake mistakes[] = {
    {"given_back_too_early", "a stage is given back before its products are complete",
     run<given_back_too_early>},
    {"one_group_left", "sums are stored while one group of products is under way", run<one_group_left>},
    {"place_forgotten", "the producer forgets its place in the ring between tiles", run<place_forgotten>},
    {"panel_filled_again", "a panel is filled again before its store has read it",
     run<panel_filled_again, 1, Wide, group>},
    {"panel_without_a_fence", "no proxy fence between stmatrix and the tensor store",
     run<panel_without_a_fence, 1, Wide, group>},
    {"neighbour_not_told", "a stage that both blocks fill is given back to one of them",
     run<neighbour_not_told, cluster_blocks>},
    {"own_bytes_announced", "the bytes that the other block asks for are not announced",
     run<own_bytes_announced, cluster_blocks>},
    {"exits_too_early", "a block exits while the other one still arrives there",
     run<exits_too_early, cluster_blocks>},
    {"no_registers_left", "warpgroups wait for registers that nobody gives back",
     run<no_registers_left, 1, T, role_threads>},
};

} // namespace

int main(int argc, char** argv) { return workbook::run_mistakes(mistakes, argc, argv); }
