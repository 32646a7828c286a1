/// @file one_group_more.cu
/// Exercise: find the mistakes.
///
/// Given    A kernel that was right with two warpgroups of consumers. Now it has a third, and larger tiles.
///          `in` has `tiles` tiles of 1536 unsigned ints and begins at a multiple of 16 bytes. A block takes
///          every gridDim.x-th of them, through a ring of two stages. It has 512 threads: warps 0 to 11 are
///          the consumers, and each of their threads holds four elements of a tile in registers; one thread
///          of the last warpgroup asks for tiles. out[i] is how far in[i] lies below the greatest element of
///          its tile, so for each tile the consumers meet, to hear what the other warps have found.
/// Wanted   Check it, read what the emulator reports, repair that, and check it again: there are two
///          mistakes, and both still count two groups of consumers. The producer's warpgroup goes on giving
///          registers to the consumers; both numbers may change (setmaxnreg takes multiples of 8 from 24 to
///          256).
/// Judged   By the result for several sizes, and by the emulator having nothing to report; by counters: the
///          consumers meet once for each tile. Whether take_registers and keep_registers are still there
///          nobody checks, nor whether four elements need so many registers.
#include "workbook/ring.cuh"
#include "workbook/warpgroups.cuh"

#include <cuda/ptx>

#include <cstddef>
#include <cstdint>

namespace ptx = cuda::ptx;
using workbook::RingState;

constexpr int groups = 3; ///< of consumers
constexpr int group_threads = workbook::warpgroup_threads;
constexpr int consumers = groups * group_threads;
constexpr int consumer_warps = consumers / 32;
constexpr int threads = consumers + group_threads;
constexpr int held = 4; ///< elements of a tile in the registers of a thread
constexpr int tile_words = held * consumers;
constexpr int stages = 2;

//@ hole
constexpr int producer_registers = 32; // 32 + 3 · 160 = 4 · 128
constexpr int consumer_registers = 160;
//? constexpr int producer_registers = 40;
//? constexpr int consumer_registers = 232;
//@ end
constexpr int registers_at_launch = 65536 / threads; ///< of each thread
static_assert(producer_registers < registers_at_launch && registers_at_launch < consumer_registers,
              "the producer's group gives registers, the consumers take them");

/// full[index], empty[index], tile[index] and what each warp finds in that tile belong together.
struct Ring : workbook::RingBarriers<stages> {
    alignas(128) unsigned tile[stages][tile_words];
    unsigned greatest[stages][consumer_warps];
};

/// One thread: every tile of this block, each when its stage is empty.
__device__ inline void produce(Ring& ring, const unsigned* in, unsigned tiles) {
    auto to = workbook::producer_start<stages>();
    for (std::size_t k = blockIdx.x; k < tiles; k += gridDim.x, to.advance()) {
        workbook::wait_parity(&ring.empty[to.index], to.phase);
        std::uint64_t* full = &ring.full[to.index];
        constexpr std::uint32_t bytes = sizeof(ring.tile[0]);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, full, bytes);
        ptx::cp_async_bulk(ptx::space_shared, ptx::space_global, ring.tile[to.index], in + k * tile_words,
                           bytes, full);
    }
}

/// All consumers. What a thread holds in registers is safe: it gives the stage back before it meets the
/// others.
__device__ inline void consume(Ring& ring, unsigned* out, unsigned tiles) {
    RingState<stages> from;
    for (std::size_t k = blockIdx.x; k < tiles; k += gridDim.x, from.advance()) {
        workbook::wait_parity(&ring.full[from.index], from.phase);
        unsigned mine[held];
        unsigned greatest = 0;
        for (int j = 0; j < held; ++j) {
            mine[j] = ring.tile[from.index][j * consumers + threadIdx.x];
            greatest = max(greatest, mine[j]);
        }
        workbook::arrive_as_warp(&ring.empty[from.index]);
        greatest = __reduce_max_sync(0xffffffffu, greatest); // of its 32 lanes
        if (threadIdx.x % 32 == 0)
            ring.greatest[from.index][threadIdx.x / 32] = greatest;
        //@ hole
        workbook::named_sync(1, consumers);
        //? workbook::named_sync(1, 256);
        //@ end
        for (const unsigned of_warp : ring.greatest[from.index])
            greatest = max(greatest, of_warp);
        for (int j = 0; j < held; ++j)
            out[k * tile_words + j * consumers + threadIdx.x] = greatest - mine[j];
    }
}

__global__ void __launch_bounds__(threads, 1)
    one_group_more(const unsigned* in, unsigned* out, unsigned tiles) {
    __shared__ Ring ring;
    if (threadIdx.x == 0)
        ring.initialise(1, consumer_warps);
    __syncthreads(); // the last time that all meet
    if (workbook::warp_index() < consumer_warps) {
        workbook::take_registers<consumer_registers>();
        consume(ring, out, tiles);
    } else {
        workbook::keep_registers<producer_registers>(); // all four warps
        if (workbook::warp_index() == consumer_warps && workbook::elect_one())
            produce(ring, in, tiles);
    }
}
