/// @file through_a_tile.cu
/// Exercise: both accesses along rows.
///
/// Given    A matrix of `rows` × `columns` floats, row after row, in `in`; `out` has columns × rows floats
///          and gets the transposed: out[c * rows + r] = in[r * columns + c]. A block of 32 × 8 threads
///          takes a tile of 32 × 32, whose first element is in row `row` and column `column` of `in`; each
///          thread takes four elements, 8 rows apart. Tiles at the right and lower edge hang over.
/// Wanted   The kernel is right, but a warp writes 32 floats that lie `rows` floats apart: 32 sectors for
///          128 bytes. Let the block write the tile to shared memory, wait, and store it so that a warp
///          writes neighbouring elements of one row of `out`.
/// Judged   By the result for matrices of several shapes; by counters: at most 5 sectors for a store (4,
///          and one more where a row does not begin at a multiple of 32 bytes), the same for a load, every
///          element read from shared memory once, and no bank conflict.
#include <cstddef>

constexpr int edge = 32;     // of a tile
constexpr int tile_rows = 8; // rows of threads

__global__ void through_a_tile(const float* in, float* out, std::size_t rows, std::size_t columns) {
    const std::size_t row = std::size_t{blockIdx.y} * edge;
    const std::size_t column = std::size_t{blockIdx.x} * edge;
    const std::size_t x = threadIdx.x;
    //@ hole
    __shared__ float tile[edge][edge + 1]; // one more, so that a column lies in 32 banks
    for (std::size_t y = threadIdx.y; y < edge; y += tile_rows)
        if (row + y < rows && column + x < columns)
            tile[y][x] = in[(row + y) * columns + column + x];
    __syncthreads();
    for (std::size_t y = threadIdx.y; y < edge; y += tile_rows)
        if (column + y < columns && row + x < rows)
            out[(column + y) * rows + row + x] = tile[x][y];
    //? // YOUR CODE: read to a tile in shared memory, store from it.
    //? for (std::size_t y = threadIdx.y; y < edge; y += tile_rows)
    //?     if (row + y < rows && column + x < columns)
    //?         out[(column + x) * rows + row + y] = in[(row + y) * columns + column + x];
    //@ end
}
