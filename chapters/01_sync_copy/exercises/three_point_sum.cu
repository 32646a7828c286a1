/// @file three_point_sum.cu
/// Exercise: find the mistake. The barrier is there, and yet two threads race.
///
/// Given    in: `size` floats in global memory. out: as many. The kernel runs one block of 256 threads
///          per tile of 256 elements; its shared tile has one more element at each side, the halo.
/// Wanted   out[i] = in[i - 1] + in[i] + in[i + 1], where elements outside the array count as 0.
/// Missing  Nothing, but one step comes at the wrong time. `./workbook check` shows the two lines that
///          race. One barrier is enough.
#include "workbook/tile.cuh"

constexpr int block_threads = 256;

__global__ void three_point_sum(const float* in, float* out, std::size_t size) {
    __shared__ float tile[block_threads + 2]; // tile[1 + t] is element start + t
    const std::size_t start = std::size_t{blockIdx.x} * block_threads;
    const int count = workbook::tile_count(start, block_threads, size);
    const int t = threadIdx.x;
    if (t < count)
        tile[1 + t] = in[start + t];
    __syncthreads();
    if (t == 0) { // the halo
        tile[0] = start > 0 ? in[start - 1] : 0;
        tile[1 + count] = start + count < size ? in[start + count] : 0;
    }
    if (t < count)
        out[start + t] = tile[t] + tile[t + 1] + tile[t + 2];
}
