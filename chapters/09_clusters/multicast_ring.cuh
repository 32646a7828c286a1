/// @file multicast_ring.cuh
/// Chapter 9: a ring of batches that the blocks of a cluster fill for each other.
///
/// One thread of each block loads, eight warps read. A stage is full when all bytes of its batch have come to
/// this block, whoever asked for them. A producer writes into the stages of all blocks, so its own stage is
/// empty when the readers of all of them have said so. bench_rings.cuh has the same ring with other loads,
/// and with other ways to hand a stage back.
#pragma once

#include "remote_async.cuh"

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>

namespace clusters {

/// The shape of a ring. 48 stages at most, all batches together in shared memory.
struct BatchRing {
    unsigned words; ///< of a batch; a multiple of 4 words for each block of the cluster
    unsigned stages;

    [[nodiscard]] std::size_t bytes() const { return std::size_t{words} * stages * sizeof(unsigned); }
};

inline constexpr unsigned most_stages = 48;
inline constexpr unsigned reading_warps = block_threads / 32;
inline constexpr int stream_threads = block_threads + 32; ///< and a warp that asks for the batches

/// The barriers of a ring, and where this block stands in its cluster.
struct Stages {
    std::uint64_t* full;
    std::uint64_t* empty;
    unsigned blocks; ///< that this block sends to and hears from
    unsigned rank;
};

/// Where a role stands in a ring: a stage, and the parity of its phase.
struct RingState {
    unsigned index = 0;
    unsigned phase = 0;

    __device__ void advance(unsigned stages) {
        if (++index == stages) {
            index = 0;
            phase ^= 1;
        }
    }
};

__device__ inline void wait_parity(std::uint64_t* bar, unsigned parity) {
    while (!ptx::mbarrier_try_wait_parity(bar, parity)) {
    }
}

/// The address of the barrier at the same place in the block with this rank.
__device__ inline std::uint32_t address_in(std::uint64_t* bar, unsigned rank) {
    const auto own = static_cast<std::uint32_t>(__cvta_generic_to_shared(bar));
    std::uint32_t theirs;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(theirs) : "r"(own), "r"(rank));
    return theirs;
}

/// Arrives on that barrier, as CUTLASS does: no qualifiers, so a release at scope .cta.
__device__ inline void arrive_at(std::uint64_t* bar, unsigned rank) {
    asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(address_in(bar, rank)) : "memory");
}

/// A warp says that it has read a stage, to every block that writes into it.
__device__ inline void hand_back(const Stages& me, unsigned stage) {
    ptx::fence_proxy_async(ptx::space_shared); // what I have read comes before what is written next
    __syncwarp();
    const unsigned lane = threadIdx.x % 32;
    if (lane < me.blocks)
        arrive_at(&me.empty[stage], lane);
}

/// One thread: asks for this block's share of batch after batch, for all blocks, as soon as all have emptied
/// the stage.
__device__ inline void load_batches(const Stages& me, unsigned* batches, const unsigned* in, unsigned count,
                                    BatchRing ring) {
    const std::uint32_t bytes = ring.words * sizeof(unsigned);
    const unsigned mine = me.rank * (ring.words / me.blocks); // where my share of a batch begins
    const auto everybody = static_cast<std::uint16_t>((1u << me.blocks) - 1);
    RingState at{.phase = 1}; // the first wait for an empty stage passes at once
    for (unsigned k = 0; k < count; ++k, at.advance(ring.stages)) {
        wait_parity(&me.empty[at.index], at.phase);
        std::uint64_t* full = &me.full[at.index];
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, full, bytes);
        const unsigned* batch = in + std::size_t{k} * ring.words;
        unsigned* stage = batches + at.index * ring.words;
        copy_multicast(stage + mine, batch + mine, bytes / me.blocks, full, everybody);
    }
}

/// Eight warps: add up batch after batch, and hand each stage back.
__device__ inline unsigned add_batches(const Stages& me, const unsigned* batches, unsigned count,
                                       BatchRing ring) {
    unsigned sum = 0;
    RingState at;
    for (unsigned k = 0; k < count; ++k, at.advance(ring.stages)) {
        wait_parity(&me.full[at.index], at.phase);
        const auto* stage = reinterpret_cast<const uint4*>(batches + at.index * ring.words);
#pragma unroll 4
        for (unsigned i = threadIdx.x; i < ring.words / 4; i += block_threads) {
            const uint4 four = stage[i];
            sum += four.x + four.y + four.z + four.w;
        }
        hand_back(me, at.index);
    }
    return sum;
}

/// Every block needs all of the array, batch after batch, as blocks of a matrix product need a common
/// operand. Each loads an equal share of every batch for the whole cluster. Adds to sums[block] what the
/// block saw.
__global__ void __launch_bounds__(stream_threads)
    stream_multicast(const unsigned* in, std::size_t size, BatchRing ring, unsigned* sums) {
    extern __shared__ __align__(128) unsigned batches[];
    __shared__ std::uint64_t full[most_stages];
    __shared__ std::uint64_t empty[most_stages];
    const cg::cluster_group cluster = cg::this_cluster();
    const Stages me{full, empty, cluster.num_blocks(), cluster.block_rank()};
    if (threadIdx.x == 0) {
        for (unsigned s = 0; s < ring.stages; ++s) {
            ptx::mbarrier_init(&full[s], 1);
            ptx::mbarrier_init(&empty[s], me.blocks * reading_warps);
        }
        publish_barriers();
    }
    cluster.sync(); // all blocks run, and their barriers are initialised
    const auto count =
        static_cast<unsigned>(bulk_part(in, static_cast<int>(size)) / static_cast<int>(ring.words));
    if (threadIdx.x == block_threads)
        load_batches(me, batches, in, count, ring);
    else if (threadIdx.x < block_threads) {
        unsigned sum = add_batches(me, batches, count, ring);
        for (std::size_t i = std::size_t{count} * ring.words + threadIdx.x; i < size; i += block_threads)
            sum += in[i]; // what is left is no whole batch
        sum = __reduce_add_sync(~0u, sum);
        if (threadIdx.x % 32 == 0)
            atomicAdd(sums + blockIdx.x, sum);
    }
    cluster.sync(); // nobody leaves while another may still arrive on its barriers, or send to it
}

/// The launch of a stream to `sums.size()` blocks. Throws std::invalid_argument if they are no whole clusters
/// or the batches cannot be shared.
inline workbook::LaunchShape stream_shape(std::span<const unsigned> sums, BatchRing ring, int cluster_size) {
    const auto blocks = static_cast<unsigned>(cluster_size);
    const auto grid = static_cast<unsigned>(sums.size());
    workbook::LaunchShape shape = cluster_shape(1, cluster_size);
    if (grid % blocks != 0)
        throw std::invalid_argument("a stream of batches: one sum for each block of whole clusters");
    if (ring.words == 0 || ring.words % (4 * blocks) != 0 || ring.stages == 0 || ring.stages > most_stages)
        throw std::invalid_argument("a stream of batches: a batch is 16 bytes or a multiple for each block");
    shape.grid.x = grid;
    shape.block.x = stream_threads;
    shape.dynamic_shared = ring.bytes();
    return shape;
}

/// Adds the sum of all of `in`, modulo 2^32, to every element of `sums`, one for each block. Throws as
/// stream_shape does.
inline void launch_stream_multicast(std::span<const unsigned> in, std::span<unsigned> sums, BatchRing ring,
                                    int cluster_size) {
    workbook::launch(stream_multicast, stream_shape(sums, ring, cluster_size), in.data(), in.size(), ring,
                     sums.data());
}

} // namespace clusters
