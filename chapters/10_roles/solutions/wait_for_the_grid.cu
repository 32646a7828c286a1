/// @file wait_for_the_grid.cu
/// Exercise: wait for the grid before.
///
/// Given    Two kernels, launched one after the other in one stream with blocks of 128 threads. The first one
///          doubles what is pending, an array of `size` floats, and lets the second one begin early. The
///          second one has three steps: it fills `factors` from a table of 64 floats that has been there
///          before either kernel; it sets pending[i] to 0, for the next round; and it turns the result round
///          and multiplies it: out[i] = doubled[size - 1 - i] · table[i % 64]. It is launched so that it may
///          begin before the first one has ended.
/// Wanted   The same results, though the kernels overlap: what may be done while the first kernel still runs
///          comes before the wait, the rest after it. The order of the steps is yours.
/// Missing  The wait, wait_for_previous(), once; and the order of the steps. The first kernel stays as it is.
/// Judged   By the results for several sizes, and by the emulator having nothing to report; by counters: each
///          element is read once, and the table once for each block; by the kernels' PTX: the first one lets
///          the second begin before it loads, and the second waits once, after it has loaded the table.
#include <cstddef>

constexpr int block_threads = 128;
constexpr int table_floats = 64;

/// Blocks of the next kernel may begin when all blocks of this one have said so, or have ended.
__device__ inline void let_next_begin() { asm volatile("griddepcontrol.launch_dependents;" ::: "memory"); }

/// Returns when the kernel before has ended; what it wrote is visible then.
__device__ inline void wait_for_previous() { asm volatile("griddepcontrol.wait;" ::: "memory"); }

__global__ void double_all(const float* pending, float* doubled, std::size_t size) {
    let_next_begin();
    const std::size_t i = std::size_t{blockIdx.x} * block_threads + threadIdx.x;
    if (i < size)
        doubled[i] = 2 * pending[i];
}

__global__ void wait_for_the_grid(const float* doubled, const float* table, float* pending, float* out,
                                  std::size_t size) {
    __shared__ float factors[table_floats];
    const std::size_t i = std::size_t{blockIdx.x} * block_threads + threadIdx.x;
    //@ hole
    if (threadIdx.x < table_floats)
        factors[threadIdx.x] = table[threadIdx.x];
    __syncthreads();
    wait_for_previous();
    if (i < size) {
        pending[i] = 0;
        out[i] = doubled[size - 1 - i] * factors[i % table_floats];
    }
    //? // YOUR CODE: right, if nothing overlaps. What may come before the wait, and what must come after it?
    //? if (i < size)
    //?     pending[i] = 0;
    //? if (threadIdx.x < table_floats)
    //?     factors[threadIdx.x] = table[threadIdx.x];
    //? __syncthreads();
    //? if (i < size)
    //?     out[i] = doubled[size - 1 - i] * factors[i % table_floats];
    //@ end
}
