/// @file four_sectors.cu
/// Exercise: let neighbouring threads read neighbouring elements.
///
/// Given    in: `size` floats in global memory, 256-byte aligned. out: as many. Blocks of 256 threads,
///          each of which brings four elements of a tile of 1024.
/// Wanted   Each tile is written back in reverse order, as it is already. But a warp's request must touch no
///          more sectors of 32 bytes than its elements fill: four for 32 neighbouring floats.
/// Missing  Which element i of the tile thread t brings in step k.
#include "workbook/tile.cuh"

constexpr int block_threads = 256;
constexpr int per_thread = 4;
constexpr int tile_size = block_threads * per_thread;

__global__ void four_sectors(const float* in, float* out, std::size_t size) {
    __shared__ float tile[tile_size];
    const std::size_t start = std::size_t{blockIdx.x} * tile_size;
    const int count = workbook::tile_count(start, tile_size, size);
    const int t = threadIdx.x;
    for (int k = 0; k < per_thread; ++k) {
        //@ hole
        const int i = k * block_threads + t;
        //? // YOUR CODE: right results, but too many sectors. Choose another i.
        //? const int i = t * per_thread + k;
        //@ end
        if (i < count)
            tile[i] = in[start + i];
    }
    __syncthreads();
    workbook::store_reversed(tile, out + start, count);
}
