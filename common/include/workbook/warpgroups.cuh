/// @file warpgroups.cuh
/// What whole warps and warpgroups do together: barriers for a part of the block, and registers that one role
/// gives to another. Chapter 10 explains both.
#pragma once

#include "matrix_layout.hpp" // warpgroup_threads

namespace workbook {

/// Waits at barrier `id` (1 to 15; 0 is __syncthreads()) until `threads` threads have come to it, those that
/// only arrive included. A multiple of 32; whole warps call it, converged. PTX ISA, 'barrier'.
__device__ inline void named_sync(int id, int threads) {
    asm volatile("barrier.sync.aligned %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

/// Counts at barrier `id` and goes on. What this thread wrote is visible to those who wait there.
__device__ inline void named_arrive(int id, int threads) {
    asm volatile("barrier.arrive.aligned %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

/// A whole warpgroup gives registers back, until each thread has `count` of them: a multiple of 8 from 24 to
/// 256. Target sm_90a; the kernel must say how many it starts with (__launch_bounds__ with threads and
/// blocks, or __maxnreg__). PTX ISA, 'setmaxnreg'.
template <int count>
__device__ void keep_registers() {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(count));
}

/// A whole warpgroup waits until the block has registers to spare, and takes them: `count` for each thread.
template <int count>
__device__ void take_registers() {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(count));
}

} // namespace workbook
