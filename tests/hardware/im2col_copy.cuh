#pragma once
/// \file
/// The kernel that executes one tensor copy in im2col mode.

#include "im2col_cases.hpp"

#include <cuda.h>
#include <cuda/ptx>

#include <cstdint>

namespace hardware {

constexpr std::uint32_t im2col_barrier_bytes = 1024; ///< Before the area.

enum class Operation { load, store, add };

/// What one launch does.
struct Job {
    Operation operation;
    bool tile_mode; ///< In tile mode though this is about im2col mode.
    int rank;
    std::int32_t start[5];
    std::uint16_t offsets[3];
    std::uint32_t tile;     ///< Offset in the area.
    std::uint32_t expected; ///< Bytes that the barrier waits for.
};

/// What the launch says beside the bytes.
struct Outcome {
    std::uint32_t complete;   ///< 1 if the copy has ended.
    std::uint64_t barrier[2]; ///< The barrier's bits before the copy and at the end.
};

namespace device {

namespace ptx = cuda::ptx;

constexpr long long patience = 3'000'000; ///< Clocks that a load may take.

__device__ inline std::uint32_t shared_address(const void* pointer) {
    return static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer));
}

template <int rank>
__device__ void load(const Job& job, const CUtensorMap* map, unsigned char* tile, std::uint64_t* bar) {
    const std::uint32_t to = shared_address(tile), at = shared_address(bar);
    const std::int32_t* c = job.start;
    const std::uint16_t* o = job.offsets;
    if constexpr (rank == 3)
        asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes"
                     " [%0], [%1, {%2, %3, %4}], [%5], {%6};" ::"r"(to),
                     "l"(map), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(at), "h"(o[0])
                     : "memory");
    else if constexpr (rank == 4)
        asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes"
                     " [%0], [%1, {%2, %3, %4, %5}], [%6], {%7, %8};" ::"r"(to),
                     "l"(map), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]), "r"(at), "h"(o[0]), "h"(o[1])
                     : "memory");
    else
        asm volatile("cp.async.bulk.tensor.5d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes"
                     " [%0], [%1, {%2, %3, %4, %5, %6}], [%7], {%8, %9, %10};" ::"r"(to),
                     "l"(map), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]), "r"(c[4]), "r"(at), "h"(o[0]),
                     "h"(o[1]), "h"(o[2])
                     : "memory");
}

template <int rank>
__device__ void store(const Job& job, const CUtensorMap* map, unsigned char* tile) {
    const std::uint32_t from = shared_address(tile);
    const std::int32_t* c = job.start;
    if constexpr (rank == 3)
        asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.im2col_no_offs.bulk_group"
                     " [%0, {%1, %2, %3}], [%4];" ::"l"(map),
                     "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(from)
                     : "memory");
    else if constexpr (rank == 4)
        asm volatile("cp.async.bulk.tensor.4d.global.shared::cta.im2col_no_offs.bulk_group"
                     " [%0, {%1, %2, %3, %4}], [%5];" ::"l"(map),
                     "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]), "r"(from)
                     : "memory");
    else
        asm volatile("cp.async.bulk.tensor.5d.global.shared::cta.im2col_no_offs.bulk_group"
                     " [%0, {%1, %2, %3, %4, %5}], [%6];" ::"l"(map),
                     "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]), "r"(c[4]), "r"(from)
                     : "memory");
}

template <int rank>
__device__ void add(const Job& job, const CUtensorMap* map, unsigned char* tile) {
    const std::uint32_t from = shared_address(tile);
    const std::int32_t* c = job.start;
    if constexpr (rank == 3)
        asm volatile("cp.reduce.async.bulk.tensor.3d.global.shared::cta.add.im2col_no_offs.bulk_group"
                     " [%0, {%1, %2, %3}], [%4];" ::"l"(map),
                     "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(from)
                     : "memory");
    else if constexpr (rank == 4)
        asm volatile("cp.reduce.async.bulk.tensor.4d.global.shared::cta.add.im2col_no_offs.bulk_group"
                     " [%0, {%1, %2, %3, %4}], [%5];" ::"l"(map),
                     "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]), "r"(from)
                     : "memory");
    else
        asm volatile("cp.reduce.async.bulk.tensor.5d.global.shared::cta.add.im2col_no_offs.bulk_group"
                     " [%0, {%1, %2, %3, %4, %5}], [%6];" ::"l"(map),
                     "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]), "r"(c[4]), "r"(from)
                     : "memory");
}

/// One thread's part: starts the copy and waits for its end. Says whether it came.
template <int rank>
__device__ bool copy(const Job& job, const CUtensorMap* map, unsigned char* area, std::uint64_t* bar) {
    unsigned char* const tile = area + job.tile;
    std::int32_t start[rank];
    for (int i = 0; i < rank; ++i)
        start[i] = job.start[i];
    if (job.operation == Operation::load) {
        if (job.tile_mode)
            ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, tile, map, start, bar);
        else
            load<rank>(job, map, tile, bar);
        const long long begin = clock64();
        while (!ptx::mbarrier_test_wait_parity(bar, 0))
            if (clock64() - begin > patience)
                return false;
        return true;
    }
    if (job.operation == Operation::add)
        add<rank>(job, map, tile);
    else if (job.tile_mode)
        ptx::cp_async_bulk_tensor(ptx::space_global, ptx::space_shared, map, start, tile);
    else
        store<rank>(job, map, tile);
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group(ptx::n32_t<0>{});
    return true;
}

/// Fills the area, executes the job, and hands the area out.
__global__ void recorded_copy(Job job, const CUtensorMap* map, const uint4* fill, uint4* result,
                              Outcome* outcome) {
    extern __shared__ __align__(1024) unsigned char memory[];
    auto* const bar = reinterpret_cast<std::uint64_t*>(memory);
    unsigned char* const bytes = memory + im2col_barrier_bytes;
    auto* const area = reinterpret_cast<uint4*>(bytes);
    for (unsigned i = threadIdx.x; i < im2col_area_bytes / sizeof(uint4); i += blockDim.x)
        area[i] = fill[i];
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(bar, 1);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    }
    ptx::fence_proxy_async();
    __syncthreads();
    if (threadIdx.x == 0) {
        ptx::fence_proxy_tensormap_generic(ptx::sem_acquire, ptx::scope_sys, map, ptx::n32_t<128>{});
        if (job.operation == Operation::load)
            ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, bar,
                                           job.expected);
        outcome->barrier[0] = *static_cast<volatile std::uint64_t*>(bar);
        outcome->complete = job.rank == 3   ? copy<3>(job, map, bytes, bar)
                            : job.rank == 4 ? copy<4>(job, map, bytes, bar)
                                            : copy<5>(job, map, bytes, bar);
        outcome->barrier[1] = *static_cast<volatile std::uint64_t*>(bar);
    }
    __syncthreads();
    for (unsigned i = threadIdx.x; i < im2col_area_bytes / sizeof(uint4); i += blockDim.x)
        result[i] = area[i];
}

} // namespace device

} // namespace hardware
