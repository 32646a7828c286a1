/// @file no_conflicts.cu
/// Exercise: columns without bank conflicts.
///
/// Given    A block loads a tile of 32 rows of `chunks` chunks, four unsigned ints each, and writes the sum
///          of each column, modulo 2^32, to sums[(row of tiles) * width + column]. Thread t brings chunk
///          t % chunks of row t / chunks. Then warp w adds the columns of chunk w; lane r reads row r. What
///          lies outside of the matrix counts as 0. `pitch` is a multiple of 4, `chunks` any number up to 24.
///          Eight neighbouring lanes are served together, by loads and by stores.
/// Wanted   The results are right, but lanes that read one column of chunks meet: how many, depends on
///          `chunks`. Find an order of the chunks within their rows for which neither loads nor stores have a
///          bank conflict. The block has room for the tile alone: none for a pad.
/// Missing  The place of a chunk, made of row, chunk, chunks and constants. Begin with 10 chunks a row.
/// Judged   By the result; by counters: no bank conflict, each chunk written once and read once.
#include <cstdint>

constexpr int tile_rows = 32;

/// Where chunk number `chunk` of row `row` lies, counted in chunks from the start of the tile, which is a
/// multiple of 128 bytes. A row has `chunks` of them.
__device__ inline int place(int row, int chunk, int chunks) {
    //@ hole
    const int mode = chunks % 8 == 0 ? 8 : chunks % 4 == 0 ? 4 : chunks % 2 == 0 ? 2 : 1;
    return row * chunks + (chunk ^ (row * mode / 8 % mode));
    //? return row * chunks + chunk; // YOUR CODE
    //@ end
}

__global__ void no_conflicts(const unsigned* in, int width, int height, int pitch, int chunks,
                             unsigned* sums) {
    extern __shared__ uint4 tile[];
    const int t = static_cast<int>(threadIdx.x);
    const int left = static_cast<int>(blockIdx.x) * chunks * 4;
    const int top = static_cast<int>(blockIdx.y) * tile_rows;

    const int row = t / chunks;
    const int chunk = t % chunks;
    uint4 mine{};
    if (top + row < height && left + 4 * chunk < width)
        mine = *reinterpret_cast<const uint4*>(in + (top + row) * pitch + left + 4 * chunk);
    tile[place(row, chunk, chunks)] = mine;
    __syncthreads();

    const int warp = t / 32;
    const int lane = t % 32;
    const uint4 four = tile[place(lane, warp, chunks)];
    const unsigned values[] = {four.x, four.y, four.z, four.w};
    for (int i = 0; i < 4; ++i) {
        const unsigned sum = __reduce_add_sync(0xffffffffu, values[i]);
        const int column = left + 4 * warp + i;
        if (lane == 0 && column < width)
            sums[blockIdx.y * width + column] = sum;
    }
}
