/// @file pair_mixes.cuh
/// A measurement for the page 'How to measure': why two_copies_one_barrier comes out above the copy. Its
/// structure with one difference: whether the codes are written back too, so that as much is written as read.
#pragma once

#include "barriers.cuh"

#include "workbook/bench.hpp"
#include "workbook/bench_data.cuh"
#include "workbook/buffer.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace barriers {

/// Sums of values and codes, as two_copies_one_barrier makes them of whole tiles; `write_codes` writes their
/// low halves too.
template <bool write_codes>
__global__ void pair_mix(Pair in, unsigned* out, unsigned short* codes_out) {
    __shared__ PairTile tile;
    __shared__ alignas(8) std::uint64_t bar;
    if (threadIdx.x == 0)
        ptx::mbarrier_init(&bar, 1);
    __syncthreads();
    const std::size_t start = std::size_t{blockIdx.x} * pair_tile;
    if (threadIdx.x == 0) {
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar,
                                       sizeof(tile.values) + sizeof(tile.codes));
        ptx::cp_async_bulk(ptx::space_shared, ptx::space_global, tile.values, in.values + start,
                           sizeof(tile.values), &bar);
        ptx::cp_async_bulk(ptx::space_shared, ptx::space_global, tile.codes, in.codes + start,
                           sizeof(tile.codes), &bar);
    }
    while (!ptx::mbarrier_try_wait_parity(&bar, 0))
        ;
    for (int i = threadIdx.x; i < pair_tile; i += block_threads) {
        const unsigned sum = tile.values[pair_tile - 1 - i] + tile.codes[pair_tile - 1 - i];
        out[start + i] = sum;
        if constexpr (write_codes)
            codes_out[start + i] = static_cast<unsigned short>(sum);
    }
}

/// Adds to *wrong how many outputs of pair_mix are not what its random inputs give.
template <bool write_codes>
__global__ void count_wrong_pairs(const unsigned* out, const unsigned short* codes_out, std::size_t count,
                                  unsigned long long* wrong) {
    const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
    unsigned long long mine = 0;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
        const std::size_t from = i / pair_tile * pair_tile + pair_tile - 1 - i % pair_tile;
        const std::uint32_t word = workbook::random_word(from);
        const unsigned sum = word + static_cast<unsigned short>(word);
        mine += out[i] != sum || (write_codes && codes_out[i] != static_cast<unsigned short>(sum));
    }
    if (mine > 0)
        atomicAdd(wrong, mine);
}

template <bool write_codes>
void measure_pair_mix(workbook::Bench& bench, std::size_t bytes) {
    constexpr std::size_t element = 4 + 2 + 4 + (write_codes ? 2 : 0);
    const std::size_t count = std::max<std::size_t>(bytes / element / pair_tile, 1) * pair_tile;
    workbook::DeviceBuffer<unsigned> values(count);
    workbook::DeviceBuffer<unsigned short> codes(count);
    workbook::DeviceBuffer<unsigned> out(count);
    workbook::DeviceBuffer<unsigned short> codes_out(count);
    workbook::launch(workbook::fill_random_words<unsigned>, workbook::striding(count), values.data(), count);
    workbook::launch(workbook::fill_random_words<unsigned short>, workbook::striding(count), codes.data(),
                     count);
    out.poison();
    codes_out.poison();
    const std::size_t moved = count * element;
    const auto ceiling = bench.ceiling(moved);
    const auto timing = bench.time(moved, [&](cudaStream_t) {
        workbook::launch(pair_mix<write_codes>,
                         {.grid = static_cast<unsigned>(count / pair_tile), .block = block_threads},
                         Pair{values.data(), codes.data(), count}, out.data(), codes_out.data());
    });
    workbook::DeviceBuffer<unsigned long long> wrong(std::vector<unsigned long long>{0});
    workbook::launch(count_wrong_pairs<write_codes>, workbook::striding(count), out.data(), codes_out.data(),
                     count, wrong.data());
    if (wrong.download().front() != 0)
        bench.wrong("pair_mix: wrong sums");
    bench.row("pair_mixes",
              workbook::joined<workbook::BenchCell>(
                  {{"read", "values and codes"}, {"written", write_codes ? "sums and codes" : "sums"}},
                  workbook::timing_cells(timing, moved, ceiling ? ceiling->bytes_per_second(moved) : 0)));
}

inline void pair_mixes(workbook::Bench& bench) {
    bench.table("pair_mixes", "The kernel of two copies, with and without a second array that it writes",
                workbook::joined<workbook::BenchColumn>({{"read", "read"}, {"written", "written"}},
                                                        workbook::timing_columns()));
    const std::size_t bytes = bench.size(std::size_t{1'000'000'000}, std::size_t{1} << 16);
    measure_pair_mix<false>(bench, bytes);
    measure_pair_mix<true>(bench, bytes);
}

} // namespace barriers
