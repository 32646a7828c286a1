/// @file mistakes.cu
/// Chapter 3, wrong on purpose: barriers that count wrong, are used too early, or are awaited for the wrong
/// phase.
#include "workbook/buffer.hpp"
#include "workbook/launch.hpp"
#include "workbook/mistakes.hpp"

#include <cuda/barrier>
#include <cuda/ptx>

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace {

using namespace cuda::ptx;
using Barrier = cuda::barrier<cuda::thread_scope_block>;

constexpr int block_threads = 128;

#pragma nv_diag_suppress static_var_with_dynamic_init // init() sets barriers up, no constructor runs

/// Initialises a barrier for `arrivals` arrivals, visible to all threads of the block.
__device__ void init_barrier(std::uint64_t* bar, std::uint32_t arrivals) {
    if (threadIdx.x == 0)
        mbarrier_init(bar, arrivals);
    __syncthreads();
}

/// The barrier expects one arrival more than there are threads.
__global__ void wrong_expected_count(const int* in, int* out) {
    __shared__ int tile[block_threads];
    __shared__ Barrier bar;
    if (threadIdx.x == 0)
        init(&bar, block_threads + 1);
    __syncthreads();
    tile[threadIdx.x] = in[threadIdx.x];
    bar.arrive_and_wait(); // expect: deadlock
    out[threadIdx.x] = tile[block_threads - 1 - threadIdx.x];
}

/// Only the first warp meets at the barrier, but its lanes do not run in lockstep either: nothing makes them
/// wait until lane 0 has initialised it.
__global__ void init_not_visible(const int* in, int* out) {
    constexpr int lanes = 32;
    __shared__ int tile[lanes];
    __shared__ std::uint64_t bar;
    if (threadIdx.x >= lanes)
        return;
    if (threadIdx.x == 0)
        mbarrier_init(&bar, lanes); // expect: barrier-init-not-visible
    tile[threadIdx.x] = in[threadIdx.x];
    mbarrier_arrive(&bar); // expect: barrier-init-not-visible
    while (!mbarrier_try_wait_parity(&bar, 0)) {
    }
    out[threadIdx.x] = tile[lanes - 1 - threadIdx.x];
}

/// Two copies are on their way, but the bytes of only one are announced: the phase ends after the first that
/// lands, and the other tile is read early.
__global__ void tx_count_too_small(const int* in, int* out) {
    __shared__ alignas(16) int tiles[2][block_threads];
    __shared__ std::uint64_t bar;
    const std::uint32_t size = sizeof(tiles[0]);
    init_barrier(&bar, 1);
    if (threadIdx.x == 0) {
        mbarrier_arrive_expect_tx(sem_release, scope_cta, space_shared, &bar, size);
        for (int k = 0; k < 2; ++k) {
            const int* src = in + k * block_threads;
            cp_async_bulk(space_shared, space_global, tiles[k], src, size, &bar); // expect: tx-count-mismatch
        }
    }
    while (!mbarrier_try_wait_parity(&bar, 0)) {
    }
    out[threadIdx.x] = tiles[0][threadIdx.x] + tiles[1][threadIdx.x];
}

/// More bytes are announced than will ever come.
__global__ void tx_count_too_large(const int* in, int* out) {
    __shared__ alignas(16) int tile[block_threads];
    __shared__ std::uint64_t bar;
    const std::uint32_t bytes = sizeof(tile);
    init_barrier(&bar, 1);
    if (threadIdx.x == 0) {
        mbarrier_arrive_expect_tx(sem_release, scope_cta, space_shared, &bar, bytes + 16);
        cp_async_bulk(space_shared, space_global, tile, in, bytes, &bar);
    }
    while (!mbarrier_try_wait_parity(&bar, 0)) { // expect: deadlock
    }
    out[threadIdx.x] = tile[threadIdx.x];
}

/// The second wait is again for parity 0. If the second copy has not landed, that is the phase before it, and
/// the wait waits for nothing; if it has, that is the phase after it, and the wait never ends.
__global__ void parity_never_flipped(const int* in, int* out) {
    __shared__ alignas(16) int buf[block_threads];
    __shared__ std::uint64_t bar;
    const std::uint32_t size = sizeof(buf);
    const std::uint32_t parity = 0;
    init_barrier(&bar, 1);
    for (int round = 0; round < 2; ++round, in += block_threads, out += block_threads) {
        if (threadIdx.x == 0) {
            mbarrier_arrive_expect_tx(sem_release, scope_cta, space_shared, &bar, size);
            cp_async_bulk(space_shared, space_global, buf, in, size, &bar); // expect: read-before-completion
        }
        __syncthreads();                                  // the copy was issued
        while (!mbarrier_try_wait_parity(&bar, parity)) { // expect early: deadlock
        }
        out[threadIdx.x] = buf[threadIdx.x]; // expect: read-before-completion
        __syncthreads();
    }
}

/// Launches one block over two tiles of different numbers.
void run(void (*kernel)(const int*, int*)) {
    std::vector<int> numbers(2 * block_threads);
    std::iota(numbers.begin(), numbers.end(), 1);
    const workbook::DeviceBuffer<int> in(numbers);
    workbook::DeviceBuffer<int> out(numbers.size());
    workbook::launch(kernel, {.block = block_threads}, in.data(), out.data());
    workbook::synchronize();
}

constexpr workbook::Mistake mistakes[] = {
    {"wrong_expected_count", "the barrier expects one arrival too many", [] { run(wrong_expected_count); }},
    {"init_not_visible", "the barrier is used before its init is visible", [] { run(init_not_visible); }},
    {"tx_count_too_small", "fewer bytes announced than copied", [] { run(tx_count_too_small); }},
    {"tx_count_too_large", "more bytes announced than copied", [] { run(tx_count_too_large); }},
    {"parity_never_flipped", "the second wait is for the parity of the first",
     [] { run(parity_never_flipped); }},
};

} // namespace

int main(int argc, char** argv) { return workbook::run_mistakes(mistakes, argc, argv); }
