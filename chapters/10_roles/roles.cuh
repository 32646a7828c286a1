/// @file roles.cuh
/// Chapter 10: warps with different work. A ring of tiles that every warp fills and empties, and the same
/// ring with roles: one warp asks for tiles, others use them, and nobody meets at a barrier of the block.
///
/// The work is the same in every kernel of the chapter: fingerprints of the columns of a matrix. A word more
/// or less, or two that changed places, change a fingerprint: hardly a mistake of a ring stays unseen; and
/// the number of fingerprints says how much arithmetic there is for a byte, and how many registers it takes.
///
/// registers.cuh moves registers between roles, turns.cuh has two groups of consumers, multicast.cuh
/// clusters, scheduler.cuh tiles that blocks claim, dependent.cuh kernels that overlap.
#pragma once

#include "workbook/device.hpp"
#include "workbook/launch.hpp"
#include "workbook/matrix.hpp"
#include "workbook/ring.cuh"
#include "workbook/tensor_map.hpp"

#include <cuda/ptx>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>

namespace roles {

namespace ptx = cuda::ptx;
using workbook::Matrix;
using workbook::RingState;

inline constexpr int panel_columns = 256; ///< columns that a block works on at a time: one for each consumer
inline constexpr int tile_rows = 16;      ///< rows of them that one copy brings: 16 KiB
inline constexpr int stages = 4;
inline constexpr int consumer_threads = panel_columns;
inline constexpr int consumer_warps = consumer_threads / 32;
inline constexpr int few_prints = 16; ///< fingerprints of each column, where their number is not the lesson

/// The number that fingerprint k is multiplied by: odd, so that no word is ever lost.
__host__ __device__ constexpr unsigned base_of(unsigned k) { return (2 * k + 1) * 0x9E3779B1u; }

// ---- what a block works on ----

/// A matrix of words, cut into panels of columns and these into tiles of rows.
struct Work {
    unsigned width;  ///< columns
    unsigned height; ///< words of a column

    [[nodiscard]] __host__ __device__ unsigned panels(unsigned columns = panel_columns) const {
        return (width + columns - 1) / columns;
    }
    [[nodiscard]] __host__ __device__ unsigned tiles(unsigned rows = tile_rows) const {
        return (height + rows - 1) / rows;
    }
    /// Rows of a tile; fewer only in the last one of a panel, and never none.
    [[nodiscard]] __device__ int rows_of(unsigned tile, int rows = tile_rows) const {
        return min(rows, static_cast<int>(height - tile * rows));
    }
};

/// A tile as it lies in shared memory: row by row.
template <int columns, int rows>
struct alignas(128) Tile {
    unsigned at[rows][columns];
};

/// What a block has in shared memory.
template <int columns = panel_columns, int rows = tile_rows, int depth = stages>
struct Ring : workbook::RingBarriers<depth> {
    Tile<columns, rows> tiles[depth];
};

extern __shared__ __align__(128) unsigned char ring_memory[]; ///< the dynamic shared memory of all kernels

/// One thread: asks for the tile with its corner at (x, y), and for all of its bytes, even those beyond the
/// matrix.
template <class Tile>
__device__ void load_tile(Tile& tile, std::uint64_t* full, const CUtensorMap& map, unsigned x, unsigned y) {
    const std::int32_t corner[] = {static_cast<std::int32_t>(x), static_cast<std::int32_t>(y)};
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, full, sizeof(Tile));
    ptx::cp_async_bulk_tensor(ptx::space_shared, ptx::space_global, &tile, &map, corner, full);
}

/// `count` fingerprints of one column, in the registers of one thread.
template <int count>
struct Prints {
    static_assert(count % 4 == 0, "they are stored 16 bytes at a time");
    unsigned of[count];

    /// @param seed what all of them begin with
    __device__ explicit Prints(unsigned seed = 0) {
#pragma unroll
        for (int k = 0; k < count; ++k)
            of[k] = seed;
    }

    /// Takes the next `rows` words of the column, one at least. One load, then `count` multiplications and
    /// additions, none of which waits for another.
    template <class Tile>
    __device__ void absorb(const Tile& tile, int column, int rows) {
        int row = 0;
        do {
            const unsigned word = tile.at[row][column];
#pragma unroll
            for (int k = 0; k < count; ++k)
                of[k] = of[k] * base_of(k) + word;
        } while (++row < rows);
    }

    /// Writes them side by side.
    __device__ void store(unsigned* out) const {
#pragma unroll
        for (int k = 0; k < count; k += 4)
            *reinterpret_cast<uint4*>(out + k) = {of[k], of[k + 1], of[k + 2], of[k + 3]};
    }
};

/// Where the fingerprints of a column are to lie: `count` words for each.
__device__ inline unsigned* place_of(unsigned column, unsigned* out, int count) {
    return out + std::size_t{column} * count;
}

// ---- everybody does everything ----

/// The tile that a block asks for next: from the top of a panel to its bottom, then in the block's next
/// panel.
struct NextTile {
    unsigned panel;
    unsigned tile = 0;

    /// A whole warp: one of its lanes asks for the tile, if there is one, and all step on.
    __device__ void load(Ring<>& ring, unsigned stage, const CUtensorMap& map, const Work& work) {
        if (panel >= work.panels())
            return;
        if (workbook::elect_one())
            load_tile(ring.tiles[stage], &ring.full[stage], map, panel * panel_columns, tile * tile_rows);
        if (++tile == work.tiles()) {
            tile = 0;
            panel += gridDim.x;
        }
    }
};

/// The ring of chapter 5: warp 0 asks for tiles, all use them, and all meet for each of them.
template <int count>
__global__ void __launch_bounds__(consumer_threads, 1)
    meeting_ring(const __grid_constant__ CUtensorMap map, Work work, unsigned* out) {
    Ring<>& ring = *reinterpret_cast<Ring<>*>(ring_memory);
    if (threadIdx.x == 0)
        ring.initialise(1, 1); // nobody waits for an empty stage here
    __syncthreads();
    const bool loads = workbook::warp_index() == 0;
    NextTile next{blockIdx.x};
    if (loads)
        for (unsigned stage = 0; stage < stages; ++stage)
            next.load(ring, stage, map, work);
    RingState<stages> at;
    for (unsigned panel = blockIdx.x; panel < work.panels(); panel += gridDim.x) {
        Prints<count> prints;
        for (unsigned tile = 0; tile < work.tiles(); ++tile, at.advance()) {
            workbook::wait_parity(&ring.full[at.index], at.phase);
            prints.absorb(ring.tiles[at.index], threadIdx.x, work.rows_of(tile));
            ptx::fence_proxy_async(ptx::space_shared); // what I have read comes before what is written next,
            __syncthreads();                           // and all have read
            if (loads)
                next.load(ring, at.index, map, work);
        }
        if (const unsigned column = panel * panel_columns + threadIdx.x; column < work.width)
            prints.store(place_of(column, out, count));
    }
}

// ---- roles ----

/// The producer, one thread: asks for the tiles of a panel from top to bottom, each as soon as its stage is
/// empty.
template <int columns, int rows>
__device__ void ask_for_panel(Ring<columns, rows>& ring, RingState<stages>& to, const CUtensorMap& map,
                              unsigned panel, unsigned tiles) {
    for (unsigned tile = 0; tile < tiles; ++tile, to.advance()) {
        workbook::wait_parity(&ring.empty[to.index], to.phase);
        load_tile(ring.tiles[to.index], &ring.full[to.index], map, panel * columns, tile * rows);
    }
}

/// A consumer: uses the tiles of a panel, and gives each stage back, a warp at a time. No warp waits for
/// another.
/// @param column of the panel that is this thread's
template <int count, int columns, int rows>
__device__ Prints<count> use_panel(Ring<columns, rows>& ring, RingState<stages>& from, int column,
                                   const Work& work) {
    Prints<count> prints;
    for (unsigned tile = 0; tile < work.tiles(rows); ++tile, from.advance()) {
        workbook::wait_parity(&ring.full[from.index], from.phase);
        prints.absorb(ring.tiles[from.index], column, work.rows_of(tile, rows));
        workbook::arrive_as_warp(&ring.empty[from.index]);
    }
    return prints;
}

/// The producer of a block that stays: panel after panel. The ring goes on from one to the next.
template <int columns, int rows>
__device__ void produce(Ring<columns, rows>& ring, const CUtensorMap& map, const Work& work) {
    auto to = workbook::producer_start<stages>();
    for (unsigned panel = blockIdx.x; panel < work.panels(columns); panel += gridDim.x)
        ask_for_panel(ring, to, map, panel, work.tiles(rows));
}

/// The consumers, eight warps, a column for each thread.
template <int count>
__device__ void consume(Ring<>& ring, const Work& work, unsigned* out) {
    RingState<stages> from;
    for (unsigned panel = blockIdx.x; panel < work.panels(); panel += gridDim.x) {
        const Prints<count> prints = use_panel<count>(ring, from, threadIdx.x, work);
        if (const unsigned column = panel * panel_columns + threadIdx.x; column < work.width)
            prints.store(place_of(column, out, count));
    }
}

inline constexpr int roles_threads = consumer_threads + 32; ///< and a warp that loads

/// The same ring with roles.
template <int count>
__global__ void __launch_bounds__(roles_threads, 1)
    roles_ring(const __grid_constant__ CUtensorMap map, Work work, unsigned* out) {
    Ring<>& ring = *reinterpret_cast<Ring<>*>(ring_memory);
    if (threadIdx.x == 0)
        ring.initialise(1, consumer_warps);
    __syncthreads(); // the last time that all meet
    if (workbook::warp_index() < consumer_warps)
        consume<count>(ring, work, out);
    else if (workbook::elect_one())
        produce(ring, map, work);
}

// ---- launches ----

/// A matrix whose columns get fingerprints, for boxes of columns × rows.
inline CUtensorMap words_map(Matrix<const unsigned> words, std::uint32_t columns = panel_columns,
                             std::uint32_t rows = tile_rows) {
    return workbook::make_tensor_map(words.data,
                                     workbook::TensorLayout<2>{.dims = {words.width, words.height},
                                                               .strides = {words.pitch * sizeof(unsigned)},
                                                               .box = {columns, rows}});
}

/// Throws std::invalid_argument unless `out` has `count` fingerprints for each column, at a multiple of 16
/// bytes. Fingerprints of empty columns are 0: then there is nothing to launch.
/// @return what there is to do; a width of 0 if that is nothing
inline Work work_of(Matrix<const unsigned> words, std::span<unsigned> out, std::size_t count) {
    if (out.size() != words.width * count)
        throw std::invalid_argument("fingerprints: out must have " + std::to_string(count) +
                                    " words for each of " + std::to_string(words.width) + " columns");
    if (reinterpret_cast<std::uintptr_t>(out.data()) % 16 != 0)
        throw std::invalid_argument("fingerprints: out must begin at a multiple of 16 bytes");
    if (words.height == 0 && !out.empty())
        workbook::check(cudaMemset(out.data(), 0, out.size_bytes()), "fingerprints of empty columns");
    return {words.empty() ? 0 : static_cast<unsigned>(words.width), static_cast<unsigned>(words.height)};
}

/// As many blocks of `threads` threads as stay on the device at a time, at most `most`.
template <class... Params>
workbook::LaunchShape staying_shape(void (*kernel)(Params...), int threads, std::size_t shared,
                                    unsigned most) {
    workbook::LaunchShape shape{.block = static_cast<unsigned>(threads), .dynamic_shared = shared};
    workbook::raise_limits(kernel, shape);
    int fit = 0;
    workbook::check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, kernel, threads, shared),
                    "asking how many blocks fit");
    const int staying = workbook::device_attribute(cudaDevAttrMultiProcessorCount) * fit;
    shape.grid.x = std::min(most, static_cast<unsigned>(staying));
    return shape;
}

inline constexpr unsigned all_blocks = ~0u; ///< that the device has room for

using RingKernel = void (*)(CUtensorMap, Work, unsigned*);

/// Fingerprints of every column: out[c · count + k] = the sum modulo 2^32 of words(c, r) · base_of(k)^(height
/// - 1 - r) over all rows r. Rows of `words`, and `out`, begin at multiples of 16 bytes. For kernels with
/// these parameters and `threads` threads in a block; at most `most` blocks, each with its share of the
/// panels.
inline void launch_ring(RingKernel kernel, int threads, Matrix<const unsigned> words, std::span<unsigned> out,
                        std::size_t count, unsigned most) {
    if (const Work work = work_of(words, out, count); work.width > 0)
        workbook::launch(kernel,
                         staying_shape(kernel, threads, sizeof(Ring<>), std::min(work.panels(), most)),
                         words_map(words), work, out.data());
}

template <int count = few_prints>
void launch_meeting_ring(Matrix<const unsigned> words, std::span<unsigned> out, unsigned most = all_blocks) {
    launch_ring(meeting_ring<count>, consumer_threads, words, out, count, most);
}

template <int count = few_prints>
void launch_roles_ring(Matrix<const unsigned> words, std::span<unsigned> out, unsigned most = all_blocks) {
    launch_ring(roles_ring<count>, roles_threads, words, out, count, most);
}

} // namespace roles
