/// @file release_the_neighbours.cu
/// Exercise: find the mistakes.
///
/// Given    A kernel in which both blocks of a cluster need the same tiles: out[b · size + i] = in[i] times
///          factors[b], for the blocks b = 0 and 1 of the only cluster. `size` is a multiple of 256, `in`
///          begins at a multiple of 16 bytes. A block has a warp that asks for tiles of 256 floats (warp 4)
///          and four that use them (warps 0 to 3), and a ring of two stages. Each block asks for one half of
///          every tile, and a multicast brings it to both. On a GPU it may pass.
/// Wanted   Check it, read what the emulator reports, and repair it: there are two mistakes, and either is of
///          no use without the other. Each block goes on asking for its half of every tile, for both.
/// Judged   By the result for several sizes, and by the emulator having nothing to report; by counters: half
///          of what lands in a block was asked for by the other one, two barriers of the cluster, and no
///          barrier of the block.
#include "workbook/ring.cuh"

#include <cooperative_groups.h>
#include <cuda/ptx>

#include <cstddef>
#include <cstdint>

namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;
using workbook::RingState;

constexpr int blocks = 2;
constexpr int consumer_warps = 4;
constexpr int consumer_threads = 32 * consumer_warps;
constexpr int tile_floats = 256;
constexpr int share = tile_floats / blocks;
constexpr int stages = 2;

struct Ring : workbook::RingBarriers<stages> {
    alignas(128) float tile[stages][tile_floats];
};

/// One thread: copies a share to the same place in both blocks, counted on the barrier there.
__device__ inline void copy_to_both(float* to, const float* from, std::uint64_t* full) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
                 "[%0], [%1], %2, [%3], %4;" ::"r"(static_cast<std::uint32_t>(__cvta_generic_to_shared(to))),
                 "l"(__cvta_generic_to_global(from)), "n"(share * sizeof(float)),
                 "r"(static_cast<std::uint32_t>(__cvta_generic_to_shared(full))), "h"(std::uint16_t{3})
                 : "memory");
}

/// One thread of each block: its share of every tile, for both blocks.
__device__ inline void produce(Ring& ring, const float* in, std::size_t size, unsigned rank) {
    auto to = workbook::producer_start<stages>();
    for (std::size_t start = 0; start < size; start += tile_floats, to.advance()) {
        workbook::wait_parity(&ring.empty[to.index], to.phase);
        std::uint64_t* full = &ring.full[to.index];
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, full,
                                       sizeof(ring.tile[0]));
        copy_to_both(ring.tile[to.index] + rank * share, in + start + rank * share, full);
    }
}

__global__ void release_the_neighbours(const float* in, float* out, std::size_t size, const float* factors) {
    __shared__ Ring ring;
    const cg::cluster_group cluster = cg::this_cluster();
    const unsigned rank = cluster.block_rank();
    if (threadIdx.x == 0)
        ring.initialise(1, consumer_warps);
    cluster.sync();
    if (workbook::warp_index() < consumer_warps) {
        const float factor = factors[rank];
        RingState<stages> from;
        for (std::size_t start = 0; start < size; start += tile_floats, from.advance()) {
            workbook::wait_parity(&ring.full[from.index], from.phase);
            for (int i = threadIdx.x; i < tile_floats; i += consumer_threads)
                out[rank * size + start + i] = factor * ring.tile[from.index][i];
            ptx::fence_proxy_async(ptx::space_shared);
            __syncwarp();
            if (threadIdx.x % 32 == 0)
                workbook::arrive_in_block(&ring.empty[from.index], rank);
        }
    } else if (workbook::elect_one())
        produce(ring, in, size, rank);
    cluster.sync();
}
