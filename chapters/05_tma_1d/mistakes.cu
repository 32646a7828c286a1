/// @file mistakes.cu
/// Chapter 5, wrong on purpose: one rule of bulk copies broken in each kernel.
#include "workbook/buffer.hpp"
#include "workbook/launch.hpp"
#include "workbook/mistakes.hpp"

#include <cuda/ptx>

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace {

using namespace cuda::ptx;

constexpr int block_threads = 128;

/// Initialises a barrier for `arrivals` arrivals, visible to all threads of the block.
__device__ void init_barrier(std::uint64_t* bar, std::uint32_t arrivals) {
    if (threadIdx.x == 0)
        mbarrier_init(bar, arrivals);
    __syncthreads();
}

__device__ void expect(std::uint64_t* bar, std::uint32_t bytes) {
    mbarrier_arrive_expect_tx(sem_release, scope_cta, space_shared, bar, bytes);
}

__device__ void wait(std::uint64_t* bar, std::uint32_t parity = 0) {
    while (!mbarrier_try_wait_parity(bar, parity)) {
    }
}

/// The threads write the tile through the generic proxy; nothing orders that before the store's reads.
__global__ void proxy_fence_missing(const int* in, int* out) {
    __shared__ alignas(16) int tile[block_threads];
    const std::uint32_t bytes = sizeof(tile);
    tile[threadIdx.x] = in[threadIdx.x] + 1; // expect: missing-proxy-fence
    __syncthreads();
    if (threadIdx.x == 0) {
        cp_async_bulk(space_global, space_shared, out, tile, bytes); // expect: missing-proxy-fence
        cp_async_bulk_commit_group();
        cp_async_bulk_wait_group_read(n32_t<0>());
    }
}

/// The second tile is written while the bulk store may still read the first.
__global__ void reused_before_read(const int* in, int* out) {
    __shared__ alignas(16) int tile[block_threads];
    const std::uint32_t bytes = sizeof(tile);
    for (int round = 0; round < 2; ++round, in += block_threads, out += block_threads) {
        tile[threadIdx.x] = in[threadIdx.x] + 1; // expect: reuse-before-read-done
        fence_proxy_async(space_shared);
        __syncthreads();
        if (threadIdx.x == 0) {
            cp_async_bulk(space_global, space_shared, out, tile, bytes); // expect: reuse-before-read-done
            cp_async_bulk_commit_group();
        }
        __syncthreads();
    }
    if (threadIdx.x == 0)
        cp_async_bulk_wait_group_read(n32_t<0>());
}

/// A bulk copy of 500 bytes, which is not a multiple of 16.
__global__ void size_not_multiple_of_16(const int* in, int* out) {
    __shared__ alignas(16) int tile[block_threads];
    __shared__ std::uint64_t bar;
    const std::uint32_t bytes = 500;
    init_barrier(&bar, 1);
    if (threadIdx.x == 0) {
        expect(&bar, bytes);
        cp_async_bulk(space_shared, space_global, tile, in, bytes, &bar); // expect: invalid-size
    }
    wait(&bar);
    out[threadIdx.x] = tile[threadIdx.x];
}

/// Every thread announces and issues the whole tile: 128 copies of the same bytes to the same place.
__global__ void every_thread_issues(const int* in, int* out) {
    __shared__ alignas(16) int tile[block_threads];
    const std::uint32_t bytes = sizeof(tile);
    __shared__ std::uint64_t bar;
    init_barrier(&bar, block_threads);
    expect(&bar, bytes);
    cp_async_bulk(space_shared, space_global, tile, in, bytes, &bar); // expect: duplicate-copy
    wait(&bar);
    out[threadIdx.x] = tile[threadIdx.x];
}

/// The tile is read while its bytes are still on their way.
__global__ void wait_missing(const int* in, int* out) {
    __shared__ alignas(16) int tile[block_threads];
    const std::uint32_t bytes = sizeof(tile);
    __shared__ std::uint64_t bar;
    init_barrier(&bar, 1);
    if (threadIdx.x == 0) {
        expect(&bar, bytes);
        cp_async_bulk(space_shared, space_global, tile, in, bytes, &bar); // expect: read-before-completion
    }
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x]; // expect: read-before-completion
    wait(&bar);
}

/// The tile is read into registers, the next copy overwrites it, and only then are the values used: a read
/// may still be under way when the block has met.
__global__ void read_overtaken(const int* in, int* out) {
    __shared__ alignas(16) int tile[block_threads];
    const std::uint32_t bytes = sizeof(tile);
    __shared__ std::uint64_t bar;
    init_barrier(&bar, 1);
    if (threadIdx.x == 0) {
        expect(&bar, bytes);
        cp_async_bulk(space_shared, space_global, tile, in, bytes, &bar);
    }
    wait(&bar);
    const int* next = in + block_threads;
    const int first = tile[threadIdx.x]; // expect: read-overtaken
    __syncthreads();                     // all have read
    if (threadIdx.x == 0) {
        expect(&bar, bytes);
        cp_async_bulk(space_shared, space_global, tile, next, bytes, &bar); // expect: read-overtaken
    }
    out[threadIdx.x] = first;
    wait(&bar, 1);
    out[block_threads + threadIdx.x] = tile[threadIdx.x];
}

/// The barrier counts two arrivals and only one thread arrives.
__global__ void nobody_completes(const int* in, int* out) {
    __shared__ alignas(16) int tile[block_threads];
    const std::uint32_t bytes = sizeof(tile);
    __shared__ std::uint64_t bar;
    init_barrier(&bar, 2);
    if (threadIdx.x == 0) {
        expect(&bar, bytes);
        cp_async_bulk(space_shared, space_global, tile, in, bytes, &bar);
    }
    while (!mbarrier_try_wait_parity(&bar, 0)) { // expect: deadlock
    }
    out[threadIdx.x] = tile[threadIdx.x];
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
    {"proxy_fence_missing", "no proxy fence before the bulk store", [] { run(proxy_fence_missing); }},
    {"reused_before_read", "shared memory reused before wait_group.read", [] { run(reused_before_read); }},
    {"size_not_multiple_of_16", "a bulk copy of 500 bytes", [] { run(size_not_multiple_of_16); }},
    {"every_thread_issues", "every thread issues the copy", [] { run(every_thread_issues); }},
    {"wait_missing", "the tile read without waiting for the barrier", [] { run(wait_missing); }},
    {"read_overtaken", "a read that the next copy may overtake", [] { run(read_overtaken); }},
    {"nobody_completes", "a barrier that nobody completes", [] { run(nobody_completes); }},
};

} // namespace

int main(int argc, char** argv) { return workbook::run_mistakes(mistakes, argc, argv); }
