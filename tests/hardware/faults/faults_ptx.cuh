/// \file
/// PTX instructions for the kernels of the faults.
#pragma once

#include "faults.hpp"

#include <cstdint>

namespace faults {

__device__ inline std::uint32_t shared_address(const void* p) {
    return static_cast<std::uint32_t>(__cvta_generic_to_shared(p));
}

/// The same address in the block with rank `rank`.
__device__ inline std::uint32_t at_rank(std::uint32_t address, std::uint32_t rank) {
    std::uint32_t mapped;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(mapped) : "r"(address), "r"(rank));
    return mapped;
}

__device__ inline std::uint32_t cluster_rank() {
    std::uint32_t rank;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}

__device__ inline void cluster_sync() {
    asm volatile("barrier.cluster.arrive.release.aligned;\n\tbarrier.cluster.wait.acquire.aligned;" ::
                     : "memory");
}

__device__ inline void init(std::uint32_t barrier, std::uint32_t count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(count) : "memory");
}

__device__ inline void fence_init() {
    asm volatile("fence.mbarrier_init.release.cluster;\n\tfence.proxy.async;" ::: "memory");
}

__device__ inline void arrive(std::uint32_t barrier, std::uint32_t count = 1) {
    asm volatile("{\n\t.reg .b64 s;\n\tmbarrier.arrive.shared::cta.b64 s, [%0], %1;\n\t}" ::"r"(barrier),
                 "r"(count)
                 : "memory");
}

__device__ inline void arrive_remote(std::uint32_t barrier) {
    asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(barrier) : "memory");
}

__device__ inline void expect_tx(std::uint32_t barrier, std::uint32_t bytes) {
    asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(bytes)
                 : "memory");
}

__device__ inline void arrive_expect_tx(std::uint32_t barrier, std::uint32_t bytes) {
    asm volatile(
        "{\n\t.reg .b64 s;\n\tmbarrier.arrive.expect_tx.shared::cta.b64 s, [%0], %1;\n\t}" ::"r"(barrier),
        "r"(bytes)
        : "memory");
}

__device__ inline bool try_wait(std::uint32_t barrier, std::uint32_t parity) {
    std::uint32_t done;
    asm volatile("{\n\t.reg .pred p;\n\tmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n\t"
                 "selp.u32 %0, 1, 0, p;\n\t}"
                 : "=r"(done)
                 : "r"(barrier), "r"(parity)
                 : "memory");
    return done != 0;
}

/// Waits for a while: a phase that never ends must not hang the process.
__device__ inline void wait(std::uint32_t barrier, std::uint32_t parity) {
    for (int i = 0; i < 1000 && !try_wait(barrier, parity); ++i)
        continue;
}

__device__ inline void bulk_load(std::uint32_t to, const void* from, std::uint32_t bytes,
                                 std::uint32_t barrier) {
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
        "l"(from), "r"(bytes), "r"(barrier)
        : "memory");
}

__device__ inline void bulk_store(void* to, std::uint32_t from, std::uint32_t bytes) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(from),
                 "r"(bytes)
                 : "memory");
}

__device__ inline void wait_bulk() {
    asm volatile("cp.async.bulk.commit_group;\n\tcp.async.bulk.wait_group 0;" ::: "memory");
}

__device__ inline void tensor_load(std::uint32_t to, const CUtensorMap* map, int x, int y,
                                   std::uint32_t barrier) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3}], [%4];" ::"r"(to),
                 "l"(map), "r"(x), "r"(y), "r"(barrier)
                 : "memory");
}

__device__ inline void tensor_store(const CUtensorMap* map, int x, int y, std::uint32_t from) {
    asm volatile(
        "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(map), "r"(x),
        "r"(y), "r"(from)
        : "memory");
}

/// A store whose value nobody can leave out.
__device__ inline void keep(const Arguments& a, std::uint32_t value) {
    *reinterpret_cast<volatile std::uint32_t*>(a.memory + 512 * 1024) = value;
}

} // namespace faults
