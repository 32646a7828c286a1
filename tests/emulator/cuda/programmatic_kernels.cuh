#pragma once
// The kernels of programmatic_program.cu.

#include <cstdint>
#include <cuda_runtime.h>

namespace {

constexpr int threads = 128, blocks = 4, size = threads * blocks,
              bytes = size * static_cast<int>(sizeof(int));

__device__ int index() { return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); }
__device__ void trigger() { cudaTriggerProgrammaticLaunchCompletion(); }
__device__ void wait() { cudaGridDependencySynchronize(); }

enum class At { never, begin, end };

/// Each makes every element one greater than in `in`.
template <At triggers>
__global__ void produce(const int* in, int* out) {
    if (triggers == At::begin)
        trigger();
    out[index()] = in[index()] + 1;
    if (triggers == At::end)
        trigger();
}
template <At waits>
__global__ void consume(const int* in, int* out) {
    if (waits == At::begin)
        wait();
    out[index()] = in[index()] + 1;
    if (waits == At::end)
        wait();
}
template <At waits, At triggers>
__global__ void middle(const int* in, int* out) {
    if (triggers == At::begin)
        trigger();
    if (waits == At::begin)
        wait();
    if (triggers == At::end)
        trigger();
    out[index()] = in[index()] + 1;
    if (waits == At::end)
        wait();
}
/// Thread 0 waits for all, which then have to wait for it.
template <bool synchronises>
__global__ void consume_behind_first(const int* in, int* out) {
    if (threadIdx.x == 0)
        wait();
    if (synchronises)
        __syncthreads();
    out[index()] = in[index()] + 1;
}
/// One warp waits and hands over through shared memory, as producers in warp-specialised kernels do.
__global__ void consume_by_warps(const int* in, int* out) {
    __shared__ int staged[threads];
    __shared__ volatile int full;
    if (threadIdx.x == 0)
        full = 0;
    __syncthreads();
    if (threadIdx.x < 32) {
        wait();
        for (int i = static_cast<int>(threadIdx.x); i < threads; i += 32)
            staged[i] = in[blockIdx.x * threads + i];
        __threadfence_block();
        __syncwarp();
        if (threadIdx.x == 0)
            full = 1;
    } else {
        while (full == 0) {
        }
        __threadfence_block();
    }
    __syncthreads();
    out[index()] = staged[threadIdx.x] + in[index()] - in[index()] + 1;
}
/// The whole block's input comes by one copy.
template <bool early>
__global__ void consume_by_copy(const int* in, int* out) {
    __shared__ alignas(128) int staged[threads];
    __shared__ alignas(8) std::uint64_t barrier;
    const auto at = static_cast<unsigned>(__cvta_generic_to_shared(&barrier));
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(at) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        if (!early)
            wait();
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(at), "n"(threads * 4)
                     : "memory");
        asm volatile(
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                static_cast<unsigned>(__cvta_generic_to_shared(staged))),
            "l"(in + blockIdx.x * threads), "n"(threads * 4), "r"(at)
            : "memory");
    }
    __syncthreads();
    unsigned done = 0;
    while (!done)
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.b32 %0, 1, 0, p; }"
                     : "=r"(done)
                     : "r"(at)
                     : "memory");
    if (early)
        wait();
    out[index()] = staged[threadIdx.x] + 1;
}
/// What CUTLASS does before it waits: barriers, prefetches, parameters and weights that were there before.
__global__ void with_preamble(const int* in, const int* weights, int* out) {
    __shared__ int zeros[threads];
    zeros[threadIdx.x] = 0;
    const int weight = weights[index()];
    asm volatile("prefetch.global.L2 [%0];" ::"l"(in + index()));
    __syncthreads();
    wait();
    out[index()] = in[index()] + 1 + weight - weight + zeros[threadIdx.x];
}
/// Reads first, lets the next begin when the whole block has read, and works on.
__global__ void read_then_trigger(const int* in, int* out) {
    const int value = in[index()];
    __syncthreads();
    trigger();
    out[index()] = value + 1;
}
__global__ void trigger_then_read(const int* in, int* out) {
    trigger();
    out[index()] = in[index()] + 1;
}
/// Clears memory that the kernel before reads.
template <bool early>
__global__ void clear_and_pass(int* cleared, const int* in, int* out) {
    if (!early)
        wait();
    cleared[index()] = 0;
    if (early)
        wait();
    out[index()] = in[index()] + 1;
}
__global__ void set(int* out, int value) { out[index()] = value; }
template <At waits>
__global__ void set_early(int* out, int value) {
    if (waits == At::begin)
        wait();
    out[index()] = value;
    if (waits == At::end)
        wait();
}
template <At triggers>
__global__ void set_late(int* out, int value) {
    if (triggers == At::begin)
        trigger();
    out[index()] = value;
}
__global__ void find_places(int* places) {
    trigger();
    places[index()] = index();
}
/// Before the places are there, they are far out.
template <bool early>
__global__ void use_places(const int* places, int* out) {
    if (!early)
        wait();
    const int place = places[index()];
    out[place] = 1;
    if (early)
        wait();
}
/// Waits, and then writes where nothing is.
__global__ void write_outside(const int* in, int* out) {
    wait();
    out[index() * 1000000] = in[index()];
}
/// Lets the next kernel begin, and waits for it.
__global__ void await_next(int* flag, int* out) {
    trigger();
    while (*static_cast<volatile int*>(flag) == 0) {
    }
    __threadfence();
    out[index()] = 1;
}
__global__ void tell_previous(int* flag) {
    if (index() == 0)
        atomicExch(flag, 1);
}
/// Hands its results over itself.
__global__ void hand_over(const int* in, int* out, int* count) {
    trigger();
    out[index()] = in[index()] + 1;
    __threadfence();
    atomicAdd(count, 1);
}
__global__ void take_over(const int* in, const int* count, int* out) {
    while (*static_cast<const volatile int*>(count) < size) {
    }
    __threadfence();
    out[index()] = in[index()] + 1;
}
__global__ void tell_host(int* flag) {
    trigger();
    if (index() == 0)
        atomicExch_system(flag, 1);
}

} // namespace
