/// @file moving_sum.cu
/// Exercise: a window that crosses the edges of tiles.
///
/// Given    An array `in` of `size` unsigned numbers, at any address of theirs. A block of 128 threads takes
///          `tiles` = 8 neighbouring tiles of 128 elements; its last ones may be cut or empty. Its tiles -1
///          and 8 belong to other blocks, but its windows reach into them. start_tile starts the copy of tile
///          k into the ring, an element for each thread; where the array has none, a zero comes and nothing
///          is read. window adds up the elements around one, across the edges of stages.
/// Wanted   out[i] = in[i - 32] + … + in[i] + … + in[i + 32] modulo 2^32; elements outside of the array count
///          as 0. While a tile is summed, the next two tiles that the block will need and has not yet are on
///          their way.
/// Missing  1. `stages`: how many stages does that take, and no more?
///          2. the loop. When may tile k be summed? Which stage is nobody's any more then?
/// Judged   By the result for several sizes; by counters: the bytes that are on their way when a thread reads
///          the ring (8, fewer at the end); each element of the block's tiles copied once; one barrier for
///          each tile; by the shared memory that the kernel has.
#include "workbook/tile.cuh"

#include <cooperative_groups.h>
#include <cuda/pipeline>
#include <cuda_pipeline_primitives.h>

#include <cstddef>

namespace cg = cooperative_groups;

constexpr int block_threads = 128;
constexpr int tile_size = block_threads;
constexpr int tiles = 8;
constexpr int reach = 32; ///< elements of the window on each side
//@ hole
constexpr int stages = 5; // of three tiles the window reads, and two are on their way
//? constexpr int stages = 1; // YOUR CODE (1)
//@ end
constexpr int ring_size = stages * tile_size;

/// What a block works on.
struct Stream {
    const unsigned* in;
    unsigned* out;
    std::size_t size;

    /// The first element of tile k.
    __device__ long long start(int k) const {
        return (static_cast<long long>(blockIdx.x) * tiles + k) * tile_size;
    }
    /// The array has element i.
    __device__ bool has(long long i) const { return i >= 0 && i < static_cast<long long>(size); }
};

/// Starts this thread's copy of an element of tile k, -1 or more, into stage k % stages (tile -1: the last).
/// It neither waits nor closes a group.
__device__ void start_tile(unsigned* ring, const Stream& stream, int k) {
    const long long i = stream.start(k) + threadIdx.x;
    unsigned* const stage = ring + (k + stages) % stages * tile_size;
    __pipeline_memcpy_async(&stage[threadIdx.x], stream.in + i, sizeof(unsigned),
                            stream.has(i) ? 0 : sizeof(unsigned)); // outside: 4 bytes of zeros
}

/// The sum of the window around this thread's element of tile k.
__device__ unsigned window(const unsigned* ring, int k) {
    const unsigned middle = ring_size + k * tile_size + threadIdx.x;
    unsigned sum = 0;
    for (unsigned i = middle - reach; i <= middle + reach; ++i)
        sum += ring[i % ring_size];
    return sum;
}

/// Writes this thread's element of tile k, if there is one.
__device__ void store(const Stream& stream, int k, unsigned sum) {
    if (const long long i = stream.start(k) + threadIdx.x; stream.has(i))
        stream.out[i] = sum;
}

#pragma nv_diag_suppress static_var_with_dynamic_init // for who takes a cuda::pipeline

__global__ void moving_sum(Stream stream) {
    __shared__ unsigned ring[ring_size];
    //@ hole
    const auto start = [&](int k) {
        if (k <= tiles) // tile 8 too: the last window reaches into it
            start_tile(ring, stream, k);
        __pipeline_commit();
    };
    for (int k = -1; k <= 2; ++k)
        start(k);
    for (int k = 0; k < tiles; ++k) {
        __pipeline_wait_prior(1); // my part of tile k + 1 has landed, and k + 2 may be on its way
        __syncthreads();          // everybody's has, and nobody reads tile k - 2 any more
        start(k + 3);             // into the stage of tile k - 2
        store(stream, k, window(ring, k));
    }
    //? // YOUR CODE (2): start what has to be on its way before the first round; then tile after tile.
    //? (void)ring;
    //@ end
}
