/// @file which_phase.cu
/// Exercise: find the mistake. The waits are there, but some are for a phase that is over.
///
/// Given    in: `size` unsigned numbers in global memory. out: as many. Each block of 64 threads takes
///          `tiles` = 8 neighbouring tiles of 32 elements. Its first warp copies tile after tile into two
///          buffers, its second warp writes them back. Buffer b has two mbarriers: `full[b]` and
///          `empty[b]`, of 32 arrivals each.
/// Wanted   Each tile is written back in reverse order. A fresh barrier is in its phase 0; a wait for
///          parity 1 passes at once, which is how the copying warp begins.
/// Missing  Nothing, but the parity that both warps wait for is wrong from some tile on. Which phase of
///          its barriers does a buffer have when tile k uses it?
/// Judged   By the result for several sizes; by counters: one barrier of the block, at least 14 phases of
///          the four mbarriers, no byte loaded by the second warp and none stored by the first; and a first
///          warp that writes the next tile before it knows that the last one was used.
#include "workbook/tile.cuh"

#include <cuda/ptx>

#include <cstddef>
#include <cstdint>

namespace ptx = cuda::ptx;

constexpr int lanes = 32;
constexpr int tiles = 8;

__device__ void wait(std::uint64_t* bar, std::uint32_t parity) {
    while (!ptx::mbarrier_try_wait_parity(bar, parity)) {
    }
}

__global__ void which_phase(const unsigned* in, unsigned* out, std::size_t size) {
    __shared__ unsigned buffers[2][lanes];
    __shared__ std::uint64_t full[2];
    __shared__ std::uint64_t empty[2];
    if (threadIdx.x < 2) {
        ptx::mbarrier_init(&full[threadIdx.x], lanes);
        ptx::mbarrier_init(&empty[threadIdx.x], lanes);
    }
    __syncthreads();
    const int lane = threadIdx.x % lanes;
    const bool copies = threadIdx.x < lanes;
    for (int k = 0; k < tiles; ++k) {
        const int b = k % 2;
        const std::uint32_t parity = k % 2;
        const std::size_t start = (std::size_t{blockIdx.x} * tiles + k) * lanes;
        const int count = workbook::tile_count(start, lanes, size);
        if (copies) {
            wait(&empty[b], parity ^ 1);
            buffers[b][lane] = lane < count ? in[start + lane] : 0;
            ptx::mbarrier_arrive(&full[b]);
        } else {
            wait(&full[b], parity);
            if (lane < count)
                out[start + lane] = buffers[b][count - 1 - lane];
            ptx::mbarrier_arrive(&empty[b]);
        }
    }
}
