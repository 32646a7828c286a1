/// @file few_transpose.cuh
/// Chapter 8: matrices with few rows or few columns, of any width.
///
/// Some columns of a matrix with few rows, from top to bottom, are one piece of the result; some rows of one
/// with few columns, from end to end, one piece of the input. If the piece lies in shared memory as it lies
/// in global memory, one bulk copy takes or brings it, and threads have only the other side to do.
#pragma once

#include "kept_transpose.cuh"
#include "sectors.cuh"
#include "tma_transpose.cuh"
#include "transpose.cuh"

#include "workbook/launch.hpp"

#include <cuda/ptx>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace transpose {

inline constexpr int few_threads = 512;
inline constexpr int few_batch = 5; ///< loads of a thread of few_rows before its first store

// ---- few rows ----

/// Divides numbers below 2^16 by a number from 2 to 2^15 that is the same for all threads, with one
/// multiplication.
struct Divisor {
    unsigned by;
    unsigned inverse = 0xFFFFFFFFu / by + 1; ///< 2^32 / by, rounded up

    __device__ unsigned quotient(unsigned i) const { return __umulhi(i, inverse); }
};

/// A thread's way along lines of `length` elements, few_threads further at each step: what a division of the
/// element's number by `length` would give.
struct Along {
    unsigned length;
    unsigned line = threadIdx.x / length;
    unsigned place = threadIdx.x % length;

    __device__ void advance() {
        line += few_threads / length;
        place += few_threads % length;
        if (place >= length) {
            place -= length;
            ++line;
        }
    }
};

/// A column of few_rows in shared memory begins so many elements after the one before: as many as it has.
/// Only where 32 lanes would meet in two banks, or in one, four are left between columns.
[[nodiscard]] constexpr unsigned rows_pitch(std::size_t rows) {
    return static_cast<unsigned>(rows % 16 == 0 ? rows + 4 : rows);
}

/// `columns` columns go from shared memory to `out`, where one follows the other. If they do so in `run` too,
/// and all are there, one thread asks for a bulk copy.
__device__ inline void store_columns(float* run, float* out, unsigned rows, unsigned columns, unsigned pitch,
                                     bool whole) {
    if (whole && pitch == rows && begins_16_bytes(out)) {
        ptx::fence_proxy_async(ptx::space_shared);
        __syncthreads();
        if (threadIdx.x == 0) {
            ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out, run,
                               columns * rows * sizeof(float));
            ptx::cp_async_bulk_commit_group();
            ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
        }
        return;
    }
    __syncthreads();
    if (rows % 4 == 0 && begins_16_bytes(out)) {
        const auto* from = reinterpret_cast<const float4*>(run);
        Along at{rows / 4};
        for (unsigned i = threadIdx.x; i < columns * rows / 4; i += few_threads, at.advance())
            reinterpret_cast<float4*>(out)[i] = from[at.line * (pitch / 4) + at.place];
    } else {
        Along at{rows};
        for (unsigned i = threadIdx.x; i < columns * rows; i += few_threads, at.advance())
            out[i] = run[at.line * pitch + at.place];
    }
}

/// A block takes `width` columns from top to bottom. The registers are for four blocks on an SM.
__global__ void __launch_bounds__(few_threads, 4)
    few_rows(const float* in, float* out, Extent extent, Divisor width, unsigned pitch) {
    extern __shared__ __align__(128) float run[];
    const unsigned rows = static_cast<unsigned>(extent.rows);
    const std::size_t first = std::size_t{blockIdx.x} * width.by;
    const std::size_t left = extent.columns - first;
    const unsigned mine = left < width.by ? static_cast<unsigned>(left) : width.by;
    const std::uint64_t policy = keep_policy();
    for (unsigned begin = threadIdx.x; begin < rows * width.by; begin += few_threads * few_batch) {
        float loaded[few_batch];
#pragma unroll
        for (int k = 0; k < few_batch; ++k) {
            const unsigned i = begin + k * few_threads;
            const unsigned row = width.quotient(i);
            const unsigned column = i - row * width.by;
            if (row < rows && column < mine)
                loaded[k] = load_kept(in + row * extent.columns + first + column, policy);
        }
#pragma unroll
        for (int k = 0; k < few_batch; ++k) {
            const unsigned i = begin + k * few_threads;
            const unsigned row = width.quotient(i);
            const unsigned column = i - row * width.by;
            if (row < rows && column < mine)
                run[column * pitch + row] = loaded[k];
        }
    }
    store_columns(run, out + first * rows, rows, mine, pitch, mine == width.by);
}

// ---- few columns ----

/// The same for few_columns, whose half warps read columns. Only where 16 lanes would meet in one bank, a row
/// begins one element later, and its elements come one by one.
[[nodiscard]] constexpr unsigned columns_pitch(std::size_t columns) {
    return static_cast<unsigned>(columns % 32 == 0 ? columns + 1 : columns);
}

/// Copies 4 bytes to shared memory, asynchronously. L2 keeps them, and may fetch the line of 128 bytes. PTX
/// ISA, cp.async.
__device__ inline void copy_kept(float* to, const float* from, std::uint64_t policy) {
    asm volatile("cp.async.ca.shared.global.L2::cache_hint.L2::128B [%0], [%1], 4, %2;" ::"r"(
                     static_cast<std::uint32_t>(__cvta_generic_to_shared(to))),
                 "l"(__cvta_generic_to_global(from)), "l"(policy)
                 : "memory");
}

/// Copies a piece of memory to shared memory by TMA; L2 keeps what it reads. Both begin at multiples of 16
/// bytes, and `bytes` is one. PTX ISA, cp.async.bulk.
__device__ inline void copy_bulk_kept(float* to, const float* from, unsigned bytes, std::uint64_t* bar,
                                      std::uint64_t policy) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint"
                 " [%0], [%1], %2, [%3], %4;" ::"r"(static_cast<std::uint32_t>(__cvta_generic_to_shared(to))),
                 "l"(__cvta_generic_to_global(from)), "r"(bytes),
                 "r"(static_cast<std::uint32_t>(__cvta_generic_to_shared(bar))), "l"(policy)
                 : "memory");
}

/// Brings `rows` rows that follow each other in `in` to shared memory, for all threads of the block. With
/// `bulk` one thread asks for all of them, and for as many more as make a multiple of 16 bytes: `rows` is one
/// less than a multiple of eight then, and the row behind them is there too.
__device__ inline void load_rows(float* run, const float* in, unsigned rows, unsigned columns, unsigned pitch,
                                 bool bulk) {
    __shared__ std::uint64_t full;
    const std::uint64_t policy = keep_policy();
    if (bulk) {
        if (threadIdx.x == 0) {
            ptx::mbarrier_init(&full, 1);
            ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
            const unsigned bytes = (rows + 1) * columns * sizeof(float);
            ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full, bytes);
            copy_bulk_kept(run, in, bytes, &full, policy);
        }
        __syncthreads();
        wait(&full, 0);
        return;
    }
    Along at{columns};
#pragma unroll 4
    for (unsigned i = threadIdx.x; i < rows * columns; i += few_threads, at.advance())
        copy_kept(&run[at.line * pitch + at.place], in + i, policy);
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads();
}

/// A block takes `height` rows from end to end, and seven rows more: half a warp stores one column after
/// another, each from the first row on that begins a sector, as leaning tiles do. Where columns are fewer
/// than half warps, several share one.
__global__ void __launch_bounds__(few_threads, 2)
    few_columns(const float* in, float* out, Extent extent, unsigned height, unsigned pitch) {
    extern __shared__ __align__(128) float run[];
    const unsigned columns = static_cast<unsigned>(extent.columns);
    const std::size_t first = std::size_t{blockIdx.x} * height;
    const std::size_t left = extent.rows - first;
    const unsigned most = height + sector_floats - 1;
    const unsigned rows = left < most ? static_cast<unsigned>(left) : most;
    load_rows(run, in + first * columns, rows, columns, pitch,
              left > most && pitch == columns && begins_16_bytes(in));
    constexpr unsigned lanes = 16;
    constexpr unsigned groups = few_threads / lanes;
    const unsigned sharing = columns < groups ? groups / columns : 1;
    for (unsigned job = threadIdx.x / lanes; job < columns * sharing; job += groups) {
        const unsigned column = job % columns;
        float* to = out + column * extent.rows + first;
        const unsigned lean = to_next_sector(to);
        const unsigned begin = first == 0 ? 0 : lean; // what lies above the first lean is the first block's
        for (unsigned row = begin + job / columns * lanes + threadIdx.x % lanes;
             row < min(rows, lean + height); row += lanes * sharing)
            to[row] = run[row * pitch + column];
    }
}

// ---- launches ----

/// How many lines a block takes of a matrix's `lines`, each of `length` elements, if it has room for `most`
/// and so many blocks fit on an SM: so many that all waves are alike. A matrix that gives each of them less
/// than two elements for a thread gets fewer. A multiple of eight: then all blocks lean alike, and their
/// pieces begin at multiples of 16 bytes.
[[nodiscard]] inline unsigned few_lines(std::size_t lines, std::size_t length, std::size_t most,
                                        std::size_t fitting) {
    constexpr std::size_t sms = 132; // of an H100 or H200
    while (fitting > 1 && lines * length < sms * fitting * 2 * few_threads)
        fitting /= 2;
    most = most / 8 * 8;
    const std::size_t wave = sms * fitting;
    const std::size_t waves = workbook::blocks_for(lines, wave * most);
    return std::min(static_cast<unsigned>(most), 8 * workbook::blocks_for(lines, wave * waves * 8));
}

/// The columns that a block of few_rows takes: what 48 KiB hold at most, for four blocks with so much leave
/// L1 60 KiB.
[[nodiscard]] inline unsigned few_width(Extent extent) {
    constexpr std::size_t room = 48 * 1024 / sizeof(float);
    return few_lines(extent.columns, extent.rows, room / rows_pitch(extent.rows), 4);
}

/// The rows that a block of few_columns takes, and stores of each column: it holds eight more in 96 KiB.
[[nodiscard]] inline unsigned few_height(Extent extent) {
    constexpr std::size_t room = 96 * 1024 / sizeof(float);
    return few_lines(extent.rows, extent.columns, room / columns_pitch(extent.columns) - sector_floats, 2);
}

/// Some columns of a matrix with few rows to each block.
inline void launch_few_rows(std::span<const float> in, std::span<float> out, Extent extent) {
    const unsigned width = few_width(extent);
    const unsigned pitch = rows_pitch(extent.rows);
    workbook::launch(few_rows,
                     {.grid = workbook::blocks_for(extent.columns, width),
                      .block = few_threads,
                      .dynamic_shared = std::size_t{width} * pitch * sizeof(float)},
                     in.data(), out.data(), extent, Divisor{width}, pitch);
}

/// Some rows of a matrix with few columns to each block.
inline void launch_few_columns(std::span<const float> in, std::span<float> out, Extent extent) {
    const unsigned height = few_height(extent);
    const unsigned pitch = columns_pitch(extent.columns);
    workbook::launch(few_columns,
                     {.grid = workbook::blocks_for(extent.rows, height),
                      .block = few_threads,
                      .dynamic_shared = std::size_t{height + sector_floats} * pitch * sizeof(float)},
                     in.data(), out.data(), extent, height, pitch);
}

} // namespace transpose
