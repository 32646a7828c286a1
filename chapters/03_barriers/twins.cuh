/// @file twins.cuh
/// The twins producer_consumer and producer_consumer_mbarrier, and what lies between them: one kernel in
/// which the wait, the shape of the loop and the producers' loads are free. And one without mbarriers.
#pragma once

#include "barriers.cuh"

#include "workbook/bench_data.cuh"

#include <cuda/barrier>
#include <cuda/ptx>

#include <cstddef>
#include <cstdint>

namespace twins {

using namespace barriers;

/// How each side waits. The first two are the twins'.
enum class Wait {
    library_token, ///< cuda::barrier::wait, which polls and may sleep; every thread arrives at every barrier
    parity,        ///< try_wait.parity in a bare loop; only those arrive who have something to say
    bare_token     ///< every thread arrives, and waits for its token in a bare loop
};

/// One barrier that either side waits at, by whatever means.
template <Wait wait>
struct Gate {
    std::uint64_t bar;

    __device__ void set_up(int arriving) {
        if constexpr (wait == Wait::library_token)
            init(library(), block_threads);
        else
            mbarrier_init(&bar, wait == Wait::parity ? arriving : block_threads);
    }
    __device__ Barrier* library() { return reinterpret_cast<Barrier*>(&bar); }

    /// Says something to the other side; waits for nobody.
    __device__ void arrive() {
        if constexpr (wait == Wait::library_token)
            (void)library()->arrive();
        else
            mbarrier_arrive(&bar);
    }
    /// Waits for what the other side says in the phase of this parity.
    __device__ void await(std::uint32_t parity) {
        if constexpr (wait == Wait::library_token)
            library()->arrive_and_wait();
        else if constexpr (wait == Wait::bare_token) {
            const std::uint64_t token = ptx::mbarrier_arrive(&bar);
            while (!ptx::mbarrier_try_wait(&bar, token)) {
            }
        } else
            wait_parity(&bar, parity);
    }
};

/// Brings a whole tile with `batch` loads of each producer on their way at a time: neither a load nor a store
/// passes __syncwarp(). A cut tile, and every tile with 0, is produce()'s, where the compiler chooses.
template <int batch>
__device__ inline void bring_tile(unsigned* buffer, const Tiles& tiles, std::size_t k) {
    if (batch == 0 || tiles.count(k) < buffer_size)
        return produce(buffer, tiles, k);
    constexpr int most = batch == 0 ? 1 : batch;
    const unsigned* from = tiles.in + tiles.start(k) + threadIdx.x;
    unsigned* to = buffer + threadIdx.x;
#pragma unroll
    for (int first = 0; first < buffer_size; first += most * producer_threads) {
        unsigned values[most];
#pragma unroll
        for (int i = 0; i < most; ++i)
            values[i] = from[first + i * producer_threads];
        __syncwarp();
#pragma unroll
        for (int i = 0; i < most; ++i)
            to[first + i * producer_threads] = values[i];
        __syncwarp();
    }
}

/// What both sides share.
template <Wait wait>
struct Buffers {
    unsigned words[2][buffer_size];
    Gate<wait> empty[2];
    Gate<wait> full[2];
};

template <Wait wait, int batch>
__device__ inline void fill_one(Buffers<wait>& buffers, const Tiles& tiles, std::size_t k) {
    buffers.empty[k % 2].await(k / 2 % 2 ^ 1);
    bring_tile<batch>(buffers.words[k % 2], tiles, k);
    buffers.full[k % 2].arrive();
}

template <Wait wait>
__device__ inline void empty_one(Buffers<wait>& buffers, const Tiles& tiles, std::size_t k) {
    buffers.full[k % 2].await(k / 2 % 2);
    consume(buffers.words[k % 2], tiles, k);
    buffers.empty[k % 2].arrive();
}

/// @tparam batch loads of a producer on their way at a time; 0: as compiled
/// @tparam own_loops a loop for each role, as in producer_consumer; else one loop that asks for the role in
///                  every round, as in producer_consumer_mbarrier
/// The launch bounds keep 8 blocks on an SM, as looping_grid() wants, whatever the compiler does with
/// registers.
template <Wait wait, int batch, bool own_loops>
__global__ void __launch_bounds__(block_threads, 8) twin(Tiles tiles) {
    __shared__ Buffers<wait> buffers;
    if (threadIdx.x < 2) {
        buffers.empty[threadIdx.x].set_up(consumer_threads);
        buffers.full[threadIdx.x].set_up(producer_threads);
    }
    __syncthreads();
    const bool produces = threadIdx.x < producer_threads;
    if (wait != Wait::parity && !produces) { // both buffers start empty
        buffers.empty[0].arrive();
        buffers.empty[1].arrive();
    }
    if constexpr (own_loops) {
        if (produces)
            for (std::size_t k = 0; tiles.has(k); ++k)
                fill_one<wait, batch>(buffers, tiles, k);
        else
            for (std::size_t k = 0; tiles.has(k); ++k)
                empty_one(buffers, tiles, k);
    } else
        for (std::size_t k = 0; tiles.has(k); ++k)
            if (produces)
                fill_one<wait, batch>(buffers, tiles, k);
            else
                empty_one(buffers, tiles, k);
}

/// The same roles and buffers, and no barrier but the block's: the producers fill one buffer while the
/// consumers empty the other, and all meet after each tile.
template <int batch>
__global__ void __launch_bounds__(block_threads, 8) meeting(Tiles tiles) {
    __shared__ unsigned words[2][buffer_size];
    const bool produces = threadIdx.x < producer_threads;
    for (std::size_t k = 0; tiles.has(k) || (k > 0 && tiles.has(k - 1)); ++k) {
        if (produces) {
            if (tiles.has(k))
                bring_tile<batch>(words[k % 2], tiles, k);
        } else if (k > 0)
            consume(words[(k - 1) % 2], tiles, k - 1);
        __syncthreads();
    }
}

// ---- for their measurements ----

/// Adds to *wrong how many elements are not those of the input, reversed tile by tile.
__global__ void count_not_reversed(const unsigned* out, std::size_t size, unsigned long long* wrong) {
    const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < size; i += step) {
        const std::size_t start = i / buffer_size * buffer_size;
        const std::size_t count = size - start < buffer_size ? size - start : buffer_size;
        if (out[i] != workbook::random_word(start + count - 1 - (i - start)))
            atomicAdd(wrong, 1ull);
    }
}

} // namespace twins
