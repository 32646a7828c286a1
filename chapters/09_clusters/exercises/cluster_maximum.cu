/// @file cluster_maximum.cu
/// Exercise: read what the neighbours have in shared memory.
///
/// Given    An array `in` of `size` unsigned ints, and room for one maximum per cluster. The judge launches
///          clusters of four blocks of 256 threads; cluster c takes the 1024 elements from 1024 c on (the
///          last cluster may find fewer). Every block has the maximum of its 256 elements in `maximum`, a
///          variable in its shared memory (0 if it has no element).
/// Wanted   Thread 0 of the block with the last rank, 3, writes the maximum of all four to maxima[c]. No
///          block may read another's variable before that is written, and no block may exit before its
///          variable was read.
/// Missing  Three lines: a barrier of the cluster, the address of the variable of block `rank`, and a
///          barrier.
/// Judged   By the result for several sizes; by counters: two barriers in each cluster, three variables
///          read from neighbours, and each element of `in` read once.
#include <cooperative_groups.h>

#include <cstddef>

namespace cg = cooperative_groups;

constexpr int blocks_per_cluster = 4;
constexpr int block_threads = 256;

/// Writes the maximum of the block's values to `maximum`, by thread 0.
__device__ inline void block_maximum(unsigned value, unsigned* maximum) {
    __shared__ unsigned of_warp[block_threads / 32];
    const unsigned mine = __reduce_max_sync(0xffffffffu, value);
    if (threadIdx.x % 32 == 0)
        of_warp[threadIdx.x / 32] = mine;
    __syncthreads();
    if (threadIdx.x == 0) {
        unsigned result = 0;
        for (const unsigned part : of_warp)
            result = max(result, part);
        *maximum = result;
    }
}

__global__ void cluster_maximum(const unsigned* in, std::size_t size, unsigned* maxima) {
    __shared__ unsigned maximum;
    const cg::cluster_group cluster = cg::this_cluster();
    const std::size_t i = std::size_t{blockIdx.x} * block_threads + threadIdx.x;
    block_maximum(i < size ? in[i] : 0, &maximum);
    // YOUR CODE: nobody may go on before all maxima are written.
    if (cluster.block_rank() == blocks_per_cluster - 1 && threadIdx.x == 0) {
        unsigned result = 0;
        for (int rank = 0; rank < blocks_per_cluster; ++rank) {
            const unsigned* theirs = &maximum; // YOUR CODE: that of block `rank`
            result = max(result, *theirs);
        }
        maxima[blockIdx.x / blocks_per_cluster] = result;
    }
    // YOUR CODE: nobody may exit before rank 3 has read.
}
