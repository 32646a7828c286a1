/// @file roles.cu
/// The ring that the interactive picture of chapter 10 shows: one warp asks for tiles, two read them, three
/// stages. The loops are those of the chapter; only numbers are smaller. make.py reads what the emulator saw.
#include "workbook/buffer.hpp"
#include "workbook/check.hpp"
#include "workbook/launch.hpp"
#include "workbook/ring.cuh"

#include <cuda/ptx>

#include <exception>
#include <iostream>
#include <vector>

namespace {

namespace ptx = cuda::ptx;
using workbook::DeviceBuffer;

constexpr int stages = 3;
constexpr int tiles = 5;
constexpr int consumers = 2;    ///< warps
constexpr int tile_words = 256; ///< 1 KiB

__shared__ alignas(16) unsigned tile[stages][tile_words];
__shared__ workbook::RingBarriers<stages> ring;

__device__ void produce(const unsigned* in) {
    auto to = workbook::producer_start<stages>();
    for (int k = 0; k < tiles; ++k, to.advance()) {
        workbook::wait_parity(&ring.empty[to.index], to.phase);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared,
                                       &ring.full[to.index], sizeof(tile[0]));
        ptx::cp_async_bulk(ptx::space_shared, ptx::space_global, tile[to.index], in + k * tile_words,
                           sizeof(tile[0]), &ring.full[to.index]);
    }
}

/// The second consumer has twice as much to do with each tile.
__device__ unsigned consume(unsigned warp) {
    unsigned sum = 0;
    workbook::RingState<stages> from;
    for (int k = 0; k < tiles; ++k, from.advance()) {
        workbook::wait_parity(&ring.full[from.index], from.phase);
        for (unsigned i = threadIdx.x % 32; i < tile_words * (warp + 1); i += 32)
            sum = sum * 31 + tile[from.index][i % tile_words];
        workbook::arrive_as_warp(&ring.empty[from.index]);
    }
    return sum;
}

/// Chapter 3 shows this kernel too.
__global__ void small_ring(const unsigned* in, unsigned* out) {
    const unsigned warp = threadIdx.x / 32;
    if (threadIdx.x == 0)
        ring.initialise(1, consumers);
    __syncthreads();
    if (warp < consumers)
        out[threadIdx.x] = consume(warp);
    else if (workbook::elect_one())
        produce(in);
}

} // namespace

int main() {
    try {
        std::vector<unsigned> values(tiles * tile_words, 3);
        DeviceBuffer<unsigned> in(values.size()), out(consumers * 32);
        in.upload(values);
        workbook::launch(small_ring, {.block = (consumers + 1) * 32}, in.data(), out.data());
        workbook::check(cudaDeviceSynchronize());
        return 0;
    } catch (const std::exception& error) {
        std::cerr << "roles: " << error.what() << '\n';
        return 1;
    }
}
