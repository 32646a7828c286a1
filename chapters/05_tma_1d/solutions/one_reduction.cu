/// @file one_reduction.cu
/// Exercise: a bulk reduction, and what has to come before and after it.
///
/// Given    A matrix `in` of ints with 256 columns and any number of rows, and 256 `totals`; both begin at
///          multiples of 16 bytes. A block of 256 threads takes 32 rows (the last one may have fewer):
///          thread i sums column i and writes the sum to `sums[i]` in shared memory.
/// Wanted   The block adds its 256 sums to the totals by one bulk reduction:
///          1. what the threads have written becomes visible to the async proxy, and all of them have
///             written;
///          2. thread 0 starts the reduction of `sums` into `totals`, and commits it;
///          3. thread 0 does not leave before the reduction has read `sums`.
/// Missing  These steps. The code that stands there is right, but every thread adds its sum by itself.
/// Judged   By the result for several numbers of rows; by counters: no atomic addition by a thread, one
///          reduction per block.

#include <cuda/ptx>

#include <cstddef>

namespace ptx = cuda::ptx;

constexpr int columns = 256; // a thread for each
constexpr int block_rows = 32;

__global__ void one_reduction(const int* in, int* totals, int rows) {
    __shared__ alignas(16) int sums[columns];
    const int first = blockIdx.x * block_rows;
    int sum = 0;
    for (int row = first; row < min(first + block_rows, rows); ++row)
        sum += in[std::size_t(row) * columns + threadIdx.x];
    sums[threadIdx.x] = sum;
    //@ hole
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (threadIdx.x == 0) {
        ptx::cp_reduce_async_bulk(ptx::space_global, ptx::space_shared, ptx::op_add, totals, sums,
                                  sizeof sums);
        ptx::cp_async_bulk_commit_group();
        ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
    }
    //? // YOUR CODE: ptx::fence_proxy_async and a barrier; then, by one thread, ptx::cp_reduce_async_bulk,
    //? // ptx::cp_async_bulk_commit_group and ptx::cp_async_bulk_wait_group_read, instead of
    //? atomicAdd(totals + threadIdx.x, sums[threadIdx.x]);
    //@ end
}
