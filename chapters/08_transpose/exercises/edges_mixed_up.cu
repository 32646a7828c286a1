/// @file edges_mixed_up.cu
/// Exercise: find the mistake.
///
/// Given    A kernel that transposes a matrix of `rows` × `columns` floats: out[c * rows + r] = in[r *
///          columns + c]. There is a block of 32 × 8 threads for each column of tiles of 32 × 32; it takes
///          them one after the other, through a padded tile in shared memory. It works for one tile. It fails
///          for more than one in a column, and for matrices whose sides are no multiples of 32: these are two
///          mistakes.
/// Wanted   Check it, read what the emulator reports, repair that, and check it again.
/// Judged   By the result for matrices of several shapes; by counters: at most 5 sectors for a store and
///          a load, every element through the tile, and no bank conflict.
#include <cstddef>

constexpr int edge = 32;     // of a tile
constexpr int tile_rows = 8; // rows of threads

__global__ void edges_mixed_up(const float* in, float* out, std::size_t rows, std::size_t columns) {
    __shared__ float tile[edge][edge + 1];
    const std::size_t column = std::size_t{blockIdx.x} * edge;
    const std::size_t x = threadIdx.x;
    for (std::size_t row = 0; row < rows; row += edge) {
        for (std::size_t y = threadIdx.y; y < edge; y += tile_rows)
            if (row + y < rows && column + x < columns)
                tile[y][x] = in[(row + y) * columns + column + x];
        __syncthreads();
        for (std::size_t y = threadIdx.y; y < edge; y += tile_rows)
            if (row + y < rows && column + x < columns)
                out[(column + y) * rows + row + x] = tile[x][y];
    }
}
