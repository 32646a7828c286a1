/// @file bench.cu
/// Chapter 2's measurements: what a predicate costs and what its flags cost, how many groups and tiles per
/// block a ring of cp.async wants, what asking early is worth where few blocks fit on an SM, and what the
/// instruction alone is worth there.
#include "cp_async.cuh"

#include "workbook/bench.hpp"
#include "workbook/bench_data.cuh"
#include "workbook/buffer.hpp"
#include "workbook/interleaved.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
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

__global__ void count_not_reversed(const unsigned* in, const unsigned* out, std::size_t size, int floats,
                                   unsigned long long* wrong) {
    const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < size; i += step) {
        const std::size_t start = i - i % floats;
        const auto count = static_cast<std::size_t>(tile_count(start, floats, size));
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
    /// Whether `out` is `in`, reversed in tiles of so many floats.
    [[nodiscard]] bool reversed(int floats = tile_floats) const {
        DeviceBuffer<unsigned long long> wrong(std::vector<unsigned long long>{0});
        workbook::launch(count_not_reversed, workbook::striding(in.size()),
                         reinterpret_cast<const unsigned*>(in.data()),
                         reinterpret_cast<const unsigned*>(out.data()), in.size(), floats, wrong.data());
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

// ---- asking early, where few blocks fit on an SM ----

inline constexpr int small_floats = tile_floats / 2;

/// As groups_in_flight with one stage, but a tile comes through the registers. Whole tiles only.
/// @tparam early the next tile is asked for as soon as this one is put down, and is on its way while this one
///               is used. (Not before: the wait for this tile's register would wait for both loads.)
template <bool early>
__global__ void through_registers(const float* in, float* out, std::size_t size) {
    __shared__ alignas(128) float tile[small_floats];
    const auto tile_start = [](unsigned k) {
        return (blockIdx.x + std::size_t{k} * gridDim.x) * small_floats;
    };
    const int first = threadIdx.x * chunk_floats;
    const auto load = [&](unsigned k) {
        float4 chunk{};
        if (first < small_floats && tile_start(k) < size)
            chunk = *reinterpret_cast<const float4*>(in + tile_start(k) + first);
        return chunk;
    };
    float4 chunk = load(0);
    for (unsigned k = 0; tile_start(k) < size; ++k) {
        if (first < small_floats)
            *reinterpret_cast<float4*>(tile + first) = chunk;
        if constexpr (early)
            chunk = load(k + 1);
        __syncthreads();
        store_reversed(tile, out + tile_start(k), small_floats);
        __syncthreads();
        if constexpr (!early)
            chunk = load(k + 1);
    }
}

/// groups_in_flight for whole tiles only: no lengths, and no branch for a cut chunk. With one stage it is
/// through_registers<false> but for the instruction.
template <int stages>
__global__ void whole_tiles(const float* in, float* out, std::size_t size) {
    __shared__ alignas(128) float tiles[stages][small_floats];
    const auto tile_start = [](unsigned k) {
        return (blockIdx.x + std::size_t{k} * gridDim.x) * small_floats;
    };
    const int first = threadIdx.x * chunk_floats;
    const auto start_group = [&](unsigned k) {
        if (first < small_floats && tile_start(k) < size)
            cp_async_cg(tiles[k % stages] + first, in + tile_start(k) + first);
        cp_async_commit_group();
    };
    for (int k = 0; k < stages - 1; ++k)
        start_group(k);
    for (unsigned k = 0; tile_start(k) < size; ++k) {
        start_group(k + stages - 1);
        cp_async_wait_group<stages - 1>();
        __syncthreads();
        store_reversed(tiles[k % stages], out + tile_start(k), small_floats);
        __syncthreads();
    }
}

/// One kernel with one shape of its blocks.
struct Early {
    const char* kernel_name;
    void (*kernel)(const float*, float*, std::size_t);
    int stages;
    int floats;           ///< of a tile
    unsigned threads;     ///< of a block
    unsigned blocks;      ///< on an SM at a time
    unsigned each;        ///< tiles that a block takes before it ends; 0: blocks stay
    std::size_t filler{}; ///< bytes of shared memory that a block takes and does not use: no more blocks fit
};

/// Sets what keeps other blocks away. False if not just so many blocks fit on an SM.
bool limit_blocks(Early& early) {
    constexpr std::size_t per_sm = 228 * 1024; // each block takes 1 KiB more than it asks for
    cudaFuncAttributes attributes{};
    workbook::check(cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(early.kernel)),
                    "asking for a kernel's attributes");
    early.filler = (per_sm / early.blocks - 1024) / 128 * 128 - attributes.sharedSizeBytes;
    workbook::raise_limits(early.kernel, {.block = early.threads, .dynamic_shared = early.filler});
    int fit = 0;
    workbook::check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
                        &fit, early.kernel, static_cast<int>(early.threads), early.filler),
                    "asking how many blocks fit");
    return fit == static_cast<int>(early.blocks);
}

template <int... stages>
void add_rings(std::vector<Early>& to, std::integer_sequence<int, stages...>) {
    for (const unsigned each : {0u, 4u, 16u}) {
        for (const unsigned blocks : {4u, 8u}) {
            const auto add = [&](int count, int floats, unsigned threads, auto* kernel) {
                to.push_back({"groups_in_flight", kernel, count, floats, threads, blocks, each});
            };
            (add(stages + 1, small_floats, 256, groups_in_flight<stages + 1, small_floats>), ...);
            (add(stages + 1, small_floats, 128, groups_in_flight<stages + 1, small_floats>), ...);
            (add(stages + 1, tile_floats, 256, groups_in_flight<stages + 1>), ...);
        }
        for (const unsigned threads : {256u, 128u}) {
            to.push_back({"registers", through_registers<false>, 1, small_floats, threads, 4, each});
            to.push_back({"registers, early", through_registers<true>, 1, small_floats, threads, 4, each});
        }
    }
}

/// A table of all rows in turns, with the driver's copy among them.
void in_turns(Bench& bench, const char* table, const char* title, std::vector<Early> rows) {
    bench.table(
        table, title,
        workbook::joined<workbook::BenchColumn>({{"kernel", "kernel"},
                                                 {"stages", "stages"},
                                                 {"tile_bytes", "tile", "bytes"},
                                                 {"threads", "threads of a block"},
                                                 {"blocks_per_sm", "blocks per SM"},
                                                 {"tiles_per_block", "tiles per block, 0: blocks stay"},
                                                 {"in_flight", "stages of an SM", "bytes"}},
                                                workbook::timing_columns()));
    Arrays arrays(bench.size(std::size_t{97'656}, std::size_t{40}) * tile_floats); // whole tiles
    const std::size_t size = arrays.in.size();
    std::vector<workbook::Contender> contenders{
        {"copy", [&] {
             workbook::check(cudaMemcpyAsync(arrays.out.data(), arrays.in.data(), arrays.in.size_bytes(),
                                             cudaMemcpyDeviceToDevice),
                             "the driver's copy");
         }}};
    for (Early& row : rows) {
        if (!limit_blocks(row))
            return bench.wrong(std::string(table) + ", " + row.kernel_name + ": other blocks fit");
        const unsigned tiles = workbook::blocks_for(size, static_cast<std::size_t>(row.floats));
        const unsigned grid =
            row.each > 0
                ? (tiles + row.each - 1) / row.each
                : std::min(static_cast<unsigned>(bench.device().multiprocessors) * row.blocks, tiles);
        const workbook::LaunchShape shape{.grid = grid, .block = row.threads, .dynamic_shared = row.filler};
        const auto launch = [&arrays, kernel = row.kernel, shape, size] {
            workbook::launch(kernel, shape, arrays.in.data(), arrays.out.data(), size);
        };
        arrays.out.poison();
        launch();
        if (!arrays.reversed(row.floats))
            return bench.wrong(std::string(table) + ", " + row.kernel_name + ": wrong result");
        contenders.push_back({row.kernel_name, launch});
    }
    std::vector<std::optional<workbook::Timing>> timings(contenders.size());
    if (bench.mode() == workbook::BenchMode::measure) {
        const auto measured = workbook::measure_in_turns(contenders);
        std::copy(measured.begin(), measured.end(), timings.begin());
    }
    const std::size_t bytes = 2 * arrays.in.size_bytes();
    const double rate = timings[0] ? timings[0]->bytes_per_second(bytes) : 0;
    bench.row(table, workbook::joined<BenchCell>({{"kernel", "copy"}},
                                                 workbook::timing_cells(timings[0], bytes, rate)));
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const Early& row = rows[i];
        const std::size_t tile = static_cast<std::size_t>(row.floats) * sizeof(float);
        bench.row(table, workbook::joined<BenchCell>(
                             {{"kernel", row.kernel_name},
                              {"stages", row.stages},
                              {"tile_bytes", tile},
                              {"threads", row.threads},
                              {"blocks_per_sm", row.blocks},
                              {"tiles_per_block", row.each},
                              {"in_flight", tile * static_cast<std::size_t>(row.stages) * row.blocks}},
                             workbook::timing_cells(timings[i + 1], bytes, rate)));
    }
}

void early(Bench& bench) {
    std::vector<Early> rows;
    add_rings(rows, std::make_integer_sequence<int, 6>());
    in_turns(bench, "cp_async_early",
             "Asking early where four or eight blocks fit on an SM: through registers, and with cp.async",
             std::move(rows));
}

template <int... stages>
void add_twins(std::vector<Early>& to, std::integer_sequence<int, stages...>) {
    const auto add = [&](const char* name, int count, auto* kernel) {
        to.push_back({name, kernel, count, small_floats, 128, 4, 0});
    };
    add("registers", 1, through_registers<false>);
    add("registers, early", 1, through_registers<true>);
    (add("groups_in_flight", stages + 1, groups_in_flight<stages + 1, small_floats>), ...);
    (add("whole_tiles", stages + 1, whole_tiles<stages + 1>), ...);
}

/// The shapes of the chapter's first picture, and the same rings for whole tiles only.
void whole(Bench& bench) {
    std::vector<Early> rows;
    add_twins(rows, std::make_integer_sequence<int, 4>());
    in_turns(bench, "cp_async_whole",
             "Tiles of 2 KiB in four blocks on an SM: through registers, and rings with and without lengths",
             std::move(rows));
}

constexpr workbook::BenchPart parts[] = {
    {"flags", "what a predicate costs, and what reading its flags costs", flags},
    {"groups", "stages and tiles per block of a ring of groups", groups},
    {"early", "what asking early is worth where few blocks fit on an SM", early},
    {"whole", "what the instruction alone is worth there: rings for whole tiles only", whole},
};

} // namespace

int main(int argc, char** argv) { return workbook::run_bench("cp_async_bench", parts, argc, argv); }
