/// @file tensor_kernel.cuh
/// Tiles that tensor copies bring: a ring of stages, turned in registers, stored straight from there or by
/// another tensor copy.
///
/// A tile lies in panels of 32 columns, rows of 128 bytes, swizzled. A thread turns 4 × 4 squares;
/// neighbouring lanes take squares below each other, so that what a warp stores lies in one row. To read
/// without conflicts each lane takes the four rows of its square in another order, and puts them right in
/// registers.
#pragma once

#include "access.cuh"
#include "candidate.hpp"
#include "tile_kernel.cuh"

#include "workbook/launch.hpp"
#include "workbook/tensor_map.hpp"

#include <stdexcept>

namespace tuner {

inline constexpr int panel_columns = 32;

/// A ring of tiles of rows × columns, shared by `threads`.
template <int rows_, int columns_, int threads_, int stages_, Store store_>
struct RingShape {
    static constexpr int rows = rows_, columns = columns_, threads = threads_, stages = stages_;
    static constexpr Store store = store_;
    static constexpr int down = rows / 4;
    static constexpr int per_thread = down * (columns / 4) / threads;
    static constexpr std::uint32_t tile_bytes = 4 * rows * columns;
    static constexpr std::size_t turned_bytes = store == Store::tensor ? std::size_t{tile_bytes} * stages : 0;
    static constexpr std::size_t shared_bytes = std::size_t{tile_bytes} * stages + turned_bytes + 8 * stages;
    static_assert(per_thread * threads == down * (columns / 4) && columns % panel_columns == 0);
    static_assert(rows <= 256 && (store != Store::tensor || (rows % panel_columns == 0 && columns <= 256)));
};

/// Chunk `chunk` of row `row` of panels that are `rows` high, with a swizzle of 128 bytes.
template <int rows>
__device__ Chunk<4>& panel_chunk(unsigned char* tile, int row, int chunk) {
    return *reinterpret_cast<Chunk<4>*>(tile + chunk / 8 * (rows * 128) + row * 128 +
                                        ((chunk % 8 ^ row % 8) * 16));
}

__device__ inline void init_barrier(std::uint64_t* bar) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(bar)) : "memory");
}

__device__ inline void expect_bytes(std::uint64_t* bar, std::uint32_t bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(bar)),
                 "r"(bytes)
                 : "memory");
}

__device__ inline void wait_phase(std::uint64_t* bar, std::uint32_t parity) {
    std::uint32_t done = 0;
    while (done == 0)
        asm volatile("{ .reg .pred p;\n"
                     "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
                     "selp.u32 %0, 1, 0, p; }"
                     : "=r"(done)
                     : "r"(shared_address(bar)), "r"(parity)
                     : "memory");
}

/// Loads a panel; counted on `bar` ('cp.async.bulk.tensor').
__device__ inline void load_panel(unsigned char* to, const CUtensorMap& map, std::uint32_t x, std::uint32_t y,
                                  std::uint64_t* bar, std::uint64_t policy) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
                 ".L2::cache_hint [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(shared_address(to)),
                 "l"(&map), "r"(x), "r"(y), "r"(shared_address(bar)), "l"(policy)
                 : "memory");
}

__device__ inline void store_panel(const CUtensorMap& map, std::uint32_t x, std::uint32_t y,
                                   const unsigned char* from, std::uint64_t policy) {
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group.L2::cache_hint"
                 " [%0, {%1, %2}], [%3], %4;" ::"l"(&map),
                 "r"(x), "r"(y), "r"(shared_address(from)), "l"(policy)
                 : "memory");
}

template <class R>
__device__ void load_tile(unsigned char* to, const CUtensorMap& map, Place place, const Job& job,
                          std::uint64_t* bar) {
    expect_bytes(bar, R::tile_bytes);
    for (int p = 0; p < R::columns / panel_columns; ++p)
        load_panel(to + p * R::rows * 128, map, place.column * R::columns + p * panel_columns,
                   place.row * R::rows, bar, job.load_policy);
}

/// Reads and turns this thread's squares.
template <class R>
__device__ void take_squares(MicroTile<4> (&squares)[R::per_thread], unsigned char* tile) {
#pragma unroll
    for (int p = 0; p < R::per_thread; ++p) {
        const int m = threadIdx.x + p * R::threads;
        const int key = m / 2 % 4;
#pragma unroll
        for (int i = 0; i < 4; ++i)
            squares[p].chunks[i] = panel_chunk<R::rows>(tile, m % R::down * 4 + (i ^ key), m / R::down);
        squares[p].exchange(key);
        squares[p].turn();
    }
}

/// Stores them straight to global memory.
template <class R>
__device__ void store_squares(const MicroTile<4> (&squares)[R::per_thread], const Job& job, Place place) {
    float* corner =
        job.out + std::size_t{place.column} * R::columns * job.rows + std::size_t{place.row} * R::rows;
#pragma unroll
    for (int p = 0; p < R::per_thread; ++p) {
        const int m = threadIdx.x + p * R::threads;
#pragma unroll
        for (int i = 0; i < 4; ++i)
            store_chunk<R::store>(squares[p].chunks[i],
                                  corner + std::size_t(m / R::down * 4 + i) * job.rows + m % R::down * 4,
                                  job.store_policy);
    }
}

/// Puts them into the turned tile, whose panels are as high as the tile that was loaded is wide.
template <class R>
__device__ void put_turned(const MicroTile<4> (&squares)[R::per_thread], unsigned char* turned) {
#pragma unroll
    for (int p = 0; p < R::per_thread; ++p) {
        const int m = threadIdx.x + p * R::threads;
#pragma unroll
        for (int i = 0; i < 4; ++i)
            panel_chunk<R::columns>(turned, m / R::down * 4 + i, m % R::down) = squares[p].chunks[i];
    }
}

template <class R>
__device__ void store_turned(const CUtensorMap& map, Place place, const unsigned char* turned,
                             const Job& job) {
    for (int p = 0; p < R::rows / panel_columns; ++p)
        store_panel(map, place.row * R::rows + p * panel_columns, place.column * R::columns,
                    turned + p * R::columns * 128, job.store_policy);
    bulk_commit();
}

/// Each block takes every gridDim.x-th tile; with as many blocks as tiles, one. Groups divide the matrix, so
/// every number has a tile.
template <class R>
__global__ void __launch_bounds__(R::threads)
    ring_of_tiles(const __grid_constant__ CUtensorMap in, const __grid_constant__ CUtensorMap out,
                  const Job job) {
    extern __shared__ __align__(1024) unsigned char memory[];
    unsigned char* const turned = memory + R::tile_bytes * R::stages;
    auto* const full = reinterpret_cast<std::uint64_t*>(turned + R::turned_bytes);
    const std::uint32_t mine = (job.walk.blocks - blockIdx.x + gridDim.x - 1) / gridDim.x;
    const auto place = [&](std::uint32_t k) { return place_of(job.walk, blockIdx.x + k * gridDim.x); };
    if (threadIdx.x == 0) {
        for (int s = 0; s < R::stages; ++s)
            init_barrier(full + s);
        fence_async();
        for (std::uint32_t k = 0; k < R::stages && k < mine; ++k)
            load_tile<R>(memory + k * R::tile_bytes, in, place(k), job, full + k);
    }
    __syncthreads();
    for (std::uint32_t k = 0; k < mine; ++k) {
        const std::uint32_t stage = k % R::stages;
        MicroTile<4> squares[R::per_thread];
        wait_phase(full + stage, k / R::stages % 2);
        take_squares<R>(squares, memory + stage * R::tile_bytes);
        if constexpr (R::store == Store::tensor) {
            if (threadIdx.x == 0) // the store that used this turned tile has read it
                bulk_wait_read<R::stages - 1>();
            __syncthreads();
            put_turned<R>(squares, turned + stage * R::tile_bytes);
            fence_async();
        } else
            fence_async(); // what this thread still reads comes before what the next copy writes
        __syncthreads();   // all have read the loaded tile
        if (threadIdx.x == 0) {
            if constexpr (R::store == Store::tensor)
                store_turned<R>(out, place(k), turned + stage * R::tile_bytes, job);
            if (k + R::stages < mine)
                load_tile<R>(memory + stage * R::tile_bytes, in, place(k + R::stages), job, full + stage);
        }
        if constexpr (R::store != Store::tensor)
            store_squares<R>(squares, job, place(k));
    }
    if (R::store == Store::tensor && threadIdx.x == 0)
        bulk_wait_read<0>();
}

/// The map of a matrix of rows × columns, in panels.
inline CUtensorMap panel_map(const float* data, std::uint64_t rows, std::uint64_t columns,
                             std::uint32_t panel_rows, int promotion) {
    return workbook::make_tensor_map(
        data, workbook::TensorLayout<2>{.dims = {columns, rows},
                                        .strides = {columns * sizeof(float)},
                                        .box = {panel_columns, panel_rows},
                                        .swizzle = workbook::Swizzle::bytes128,
                                        .l2_promotion = static_cast<workbook::L2Promotion>(promotion)});
}

template <class R>
void launch_ring(const Candidate& candidate, const Problem& problem, const Setting& setting,
                 const Context& context) {
    const Job job = make_job(candidate, problem, setting, context);
    const std::size_t shared = shared_for(R::shared_bytes, setting.blocks_per_sm);
    const auto cluster = static_cast<unsigned>(R::stages == 1 ? setting.cluster : 1);
    unsigned blocks = job.walk.blocks;
    if (!job.walk.exact || job.walk.blocks % cluster != 0)
        throw std::invalid_argument("tensor kernels take orders whose groups and clusters divide the matrix");
    if constexpr (R::stages > 1) {
        int fit = 1;
        workbook::raise_limits(ring_of_tiles<R>, {.dynamic_shared = shared});
        workbook::check(
            cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, ring_of_tiles<R>, R::threads, shared),
            "asking how many blocks fit");
        const auto each = static_cast<unsigned>(setting.tiles_per_block);
        const auto staying = each > 0 ? (blocks + each - 1) / each
                                      : static_cast<unsigned>(context.multiprocessors * (fit > 0 ? fit : 1));
        blocks = staying < blocks ? staying : blocks;
    }
    const CUtensorMap in = panel_map(problem.in, problem.rows, problem.columns, R::rows, setting.promotion);
    const CUtensorMap out =
        R::store == Store::tensor ? panel_map(problem.out, problem.columns, problem.rows, R::columns, 0) : in;
    workbook::launch(
        ring_of_tiles<R>,
        {.grid = blocks, .block = R::threads, .dynamic_shared = shared, .cluster = cluster_of(cluster)}, in,
        out, job);
}

template <class R>
Candidate ring_candidate() {
    return {.name = "tensor " + std::to_string(R::rows) + "x" + std::to_string(R::columns) + "/" +
                    std::to_string(R::threads) + ", " + std::to_string(R::stages) + " stages, " +
                    name_of(R::store),
            .family = R::stages == 1 ? "tensor" : "tensor ring",
            .tile_rows = R::rows,
            .tile_columns = R::columns,
            .threads = R::threads,
            .access = 16,
            .stages = R::stages,
            .load = "tensor load",
            .store = name_of(R::store),
            .takes_policies = true,
            .takes_promotion = true,
            .launch = launch_ring<R>};
}

} // namespace tuner
