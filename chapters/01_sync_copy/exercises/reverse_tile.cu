/// @file reverse_tile.cu
/// Exercise: bring a tile to shared memory, one element per thread.
///
/// Given    in: `size` floats in global memory. out: as many. Neither is aligned to more than 4 bytes.
/// Wanted   The array is taken in tiles of 256 elements, and each tile is written back in reverse order:
///          out[start + i] = in[start + count - 1 - i]. The last tile may be cut: `count` says how many
///          elements it has. The kernel runs one block of 256 threads per tile.
/// Missing  One line: thread t brings element t of the tile, if the tile has one, by an ordinary load and
///          an ordinary store. Copies past the registers come in chapter 2.
#include "workbook/tile.cuh"

constexpr int block_threads = 256;

__global__ void reverse_tile(const float* in, float* out, std::size_t size) {
    __shared__ float tile[block_threads];
    const std::size_t start = std::size_t{blockIdx.x} * block_threads;
    const int count = workbook::tile_count(start, block_threads, size);
    const int t = threadIdx.x;
    if (t < count) {
        // YOUR CODE: bring element t of this block's tile from `in`.
    }
    __syncthreads(); // the whole tile has been written
    if (t < count)
        out[start + t] = tile[count - 1 - t];
}
