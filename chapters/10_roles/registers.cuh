/// @file registers.cuh
/// Chapter 10: registers that one role gives to another.
///
/// A block starts with the same number of registers for each thread, and a warp that only asks for tiles
/// holds as many as one that computes. setmaxnreg moves them, a warpgroup at a time, and therefore the role
/// that asks is a whole warpgroup here, three warps of which have nothing to do.
#pragma once

#include "roles.cuh"

#include "workbook/warpgroups.cuh"

namespace roles {

inline constexpr int many_prints = 208; ///< more than fit into the 168 registers of 384 threads
inline constexpr int group_threads = workbook::warpgroup_threads;
inline constexpr int grouped_threads = consumer_threads + group_threads;

/// 65,536 registers for 384 threads are 168 for each, in steps of 8; 40 + 2 · 232 = 3 · 168.
inline constexpr int producer_registers = 40;
inline constexpr int consumer_registers = 232;

/// What a thread may hold, and when it is said.
enum class Registers {
    as_launched, ///< all keep what the launch gave them
    moved        ///< the producers' warpgroup gives, those of the consumers take
};

/// roles_ring with a warpgroup that loads.
template <int count, Registers registers>
__device__ void grouped_roles(const CUtensorMap& map, const Work& work, unsigned* out) {
    Ring<>& ring = *reinterpret_cast<Ring<>*>(ring_memory);
    if (threadIdx.x == 0)
        ring.initialise(1, consumer_warps);
    __syncthreads();
    if (workbook::warp_index() < consumer_warps) {
        if constexpr (registers == Registers::moved)
            workbook::take_registers<consumer_registers>();
        consume<count>(ring, work, out);
    } else {
        if constexpr (registers == Registers::moved)
            workbook::keep_registers<producer_registers>(); // all four warps, before one of them goes its way
        if (workbook::warp_index() == consumer_warps && workbook::elect_one())
            produce(ring, map, work);
    }
}

/// Every thread has 168 registers, so that many fingerprints do not fit.
template <int count>
__global__ void __launch_bounds__(grouped_threads, 1)
    registers_as_launched(const __grid_constant__ CUtensorMap map, Work work, unsigned* out) {
    grouped_roles<count, Registers::as_launched>(map, work, out);
}

/// Consumers have 232, producers 40.
template <int count>
__global__ void __launch_bounds__(grouped_threads, 1)
    registers_moved(const __grid_constant__ CUtensorMap map, Work work, unsigned* out) {
    grouped_roles<count, Registers::moved>(map, work, out);
}

/// As launch_ring, with `count` fingerprints of each column.
template <int count = many_prints>
void launch_registers_as_launched(Matrix<const unsigned> words, std::span<unsigned> out,
                                  unsigned most = all_blocks) {
    launch_ring(registers_as_launched<count>, grouped_threads, words, out, count, most);
}

template <int count = many_prints>
void launch_registers_moved(Matrix<const unsigned> words, std::span<unsigned> out,
                            unsigned most = all_blocks) {
    launch_ring(registers_moved<count>, grouped_threads, words, out, count, most);
}

} // namespace roles
