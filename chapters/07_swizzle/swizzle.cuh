/// @file swizzle.cuh
/// Chapter 7: where the bytes of a tile really land, and why.
///
/// The formula is in workbook/swizzle.hpp. Here it is seen at work: raw shared memory read back, elements
/// found through the index function, and columns read without bank conflicts.
#pragma once

#include "workbook/launch.hpp"
#include "workbook/matrix.hpp"
#include "workbook/panels.hpp"
#include "workbook/swizzle.hpp"
#include "workbook/tensor_map.hpp"

#include <cuda/ptx>

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>

namespace swizzle {

namespace ptx = cuda::ptx;
using workbook::Matrix;
using workbook::Swizzle;

inline constexpr int block_threads = 256;
inline constexpr int tile_rows = 32;

/// Ints in a row of a tile: as many as the mode allows, 8, 16 or 32; 32 without swizzle.
__host__ __device__ constexpr int tile_columns(Swizzle mode) {
    return mode == Swizzle::none ? 32 : static_cast<int>(workbook::swizzle_width(mode) / sizeof(int));
}

__host__ __device__ constexpr int tile_elements(Swizzle mode) { return tile_rows * tile_columns(mode); }

/// The tensor map of a matrix for tiles of tile_rows rows of `columns` elements. With swizzle a row must not
/// be wider than the mode.
template <class T>
CUtensorMap tile_map(Matrix<T> matrix, int columns, Swizzle mode) {
    return workbook::make_tensor_map(
        matrix.data, workbook::TensorLayout<2>{.dims = {matrix.width, matrix.height},
                                               .strides = {matrix.pitch * sizeof(T)},
                                               .box = {static_cast<std::uint32_t>(columns), tile_rows},
                                               .swizzle = mode});
}

/// A block for every such tile of a matrix.
template <class T>
dim3 tiles_of(Matrix<T> matrix, Swizzle mode) {
    return {workbook::blocks_for(matrix.width, static_cast<std::size_t>(tile_columns(mode))),
            workbook::blocks_for(matrix.height, tile_rows)};
}

/// Waits until the phase with this parity is complete. The bytes it counted are then visible to this thread.
__device__ inline void wait(std::uint64_t* bar, std::uint32_t parity) {
    while (!ptx::mbarrier_try_wait_parity(bar, parity)) {
    }
}

/// One thread: sets `bar` up and loads the tile at these coordinates, which brings `bytes` bytes.
template <int rank>
__device__ inline void load(void* tile, std::uint32_t bytes, const CUtensorMap& map,
                            const std::int32_t (&at)[rank], std::uint64_t* bar) {
    ptx::mbarrier_init(bar, 1);
    ptx::fence_proxy_async(ptx::space_shared);
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, bar, bytes);
    ptx::cp_async_bulk_tensor(ptx::space_shared, ptx::space_global, tile, &map, at, bar);
}

/// One thread: stores the tile at these coordinates and waits until it has been read.
template <int rank>
__device__ inline void store(const CUtensorMap& map, const std::int32_t (&at)[rank], const void* tile) {
    ptx::cp_async_bulk_tensor(ptx::space_global, ptx::space_shared, &map, at, tile);
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
}

// ---- what lies where ----

inline constexpr int base_step = 128; // every tensor copy wants this alignment of its tile
inline constexpr int base_end = 1024; // the longest period of a pattern

/// Throws std::invalid_argument unless a tile may begin `base` bytes after a 1024-byte boundary.
inline void check_base(int base) {
    if (base < 0 || base >= base_end || base % base_step != 0)
        throw std::invalid_argument("base " + std::to_string(base) +
                                    ": a multiple of 128 below 1024 is wanted");
}

inline constexpr int untouched = -1; // what is in shared memory before the copy

/// Loads a box of `bytes` bytes at (x, y) to `base` bytes after a 1024-byte boundary, and writes shared
/// memory to `out` as it lies there, word by word, without regard to the swizzle.
template <Swizzle mode>
__global__ void read_raw_tile(const __grid_constant__ CUtensorMap map, int x, int y, int base, int bytes,
                              int* out) {
    constexpr int elements = tile_elements(mode);
    __shared__ alignas(base_end) std::byte memory[base_end + elements * sizeof(int)];
    __shared__ std::uint64_t bar;
    int* tile = reinterpret_cast<int*>(memory + base);
    for (int i = threadIdx.x; i < elements; i += blockDim.x)
        tile[i] = untouched;
    ptx::fence_proxy_async(ptx::space_shared); // the copy comes after these writes
    __syncthreads();
    if (threadIdx.x == 0)
        load(tile, bytes, map, {x, y}, &bar);
    __syncthreads();
    wait(&bar, 0);
    for (int i = threadIdx.x; i < elements; i += blockDim.x)
        out[i] = tile[i];
}

/// Writes the raw shared memory of the box at (x, y) to `out`, of tile_elements(mode) elements: 0 for what
/// the matrix does not have, `untouched` where nothing landed. The box has tile_rows rows of `columns`
/// elements, at most as many as the mode allows. `base` is a multiple of 128 below 1024.
template <Swizzle mode>
void launch_read_raw_tile(Matrix<const int> matrix, int x, int y, int base, std::span<int> out,
                          int columns = tile_columns(mode)) {
    check_base(base);
    if (x % 4 != 0)
        throw std::invalid_argument(
            "read_raw_tile: a box begins at a multiple of 16 bytes, which is 4 elements");
    if (out.size() != static_cast<std::size_t>(tile_elements(mode)))
        throw std::invalid_argument("read_raw_tile: out must have one element per element of the tile");
    if (!matrix.empty())
        workbook::launch(read_raw_tile<mode>, {.block = block_threads}, tile_map(matrix, columns, mode), x, y,
                         base, columns * tile_rows * static_cast<int>(sizeof(int)), out.data());
}

// ---- elements through the index function ----

/// to = from + 1. The tile arrives swizzled, each element is found through the index function, and leaves
/// from a tile without swizzle, so that a wrong index is a wrong result.
template <Swizzle mode>
__global__ void add_one_swizzled(const __grid_constant__ CUtensorMap from,
                                 const __grid_constant__ CUtensorMap to) {
    constexpr int columns = tile_columns(mode);
    __shared__ alignas(
        workbook::swizzle_period(mode)) int tile[tile_elements(mode)]; // where the pattern begins
    __shared__ alignas(128) int result[tile_elements(mode)];
    __shared__ std::uint64_t bar;
    const std::int32_t at[] = {static_cast<int>(blockIdx.x) * columns,
                               static_cast<int>(blockIdx.y) * tile_rows};
    if (threadIdx.x == 0)
        load(tile, sizeof(tile), from, at, &bar);
    __syncthreads();
    wait(&bar, 0);
    for (int i = threadIdx.x; i < tile_elements(mode); i += blockDim.x)
        result[i] = tile[workbook::swizzled_index<int>(i / columns, i % columns, mode)] + 1;
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (threadIdx.x == 0)
        store(to, at, result);
}

/// out = in + 1 for matrices of one shape.
template <Swizzle mode>
void launch_add_one_swizzled(Matrix<const int> in, Matrix<int> out) {
    if (!in.empty())
        workbook::launch(add_one_swizzled<mode>, {.grid = tiles_of(in, mode), .block = block_threads},
                         tile_map(in, tile_columns(mode), mode),
                         tile_map(out, tile_columns(mode), Swizzle::none));
}

/// The element of a swizzled tile that would be `offset` bytes after its start without swizzle. It is the
/// address that counts, so the tile may begin at any multiple of 128 bytes.
__device__ inline int* swizzled_at(std::byte* tile, std::uint32_t offset, Swizzle mode) {
    const auto start = static_cast<std::uint32_t>(__cvta_generic_to_shared(tile));
    return reinterpret_cast<int*>(tile + (workbook::swizzled_address(start + offset, mode) - start));
}

/// Adds to each element its number in its tile, in place, swizzled in both directions. The tile begins `base`
/// bytes after a 1024-byte boundary, where the pattern may be in its middle.
template <Swizzle mode>
__global__ void add_place_swizzled(const __grid_constant__ CUtensorMap map, int base) {
    constexpr int columns = tile_columns(mode);
    constexpr int elements = tile_elements(mode);
    __shared__ alignas(base_end) std::byte memory[base_end + elements * sizeof(int)];
    __shared__ std::uint64_t bar;
    std::byte* tile = memory + base;
    const std::int32_t at[] = {static_cast<int>(blockIdx.x) * columns,
                               static_cast<int>(blockIdx.y) * tile_rows};
    if (threadIdx.x == 0)
        load(tile, elements * sizeof(int), map, at, &bar);
    __syncthreads();
    wait(&bar, 0);
    for (int i = threadIdx.x; i < elements; i += blockDim.x)
        *swizzled_at(tile, i * sizeof(int), mode) += i;
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (threadIdx.x == 0)
        store(map, at, tile);
}

/// Adds to each element of a matrix its number in its tile of tile_rows × tile_columns(mode), row by row.
/// `base` is a multiple of 128 below 1024.
template <Swizzle mode>
void launch_add_place_swizzled(Matrix<int> matrix, int base) {
    check_base(base);
    if (!matrix.empty())
        workbook::launch(add_place_swizzled<mode>, {.grid = tiles_of(matrix, mode), .block = block_threads},
                         tile_map(matrix, tile_columns(mode), mode), base);
}

// ---- tiles of several panels, and tiles with a pad ----

inline constexpr int sum_columns = 32; // of a tile; 128 bytes
inline constexpr int map_pad = 4;      // ints: a tensor map counts rows in multiples of 16 bytes

/// A tile of 32 × 32 ints in shared memory. Its panels are as wide as the mode allows, 32 ints without
/// swizzle, and lie one after the other; each of their rows is `pad` ints longer than the panel.
template <Swizzle mode, int pad>
struct PanelTile {
    static constexpr int columns = tile_columns(mode); ///< of a panel
    static constexpr int panels = sum_columns / columns;
    static constexpr std::uint32_t row_bytes = (columns + pad) * sizeof(int);
    static constexpr std::uint32_t panel_bytes = tile_rows * row_bytes;
    static constexpr std::uint32_t bytes = panels * panel_bytes;

    /// How many bytes after the start of the tile, a multiple of 1024, the element (row, column) lies.
    __host__ __device__ static constexpr std::uint32_t place(int row, int column) {
        const std::uint32_t offset = column / columns * panel_bytes + row * row_bytes;
        return workbook::swizzled_address(offset + column % columns * sizeof(int), mode);
    }

    /// The map that lets one copy bring such a tile.
    template <class T>
    static CUtensorMap map(Matrix<T> matrix) {
        return workbook::make_tensor_map(
            matrix.data,
            workbook::panel_layout(
                matrix,
                {.panel = columns, .rows = tile_rows, .panels = panels, .pad = pad, .swizzle = mode}));
    }
};

/// Adds to each element of a tile of 32 × 32 its number there, in place, through one map that pads: the load
/// makes rows of 36 ints of rows of 32, the store takes 32 of the 36.
__global__ void add_place_padded(const __grid_constant__ CUtensorMap map) {
    using Tile = PanelTile<Swizzle::none, map_pad>;
    __shared__ alignas(128) int tile[Tile::bytes / sizeof(int)];
    __shared__ std::uint64_t bar;
    const std::int32_t at[] = {0, static_cast<int>(blockIdx.y) * tile_rows, static_cast<int>(blockIdx.x)};
    if (threadIdx.x == 0)
        load(tile, sizeof(tile), map, at, &bar);
    __syncthreads();
    wait(&bar, 0);
    for (int i = threadIdx.x; i < static_cast<int>(sizeof(tile) / sizeof(int)); i += blockDim.x)
        tile[i] += i; // the pad as well: nobody will see it
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (threadIdx.x == 0)
        store(map, at, tile);
}

/// Adds 36 · row + column of its tile to each element of a matrix whose pitch is a multiple of 32, also to
/// what lies between width and pitch.
inline void launch_add_place_padded(Matrix<int> matrix) {
    if (!matrix.empty())
        workbook::launch(add_place_padded, {.grid = tiles_of(matrix, Swizzle::none), .block = block_threads},
                         PanelTile<Swizzle::none, map_pad>::map(matrix));
}

// ---- column sums: what bank conflicts are about ----

inline constexpr int warps = block_threads / 32; // each takes 4 columns, a lane for each row
inline constexpr int per_warp = sum_columns / warps;
static_assert(per_warp * sizeof(int) == 16 && tile_rows == 32);

/// How wide an access to shared memory is.
enum class Access { bytes4, bytes16 };

/// The k-th column of this thread's warp: neighbours for one access of 16 bytes, warps apart for four of 4.
template <Access access>
__device__ inline int column_of(int k) {
    const int warp = static_cast<int>(threadIdx.x) / 32;
    return access == Access::bytes16 ? warp * per_warp + k : k * warps + warp;
}

/// Adds the columns of this thread in row `lane` of a tile to `sums`. The element (row, column) lies
/// `place(row, column)` bytes after the start of the tile.
template <Access access, class Place>
__device__ inline void add_row(const std::byte* tile, Place place, unsigned (&sums)[per_warp]) {
    const int row = static_cast<int>(threadIdx.x) % 32;
    if constexpr (access == Access::bytes16) {
        const uint4 four = *reinterpret_cast<const uint4*>(tile + place(row, column_of<access>(0)));
        const unsigned values[per_warp] = {four.x, four.y, four.z, four.w};
        for (int k = 0; k < per_warp; ++k)
            sums[k] += values[k];
    } else
        for (int k = 0; k < per_warp; ++k)
            sums[k] += *reinterpret_cast<const unsigned*>(tile + place(row, column_of<access>(k)));
}

/// Adds the sums of the 32 lanes and writes those of columns that the matrix has.
template <Access access>
__device__ inline void write_sums(const unsigned (&sums)[per_warp], int first_column, int width,
                                  unsigned* out) {
    for (int k = 0; k < per_warp; ++k) {
        const unsigned total = __reduce_add_sync(~0u, sums[k]);
        const int column = first_column + column_of<access>(k);
        if (threadIdx.x % 32 == 0 && column < width)
            out[column] = total;
    }
}

/// The sum of each column of a matrix, from tiles with rows of 128 bytes: without swizzle or in the 128-byte
/// mode. A block takes 32 columns, tile after tile down the matrix. A warp takes four of them and reads down:
/// lane r reads its four ints of row r in one access. column_sums is the same loop for every layout.
template <Swizzle mode>
__global__ void short_column_sums(const __grid_constant__ CUtensorMap map, int width, int height,
                                  unsigned* out) {
    __shared__ alignas(1024) int tile[32 * 32];
    __shared__ std::uint64_t bar;
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&bar, 1);
        ptx::fence_proxy_async(ptx::space_shared);
    }
    const int x = static_cast<int>(blockIdx.x) * 32;
    const int row = static_cast<int>(threadIdx.x) % 32;        // a lane for each row
    const int column = static_cast<int>(threadIdx.x) / 32 * 4; // the first of my warp's four
    const int first =
        mode == Swizzle::none ? row * 32 + column : workbook::swizzled_index<int>(row, column, mode);
    uint4 sums = {};
    std::uint32_t parity = 0;
    for (int y = 0; y < height; y += 32, parity ^= 1) {
        ptx::fence_proxy_async(ptx::space_shared); // my reads come before what the next copy writes
        __syncthreads();                           // all have read the tile before
        if (threadIdx.x == 0) {
            ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar,
                                           sizeof(tile));
            ptx::cp_async_bulk_tensor(ptx::space_shared, ptx::space_global, tile, &map, {x, y}, &bar);
        }
        wait(&bar, parity);
        const uint4 four = *reinterpret_cast<const uint4*>(tile + first);
        sums = {sums.x + four.x, sums.y + four.y, sums.z + four.z, sums.w + four.w};
    }
    write_sums<Access::bytes16>({sums.x, sums.y, sums.z, sums.w}, x, width, out);
}

/// The sum of each column of a matrix; a block takes 32 columns, tile after tile down the matrix. A warp
/// reads down the columns of a tile: lane r reads row r. One copy brings a tile, however many panels it has.
template <Swizzle mode, int pad, Access access>
__global__ void column_sums(const __grid_constant__ CUtensorMap map, int width, int height, unsigned* out) {
    using Tile = PanelTile<mode, pad>;
    __shared__ alignas(base_end) std::byte tile[Tile::bytes];
    __shared__ std::uint64_t bar;
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&bar, 1);
        ptx::fence_proxy_async(ptx::space_shared);
    }
    const int block = static_cast<int>(blockIdx.x);
    unsigned sums[per_warp] = {};
    std::uint32_t parity = 0;
    for (int y = 0; y < height; y += tile_rows, parity ^= 1) {
        ptx::fence_proxy_async(ptx::space_shared); // what I read comes before what the next copy writes
        __syncthreads(); // the barrier is initialised; all have read the tile before
        if (threadIdx.x == 0) {
            ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar,
                                           sizeof(tile));
            ptx::cp_async_bulk_tensor(ptx::space_shared, ptx::space_global, tile, &map,
                                      {0, y, block * Tile::panels}, &bar);
        }
        wait(&bar, parity);
        add_row<access>(tile, Tile::place, sums); // rows below the matrix are zeros
    }
    write_sums<access>(sums, block * sum_columns, width, out);
}

/// The same with tiles that the threads bring and pad: each row is one access longer than 128 bytes, 4 bytes
/// if need be, which is less than a tensor map can pad.
template <Access access>
__global__ void column_sums_padded(const int* data, std::size_t pitch, int width, int height, unsigned* out) {
    constexpr int pad = access == Access::bytes16 ? 4 : 1;
    constexpr int padded = sum_columns + pad;
    __shared__ alignas(16) int tile[tile_rows * padded];
    const auto place = [](int row, int column) { return (row * padded + column) * sizeof(int); };
    const int x = static_cast<int>(blockIdx.x) * sum_columns + static_cast<int>(threadIdx.x) % 32;
    unsigned sums[per_warp] = {};
    for (int y = 0; y < height; y += tile_rows) {
        __syncthreads(); // all have read the tile before
        for (int row = static_cast<int>(threadIdx.x) / 32; row < tile_rows; row += warps)
            tile[row * padded + threadIdx.x % 32] =
                x < width && y + row < height ? data[(y + row) * pitch + x] : 0;
        __syncthreads();
        add_row<access>(reinterpret_cast<const std::byte*>(tile), place, sums);
    }
    write_sums<access>(sums, static_cast<int>(blockIdx.x) * sum_columns, width, out);
}

/// Throws std::invalid_argument unless `out` has an element for every column.
inline void check_sums(Matrix<const int> matrix, std::span<unsigned> out) {
    if (out.size() != matrix.width)
        throw std::invalid_argument("column_sums: out must have one element per column");
}

/// out[x] = the sum of column x modulo 2^32. A matrix without rows leaves `out` alone. `mode` is none or
/// bytes128.
template <Swizzle mode>
void launch_short_column_sums(Matrix<const int> matrix, std::span<unsigned> out) {
    static_assert(tile_columns(mode) == sum_columns, "rows of 128 bytes");
    check_sums(matrix, out);
    if (!matrix.empty())
        workbook::launch(short_column_sums<mode>,
                         {.grid = workbook::blocks_for(matrix.width, sum_columns), .block = block_threads},
                         tile_map(matrix, sum_columns, mode), static_cast<int>(matrix.width),
                         static_cast<int>(matrix.height), out.data());
}

/// out[x] = the sum of column x modulo 2^32, for matrices whose pitch is a multiple of 32. A matrix without
/// rows leaves `out` alone. `pad` is 0 or, without swizzle, map_pad.
template <Swizzle mode, int pad, Access access>
void launch_column_sums(Matrix<const int> matrix, std::span<unsigned> out) {
    check_sums(matrix, out);
    if (!matrix.empty())
        workbook::launch(column_sums<mode, pad, access>,
                         {.grid = workbook::blocks_for(matrix.width, sum_columns), .block = block_threads},
                         PanelTile<mode, pad>::map(matrix), static_cast<int>(matrix.width),
                         static_cast<int>(matrix.height), out.data());
}

/// The same with tiles that the threads pad; any pitch will do.
template <Access access>
void launch_column_sums_padded(Matrix<const int> matrix, std::span<unsigned> out) {
    check_sums(matrix, out);
    if (!matrix.empty())
        workbook::launch(column_sums_padded<access>,
                         {.grid = workbook::blocks_for(matrix.width, sum_columns), .block = block_threads},
                         matrix.data, matrix.pitch, static_cast<int>(matrix.width),
                         static_cast<int>(matrix.height), out.data());
}

} // namespace swizzle
