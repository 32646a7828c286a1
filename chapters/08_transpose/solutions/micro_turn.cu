/// @file micro_turn.cu
/// Exercise: micro-tiles, and rows of four chunks.
///
/// Given    A matrix of `rows` × `columns` floats, multiples of 16 and 64; both arrays begin at a multiple of
///          16 bytes. A block of 64 threads turns a tile of 16 rows and 64 columns, each thread a micro-tile
///          of 4 × 4. Loads, stores and the turn in registers are as they should be. The turned tile has 64
///          rows of four chunks of 16 bytes, and a line of the tile, 128 bytes, has two of them: chunk c of
///          row r is in line r / 2, at place 4 * (r % 2) + c of eight.
/// Wanted   The results are right, but eight lanes that write together meet in one group of four banks. Find
///          another order of the chunks within each line, for which neither writes nor reads have a bank
///          conflict. The tile has 4096 bytes: no room for a pad.
/// Missing  Two expressions: the place of a chunk where it is written, and where it is read.
/// Judged   By the result for matrices of several shapes; by counters: no bank conflict, every access takes
///          16 bytes, every element is loaded once and goes through the tile once.
#include <cstddef>

constexpr int tile_rows = 16; // of `in`
constexpr int tile_columns = 64;

/// The rows of a micro-tile become its columns.
__device__ inline void turn(float4 (&micro)[4]) {
    const auto [a, b, c, d] = micro;
    micro[0] = {a.x, b.x, c.x, d.x};
    micro[1] = {a.y, b.y, c.y, d.y};
    micro[2] = {a.z, b.z, c.z, d.z};
    micro[3] = {a.w, b.w, c.w, d.w};
}

__global__ void micro_turn(const float* in, float* out, std::size_t rows, std::size_t columns) {
    __shared__ alignas(128) float4 tile[tile_columns / 2][8];    // lines of two turned rows
    const std::size_t row = std::size_t{blockIdx.x} * tile_rows; // blocks go down the columns of `in`
    const std::size_t column = std::size_t{blockIdx.y} * tile_columns;
    const int t = static_cast<int>(threadIdx.x);

    const int down = t / 16; // of 4 micro-tiles
    const int across = t % 16;
    const float* from = in + (row + 4 * down) * columns + column + 4 * across;
    float4 micro[4];
    for (int i = 0; i < 4; ++i)
        micro[i] = *reinterpret_cast<const float4*>(from + i * columns);
    turn(micro);
    for (int i = 0; i < 4; ++i) { // chunk `down` of row r
        const int r = 4 * across + i;
        //@ hole
        const int place = (4 * (r % 2) + down) ^ (across % 8);
        //? const int place = 4 * (r % 2) + down; // YOUR CODE
        //@ end
        tile[r / 2][place] = micro[i];
    }
    __syncthreads();
    for (int k = 0; k < 4; ++k) { // chunk c of row r
        const int r = 16 * k + t / 4;
        const int c = t % 4;
        //@ hole
        const int place = (4 * (r % 2) + c) ^ (r / 4 % 8);
        //? const int place = 4 * (r % 2) + c; // YOUR CODE
        //@ end
        *reinterpret_cast<float4*>(out + (column + r) * rows + row + 4 * c) = tile[r / 2][place];
    }
}
