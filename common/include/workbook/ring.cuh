/// @file ring.cuh
/// A ring of stages in shared memory that one role fills and others empty: the place in it, the pair of
/// mbarriers of each stage, and who arrives on them.
///
/// Chapter 3 explains the barriers, chapter 5 builds such a ring with RingState, chapter 9 builds one by
/// hand, and from chapter 10 on kernels take all of it from here. CUTLASS calls them PipelineState,
/// make_producer_start_state, ClusterBarrier.
#pragma once

#include <cuda/ptx>

#include <cstdint>

namespace workbook {

/// Where a role stands in a ring: a stage, and the parity of the phase that it waits for next.
template <int stages>
struct RingState {
    static_assert(stages > 0, "a ring has a stage");
    std::uint32_t index = 0;
    std::uint32_t phase = 0;

    __host__ __device__ constexpr void advance() {
        if (++index == stages) {
            index = 0;
            phase ^= 1;
        }
    }
    /// Past `count` stages that are somebody else's.
    __host__ __device__ constexpr void skip(std::uint32_t count) {
        phase ^= (index + count) / stages % 2;
        index = (index + count) % stages;
    }
};

/// Where those begin who wait for empty stages. The phase before the first one counts as complete, so their
/// first wait for each stage passes at once (PTX ISA, 'mbarrier.test_wait / mbarrier.try_wait').
template <int stages>
__device__ RingState<stages> producer_start() {
    return {.phase = 1};
}

/// True in one lane of the warp. All 32 call it together. PTX ISA, 'elect.sync'.
__device__ inline bool elect_one() {
    std::uint32_t elected = 0;
    asm volatile("{\n\t"
                 ".reg .pred one;\n\t"
                 "elect.sync _|one, 0xffffffff;\n\t"
                 "selp.u32 %0, 1, 0, one;\n\t"
                 "}"
                 : "=r"(elected));
    return elected != 0;
}

/// The number of this thread's warp in its block, by a shuffle: the compiler then knows that all lanes have
/// the same one, and branches on it are branches of the whole warp. All 32 call it together.
__device__ inline unsigned warp_index() { return __shfl_sync(0xffffffffu, threadIdx.x / 32, 0); }

/// Waits until the phase with this parity is complete. What its arrivals released in this block, and the
/// bytes that it counted, are then visible.
__device__ inline void wait_parity(std::uint64_t* bar, std::uint32_t parity) {
    while (!cuda::ptx::mbarrier_try_wait_parity(bar, parity)) {
    }
}

/// The same for what blocks of the cluster released: it acquires in the scope of the cluster.
__device__ inline void wait_parity_cluster(std::uint64_t* bar, std::uint32_t parity) {
    using namespace cuda::ptx;
    while (!mbarrier_try_wait_parity(sem_acquire, scope_cluster, bar, parity)) {
    }
}

/// A whole warp is done with a stage: one arrival for its 32 lanes. What they have read or written comes
/// before what the async proxy does with the stage next.
__device__ inline void arrive_as_warp(std::uint64_t* bar) {
    cuda::ptx::fence_proxy_async(cuda::ptx::space_shared);
    __syncwarp();
    if (elect_one())
        (void)cuda::ptx::mbarrier_arrive(bar);
}

/// The shared address of `variable`'s twin in the block with this rank. PTX ISA, 'mapa'.
__device__ inline std::uint32_t in_block(const void* variable, std::uint32_t rank) {
    const auto own = static_cast<std::uint32_t>(__cvta_generic_to_shared(variable));
    std::uint32_t theirs = 0;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(theirs) : "r"(own), "r"(rank));
    return theirs;
}

/// Arrives on the barrier at the same place in the block with this rank, without qualifiers as production
/// code does: enough to give back a stage that was only read, too little to publish what was written
/// (chapter 9).
__device__ inline void arrive_in_block(std::uint64_t* bar, std::uint32_t rank) {
    asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(in_block(bar, rank)) : "memory");
}

/// The same by the letter of the memory model: a release in the scope of the cluster.
__device__ inline void arrive_in_block_release(std::uint64_t* bar, std::uint32_t rank) {
    asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(in_block(bar, rank))
                 : "memory");
}

/// The barriers of a ring, in shared memory. A stage is full when its bytes have come, and empty when all who
/// read it have said so to everybody who writes into it.
template <int stages>
struct RingBarriers {
    std::uint64_t full[stages];
    std::uint64_t empty[stages];

    /// One thread, before a barrier of the block (of the cluster, if its other blocks use them): arrivals per
    /// phase, and one fence for all barriers (PTX ISA, 'membar / fence': fence.mbarrier_init).
    __device__ void initialise(std::uint32_t fillers, std::uint32_t readers) {
        for (int s = 0; s < stages; ++s) {
            cuda::ptx::mbarrier_init(&full[s], fillers);
            cuda::ptx::mbarrier_init(&empty[s], readers);
        }
        cuda::ptx::fence_mbarrier_init(cuda::ptx::sem_release, cuda::ptx::scope_cluster);
    }
};

} // namespace workbook
