/// @file one_barrier_for_all.cu
/// Exercise: write a ring that bulk copies fill, and that never stops all of its threads.
///
/// Given    in: `size` unsigned numbers in global memory, 16-byte aligned; `size` is a multiple of 4. out: as
///          many. Blocks of 128 threads, each for up to `tiles` = 8 neighbouring tiles of 96 elements; the
///          last tile may be cut. Three stages; `full[s]` and `empty[s]` are the mbarriers of stage s. Thread
///          0 starts the copies, the 96 threads of the other three warps add. start_copy() starts the bulk
///          copy of a tile, which counts its bytes on a barrier. It and add() stay as they are.
/// Wanted   out[i] = in[i] + its right neighbour in the tile; that of a tile's last element is the tile's
///          first. Beside the one barrier after the set-up there is none for all threads (__syncthreads), so
///          that two tiles can be on their way while a third is added.
/// Missing  How many arrivals each barrier expects; what each side waits for, announces and says.
/// Judged   By the result for several sizes; by counters: one barrier of the block, no element of `in`
///          through a register, as many bytes announced as copied, the phases of the six mbarriers, and the
///          bytes on their way when thread 0 asks for more.
#include "workbook/tile.cuh"

#include <cuda/ptx>

#include <cstddef>
#include <cstdint>

namespace ptx = cuda::ptx;

constexpr int copying_threads = 32; // the first warp, of which thread 0 works
constexpr int consumers = 96;
constexpr int tile_size = consumers; // an element for each
constexpr int tiles = 8;
constexpr int stages = 3;

/// Waits until the barrier's phase of this parity is complete.
__device__ void wait(std::uint64_t* bar, std::uint32_t parity) {
    while (!ptx::mbarrier_try_wait_parity(bar, parity)) {
    }
}

/// One thread starts the copy of `bytes` bytes. When they have landed they are subtracted on `bar`.
__device__ void start_copy(unsigned* stage, const unsigned* in, std::uint32_t bytes, std::uint64_t* bar) {
    ptx::cp_async_bulk(ptx::space_shared, ptx::space_global, stage, in, bytes, bar);
}

/// The consumers write the sums of a tile, one element each. The fence: what is read here comes before what
/// the next copy writes here (chapter 5).
__device__ void add(const unsigned* stage, unsigned* out, int count) {
    const int i = threadIdx.x - copying_threads;
    if (i < count)
        out[i] = stage[i] + stage[i + 1 < count ? i + 1 : 0];
    ptx::fence_proxy_async(ptx::space_shared);
}

__global__ void one_barrier_for_all(const unsigned* in, unsigned* out, std::size_t size) {
    __shared__ alignas(16) unsigned ring[stages][tile_size];
    __shared__ std::uint64_t full[stages];
    __shared__ std::uint64_t empty[stages];
    if (threadIdx.x < stages) {
        //@ hole
        ptx::mbarrier_init(&full[threadIdx.x], 1);
        ptx::mbarrier_init(&empty[threadIdx.x], consumers);
        //? // YOUR CODE: how many arrivals does each of the two expect? (1 may be right.)
        //? ptx::mbarrier_init(&full[threadIdx.x], 1);
        //? ptx::mbarrier_init(&empty[threadIdx.x], 1);
        //@ end
    }
    __syncthreads(); // the one for all
    const auto start = [](int k) { return (std::size_t{blockIdx.x} * tiles + k) * tile_size; };
    for (int k = 0; k < tiles && start(k) < size; ++k) {
        const int s = k % stages;
        const int count = workbook::tile_count(start(k), tile_size, size);
        const std::uint32_t bytes = count * sizeof(unsigned);
        if (threadIdx.x == 0) {
            //@ hole
            wait(&empty[s], (k / stages + 1) % 2);
            ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full[s],
                                           bytes);
            start_copy(ring[s], in + start(k), bytes, &full[s]);
            //? // YOUR CODE: wait until the stage is empty, and say what will fill it.
            //? start_copy(ring[s], in + start(k), bytes, &full[s]);
            //@ end
        } else if (threadIdx.x >= copying_threads) {
            //@ hole
            wait(&full[s], k / stages % 2);
            add(ring[s], out + start(k), count);
            ptx::mbarrier_arrive(&empty[s]);
            //? // YOUR CODE: wait until the stage is full.
            //? add(ring[s], out + start(k), count);
            //? // YOUR CODE: say that it is empty.
            //@ end
        }
    }
}
