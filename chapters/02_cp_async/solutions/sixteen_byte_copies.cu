/// @file sixteen_byte_copies.cu
/// Exercise: copies of 16 bytes, though most rows begin at no multiple of 16 bytes.
///
/// Given    in: `size` floats in global memory, 256-byte aligned: rows of 1021 floats, each right behind the
///          one before; the last may be cut. out: as many. One block of 256 threads per row, with room for
///          1024 floats in shared memory. __pipeline_memcpy_async(to, from, 16, zeros) copies 16 - zeros
///          bytes to shared memory and fills the last `zeros` of the 16 with 0; both addresses are
///          multiples of 16. `zeros` is a number of bytes from 0 to 16: any other ends the kernel with a
///          trap. With 16 nothing is read, and `from` may lie past the end.
/// Wanted   Each row is written back in reverse order. Every thread starts exactly one copy, of 16 bytes.
/// Missing  Where in `tile` the row begins, and the copy.
#include "workbook/tile.cuh"

#include <cuda_pipeline_primitives.h>

#include <cstddef>

constexpr int block_threads = 256;
constexpr int row_size = 1021;
constexpr int tile_size = 1024;

__global__ void sixteen_byte_copies(const float* in, float* out, std::size_t size) {
    __shared__ alignas(16) float tile[tile_size];
    const std::size_t start = std::size_t{blockIdx.x} * row_size;
    const int count = workbook::tile_count(start, row_size, size);
    //@ hole
    const int before = start % 4; // floats between the last multiple of 16 bytes and the row
    const float* row = tile + before;
    const int first = 4 * threadIdx.x;
    const int there = min(max(before + count - first, 0), 4);
    // Behind the end nothing is read, and the address is not used.
    __pipeline_memcpy_async(&tile[first], in + start - before + first, 16, 16 - there * sizeof(float));
    //? // YOUR CODE: right, but each copy brings 4 bytes only. One copy of 16 per thread, please.
    //? const float* row = tile;
    //? for (int i = threadIdx.x; i < count; i += block_threads)
    //?     __pipeline_memcpy_async(&tile[i], in + start + i, 4);
    //@ end
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    workbook::store_reversed(row, out + start, count);
}
