/// @file store_ring.cu
/// Exercise: write a ring of bulk loads and bulk stores.
///
/// Given    An array `in` of `size` floats; `in` and `out` begin at multiples of 16 bytes, and `size` is a
///          multiple of 4. A block of 128 threads takes the tiles blockIdx.x, blockIdx.x + gridDim.x, … of
///          512 floats (the last may be shorter), about eight, and in one case forty; Stream counts them as
///          its tiles 0, 1, 2, … A ring of three stages has for each stage a tile and a barrier. load(ring,
///          k) lets one thread start the load of tile k into stage k % 3, counted on that stage's barrier.
///          turn(ring, k) lets the block square the tile's elements where they lie. store(ring, k) lets one
///          thread store the tile to `out` and commit a group.
/// Wanted   The kernel: out[i] = in[i]², with all three stages at work from the first tile to the last. It
///          has one barrier for each stage and no warp that only loads. So for each stage you decide
///          1. who waits for its bytes, and with which parity;
///          2. what has to come between the threads' writes and the store that reads them;
///          3. which wait tells the thread that loads that it may load tile k + 3 there, and whether that is
///             in the round of tile k or one later. Both can be made right; which waits less?
/// Judged   By the result for several sizes; by counters: one load and one store per tile, no byte by a
///          thread, and what is under way while thread 0 turns a tile: always the load of the next tile, and
///          a second copy, which is the load of the tile after that or the store of the tile before. The ring
///          never runs empty: whatever thread 0 has waited for, something else is under way. (The judge tests
///          means, over all tiles and all waits.)
#include "workbook/tile.cuh"

#include <cuda/ptx>

#include <cstddef>
#include <cstdint>

namespace ptx = cuda::ptx;

constexpr int block_threads = 128;
constexpr int tile_floats = 512;
constexpr int stages = 3;

/// The arrays and the tiles of them that a block takes.
struct Stream {
    const float* in;
    float* out;
    std::size_t size;

    __device__ std::size_t start(std::size_t k) const { return (blockIdx.x + k * gridDim.x) * tile_floats; }
    __device__ bool has(std::size_t k) const { return start(k) < size; }
    __device__ int count(std::size_t k) const { return workbook::tile_count(start(k), tile_floats, size); }
    __device__ std::uint32_t bytes(std::size_t k) const { return count(k) * sizeof(float); }
};

/// Three stages in shared memory.
struct Ring {
    alignas(16) float tile[stages][tile_floats];
    std::uint64_t full[stages]; ///< each for one arrival
};

/// One thread: starts the load of tile k. It arrives on the stage's barrier and announces the bytes.
__device__ inline void load(Ring& ring, const Stream& stream, std::size_t k) {
    std::uint64_t* full = &ring.full[k % stages];
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, full,
                                   stream.bytes(k));
    ptx::cp_async_bulk(ptx::space_shared, ptx::space_global, ring.tile[k % stages],
                       stream.in + stream.start(k), stream.bytes(k), full);
}

/// All threads: square the elements of tile k, in shared memory.
__device__ inline void turn(Ring& ring, const Stream& stream, std::size_t k) {
    for (int i = threadIdx.x; i < stream.count(k); i += blockDim.x)
        ring.tile[k % stages][i] *= ring.tile[k % stages][i];
}

/// One thread: starts the store of tile k and closes its bulk group.
__device__ inline void store(Ring& ring, const Stream& stream, std::size_t k) {
    ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, stream.out + stream.start(k),
                       ring.tile[k % stages], stream.bytes(k));
    ptx::cp_async_bulk_commit_group();
}

/// Waits until the phase with this parity is complete. The bytes it counted are then visible to this thread.
__device__ inline void wait(std::uint64_t* bar, std::uint32_t parity) {
    while (!ptx::mbarrier_try_wait_parity(bar, parity)) {
    }
}

__global__ void store_ring(Stream stream) {
    __shared__ Ring ring;
    //@ hole
    if (threadIdx.x == 0) {
        for (std::uint64_t& full : ring.full)
            ptx::mbarrier_init(&full, 1);
        for (int k = 0; k < stages && stream.has(k); ++k)
            load(ring, stream, k);
    }
    __syncthreads();
    for (std::size_t k = 0; stream.has(k); ++k) {
        wait(&ring.full[k % stages], k / stages % 2);
        turn(ring, stream, k);
        ptx::fence_proxy_async(ptx::space_shared);
        __syncthreads();
        if (threadIdx.x == 0) {
            store(ring, stream, k);
            ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
            if (stream.has(k + stages))
                load(ring, stream, k + stages);
        }
    }
    //? // YOUR CODE: set up the ring; then let every tile be loaded, turned and stored, and each stage loaded
    //? // again when its store has read it.
    //@ end
}
