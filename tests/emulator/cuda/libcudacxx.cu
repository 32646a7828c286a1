// libcu++ on the device as its own users write it: pipelines, barriers with memcpy_async, latch, semaphore,
// atomics that wait. Passes on a GPU as well.
#include "cuda/support.cuh"

#include <cooperative_groups.h>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/latch>
#include <cuda/pipeline>
#include <cuda/semaphore>

#include <chrono>
#include <numeric>
#include <thread>

namespace cg = cooperative_groups;
using Barrier = cuda::barrier<cuda::thread_scope_block>;

namespace {

constexpr int tile = 64, tiles = 8;

/// Every thread produces and consumes; two stages.
__global__ void unified_pipeline(const int* in, int* out) {
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    __shared__ int stage[2][tile];
    const auto block = cg::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    const auto fetch = [&](int i) {
        pipe.producer_acquire();
        cuda::memcpy_async(block, stage[i % 2], in + i * tile, sizeof(int) * tile, pipe);
        pipe.producer_commit();
    };
    fetch(0);
    for (int i = 0; i < tiles; ++i) {
        if (i + 1 < tiles)
            fetch(i + 1);
        pipe.consumer_wait();
        out[i * tile + static_cast<int>(threadIdx.x)] = stage[i % 2][tile - 1 - threadIdx.x];
        pipe.consumer_release();
    }
}

/// One warp produces, two consume.
__global__ void divided_pipeline(const int* in, int* out) {
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    __shared__ alignas(16) int stage[2][tile];
    const auto block = cg::this_thread_block();
    const bool produces = threadIdx.x < 32;
    auto pipe = cuda::make_pipeline(block, &state,
                                    produces ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);
    if (produces) {
        const auto warp = cg::tiled_partition<32>(block);
        for (int i = 0; i < tiles; ++i) {
            pipe.producer_acquire();
            cuda::memcpy_async(warp, stage[i % 2], in + i * tile,
                               cuda::aligned_size_t<16>(sizeof(int) * tile), pipe);
            pipe.producer_commit();
        }
        return;
    }
    const int i = static_cast<int>(threadIdx.x) - 32;
    for (int k = 0; k < tiles; ++k) {
        pipe.consumer_wait();
        out[k * tile + i] = stage[k % 2][tile - 1 - i];
        pipe.consumer_release();
    }
}

/// The same memory through cp.async of each thread, then through one bulk copy, then through stores: libcu++
/// fences nothing between them.
__global__ void barrier_copies(const int* in, int* out) {
    __shared__ Barrier barrier;
    __shared__ alignas(16) int buffer[128];
    const auto block = cg::this_thread_block();
    const unsigned i = threadIdx.x;
    if (i == 0)
        init(&barrier, blockDim.x);
    block.sync();
    cuda::memcpy_async(buffer + i, in + i, sizeof(int), barrier);
    barrier.arrive_and_wait();
    out[i] = buffer[127 - i];
    barrier.arrive_and_wait();
    cuda::memcpy_async(block, buffer, in + 128, cuda::aligned_size_t<16>(sizeof buffer), barrier);
    barrier.wait(barrier.arrive());
    out[i] += 1000 * buffer[127 - i];
    barrier.arrive_and_wait();
    buffer[i] = static_cast<int>(i);
    if (i >= 64) {
        barrier.arrive_and_drop();
        return;
    }
    barrier.arrive_and_wait();
    out[i] += 1'000'000 * buffer[i + 64];
    barrier.arrive_and_wait();
}

/// Copies first, then expects, as libcu++'s own wrappers do; the result is read behind wait_group.read and a
/// fence.
__global__ void copy_and_back(int* data) {
    __shared__ Barrier barrier;
    __shared__ alignas(16) int buffer[128];
    const unsigned i = threadIdx.x;
    data[i] = static_cast<int>(i);
    __threadfence();
    if (i == 0)
        init(&barrier, blockDim.x);
    __syncthreads();
    Barrier::arrival_token token;
    if (i == 0) {
        cuda::device::memcpy_async_tx(buffer, data, cuda::aligned_size_t<16>(sizeof buffer), barrier);
        token = cuda::device::barrier_arrive_tx(barrier, 1, sizeof buffer);
    } else {
        token = barrier.arrive();
    }
    barrier.wait(cuda::std::move(token));
    buffer[i] += static_cast<int>(i);
    cuda::ptx::fence_proxy_async(cuda::ptx::space_shared);
    __syncthreads();
    if (i == 0) {
        cuda::ptx::cp_async_bulk(cuda::ptx::space_global, cuda::ptx::space_shared, data, buffer,
                                 sizeof buffer);
        cuda::ptx::cp_async_bulk_commit_group();
        cuda::ptx::cp_async_bulk_wait_group_read(cuda::ptx::n32_t<0>());
    }
    __threadfence();
    __syncthreads();
    if (data[i] != 2 * static_cast<int>(i))
        __trap();
}

template <class T, class... Arguments>
__device__ T& in_shared(void* storage, Arguments... arguments) {
    if (threadIdx.x == 0)
        new (storage) T(arguments...);
    __syncthreads();
    return *static_cast<T*>(storage);
}

__global__ void latch_and_semaphore(int* out) {
    using Latch = cuda::latch<cuda::thread_scope_block>;
    using Semaphore = cuda::binary_semaphore<cuda::thread_scope_block>;
    __shared__ alignas(16) char latch_storage[sizeof(Latch)];
    __shared__ alignas(16) char semaphore_storage[sizeof(Semaphore)];
    __shared__ int values[128], counter;
    auto& latch = in_shared<Latch>(latch_storage, 128);
    values[threadIdx.x] = static_cast<int>(threadIdx.x);
    if (threadIdx.x == 0)
        counter = 0;
    latch.arrive_and_wait();
    out[threadIdx.x] = values[127 - threadIdx.x];
    auto& semaphore = in_shared<Semaphore>(semaphore_storage, 1);
    if (threadIdx.x % 32 == 0) { // on an H200 the lanes of one warp that contend for it never end
        semaphore.acquire();
        counter = counter + 1;
        semaphore.release();
    }
    __syncthreads();
    if (threadIdx.x == 0)
        out[128] = counter;
}

/// Block 1 waits until block 0 has written.
__global__ void wait_and_notify(cuda::atomic<int, cuda::thread_scope_device>* flag, int* data) {
    if (threadIdx.x != 0)
        return;
    if (blockIdx.x == 0) {
        data[0] = 42;
        flag->store(1, cuda::memory_order_release);
        flag->notify_all();
    } else {
        flag->wait(0, cuda::memory_order_acquire);
        data[1] = data[0];
    }
}

/// Waits for the host.
__global__ void wait_for_host(cuda::atomic<int, cuda::thread_scope_system>* flag, int* out) {
    while (flag->load(cuda::memory_order_acquire) == 0) {
    }
    *out = 7;
}

std::vector<int> numbers(int count) {
    std::vector<int> all(static_cast<std::size_t>(count));
    std::iota(all.begin(), all.end(), 5);
    return all;
}

void check_mirrored_tiles(const std::vector<int>& in, const std::vector<int>& out) {
    int wrong = 0;
    for (int i = 0; i < tile * tiles; ++i)
        wrong += out[static_cast<std::size_t>(i)] !=
                 in[static_cast<std::size_t>(i / tile * tile + tile - 1 - i % tile)];
    CHECK(wrong == 0);
}

} // namespace

TEST_CASE("a pipeline whose threads produce and consume") {
    const auto values = numbers(tile * tiles);
    const Memory<int> in(values), out(values.size());
    unified_pipeline<<<1, tile>>>(in.data(), out.data());
    check_mirrored_tiles(values, out.read());
}

TEST_CASE("a pipeline with producers and consumers") {
    const auto values = numbers(tile * tiles);
    const Memory<int> in(values), out(values.size());
    divided_pipeline<<<1, tile + 32>>>(in.data(), out.data());
    check_mirrored_tiles(values, out.read());
}

TEST_CASE("copies of every kind on one barrier, and threads that leave it") {
    const auto values = numbers(256);
    const Memory<int> in(values), out(128);
    barrier_copies<<<1, 128>>>(in.data(), out.data());
    const auto result = out.read();
    CHECK(result[0] == 132 + 1000 * 260 + 1'000'000 * 64);
    CHECK(result[100] == 32 + 1000 * 160);
}

TEST_CASE("a bulk copy there and back without a fence after init") {
    const Memory<int> data(128);
    copy_and_back<<<1, 128>>>(data.data());
    CHECK(data.read()[127] == 254);
}

TEST_CASE("latch and semaphore") {
    const Memory<int> out(129);
    latch_and_semaphore<<<1, 128>>>(out.data());
    const auto result = out.read();
    CHECK(result[0] == 127);
    CHECK(result[128] == 4);
}

TEST_CASE("an atomic that waits for another block") {
    const Memory<cuda::atomic<int, cuda::thread_scope_device>> flag(1);
    CHECK_CUDA(cudaMemset(flag.data(), 0, sizeof(int)));
    const Memory<int> data(2);
    wait_and_notify<<<2, 32>>>(flag.data(), data.data());
    CHECK(data.read()[1] == 42);
}

TEST_CASE("a kernel that waits for a thread of the host") {
    using Flag = cuda::atomic<int, cuda::thread_scope_system>;
    Flag* flag = nullptr;
    CHECK_CUDA(cudaMallocHost(&flag, sizeof(Flag)));
    new (flag) Flag(0);
    std::thread host([flag] {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        flag->store(1, cuda::memory_order_release);
    });
    const Memory<int> out(1);
    wait_for_host<<<1, 1>>>(flag, out.data());
    CHECK(out.read()[0] == 7);
    host.join();
    CHECK_CUDA(cudaFreeHost(flag));
}
