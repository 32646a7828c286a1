#pragma once
/// \file
/// What kernels with roles share: thin wrappers of PTX and the place in a ring of stages.

#include "pairs.hpp"

#include <cuda.h>
#include <cudaTypedefs.h>

#include <cstdint>

namespace roles {

using Barrier = std::uint64_t;

__device__ inline unsigned smem(const void* pointer) {
    return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

__device__ inline int lane() { return static_cast<int>(threadIdx.x % 32); }
/// The warp's number, the same register for all lanes.
__device__ inline int warp() { return __shfl_sync(0xffffffff, static_cast<int>(threadIdx.x / 32), 0); }

__device__ inline bool elect() {
    unsigned elected = 0;
    asm volatile("{\n\t.reg .pred p;\n\telect.sync _|p, 0xffffffff;\n\tselp.u32 %0, 1, 0, p;\n\t}"
                 : "=r"(elected));
    return elected != 0;
}

__device__ inline void init(Barrier& barrier, unsigned count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(smem(&barrier)), "r"(count) : "memory");
}
__device__ inline void fence_init() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
__device__ inline void arrive(Barrier& barrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(smem(&barrier)) : "memory");
}
__device__ inline void arrive_expect(Barrier& barrier, unsigned bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(smem(&barrier)), "r"(bytes)
                 : "memory");
}
__device__ inline void expect(Barrier& barrier, unsigned bytes) {
    asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(smem(&barrier)), "r"(bytes)
                 : "memory");
}
__device__ inline void wait(Barrier& barrier, unsigned parity) {
    asm volatile("{\n\t.reg .pred p;\n"
                 "again:\n\tmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n"
                 "\t@!p bra again;\n\t}" ::"r"(smem(&barrier)),
                 "r"(parity)
                 : "memory");
}
__device__ inline void wait_cluster(Barrier& barrier, unsigned parity) {
    asm volatile("{\n\t.reg .pred p;\n"
                 "again:\n\tmbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], %1;\n"
                 "\t@!p bra again;\n\t}" ::"r"(smem(&barrier)),
                 "r"(parity)
                 : "memory");
}

__device__ inline void load(void* to, const void* from, unsigned bytes, Barrier& barrier) {
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
            smem(to)),
        "l"(from), "r"(bytes), "r"(smem(&barrier))
        : "memory");
}
__device__ inline void load_multicast(void* to, const void* from, unsigned bytes, Barrier& barrier,
                                      std::uint16_t mask) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], "
                 "[%1], %2, [%3], %4;" ::"r"(smem(to)),
                 "l"(from), "r"(bytes), "r"(smem(&barrier)), "h"(mask)
                 : "memory");
}
__device__ inline void load_2d(void* to, const CUtensorMap& map, int x, int y, Barrier& barrier) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], "
                 "[%1, {%2, %3}], [%4];" ::"r"(smem(to)),
                 "l"(&map), "r"(x), "r"(y), "r"(smem(&barrier))
                 : "memory");
}
__device__ inline void store(void* to, const void* from, unsigned bytes) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(smem(from)),
                 "r"(bytes)
                 : "memory");
}
__device__ inline void store_2d(const CUtensorMap& map, int x, int y, const void* from) {
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&map),
                 "r"(x), "r"(y), "r"(smem(from))
                 : "memory");
}
__device__ inline void commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
template <int pending>
__device__ void wait_read() {
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(pending) : "memory");
}
template <int pending>
__device__ void wait_written() {
    asm volatile("cp.async.bulk.wait_group %0;" ::"n"(pending) : "memory");
}
__device__ inline void fence_async() { asm volatile("fence.proxy.async;" ::: "memory"); }
__device__ inline void fence_async_shared() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

__device__ inline void named_sync(int id, int threads) {
    asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}
__device__ inline void named_arrive(int id, int threads) {
    asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

__device__ inline unsigned cluster_rank() {
    unsigned rank = 0;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}
__device__ inline void cluster_sync() {
    asm volatile("barrier.cluster.arrive.release.aligned;\n\tbarrier.cluster.wait.acquire.aligned;" ::
                     : "memory");
}
/// The same variable in the block `rank` of the cluster.
__device__ inline unsigned in_block(const void* pointer, unsigned rank) {
    unsigned mapped = 0;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(mapped) : "r"(smem(pointer)), "r"(rank));
    return mapped;
}
__device__ inline void arrive_in_block(Barrier& barrier, unsigned rank) {
    asm volatile(
        "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(in_block(&barrier, rank))
        : "memory");
}

/// Tiles that a producer fills and consumers empty.
template <int stages, int words>
struct Ring {
    alignas(128) int tile[stages][words];
    Barrier full[stages];
    Barrier empty[stages];

    __device__ void init(unsigned fullCount, unsigned emptyCount) {
        for (int stage = 0; stage < stages; ++stage) {
            roles::init(full[stage], fullCount);
            roles::init(empty[stage], emptyCount);
        }
        fence_init();
    }
};

/// Which stage is next, and the parity of its phase. A producer starts with phase 1: every stage is free.
template <int stages>
struct Cursor {
    unsigned phase;
    int stage = 0;

    __device__ void next() {
        if (++stage == stages) {
            stage = 0;
            phase ^= 1;
        }
    }
};

/// A row-major matrix of int as a tensor.
inline CUtensorMap tensor_map(int* data, int rows, int columns, int box_rows, int box_columns) {
    void* function = nullptr;
    auto found = cudaDriverEntryPointSymbolNotFound;
    pairs::check(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000,
                                                  cudaEnableDefault, &found),
                 "cudaGetDriverEntryPointByVersion");
    const cuuint64_t sizes[] = {static_cast<cuuint64_t>(columns), static_cast<cuuint64_t>(rows)};
    const cuuint64_t strides[] = {columns * sizeof(int)};
    const cuuint32_t box[] = {static_cast<cuuint32_t>(box_columns), static_cast<cuuint32_t>(box_rows)};
    const cuuint32_t steps[] = {1, 1};
    CUtensorMap map{};
    const auto code = reinterpret_cast<PFN_cuTensorMapEncodeTiled_v12000>(function)(
        &map, CU_TENSOR_MAP_DATA_TYPE_INT32, 2, data, sizes, strides, box, steps,
        CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
        CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    pairs::check(code == CUDA_SUCCESS ? cudaSuccess : cudaErrorInvalidValue, "cuTensorMapEncodeTiled");
    return map;
}

} // namespace roles
