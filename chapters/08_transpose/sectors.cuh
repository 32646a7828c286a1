/// @file sectors.cuh
/// Chapter 8: accesses of 4 bytes where rows begin anywhere, as tiles that lean and matrices with few rows
/// or few columns need them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace transpose {

inline constexpr int sector_floats = 8; ///< a sector has 32 bytes

/// How many elements from `to` on the next sector begins.
__device__ inline unsigned to_next_sector(const float* to) {
    return (0u - static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(to) / sizeof(float))) % sector_floats;
}

/// Reads 4 bytes that L2 keeps, and lets it fetch the line of 128 bytes. PTX ISA, ld.global.nc.
__device__ inline float load_kept(const float* from, std::uint64_t policy) {
    float value;
    asm volatile("ld.global.nc.L1::no_allocate.L2::cache_hint.L2::128B.f32 %0, [%1], %2;"
                 : "=f"(value)
                 : "l"(__cvta_generic_to_global(from)), "l"(policy));
    return value;
}

/// True if `at` begins 16 bytes that a bulk copy may begin with.
__device__ inline bool begins_16_bytes(const float* at) {
    return reinterpret_cast<std::uintptr_t>(at) % 16 == 0;
}

} // namespace transpose
