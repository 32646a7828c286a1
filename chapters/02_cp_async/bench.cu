/// @file bench.cu
/// Chapter 2's measurements: what a predicate costs and what its flags cost, and how many groups and tiles
/// per block a ring of cp.async wants.
#include "cp_async.cuh"

#include "workbook/bench.hpp"
#include "workbook/bench_data.cuh"
#include "workbook/buffer.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace {

using namespace cp_async;
using workbook::Bench;
using workbook::BenchCell;
using workbook::DeviceBuffer;

// ---- ignore_src, one difference at a time ----

/// ignore_src without what is not asked for: whether a flag is read for each element, and whether the copy
/// has a predicate. No element is left out: all flags are 1, and `ignored` is 0.
template <bool flags, bool predicate>
__global__ void flagged(const float* in, const unsigned char* keep, float* out, std::size_t size,
                        int ignored) {
    __shared__ alignas(128) float tile[tile_floats];
    const std::size_t start = std::size_t{blockIdx.x} * tile_floats;
    const int count = tile_count(start, tile_floats, size);
    for (int i = threadIdx.x; i < count; i += block_threads) {
        int ignore = ignored;
        if constexpr (flags)
            ignore = keep[start + i] == 0;
        if constexpr (predicate)
            asm volatile("{\n\t"
                         ".reg .pred ignore;\n\t"
                         "setp.ne.s32 ignore, %2, 0;\n\t"
                         "cp.async.ca.shared.global [%0], [%1], 4, ignore;\n\t"
                         "}" ::"r"(shared_address(tile + i)),
                         "l"(__cvta_generic_to_global(in + start + i)), "r"(ignore)
                         : "memory");
        else {
            asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(shared_address(tile + i)),
                         "l"(__cvta_generic_to_global(in + start + i))
                         : "memory");
            if (ignore != 0) // never: the flag must be read, and must not matter
                out[start] = 0;
        }
    }
    cp_async_wait_all();
    __syncthreads();
    store_reversed(tile, out + start, count);
}

__global__ void count_not_reversed(const unsigned* in, const unsigned* out, std::size_t size,
                                   unsigned long long* wrong) {
    const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < size; i += step) {
        const std::size_t start = i - i % tile_floats;
        const auto count = static_cast<std::size_t>(tile_count(start, tile_floats, size));
        if (out[i] != in[start + count - 1 - (i - start)])
            atomicAdd(wrong, 1ull);
    }
}

/// Two arrays of random words, as floats.
struct Arrays {
    explicit Arrays(std::size_t size) : in(size), out(size) {
        workbook::launch(workbook::fill_random_words<unsigned>, workbook::striding(size),
                         reinterpret_cast<unsigned*>(in.data()), size);
    }
    [[nodiscard]] bool reversed() const {
        DeviceBuffer<unsigned long long> wrong(std::vector<unsigned long long>{0});
        workbook::launch(count_not_reversed, workbook::striding(in.size()),
                         reinterpret_cast<const unsigned*>(in.data()),
                         reinterpret_cast<const unsigned*>(out.data()), in.size(), wrong.data());
        return wrong.download().front() == 0;
    }
    DeviceBuffer<float> in;
    DeviceBuffer<float> out;
};

/// A row of a table: launches, checks, and times what reads and writes `bytes`.
template <class Launch>
void row(Bench& bench, const char* table, Arrays& arrays, std::vector<BenchCell> cells, std::size_t bytes,
         double rate, Launch&& launch) {
    arrays.out.poison();
    launch(static_cast<cudaStream_t>(nullptr));
    if (!arrays.reversed())
        return bench.wrong(std::string(table) + ": wrong result");
    const auto timing = bench.time_checked(bytes, launch);
    bench.row(table,
              workbook::joined<BenchCell>(std::move(cells), workbook::timing_cells(timing, bytes, rate)));
}

double copy_rate(Bench& bench, std::size_t bytes) {
    const auto ceiling = bench.ceiling(bytes);
    return ceiling ? ceiling->bytes_per_second(bytes) : 0;
}

template <bool flags, bool predicate>
void flagged_row(Bench& bench, Arrays& arrays, const DeviceBuffer<unsigned char>& keep, double rate) {
    const std::size_t size = arrays.in.size();
    row(bench, "cp_async_flags", arrays,
        {{"flags", flags ? "read" : "–"}, {"predicate", predicate ? "yes" : "–"}},
        (2 * sizeof(float) + (flags ? 1 : 0)) * size, rate, [&](cudaStream_t) {
            workbook::launch(flagged<flags, predicate>, tile_shape(size), arrays.in.data(), keep.data(),
                             arrays.out.data(), size, 0);
        });
}

void flags(Bench& bench) {
    bench.table(
        "cp_async_flags", "4-byte copies with and without a predicate, with and without a flag to read",
        workbook::joined<workbook::BenchColumn>(
            {{"flags", "a flag per element"}, {"predicate", "ignore-src"}}, workbook::timing_columns()));
    const std::size_t size = bench.size(std::size_t{100'000'000}, std::size_t{5'000});
    Arrays arrays(size);
    const DeviceBuffer<unsigned char> keep(std::vector<unsigned char>(size, 1));
    const double rate = copy_rate(bench, 2 * arrays.in.size_bytes());
    flagged_row<false, false>(bench, arrays, keep, rate);
    flagged_row<false, true>(bench, arrays, keep, rate);
    flagged_row<true, false>(bench, arrays, keep, rate);
    flagged_row<true, true>(bench, arrays, keep, rate);
}

// ---- groups_in_flight, one difference at a time ----

template <int stages>
void groups_row(Bench& bench, Arrays& arrays, unsigned tiles_per_block, double rate) {
    const std::size_t size = arrays.in.size();
    const unsigned tiles = workbook::blocks_for(size, tile_floats);
    int fit = 0;
    workbook::check(
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, groups_in_flight<stages>, block_threads, 0),
        "asking how many blocks fit");
    const unsigned resident = static_cast<unsigned>(bench.device().multiprocessors * fit);
    const unsigned grid =
        tiles_per_block > 0 ? (tiles + tiles_per_block - 1) / tiles_per_block : std::min(resident, tiles);
    row(bench, "cp_async_groups", arrays,
        {{"kernel", "groups_in_flight"},
         {"stages", stages},
         {"blocks_per_sm", fit},
         {"tiles_per_block", tiles_per_block}},
        2 * arrays.in.size_bytes(), rate, [&](cudaStream_t) {
            workbook::launch(groups_in_flight<stages>, {.grid = grid, .block = block_threads},
                             arrays.in.data(), arrays.out.data(), size);
        });
}

void groups(Bench& bench) {
    bench.table("cp_async_groups", "groups_in_flight: stages, and tiles that a block takes before it ends",
                workbook::joined<workbook::BenchColumn>({{"kernel", "kernel"},
                                                         {"stages", "stages"},
                                                         {"blocks_per_sm", "blocks that fit on an SM"},
                                                         {"tiles_per_block", "tiles per block"}},
                                                        workbook::timing_columns()));
    Arrays arrays(bench.size(std::size_t{100'000'000}, std::size_t{50'000}));
    const double rate = copy_rate(bench, 2 * arrays.in.size_bytes());
    row(bench, "cp_async_groups", arrays, {{"kernel", "copy_16_bytes"}, {"tiles_per_block", 1}},
        2 * arrays.in.size_bytes(), rate,
        [&](cudaStream_t) { launch_copy_16_bytes(arrays.in.span(), arrays.out.span()); });
    for (const unsigned each : {1u, 2u, 4u, 8u, 16u, 32u, 0u}) {
        groups_row<1>(bench, arrays, each, rate);
        groups_row<2>(bench, arrays, each, rate);
        groups_row<3>(bench, arrays, each, rate);
        groups_row<4>(bench, arrays, each, rate);
    }
}

constexpr workbook::BenchPart parts[] = {
    {"flags", "what a predicate costs, and what reading its flags costs", flags},
    {"groups", "stages and tiles per block of a ring of groups", groups},
};

} // namespace

int main(int argc, char** argv) { return workbook::run_bench("cp_async_bench", parts, argc, argv); }
