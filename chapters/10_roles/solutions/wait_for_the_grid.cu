/// @file wait_for_the_grid.cu
/// Exercise: wait for the grid before.
///
/// Given    Two kernels, launched one after the other in one stream with blocks of 128 threads. The first one
///          doubles an array of `size` floats and lets the second one begin early. The second one turns the
///          result round and multiplies it with a table of 64 floats that has been there before either:
///          out[i] = doubled[size - 1 - i] · table[i % 64]. It is launched so that it may begin before the
///          first one has ended.
/// Wanted   The second kernel fills `factors` while the first one may still run, and waits for it before it
///          reads what that wrote.
/// Missing  One line: the wait, at its place.
/// Judged   By the result for several sizes, and by the emulator having nothing to report; by counters: each
///          element is read once, and the table once for each block; by the kernel's PTX: the table is loaded
///          before the wait.
#include <cstddef>

constexpr int block_threads = 128;
constexpr int table_floats = 64;

/// Blocks of the next kernel may begin when all blocks of this one have said so, or have ended.
__device__ inline void let_next_begin() { asm volatile("griddepcontrol.launch_dependents;" ::: "memory"); }

/// Returns when the kernel before has ended; what it wrote is visible then.
__device__ inline void wait_for_previous() { asm volatile("griddepcontrol.wait;" ::: "memory"); }

__global__ void double_all(const float* in, float* doubled, std::size_t size) {
    let_next_begin();
    const std::size_t i = std::size_t{blockIdx.x} * block_threads + threadIdx.x;
    if (i < size)
        doubled[i] = 2 * in[i];
}

__global__ void wait_for_the_grid(const float* doubled, const float* table, float* out, std::size_t size) {
    __shared__ float factors[table_floats];
    const std::size_t i = std::size_t{blockIdx.x} * block_threads + threadIdx.x;
    if (threadIdx.x < table_floats)
        factors[threadIdx.x] = table[threadIdx.x];
    __syncthreads();
    //@ hole
    wait_for_previous();
    //? // YOUR CODE: `doubled` may not be there yet.
    //@ end
    if (i < size)
        out[i] = doubled[size - 1 - i] * factors[i % table_floats];
}
