/// @file split_the_roles.cu
/// Exercise: split the roles.
///
/// Given    `size` floats in `in`, at a multiple of 16 bytes; `size` is a multiple of 4. A block takes every
///          gridDim.x-th tile of 512 floats (the last may be shorter); Stream counts them 0, 1, 2, … It has
///          five warps and a ring, each stage with a tile, a full and an empty barrier. Two pairs of warps
///          share the tiles: tile k belongs to pair k % 2, warps 0 and 1 or warps 2 and 3, and a pair waits
///          for no tiles but its own. load(…) starts the load of tile k into a stage: it arrives on the full
///          barrier and announces the bytes. square(…) lets a pair write the squares of a tile to `out`.
/// Wanted   out[i] = in[i]², by roles: one thread of warp 4 asks for tiles, each pair uses its own, and once
///          the ring is initialised nobody meets at a barrier of the block again, named ones included: the
///          pairs take no turns.
/// Missing  1. how many stages the ring has. There is room for five, but not every number is right here: take
///             the greatest that is;
///          2. how many arrivals complete a phase of the full and of the empty barriers;
///          3. the producer: waits for each stage to be empty, then loads;
///          4. the pairs: each waits for the stages of its tiles to be full, squares, and gives them back,
///             one arrival for each warp, as arrive_as_warp does.
/// Judged   By the result for several sizes, and by the emulator having nothing to report; by counters: one
///          __syncthreads() for each block, the barriers of as many stages as are right, every copy issued by
///          warp 4, one arrival for each warp that reads a tile, and loads that are ahead of their use.
#include "workbook/ring.cuh"
#include "workbook/tile.cuh"

#include <cuda/ptx>

#include <cstddef>
#include <cstdint>

namespace ptx = cuda::ptx;
using workbook::RingState;

constexpr int consumer_warps = 4;
constexpr int pairs = 2;
constexpr int pair_warps = consumer_warps / pairs;
constexpr int pair_threads = 32 * pair_warps;
constexpr int tile_floats = 512;
//@ hole
constexpr int stages = 4; // an even number: each pair sees every lap of its stages
//? constexpr int stages = 5; // YOUR CODE: the greatest number up to 5 that is right
//@ end

/// The arrays and the tiles of them that a block takes.
struct Stream {
    const float* in;
    float* out;
    std::size_t size;

    __device__ std::size_t start(std::size_t k) const { return (blockIdx.x + k * gridDim.x) * tile_floats; }
    __device__ bool has(std::size_t k) const { return start(k) < size; }
    __device__ int count(std::size_t k) const { return workbook::tile_count(start(k), tile_floats, size); }
};

/// full[index], empty[index] and tile[index] belong together.
struct Ring : workbook::RingBarriers<stages> {
    alignas(128) float tile[stages][tile_floats];
};

/// One thread: starts the load of tile k into stage `index`, counted on its full barrier.
__device__ inline void load(Ring& ring, unsigned index, const Stream& stream, std::size_t k) {
    const std::uint32_t bytes = stream.count(k) * sizeof(float);
    std::uint64_t* full = &ring.full[index];
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, full, bytes);
    ptx::cp_async_bulk(ptx::space_shared, ptx::space_global, ring.tile[index], stream.in + stream.start(k),
                       bytes, full);
}

/// The two warps of a pair: square tile k, which lies in stage `index`.
__device__ inline void square(const Ring& ring, unsigned index, const Stream& stream, std::size_t k) {
    for (int i = threadIdx.x % pair_threads; i < stream.count(k); i += pair_threads)
        stream.out[stream.start(k) + i] = ring.tile[index][i] * ring.tile[index][i];
}

__global__ void split_the_roles(Stream stream) {
    __shared__ Ring ring;
    if (threadIdx.x == 0)
        //@ hole
        ring.initialise(1, pair_warps); // one pair reads a stage
    //? ring.initialise(1, 1); // YOUR CODE: arrivals on a full barrier, arrivals on an empty one
    //@ end
    // The last time that all meet:
    __syncthreads();
    //@ hole
    if (workbook::warp_index() == consumer_warps) {
        if (workbook::elect_one()) {
            auto to = workbook::producer_start<stages>();
            for (std::size_t k = 0; stream.has(k); ++k, to.advance()) {
                workbook::wait_parity(&ring.empty[to.index], to.phase);
                load(ring, to.index, stream, k);
            }
        }
    } else {
        const unsigned pair = workbook::warp_index() / pair_warps;
        RingState<stages> from;
        from.skip(pair);
        for (std::size_t k = pair; stream.has(k); k += pairs, from.skip(pairs)) {
            workbook::wait_parity(&ring.full[from.index], from.phase);
            square(ring, from.index, stream, k);
            workbook::arrive_as_warp(&ring.empty[from.index]);
        }
    }
    //? // YOUR CODE: this is how it works without roles; nobody uses the empty barriers. Split it: one thread
    //? // of warp 4 loads, each pair squares its tiles, and no __syncthreads().
    //? RingState<stages> at;
    //? for (std::size_t k = 0; stream.has(k); ++k, at.advance()) {
    //?     if (threadIdx.x == 0)
    //?         load(ring, at.index, stream, k);
    //?     workbook::wait_parity(&ring.full[at.index], at.phase);
    //?     if (workbook::warp_index() / pair_warps == k % pairs)
    //?         square(ring, at.index, stream, k);
    //?     ptx::fence_proxy_async(ptx::space_shared);
    //?     __syncthreads();
    //? }
    //@ end
}
