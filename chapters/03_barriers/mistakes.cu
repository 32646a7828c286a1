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
constexpr std::uint32_t tile_bytes = block_threads * sizeof(int);

#pragma nv_diag_suppress static_var_with_dynamic_init // init() sets barriers up, no constructor runs

/// Initialises a barrier for `arrivals` arrivals, visible to all threads of the block and to the async proxy.
__device__ void init_barrier(std::uint64_t* bar, std::uint32_t arrivals) {
    if (threadIdx.x == 0) {
        mbarrier_init(bar, arrivals);
        fence_proxy_async(space_shared);
    }
    __syncthreads();
}

__device__ void expect(std::uint64_t* bar, std::uint32_t bytes) {
    mbarrier_arrive_expect_tx(sem_release, scope_cta, space_shared, bar, bytes);
}

/// One bulk copy of a tile, counted on `bar`.
__device__ void load(int* tile, const int* in, std::uint64_t* bar) {
    const std::uint32_t bytes = tile_bytes;
    cp_async_bulk(space_shared, space_global, tile, in, bytes, bar);
}

__device__ void wait(std::uint64_t* bar, std::uint32_t parity) {
    while (!mbarrier_try_wait_parity(bar, parity)) {
    }
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

/// Nothing makes the other threads wait until the barrier is initialised.
__global__ void init_not_visible(const int* in, int* out) {
    __shared__ int tile[block_threads];
    __shared__ std::uint64_t bar;
    if (threadIdx.x == 0)
        mbarrier_init(&bar, block_threads); // expect: barrier-init-not-visible
    tile[threadIdx.x] = in[threadIdx.x];
    mbarrier_arrive(&bar); // expect: barrier-init-not-visible
    wait(&bar, 0);
    out[threadIdx.x] = tile[block_threads - 1 - threadIdx.x];
}

/// Two copies are on their way, but the bytes of only one are announced: the phase may end after the first
/// that lands.
__global__ void tx_count_too_small(const int* in, int* out) {
    __shared__ alignas(16) int first[block_threads];
    __shared__ alignas(16) int second[block_threads];
    __shared__ std::uint64_t bar;
    init_barrier(&bar, 1);
    if (threadIdx.x == 0) {
        expect(&bar, tile_bytes); // should be twice as many
        load(first, in, &bar);
        load(second, in + block_threads, &bar); // expect: read-before-completion
    }
    wait(&bar, 0);
    const int sum = first[threadIdx.x];
    out[threadIdx.x] = sum + second[threadIdx.x]; // expect: read-before-completion
}

/// More bytes are announced than will ever come.
__global__ void tx_count_too_large(const int* in, int* out) {
    __shared__ alignas(16) int tile[block_threads];
    __shared__ std::uint64_t bar;
    init_barrier(&bar, 1);
    if (threadIdx.x == 0) {
        expect(&bar, tile_bytes + 16);
        load(tile, in, &bar);
    }
    wait(&bar, 0); // expect: deadlock
    out[threadIdx.x] = tile[threadIdx.x];
}

/// The second wait is again for parity 0, which is complete since the first: it waits for nothing.
__global__ void parity_never_flipped(const int* in, int* out) {
    __shared__ alignas(16) int tile[block_threads];
    __shared__ std::uint64_t bar;
    init_barrier(&bar, 1);
    const std::uint32_t parity = 0;
    for (int round = 0; round < 2; ++round, in += block_threads, out += block_threads) {
        if (threadIdx.x == 0) {
            expect(&bar, tile_bytes);
            load(tile, in, &bar); // expect: read-before-completion
        }
        wait(&bar, parity);                   // should become parity ^ 1
        out[threadIdx.x] = tile[threadIdx.x]; // expect: read-before-completion
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
