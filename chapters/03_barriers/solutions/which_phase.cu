/// @file which_phase.cu
/// Exercise: find the mistake. The chapter's ring, with the chapter's parity, and a list of tiles to skip.
///
/// Given    in: `size` unsigned numbers in global memory. out: as many. Each block of 64 threads has
///          `tiles` = 8 neighbouring tiles of 32 elements; bit k of `wanted` says whether tile k of each
///          block is wanted. The first warp copies the wanted tiles into two buffers, the second warp writes
///          them back. Tile k uses buffer k % 2; you may share the tiles out otherwise. Buffer b has two
///          mbarriers: `full[b]` and `empty[b]`, of 32 arrivals each.
/// Wanted   Each wanted tile is written back in reverse order; the others are passed over: they stay as they
///          are in out, and nobody copies them, waits or arrives for them.
/// Missing  Nothing. As long as all eight tiles are wanted the kernel is right; then a tile is left out, and
///          the results are wrong. Which phase of its barriers is buffer b in when tile k comes?
/// Judged   By the result for several sizes and lists; by counters: one barrier of the block, two phases of
///          the four mbarriers for each wanted tile and none for the others, no byte loaded by the second
///          warp and none stored by the first; and a first warp that writes the next tile before it knows
///          that the last one was used.
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

__global__ void which_phase(const unsigned* in, unsigned* out, std::size_t size, unsigned wanted) {
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
    //@ hole
    std::uint32_t parities = 0; // bit b: the parity of the phase that buffer b is in
    //@ end
    for (int k = 0; k < tiles; ++k) {
        if ((wanted >> k & 1) == 0)
            continue;
        const int b = k % 2;
        //@ hole
        const std::uint32_t parity = parities >> b & 1;
        parities ^= 1u << b; // this tile is a use of b: the next one finds the next phase
        //? const std::uint32_t parity = k / 2 % 2;
        //@ end
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
