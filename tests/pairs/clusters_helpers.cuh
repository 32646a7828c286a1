#pragma once
/// \file
/// The PTX of clusters, barriers in shared memory and bulk copies, as small functions like those of CUTLASS.

#include <cstdint>
#include <cuda_runtime.h>

namespace clusters {

__device__ inline std::uint32_t shared_address(const void* pointer) {
    return static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer));
}

/// Address of the same variable in the block of `rank`.
__device__ inline std::uint32_t peer_address(const void* pointer, unsigned rank) {
    std::uint32_t address;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(address) : "r"(shared_address(pointer)), "r"(rank));
    return address;
}

__device__ inline unsigned cluster_rank() {
    unsigned rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}

__device__ inline void cluster_arrive() { asm volatile("barrier.cluster.arrive.aligned;" ::: "memory"); }
__device__ inline void cluster_arrive_relaxed() {
    asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
}
__device__ inline void cluster_wait() { asm volatile("barrier.cluster.wait.aligned;" ::: "memory"); }
__device__ inline void cluster_sync() {
    cluster_arrive();
    cluster_wait();
}

__device__ inline void init(std::uint64_t* barrier, unsigned count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(count)
                 : "memory");
}

__device__ inline void fence_init() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
__device__ inline void fence_async() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

__device__ inline void arrive_expect(std::uint64_t* barrier, unsigned bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)),
                 "r"(bytes)
                 : "memory");
}

__device__ inline void arrive_peer(std::uint64_t* barrier, unsigned rank) {
    asm volatile(
        "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(peer_address(barrier, rank))
        : "memory");
}

/// As above, with the default scope, which is .cta.
__device__ inline void arrive_peer_default(std::uint64_t* barrier, unsigned rank) {
    asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(peer_address(barrier, rank))
                 : "memory");
}

/// Waits with the default semantics, .acquire.cta.
__device__ inline void wait(std::uint64_t* barrier, unsigned parity) {
    asm volatile("{\n"
                 ".reg .pred done;\n"
                 "again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
                 "@!done bra.uni again;\n"
                 "}" ::"r"(shared_address(barrier)),
                 "r"(parity)
                 : "memory");
}

__device__ inline void wait_cluster(std::uint64_t* barrier, unsigned parity) {
    asm volatile("{\n"
                 ".reg .pred done;\n"
                 "again: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%0], %1;\n"
                 "@!done bra.uni again;\n"
                 "}" ::"r"(shared_address(barrier)),
                 "r"(parity)
                 : "memory");
}

/// Bulk copy from global memory to the same place in each block of `mask`; signals each one's own barrier.
__device__ inline void load_multicast(void* destination, const void* source, unsigned bytes,
                                      std::uint64_t* barrier, unsigned mask) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
                 "[%0], [%1], %2, [%3], %4;" ::"r"(shared_address(destination)),
                 "l"(__cvta_generic_to_global(source)), "r"(bytes), "r"(shared_address(barrier)),
                 "h"(static_cast<std::uint16_t>(mask))
                 : "memory");
}

/// Bulk copy from this block's shared memory to the shared memory of the block of `rank`; signals its
/// barrier.
__device__ inline void push(void* destination, const void* source, unsigned bytes, std::uint64_t* barrier,
                            unsigned rank) {
    asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, "
                 "[%3];" ::"r"(peer_address(destination, rank)),
                 "r"(shared_address(source)), "r"(bytes), "r"(peer_address(barrier, rank))
                 : "memory");
}

/// Stores 16 bytes asynchronously; both addresses are addresses of the cluster.
__device__ inline void store_async(std::uint32_t destination, int4 value, std::uint32_t barrier) {
    asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.s32 [%0], {%1, %2, %3, %4}, "
                 "[%5];" ::"r"(destination),
                 "r"(value.x), "r"(value.y), "r"(value.z), "r"(value.w), "r"(barrier)
                 : "memory");
}

} // namespace clusters
