/// @file measuring.cuh
/// Measurements for the page 'How to measure': what a launch takes that does nothing, and what the memory
/// gives when more or less of the traffic is reading.
#pragma once

#include "workbook/bench.hpp"
#include "workbook/bench_data.cuh"
#include "workbook/buffer.hpp"
#include "workbook/launch.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sync_copy {

inline constexpr int mix_block = 256;
inline constexpr int mix_steps = 4; ///< elements of each array that a thread takes

/// The arrays of a mix lie one behind the other, `count` elements each.
template <int reads, int writes>
__global__ void mix(const uint4* in, uint4* out, unsigned* sums, std::size_t count) {
    const std::size_t first = std::size_t{blockIdx.x} * mix_block * mix_steps + threadIdx.x;
    unsigned sum = 0;
#pragma unroll
    for (int step = 0; step < mix_steps; ++step) {
        const std::size_t i = first + step * mix_block;
        uint4 value = make_uint4(static_cast<unsigned>(i), 1, 2, 3);
#pragma unroll
        for (int k = 0; k < reads; ++k) {
            const uint4 more = in[k * count + i];
            value = make_uint4(value.x + more.x, value.y + more.y, value.z + more.z, value.w + more.w);
        }
#pragma unroll
        for (int k = 0; k < writes; ++k)
            out[k * count + i] = value;
        sum += value.x + value.y + value.z + value.w;
    }
    if constexpr (writes == 0) { // 4 bytes for every 2 KiB that were read
        sum = __reduce_add_sync(~0u, sum);
        if (threadIdx.x % 32 == 0)
            sums[blockIdx.x * (mix_block / 32) + threadIdx.x / 32] = sum;
    }
}

/// Adds up the words of each array that a mix wrote, or the sums of one that only reads.
__global__ void add_words(const unsigned* words, std::size_t count, unsigned* total) {
    const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
    unsigned sum = 0;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step)
        sum += words[i];
    sum = __reduce_add_sync(~0u, sum);
    if (threadIdx.x % 32 == 0)
        atomicAdd(total, sum);
}

/// The sum of `count` words in device memory.
[[nodiscard]] inline unsigned sum_of(const unsigned* words, std::size_t count) {
    workbook::DeviceBuffer<unsigned> total(std::vector<unsigned>{0});
    workbook::launch(add_words, {.grid = 1024, .block = 256}, words, count, total.data());
    return total.download().front();
}

/// Measures one mix of `bytes` in all and checks what it computed.
template <int reads, int writes>
void measure_mix(workbook::Bench& bench, std::size_t bytes, double ceiling) {
    constexpr std::size_t tile = mix_block * mix_steps;
    const std::size_t count = bytes / (16 * (reads + writes)) / tile * tile;
    workbook::DeviceBuffer<uint4> in(std::max<std::size_t>(reads * count, 1));
    workbook::DeviceBuffer<uint4> out(std::max<std::size_t>(writes * count, 1));
    workbook::DeviceBuffer<unsigned> sums(count / tile * (mix_block / 32));
    auto* in_words = reinterpret_cast<unsigned*>(in.data());
    workbook::launch(workbook::fill_random_words<unsigned>, workbook::striding(4 * in.size()), in_words,
                     4 * in.size());
    out.poison();
    sums.poison();
    const workbook::LaunchShape shape{.grid = static_cast<unsigned>(count / tile), .block = mix_block};
    const auto run = [&](cudaStream_t) {
        workbook::launch(mix<reads, writes>, shape, in.data(), out.data(), sums.data(), count);
    };
    run(nullptr);
    auto expected = static_cast<unsigned>(count * (count - 1) / 2 + 6 * count);
    if (reads > 0)
        expected += sum_of(in_words, 4 * in.size());
    const auto* out_words = reinterpret_cast<const unsigned*>(out.data());
    for (int k = 0; k < std::max(writes, 1); ++k)
        if (expected !=
            (writes > 0 ? sum_of(out_words + 4 * k * count, 4 * count) : sum_of(sums.data(), sums.size())))
            bench.wrong("mix: the sum is wrong");
    const std::size_t moved = 16 * count * (reads + writes);
    bench.row("mixes", workbook::joined<workbook::BenchCell>(
                           {{"reads", reads}, {"writes", writes}},
                           workbook::timing_cells(bench.time(moved, run), moved, ceiling)));
}

/// Kernels that differ in nothing but how many arrays they read and write; the bytes of all are the same.
inline void mixes(workbook::Bench& bench) {
    bench.table("mixes", "The rate of one kernel that reads and writes so many arrays",
                workbook::joined<workbook::BenchColumn>(
                    {{"reads", "arrays read"}, {"writes", "arrays written"}}, workbook::timing_columns()));
    const std::size_t bytes = bench.size(std::size_t{1} << 32, std::size_t{1} << 18);
    const auto ceiling = bench.ceiling(bytes);
    const double rate = ceiling ? ceiling->bytes_per_second(bytes) : 0;
    measure_mix<1, 0>(bench, bytes, rate);
    measure_mix<4, 1>(bench, bytes, rate);
    measure_mix<2, 1>(bench, bytes, rate);
    measure_mix<3, 2>(bench, bytes, rate);
    measure_mix<1, 1>(bench, bytes, rate);
    measure_mix<2, 3>(bench, bytes, rate);
    measure_mix<1, 2>(bench, bytes, rate);
    measure_mix<1, 4>(bench, bytes, rate);
    measure_mix<0, 1>(bench, bytes, rate);
}

/// The driver's copy and the kernel of the mixes that does the same, from one place to several others: what
/// of a share is the ceiling's own.
inline void copies(workbook::Bench& bench) {
    bench.table("copies", "The driver's copy and a kernel's, by size and by the place that is written",
                workbook::joined<workbook::BenchColumn>({{"bytes", "read and written", "bytes"},
                                                         {"shift", "place", "MiB further"},
                                                         {"who", "who copies"}},
                                                        workbook::timing_columns()));
    constexpr std::size_t mebibyte = std::size_t{1} << 20;
    for (const std::size_t bytes :
         {bench.size(256 * mebibyte, mebibyte / 4), bench.size(1024 * mebibyte, mebibyte / 4),
          bench.size(4096 * mebibyte, mebibyte / 4)}) {
        const std::size_t count = bytes / 32;
        const std::size_t furthest = bench.size(192 * mebibyte, mebibyte / 16);
        workbook::DeviceBuffer<uint4> in(count);
        workbook::DeviceBuffer<uint4> out(count + furthest / 16);
        workbook::launch(workbook::fill_random_words<unsigned>, workbook::striding(4 * count),
                         reinterpret_cast<unsigned*>(in.data()), 4 * count);
        for (std::size_t shift = 0; shift <= furthest; shift += furthest / 4) {
            uint4* to = out.data() + shift / 16;
            const workbook::LaunchShape shape{.grid = static_cast<unsigned>(count / (mix_block * mix_steps)),
                                              .block = mix_block};
            const auto driver = [&](cudaStream_t stream) {
                workbook::check(cudaMemcpyAsync(to, in.data(), bytes / 2, cudaMemcpyDeviceToDevice, stream),
                                "copying");
            };
            const auto kernel = [&](cudaStream_t) {
                workbook::launch(mix<1, 1>, shape, in.data(), to, static_cast<unsigned*>(nullptr), count);
            };
            const auto row = [&](const char* who, const std::optional<workbook::Timing>& timing) {
                bench.row("copies", workbook::joined<workbook::BenchCell>(
                                        {{"bytes", bytes}, {"shift", shift / mebibyte}, {"who", who}},
                                        workbook::timing_cells(timing, bytes)));
            };
            row("driver", bench.time(bytes, driver));
            row("kernel", bench.time(bytes, kernel));
        }
    }
}

__global__ void do_nothing() {}

/// The time between two events with an empty kernel between them: no shorter kernel can be told from it.
inline void empty_launch(workbook::Bench& bench) {
    bench.table(
        "empty_launch", "The time between two events around a kernel that does nothing",
        workbook::joined<workbook::BenchColumn>({{"blocks", "blocks"}}, workbook::timing_columns(false)));
    for (const unsigned blocks : {1u, 132u, 132u * 64})
        bench.row("empty_launch",
                  workbook::joined<workbook::BenchCell>(
                      {{"blocks", blocks}}, workbook::timing_cells(bench.time(0, [&](cudaStream_t) {
                          workbook::launch(do_nothing, {.grid = blocks, .block = 256});
                      }))));
}

} // namespace sync_copy
