/// @file bench_rings.cuh
/// Chapter 9's measurements: the ring of multicast_ring.cuh with one thing at a time changed. Who loads, how
/// a stage is handed back, and how much of a batch is read.
#pragma once

#include "multicast_ring.cuh"

#include <cstddef>
#include <cstdint>
#include <span>

namespace clusters {

/// Who brings a block what it needs.
enum class Loads {
    alone, ///< each block loads for itself
    shared ///< a multicast brings it to all blocks of the cluster
};

/// How warps say that they have read a batch, and with what scope everybody waits.
enum class Handover {
    plain,        ///< as CUTLASS does: no qualifiers, so release and acquire at scope .cta
    wait_cluster, ///< the waits acquire at scope .cluster
    letter,       ///< that, and the arrival releases at scope .cluster: what PTX asks for between blocks
    gathered,     ///< plain, but a barrier of the reading warps first, then one arrival per block
    gathered_letter
};

/// How much of a batch is read: to tell the time of bringing it from the time of using it.
enum class Reads { all, one_chunk };

template <Handover handover>
inline constexpr bool by_letter = handover == Handover::letter || handover == Handover::gathered_letter;
template <Handover handover>
inline constexpr bool is_gathered = handover == Handover::gathered || handover == Handover::gathered_letter;

/// Arrives on the barrier at the same place in the block with this rank.
template <Handover handover>
__device__ void arrive_at(std::uint64_t* bar, unsigned rank) {
    if constexpr (by_letter<handover>)
        asm volatile(
            "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(address_in(bar, rank))
            : "memory");
    else
        arrive_at(bar, rank);
}

template <Handover handover>
__device__ void wait_parity(std::uint64_t* bar, unsigned parity) {
    if constexpr (handover == Handover::wait_cluster || by_letter<handover>)
        while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cluster, bar, parity)) {
        }
    else
        wait_parity(bar, parity);
}

/// The readers say that they have read a stage, to every block that writes into it. For a block that loads
/// alone `me.blocks` is 1.
template <Handover handover>
__device__ void hand_back(const Stages& me, unsigned stage) {
    ptx::fence_proxy_async(ptx::space_shared); // what I have read comes before what is written next
    if constexpr (is_gathered<handover>) {
        asm volatile("barrier.sync 1, %0;" ::"n"(block_threads) : "memory");
        if (threadIdx.x < me.blocks)
            arrive_at<handover>(&me.empty[stage], me.blocks > 1 ? threadIdx.x : me.rank);
    } else {
        __syncwarp();
        if (threadIdx.x % 32 < me.blocks)
            arrive_at<handover>(&me.empty[stage], me.blocks > 1 ? threadIdx.x % 32 : me.rank);
    }
}

/// One thread: asks for batch after batch, as soon as everybody who reads the stage has emptied it. Each
/// cluster begins elsewhere, so that fewer requests of different clusters for one line should merge on their
/// way to L2.
template <Loads loads, Handover handover>
__device__ void load_batches(const Stages& me, unsigned* batches, const unsigned* in, unsigned count,
                             BatchRing ring) {
    const unsigned clusters = gridDim.x / cg::this_cluster().num_blocks();
    const unsigned cluster = blockIdx.x / cg::this_cluster().num_blocks();
    unsigned batch = static_cast<unsigned>(std::uint64_t{cluster} * count / clusters);
    RingState at{.phase = 1}; // the first wait for an empty stage passes at once
    for (unsigned k = 0; k < count; ++k, at.advance(ring.stages), batch = batch + 1 < count ? batch + 1 : 0) {
        wait_parity<handover>(&me.empty[at.index], at.phase);
        std::uint64_t* full = &me.full[at.index];
        const std::uint32_t bytes = ring.words * sizeof(unsigned);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, full, bytes);
        const unsigned* from = in + std::size_t{batch} * ring.words;
        unsigned* to = batches + at.index * ring.words;
        if constexpr (loads == Loads::shared) {
            const unsigned first = me.rank * (ring.words / me.blocks);
            copy_multicast(to + first, from + first, bytes / me.blocks, full,
                           static_cast<std::uint16_t>((1u << me.blocks) - 1));
        } else
            ptx::cp_async_bulk(ptx::space_shared, ptx::space_global, to, from, bytes, full);
    }
}

/// Eight warps: add up batch after batch, and hand each stage back.
template <Handover handover, Reads reads>
__device__ unsigned add_batches(const Stages& me, const unsigned* batches, unsigned count, BatchRing ring) {
    unsigned sum = 0;
    RingState at;
    for (unsigned k = 0; k < count; ++k, at.advance(ring.stages)) {
        wait_parity<handover>(&me.full[at.index], at.phase);
        const auto* chunks = reinterpret_cast<const uint4*>(batches + at.index * ring.words);
        const unsigned end = reads == Reads::all ? ring.words / 4 : block_threads;
#pragma unroll 4
        for (unsigned i = threadIdx.x; i < end; i += block_threads) {
            const uint4 four = chunks[i];
            sum += four.x + four.y + four.z + four.w;
        }
        hand_back<handover>(me, at.index);
    }
    return sum;
}

/// stream_multicast with a choice of loads, of how a stage is handed back, and of what is read. With
/// Reads::one_chunk sums[block] gets the first block_threads * 4 words of each batch only.
template <Loads loads, Handover handover, Reads reads = Reads::all>
__global__ void __launch_bounds__(stream_threads)
    stream_batches(const unsigned* in, std::size_t size, BatchRing ring, unsigned* sums) {
    extern __shared__ __align__(128) unsigned batches[];
    __shared__ std::uint64_t full[most_stages];
    __shared__ std::uint64_t empty[most_stages];
    const cg::cluster_group cluster = cg::this_cluster();
    const Stages me{full, empty, loads == Loads::shared ? cluster.num_blocks() : 1, cluster.block_rank()};
    if (threadIdx.x == 0) {
        for (unsigned s = 0; s < ring.stages; ++s) {
            ptx::mbarrier_init(&full[s], 1);
            ptx::mbarrier_init(&empty[s], me.blocks * (is_gathered<handover> ? 1 : reading_warps));
        }
        publish_barriers();
    }
    cluster.sync();
    const auto count =
        static_cast<unsigned>(bulk_part(in, static_cast<int>(size)) / static_cast<int>(ring.words));
    if (threadIdx.x == block_threads)
        load_batches<loads, handover>(me, batches, in, count, ring);
    else if (threadIdx.x < block_threads) {
        unsigned sum = add_batches<handover, reads>(me, batches, count, ring);
        if constexpr (reads == Reads::all) // what is left is no whole batch
            for (std::size_t i = std::size_t{count} * ring.words + threadIdx.x; i < size; i += block_threads)
                sum += in[i];
        sum = __reduce_add_sync(~0u, sum);
        if (threadIdx.x % 32 == 0)
            atomicAdd(sums + blockIdx.x, sum);
    }
    cluster.sync(); // nobody leaves while another may still arrive on its barriers, or send to it
}

/// As launch_stream_multicast.
template <Loads loads, Handover handover, Reads reads = Reads::all>
void launch_stream_batches(std::span<const unsigned> in, std::span<unsigned> sums, BatchRing ring,
                           int cluster_size) {
    workbook::launch(stream_batches<loads, handover, reads>, stream_shape(sums, ring, cluster_size),
                     in.data(), in.size(), ring, sums.data());
}

} // namespace clusters
