/// @file gone_neighbour.cu
/// Exercise: find the mistake.
///
/// Given    A kernel that turns an array of unsigned ints round in chunks: clusters of four blocks of 128
///          threads take 512 elements each, and every block gets the elements of its left neighbour, the
///          first block those of the last: out[512 c + (i + 128) % 512] = in[512 c + i]. `size` is a
///          multiple of 512. On a GPU it may pass.
/// Wanted   Check it, read what the emulator reports, repair that, and check it again: there are two
///          mistakes. Threads go on loading from the neighbour's memory, or store to it: a bulk copy between
///          blocks ends in another way, at an mbarrier, and is no repair of this kernel.
/// Judged   By the result for several sizes, and by the emulator having nothing to report; by counters:
///          every element comes from a neighbour's shared memory, and two barriers for each cluster.
#include <cooperative_groups.h>

#include <cstddef>

namespace cg = cooperative_groups;

constexpr unsigned blocks_per_cluster = 4;
constexpr unsigned block_threads = 128;

__global__ void gone_neighbour(const unsigned* in, unsigned* out) {
    __shared__ unsigned tile[block_threads];
    const cg::cluster_group cluster = cg::this_cluster();
    const std::size_t i = std::size_t{blockIdx.x} * block_threads + threadIdx.x;
    tile[threadIdx.x] = in[i];
    __syncthreads();
    const unsigned left = (cluster.block_rank() + blocks_per_cluster - 1) % blocks_per_cluster;
    out[i] = cluster.map_shared_rank(tile, left)[threadIdx.x];
}
