/// @file convolution.cu
/// Exercise: a 3×3 convolution, fed and emptied by TMA.
///
/// Given    Two matrices of `width` × `height` floats, width a multiple of 4, with rows `pitch` elements, a
///          multiple of 16 bytes, apart, and nine weights. The output is cut into tiles of 32 × 16. Few
///          blocks of 128 threads, one for about five tiles, stay and take the tiles blockIdx.x, blockIdx.x +
///          gridDim.x, …; Tiles counts them as a block's tiles 0, 1, 2, … and knows the corner (x, y) of
///          each. A ring in shared memory has three stages, each with the input of a tile and a barrier, and
///          two buffers for results. `from` and `to` are the tensor maps that the judge makes of what
///          layout_of says, which the kernel `layout` hands it.
/// Wanted   The convolution: out(x, y) = the sum of weight[j][i] · in(x + i - 1, y + j - 1) over i, j = 0,
///          1, 2; what lies outside of the matrix counts as 0.
/// Missing  Four parts:
///          1. layout_of: what the tensor maps know of the matrices;
///          2. load: one thread asks for the input of a tile: the tile with one row more above and below,
///             and on each side `margin` columns, as a box begins at a multiple of 16 bytes;
///          3. filter: all threads compute a tile, from its stage into one of the two buffers;
///          4. the kernel: a ring in which at least the next tile is always on its way, every result is
///             stored by a tensor copy of the thread that loads, and nothing is overwritten that somebody
///             still reads.
/// Judged   By the result for matrices of several shapes; by counters: the bytes that are on their way when
///          the thread that loads reads a tile (2880 of the next one, unless it was the last); one load and
///          one store per tile, no element by a thread, no bank conflict.
#include "workbook/matrix.hpp"

#include <cuda.h>
#include <cuda/ptx>

#include <cstdint>

namespace ptx = cuda::ptx;

constexpr int block_threads = 128;
constexpr int tile_width = 32;
constexpr int tile_height = 16;
constexpr int margin = 4; ///< columns of input on each side of a tile; 16 bytes
constexpr int halo_width = tile_width + 2 * margin;
constexpr int halo_height = tile_height + 2;
constexpr int stages = 3;

/// weight[j][i] belongs to the neighbour i - 1 columns to the right and j - 1 rows below.
struct Weights {
    float weight[3][3];
};

/// The tiles that a block takes.
struct Tiles {
    int across; ///< tiles in a row of tiles
    int count;

    __device__ int index(int k) const { return static_cast<int>(blockIdx.x + k * gridDim.x); }
    __device__ bool has(int k) const { return index(k) < count; }
    __device__ int x(int k) const { return index(k) % across * tile_width; }
    __device__ int y(int k) const { return index(k) / across * tile_height; }
};

/// The input of a tile. Its size is a multiple of 128 bytes: there is unused memory behind `at`.
struct alignas(128) Halo {
    float at[halo_height][halo_width];
};

/// The result of a tile.
struct alignas(128) Sums {
    float at[tile_height][tile_width];
};

/// What a block has in shared memory.
struct Ring {
    Halo halo[stages];
    Sums sums[2];
    std::uint64_t full[stages]; ///< each for one arrival
};

/// A tensor in global memory and the box that one copy moves.
struct Layout {
    std::uint64_t dims[2];
    std::uint64_t strides[1];
    std::uint32_t box[2];
};

/// The layout of a matrix for boxes of box_width × box_height.
__host__ __device__ inline Layout layout_of(workbook::Matrix<const float> matrix, std::uint32_t box_width,
                                            std::uint32_t box_height) {
    return {.box = {box_width, box_height}}; // YOUR CODE (1)
}

/// For the judge; one thread.
__global__ void layout(workbook::Matrix<const float> matrix, std::uint32_t box_width,
                       std::uint32_t box_height, Layout* result) {
    *result = layout_of(matrix, box_width, box_height);
}

/// One thread: starts the load of the block's tile k into stage k % stages. It arrives on the stage's
/// barrier.
__device__ inline void load(Ring& ring, const CUtensorMap& from, const Tiles& tiles, int k) {
    // YOUR CODE (2)
}

/// All threads: compute the block's tile k from stage k % stages into buffer k % 2.
__device__ inline void filter(Ring& ring, const Weights& weights, int k) {
    // YOUR CODE (3)
}

/// Waits until the phase with this parity is complete. The bytes it counted are then visible to this thread.
__device__ inline void wait(std::uint64_t* bar, std::uint32_t parity) {
    while (!ptx::mbarrier_try_wait_parity(bar, parity)) {
    }
}

__global__ void convolution(const __grid_constant__ CUtensorMap from, const __grid_constant__ CUtensorMap to,
                            const __grid_constant__ Weights weights, Tiles tiles) {
    __shared__ Ring ring;
    // YOUR CODE (4): start the ring; for each tile wait, filter, show the async proxy what was
    // written, store, and load the tile that comes next into this stage.
}
