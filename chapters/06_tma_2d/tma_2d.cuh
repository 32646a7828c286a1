/// @file tma_2d.cuh
/// Chapter 6: tensor copies. One thread names a tile by its coordinates; a tensor map knows the rest.
///
/// The tensor map is made on the host (workbook/tensor_map.hpp) and says once what the tensor is like and how
/// large the box is that a copy moves. Coordinates are (x, y): innermost first, in elements. A box may hang
/// over the end of every dimension, and one that is read may also begin before the tensor. Along x it begins
/// at a multiple of 16 bytes: an H200 stops with an illegal instruction at any other place.
#pragma once

#include "workbook/launch.hpp"
#include "workbook/matrix.hpp"
#include "workbook/tensor_map.hpp"

#include <cuda/ptx>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>

namespace tma_2d {

namespace ptx = cuda::ptx;
using workbook::make_tensor_map;
using workbook::Matrix;
using workbook::TensorLayout;

inline constexpr int block_threads = 128;
inline constexpr int tile_width = 64; // 256 bytes of int or float
inline constexpr int tile_height = 16;
inline constexpr int tile_elements = tile_width * tile_height;
inline constexpr std::uint32_t tile_bytes = tile_elements * sizeof(int);

/// The tensor map of a matrix for boxes of box_width × box_height elements.
template <class T>
CUtensorMap matrix_map(Matrix<T> matrix, std::uint32_t box_width = tile_width,
                       std::uint32_t box_height = tile_height,
                       workbook::OutOfBounds fill = workbook::OutOfBounds::zero) {
    return make_tensor_map(matrix.data, TensorLayout<2>{.dims = {matrix.width, matrix.height},
                                                        .strides = {matrix.pitch * sizeof(T)},
                                                        .box = {box_width, box_height},
                                                        .out_of_bounds = fill});
}

/// A block for every tile of a matrix; those at the right and lower edge may hang over.
template <class T>
dim3 tiles_of(Matrix<T> matrix) {
    return {workbook::blocks_for(matrix.width, tile_width), workbook::blocks_for(matrix.height, tile_height)};
}

inline constexpr int x_step = 16 / sizeof(int); ///< boxes begin at multiples of it along x

/// Two rules of the hardware; an H200 answers cudaErrorIllegalInstruction to who breaks them. A box begins at
/// a multiple of 16 bytes along the innermost dimension, and only a load may begin before the tensor (the
/// latter is stated in the CUDA C++ Programming Guide, 'Using TMA to Transfer Multi-Dimensional Arrays').
/// Throws std::invalid_argument.
inline void check_corner(const char* kernel, int x, int y, bool written) {
    if (x % x_step != 0)
        throw std::invalid_argument(std::string(kernel) + ": x = " + std::to_string(x) +
                                    " does not lie at a multiple of 16 bytes");
    if (written && (x < 0 || y < 0))
        throw std::invalid_argument(std::string(kernel) + ": a tile that is written cannot begin at (" +
                                    std::to_string(x) + ", " + std::to_string(y) + "), before the matrix");
}

/// Waits until the phase with this parity is complete. The bytes it counted are then visible to this thread.
__device__ inline void wait(std::uint64_t* bar, std::uint32_t parity) {
    while (!ptx::mbarrier_try_wait_parity(bar, parity)) {
    }
}

// ---- one tile: load, add, store back ----

/// Adds to each element of the tile at (x, y) its number in the tile.
__global__ void add_tile(const __grid_constant__ CUtensorMap map, int x, int y) {
    __shared__ alignas(128) int tile[tile_elements]; // tensor copies want 128 bytes
    __shared__ std::uint64_t bar;
    const std::int32_t at[] = {x, y};
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&bar, 1);
        ptx::fence_proxy_async(ptx::space_shared); // for older editions of the manuals: chapter 5
        // The bytes of the whole box, wherever it lies.
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar,
                                       sizeof(tile));
        ptx::cp_async_bulk_tensor(ptx::space_shared, ptx::space_global, tile, &map, at, &bar);
    }
    __syncthreads(); // nobody waits on a barrier that is not initialised
    wait(&bar, 0);
    for (int i = threadIdx.x; i < tile_elements; i += blockDim.x)
        tile[i] += i;
    ptx::fence_proxy_async(ptx::space_shared); // each writer: what I wrote, for the async proxy,
    __syncthreads();                           // and all have written
    if (threadIdx.x == 0) {
        ptx::cp_async_bulk_tensor(ptx::space_global, ptx::space_shared, &map, at, tile);
        ptx::cp_async_bulk_commit_group();
        ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>()); // until the tile has been read
    }
}

/// Adds to each element of the tile at (x, y) its number in the tile, row by row. What of the tile lies
/// beyond the matrix is left alone. x is a multiple of 4, and neither is negative.
inline void launch_add_tile(Matrix<int> matrix, int x, int y) {
    check_corner("add_tile", x, y, true);
    if (!matrix.empty())
        workbook::launch(add_tile, {.block = block_threads}, matrix_map(matrix), x, y);
}

// ---- what every kernel below does once ----

/// One thread: sets `bar` up for one phase of `bytes` bytes. The copies that it counts may follow at once.
__device__ inline void expect(std::uint64_t* bar, std::uint32_t bytes) {
    ptx::mbarrier_init(bar, 1);
    ptx::fence_proxy_async(ptx::space_shared);
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, bar, bytes);
}

/// One thread: stores the tile at these coordinates and waits until it has been read.
template <int rank>
__device__ inline void store(const CUtensorMap& map, const std::int32_t (&at)[rank], const void* tile) {
    ptx::cp_async_bulk_tensor(ptx::space_global, ptx::space_shared, &map, at, tile);
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
}

// ---- a matrix of any size ----

/// Asks for a tensor map to be brought into the cache that the copies read it from.
/// PTX ISA, prefetch.tensormap. Changes no memory.
__device__ inline void prefetch(const CUtensorMap& map) {
    asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
}

/// Adds one to every element of a matrix, a block per tile. No thread asks where the matrix ends: a load
/// fills what lies outside with zeros, and a store leaves it alone.
__global__ void add_one_matrix(const __grid_constant__ CUtensorMap map) {
    __shared__ alignas(128) int tile[tile_elements];
    __shared__ std::uint64_t bar;
    const std::int32_t at[] = {static_cast<int>(blockIdx.x) * tile_width,
                               static_cast<int>(blockIdx.y) * tile_height};
    if (threadIdx.x == 0) {
        prefetch(map); // pays off where the first copy comes later; here only to show it
        expect(&bar, tile_bytes);
        ptx::cp_async_bulk_tensor(ptx::space_shared, ptx::space_global, tile, &map, at, &bar);
    }
    __syncthreads();
    wait(&bar, 0);
    for (int i = threadIdx.x; i < tile_elements; i += blockDim.x)
        tile[i] += 1;
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (threadIdx.x == 0)
        store(map, at, tile);
}

inline void launch_add_one_matrix(Matrix<int> matrix) {
    if (!matrix.empty())
        workbook::launch(add_one_matrix, {.grid = tiles_of(matrix), .block = block_threads},
                         matrix_map(matrix));
}

// ---- what an overhanging box brings ----

/// Loads the box at (x, y) and writes all of it to `out`. The tile is filled with -1 before, so that an
/// element that the copy left alone would show.
__global__ void overhanging_box(const __grid_constant__ CUtensorMap map, int x, int y, int* out) {
    __shared__ alignas(128) int tile[tile_elements];
    __shared__ std::uint64_t bar;
    const std::int32_t at[] = {x, y};
    for (int i = threadIdx.x; i < tile_elements; i += blockDim.x)
        tile[i] = -1;
    ptx::fence_proxy_async(ptx::space_shared); // the copy comes after these writes
    __syncthreads();
    if (threadIdx.x == 0) {
        expect(&bar, tile_bytes);
        ptx::cp_async_bulk_tensor(ptx::space_shared, ptx::space_global, tile, &map, at, &bar);
    }
    __syncthreads();
    wait(&bar, 0); // if the copy counted fewer bytes than tile_bytes, this would not end
    for (int i = threadIdx.x; i < tile_elements; i += blockDim.x)
        out[i] = tile[i];
}

/// Writes the tile at (x, y), with zeros where the matrix is not, to `out` of tile_elements elements. x is a
/// multiple of 4, and may be negative.
inline void launch_overhanging_box(Matrix<const int> matrix, int x, int y, std::span<int> out) {
    check_corner("overhanging_box", x, y, false);
    if (out.size() != tile_elements)
        throw std::invalid_argument("overhanging_box: out must have one element per element of the tile");
    if (!matrix.empty())
        workbook::launch(overhanging_box, {.block = block_threads}, matrix_map(matrix), x, y, out.data());
}

// ---- a 3×3 box filter: the halo comes from the fill ----

/// One column is needed on each side. A box begins at a multiple of 16 bytes, so 4 is the least. 8 is faster.
inline constexpr int halo_margin = 4;
inline constexpr int halo_width = tile_width + 2 * halo_margin;
inline constexpr int halo_height = tile_height + 2;
inline constexpr int halo_elements = halo_width * halo_height;

/// One thread: loads the tile at `at` with one more row above and below and halo_margin columns on each side.
template <class T>
__device__ inline void load_with_halo(T* halo, const CUtensorMap& map, const std::int32_t (&at)[2],
                                      std::uint64_t* bar) {
    const std::int32_t begin[] = {at[0] - halo_margin, at[1] - 1}; // negative in the first tiles
    expect(bar, halo_elements * sizeof(T));
    ptx::cp_async_bulk_tensor(ptx::space_shared, ptx::space_global, halo, &map, begin, bar);
}

/// out = the sum of each element and its eight neighbours. Neighbours outside of the matrix arrive as zeros,
/// so that there is no special case for the edge.
__global__ void box_filter_3x3(const __grid_constant__ CUtensorMap from,
                               const __grid_constant__ CUtensorMap to) {
    __shared__ alignas(128) unsigned halo[halo_elements];
    __shared__ alignas(128) unsigned sums[tile_elements];
    __shared__ std::uint64_t bar;
    const std::int32_t at[] = {static_cast<int>(blockIdx.x) * tile_width,
                               static_cast<int>(blockIdx.y) * tile_height};
    if (threadIdx.x == 0)
        load_with_halo(halo, from, at, &bar);
    __syncthreads();
    wait(&bar, 0);
    for (int i = threadIdx.x; i < tile_elements; i += blockDim.x) {
        const unsigned* corner = halo + i / tile_width * halo_width + i % tile_width + halo_margin - 1;
        unsigned sum = 0;
        for (int k = 0; k < 9; ++k)
            sum += corner[k / 3 * halo_width + k % 3];
        sums[i] = sum;
    }
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (threadIdx.x == 0)
        store(to, at, sums);
}

/// out = the sums modulo 2^32 over 3 × 3 elements of `in`; both have one shape.
inline void launch_box_filter_3x3(Matrix<const unsigned> in, Matrix<unsigned> out) {
    if (!in.empty())
        workbook::launch(box_filter_3x3, {.grid = tiles_of(out), .block = block_threads},
                         matrix_map(in, halo_width, halo_height), matrix_map(out));
}

/// out = the mean of each element and those of its eight neighbours that exist. What lies outside of the
/// matrix arrives as NaN, by which it can be told from any number.
__global__ void box_mean_3x3(const __grid_constant__ CUtensorMap from,
                             const __grid_constant__ CUtensorMap to) {
    __shared__ alignas(128) float halo[halo_elements];
    __shared__ alignas(128) float means[tile_elements];
    __shared__ std::uint64_t bar;
    const std::int32_t at[] = {static_cast<int>(blockIdx.x) * tile_width,
                               static_cast<int>(blockIdx.y) * tile_height};
    if (threadIdx.x == 0)
        load_with_halo(halo, from, at, &bar);
    __syncthreads();
    wait(&bar, 0);
    for (int i = threadIdx.x; i < tile_elements; i += blockDim.x) {
        const float* corner = halo + i / tile_width * halo_width + i % tile_width + halo_margin - 1;
        // [mean]
        float sum = 0;
        int inside = 0;
        for (int k = 0; k < 9; ++k) {
            const float value = corner[k / 3 * halo_width + k % 3];
            if (!isnan(value)) {
                sum += value;
                ++inside;
            }
        }
        means[i] = sum / static_cast<float>(inside);
        // [/mean]
    }
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (threadIdx.x == 0)
        store(to, at, means);
}

/// out = the means over 3 × 3 elements of `in`, which has no NaN; both have one shape.
inline void launch_box_mean_3x3(Matrix<const float> in, Matrix<float> out) {
    if (!in.empty())
        workbook::launch(box_mean_3x3, {.grid = tiles_of(out), .block = block_threads},
                         matrix_map(in, halo_width, halo_height, workbook::OutOfBounds::nan),
                         matrix_map(out));
}

// ---- one to five dimensions ----

/// A tensor of ints in device memory; its rows (dimension 0) are padded to 16 bytes, the rest is dense.
template <class T, int rank>
struct Tensor {
    T* data = nullptr;
    std::array<std::size_t, rank> dims{}; ///< innermost first

    /// Elements between neighbours in dimension i.
    [[nodiscard]] std::size_t stride(int i) const {
        std::size_t elements = i == 0 ? 1 : workbook::row_pitch<T>(dims[0]);
        for (int j = 1; j < i; ++j)
            elements *= dims[static_cast<std::size_t>(j)];
        return elements;
    }
    /// Elements with the padding; 0 if a dimension is 0.
    [[nodiscard]] std::size_t padded_size() const {
        return rank == 1 ? workbook::row_pitch<T>(dims[0]) : stride(rank - 1) * dims[rank - 1];
    }
};

/// Elements of a box in dimension i: 16 × 5 × 3 × 2 × 2, cut to the tensor's rank.
__host__ __device__ constexpr int box_side(int i) { return i == 0 ? 16 : i == 1 ? 5 : i == 2 ? 3 : 2; }

__host__ __device__ constexpr int box_elements(int rank) {
    int elements = 1;
    for (int i = 0; i < rank; ++i)
        elements *= box_side(i);
    return elements;
}

/// One number per dimension, innermost first.
template <int rank>
struct Extents {
    std::int32_t of[rank];
};

/// Copies the tile of block blockIdx.x, of `tiles` tiles in each dimension: to[c] = from[c + shift]. One
/// thread per block, and no element ever enters a register.
template <int rank>
__device__ inline void copy_tile(const CUtensorMap& from, const CUtensorMap& to, const Extents<rank>& tiles,
                                 const Extents<rank>& shift) {
    __shared__ alignas(128) int tile[box_elements(rank)];
    __shared__ std::uint64_t bar;
    std::int32_t source[rank];
    std::int32_t destination[rank];
    int index = static_cast<int>(blockIdx.x);
#pragma unroll
    for (int i = 0; i < rank; ++i) {
        destination[i] = index % tiles.of[i] * box_side(i);
        source[i] = destination[i] + shift.of[i];
        index /= tiles.of[i];
    }
    expect(&bar, box_elements(rank) * sizeof(int));
    ptx::cp_async_bulk_tensor(ptx::space_shared, ptx::space_global, tile, &from, source, &bar);
    wait(&bar, 0);
    store(to, destination, tile); // written and read by the async proxy: no fence
}

__global__ void copy_1d(const __grid_constant__ CUtensorMap from, const __grid_constant__ CUtensorMap to,
                        Extents<1> tiles, Extents<1> shift) {
    copy_tile<1>(from, to, tiles, shift);
}
__global__ void copy_2d(const __grid_constant__ CUtensorMap from, const __grid_constant__ CUtensorMap to,
                        Extents<2> tiles, Extents<2> shift) {
    copy_tile<2>(from, to, tiles, shift);
}
__global__ void copy_3d(const __grid_constant__ CUtensorMap from, const __grid_constant__ CUtensorMap to,
                        Extents<3> tiles, Extents<3> shift) {
    copy_tile<3>(from, to, tiles, shift);
}
__global__ void copy_4d(const __grid_constant__ CUtensorMap from, const __grid_constant__ CUtensorMap to,
                        Extents<4> tiles, Extents<4> shift) {
    copy_tile<4>(from, to, tiles, shift);
}
__global__ void copy_5d(const __grid_constant__ CUtensorMap from, const __grid_constant__ CUtensorMap to,
                        Extents<5> tiles, Extents<5> shift) {
    copy_tile<5>(from, to, tiles, shift);
}

/// The tensor map of a tensor for boxes of box_side(i) elements.
template <class T, int rank>
CUtensorMap tensor_map_of(const Tensor<T, rank>& tensor) {
    TensorLayout<rank> layout;
    for (int i = 0; i < rank; ++i) {
        const auto k = static_cast<std::size_t>(i);
        layout.dims[k] = tensor.dims[k];
        layout.box[k] = static_cast<std::uint32_t>(box_side(i));
        if (i > 0)
            layout.strides[k - 1] = tensor.stride(i) * sizeof(T);
    }
    return make_tensor_map(tensor.data, layout);
}

/// out[c] = in[c + shift] for all c of `out`, 0 where c + shift lies outside of `in`. `kernel` is the copy of
/// this rank. The innermost shift is a multiple of 4.
template <int rank>
void launch_copy(void (*kernel)(const CUtensorMap, const CUtensorMap, Extents<rank>, Extents<rank>),
                 const Tensor<const int, rank>& in, const Tensor<int, rank>& out,
                 const Extents<rank>& shift) {
    check_corner("copy", shift.of[0], 0, false);
    if (out.padded_size() == 0 || in.padded_size() == 0)
        return;
    Extents<rank> tiles{};
    std::size_t blocks = 1;
    for (int i = 0; i < rank; ++i) {
        const std::size_t count = workbook::blocks_for(out.dims[static_cast<std::size_t>(i)],
                                                       static_cast<std::size_t>(box_side(i)));
        tiles.of[i] = static_cast<std::int32_t>(count);
        blocks *= count;
    }
    workbook::launch(kernel, {.grid = workbook::blocks_for(blocks, 1)}, tensor_map_of(in), tensor_map_of(out),
                     tiles, shift);
}

// ---- element strides ----

/// Copies every step-th row of a matrix, from row `first` on: the step is in the map `from`, whose boxes step
/// over tile_height · step rows and bring tile_height of them.
__global__ void gather_rows(const __grid_constant__ CUtensorMap from, const __grid_constant__ CUtensorMap to,
                            int first, int step) {
    __shared__ alignas(128) int tile[tile_elements];
    __shared__ std::uint64_t bar;
    const std::int32_t at[] = {static_cast<int>(blockIdx.x) * tile_width,
                               static_cast<int>(blockIdx.y) * tile_height};
    const std::int32_t source[] = {at[0], first + at[1] * step};
    expect(&bar, tile_bytes);
    ptx::cp_async_bulk_tensor(ptx::space_shared, ptx::space_global, tile, &from, source, &bar);
    wait(&bar, 0);
    store(to, at, tile);
}

/// Row r of `out` = row first + r · step of `in`, zeros where `in` has no such row or column. step is 1 to 8.
inline void launch_gather_rows(Matrix<const int> in, Matrix<int> out, int first, int step) {
    if (step < 1 || step > 8)
        throw std::invalid_argument("gather_rows: the step of a tensor map is 1 to 8");
    if (in.empty() || out.empty())
        return;
    const auto row_step = static_cast<std::uint32_t>(step);
    const CUtensorMap from =
        make_tensor_map(in.data, TensorLayout<2>{.dims = {in.width, in.height},
                                                 .strides = {in.pitch * sizeof(int)},
                                                 .box = {tile_width, tile_height * row_step},
                                                 .element_strides = {1, row_step}});
    workbook::launch(gather_rows, {.grid = tiles_of(out)}, from, matrix_map(out), first, step);
}

// ---- reduce-add ----

/// Adds every tile of `from` to the same place (x, y) of `to`. The additions are atomic, element by element.
__global__ void reduce_add(const __grid_constant__ CUtensorMap from, const __grid_constant__ CUtensorMap to,
                           int x, int y) {
    __shared__ alignas(128) int tile[tile_elements];
    __shared__ std::uint64_t bar;
    const std::int32_t source[] = {static_cast<int>(blockIdx.x) * tile_width,
                                   static_cast<int>(blockIdx.y) * tile_height};
    const std::int32_t at[] = {x, y};
    expect(&bar, tile_bytes);
    ptx::cp_async_bulk_tensor(ptx::space_shared, ptx::space_global, tile, &from, source, &bar);
    wait(&bar, 0);
    ptx::cp_reduce_async_bulk_tensor(ptx::space_global, ptx::space_shared, ptx::op_add, &to, at, tile);
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
}

/// totals[y + j][x + i] += the sum of the elements (i, j) of all tiles of `in`, modulo 2^32, for all places
/// that `totals` has. x is a multiple of 4, and neither is negative.
inline void launch_reduce_add(Matrix<const int> in, Matrix<int> totals, int x, int y) {
    check_corner("reduce_add", x, y, true);
    if (!in.empty() && !totals.empty())
        workbook::launch(reduce_add, {.grid = tiles_of(in)}, matrix_map(in), matrix_map(totals), x, y);
}

} // namespace tma_2d
