/// @file bench_filter.cuh
/// Chapter 6's measurements: where the time of the 3×3 filter goes. Twins of box_filter_3x3 that change one
/// thing: how the tile comes with its halo, where its box begins, what is done with it, and how the results
/// go. All have the chapter's tiles, threads and grid.
#pragma once

#include "bench_plain.cuh"
#include "tma_2d.cuh"

#include "workbook/bench.hpp"
#include "workbook/buffer.hpp"
#include "workbook/interleaved.hpp"
#include "workbook/random.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tma_2d {

/// How a tile comes into shared memory with its halo.
enum class Halo {
    box,    ///< one thread asks for all of it, by a tensor copy
    chunks, ///< each thread asks for 16 bytes at a time, by cp.async with zero fill
    vectors ///< the same 16 bytes by way of the thread's registers
};

/// What is made of the tile.
enum class Work {
    nine,    ///< each sum adds nine elements, as in box_filter_3x3
    six,     ///< only those of the upper two rows
    three,   ///< only those of the row above
    columns, ///< a thread has eight sums one below the other, and adds up each row of three only once
    none     ///< the middle element alone: what remains is a copy with a halo
};

/// How many neighbours a result adds up, row by row from the upper left one; 0 if it is the middle element.
__host__ __device__ constexpr int added(Work work) {
    return work == Work::none ? 0 : work == Work::three ? 3 : work == Work::six ? 6 : 9;
}

/// How the results go to global memory.
enum class Results { tile, plain }; ///< by a tensor store of the tile, or by each thread, with the test

/// A tile and its halo: `margin` columns on each side, a multiple of 4, and one row above and below.
template <int margin>
struct HaloTile {
    static constexpr int row = tile_width + 2 * margin;
    static constexpr int elements = row * halo_height;
    static constexpr int chunk = 16 / sizeof(unsigned); ///< elements in 16 bytes
    static constexpr int chunks = elements / chunk;
};

/// How many bytes of the chunk at (x, y) the matrix has: 16 inside, fewer over its right edge, 0 elsewhere.
__device__ inline int bytes_inside(const Matrix<const unsigned>& matrix, int x, int y) {
    const bool in_column = static_cast<unsigned>(y) < static_cast<unsigned>(matrix.height);
    const int left = static_cast<int>(matrix.width) - x;
    return in_column && x >= 0 ? 4 * max(0, min(left, 4)) : 0;
}

/// Every chunk of the halo that is this thread's: `visit(k, place in the halo, x, y)`.
template <int margin, class Visit>
__device__ inline void for_each_chunk(int left, int top, const Visit& visit) {
    using Tile = HaloTile<margin>;
    constexpr int each_row = Tile::row / Tile::chunk;
#pragma unroll
    for (int k = 0; k < (Tile::chunks + block_threads - 1) / block_threads; ++k) {
        const int i = static_cast<int>(threadIdx.x) + k * block_threads;
        if (i < Tile::chunks)
            visit(k, i * Tile::chunk, left - margin + i % each_row * Tile::chunk, top - 1 + i / each_row);
    }
}

/// Asks for this thread's chunks. What the matrix has not of a chunk becomes zeros: src-size says how much it
/// has (chapter 2, zero_filled_tail).
template <int margin>
__device__ inline void ask_for_chunks(unsigned* halo, const Matrix<const unsigned>& from, int left, int top) {
    for_each_chunk<margin>(left, top, [&](int, int place, int x, int y) {
        const int bytes = bytes_inside(from, x, y);
        const unsigned* source =
            bytes > 0 ? from.data + y * static_cast<std::ptrdiff_t>(from.pitch) + x : from.data;
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(
                         static_cast<std::uint32_t>(__cvta_generic_to_shared(halo + place))),
                     "l"(__cvta_generic_to_global(source)), "r"(bytes)
                     : "memory");
    });
}

/// Loads this thread's chunks, all of them before it stores the first to shared memory.
template <int margin>
__device__ inline void load_chunks(unsigned* halo, const Matrix<const unsigned>& from, int left, int top) {
    uint4 values[(HaloTile<margin>::chunks + block_threads - 1) / block_threads];
    for_each_chunk<margin>(left, top, [&](int k, int, int x, int y) {
        const int bytes = bytes_inside(from, x, y);
        const unsigned* source = from.data + y * static_cast<std::ptrdiff_t>(from.pitch) + x;
        values[k] = {};
        if (bytes == 16) {
            values[k] = *reinterpret_cast<const uint4*>(source);
        } else if (bytes > 0) {
            values[k].x = source[0];
            values[k].y = bytes > 4 ? source[1] : 0;
            values[k].z = bytes > 8 ? source[2] : 0;
        }
    });
    for_each_chunk<margin>(
        left, top, [&](int k, int place, int, int) { *reinterpret_cast<uint4*>(halo + place) = values[k]; });
}

/// Makes this thread's results from the halo: `put(number in the tile, value)`.
template <int margin, Work work, class Put>
__device__ inline void make_results(const unsigned* halo, const Put& put) {
    constexpr int row = HaloTile<margin>::row;
    if constexpr (work == Work::columns) {
        constexpr int each = tile_elements / block_threads;
        const int x = static_cast<int>(threadIdx.x) % tile_width;
        const int y = static_cast<int>(threadIdx.x) / tile_width * each;
        const unsigned* corner = halo + y * row + x + margin - 1;
        unsigned sums[each + 2];
#pragma unroll
        for (int k = 0; k < each + 2; ++k)
            sums[k] = corner[k * row] + corner[k * row + 1] + corner[k * row + 2];
#pragma unroll
        for (int k = 0; k < each; ++k)
            put((y + k) * tile_width + x, sums[k] + sums[k + 1] + sums[k + 2]);
    } else {
        for (int i = threadIdx.x; i < tile_elements; i += blockDim.x) {
            const unsigned* corner = halo + i / tile_width * row + i % tile_width + margin - 1;
            unsigned sum = work == Work::none ? corner[row + 1] : 0;
            for (int k = 0; k < added(work); ++k)
                sum += corner[k / 3 * row + k % 3];
            put(i, sum);
        }
    }
}

/// As box_filter_3x3. The two maps are for boxes of HaloTile<margin> and of a tile; where no tensor copy is
/// asked for nothing reads them.
template <Halo way, int margin, Work work, Results results>
__global__ void filter_twin(const __grid_constant__ CUtensorMap from_map,
                            const __grid_constant__ CUtensorMap to_map, Matrix<const unsigned> from,
                            Matrix<unsigned> to) {
    __shared__ alignas(128) unsigned halo[HaloTile<margin>::elements];
    const int left = static_cast<int>(blockIdx.x) * tile_width;
    const int top = static_cast<int>(blockIdx.y) * tile_height;
    if constexpr (way == Halo::box) {
        __shared__ std::uint64_t bar;
        if (threadIdx.x == 0) {
            const std::int32_t begin[] = {left - margin, top - 1};
            expect(&bar, sizeof(halo));
            ptx::cp_async_bulk_tensor(ptx::space_shared, ptx::space_global, halo, &from_map, begin, &bar);
        }
        __syncthreads();
        wait(&bar, 0);
    } else if constexpr (way == Halo::chunks) {
        ask_for_chunks<margin>(halo, from, left, top);
        asm volatile("cp.async.wait_all;" ::: "memory");
        __syncthreads();
    } else {
        load_chunks<margin>(halo, from, left, top);
        __syncthreads();
    }
    if constexpr (results == Results::tile) {
        __shared__ alignas(128) unsigned sums[tile_elements];
        make_results<margin, work>(halo, [&](int i, unsigned value) { sums[i] = value; });
        ptx::fence_proxy_async(ptx::space_shared);
        __syncthreads();
        const std::int32_t at[] = {left, top};
        if (threadIdx.x == 0)
            store(to_map, at, sums);
    } else {
        make_results<margin, work>(halo, [&](int i, unsigned value) {
            const int x = left + i % tile_width;
            const int y = top + i / tile_width;
            if (x < static_cast<int>(to.width) && y < static_cast<int>(to.height))
                to.data[y * to.pitch + x] = value;
        });
    }
}

// ---- the measurement ----

/// A filter with what the table says of it.
struct Filter {
    const char* name;
    const char* halo;
    int columns; ///< that a tile brings; 0 without a tile
    Work work;
    const char* results;
    /// What enqueues a launch for these matrices; the maps are made once, before.
    std::function<void()> (*with)(Matrix<const unsigned> in, Matrix<unsigned> out);
};

template <Halo way, int margin, Work work, Results results>
std::function<void()> twin_with(Matrix<const unsigned> in, Matrix<unsigned> out) {
    return [=, from = matrix_map(in, HaloTile<margin>::row, halo_height), to = matrix_map(out)] {
        workbook::launch(filter_twin<way, margin, work, results>,
                         {.grid = tiles_of(out), .block = block_threads}, from, to, in, out);
    };
}

template <Halo way, int margin, Work work, Results results>
Filter twin(const char* name) {
    return {name,
            way == Halo::box      ? "a tensor copy"
            : way == Halo::chunks ? "cp.async of 16 bytes"
                                  : "plain loads of 16 bytes",
            HaloTile<margin>::row,
            work,
            results == Results::tile ? "a tensor store" : "plain stores",
            twin_with<way, margin, work, results>};
}

inline std::vector<Filter> filters() {
    return {{"box_filter_3x3", "a tensor copy", halo_width, Work::nine, "a tensor store",
             [](Matrix<const unsigned> in, Matrix<unsigned> out) -> std::function<void()> {
                 return [=, from = matrix_map(in, halo_width, halo_height), to = matrix_map(out)] {
                     workbook::launch(box_filter_3x3, {.grid = tiles_of(out), .block = block_threads}, from,
                                      to);
                 };
             }},
            twin<Halo::box, 4, Work::nine, Results::tile>("box, 72"),
            twin<Halo::box, 8, Work::nine, Results::tile>("box, 80"),
            twin<Halo::box, 16, Work::nine, Results::tile>("box, 96"),
            twin<Halo::chunks, 4, Work::nine, Results::tile>("chunks, 72"),
            twin<Halo::chunks, 8, Work::nine, Results::tile>("chunks, 80"),
            twin<Halo::vectors, 4, Work::nine, Results::tile>("vectors, 72"),
            twin<Halo::vectors, 8, Work::nine, Results::tile>("vectors, 80"),
            twin<Halo::box, 4, Work::nine, Results::plain>("box, 72, plain"),
            twin<Halo::box, 8, Work::nine, Results::plain>("box, 80, plain"),
            twin<Halo::chunks, 4, Work::nine, Results::plain>("chunks, 72, plain"),
            twin<Halo::chunks, 8, Work::nine, Results::plain>("chunks, 80, plain"),
            twin<Halo::vectors, 8, Work::nine, Results::plain>("vectors, 80, plain"),
            {"box_filter_plain", "plain loads of 4 bytes", tile_width + 2, Work::nine, "plain stores",
             [](Matrix<const unsigned> in, Matrix<unsigned> out) -> std::function<void()> {
                 return [=] { launch_filter<box_filter_plain>(in, out); };
             }},
            {"box_filter_from_l1", "no tile", 0, Work::nine, "plain stores",
             [](Matrix<const unsigned> in, Matrix<unsigned> out) -> std::function<void()> {
                 return [=] { launch_filter<box_filter_from_l1>(in, out); };
             }},
            {"box_filter_by_columns", "no tile", 0, Work::columns, "plain stores",
             [](Matrix<const unsigned> in, Matrix<unsigned> out) -> std::function<void()> {
                 return [=] { launch_filter<box_filter_by_columns>(in, out); };
             }},
            twin<Halo::box, 4, Work::columns, Results::tile>("box, 72, columns"),
            twin<Halo::box, 8, Work::columns, Results::tile>("box, 80, columns"),
            twin<Halo::chunks, 4, Work::columns, Results::tile>("chunks, 72, columns"),
            twin<Halo::chunks, 8, Work::columns, Results::tile>("chunks, 80, columns"),
            twin<Halo::box, 8, Work::columns, Results::plain>("box, 80, columns, plain"),
            twin<Halo::chunks, 8, Work::columns, Results::plain>("chunks, 80, columns, plain"),
            twin<Halo::box, 4, Work::none, Results::tile>("box, 72, no sums"),
            twin<Halo::box, 8, Work::none, Results::tile>("box, 80, no sums"),
            twin<Halo::chunks, 4, Work::none, Results::tile>("chunks, 72, no sums"),
            twin<Halo::chunks, 8, Work::none, Results::tile>("chunks, 80, no sums")};
}

/// What a filter makes of `in`, made on the host.
inline std::vector<unsigned> filtered(const std::vector<unsigned>& in, workbook::Shape shape, Work work) {
    const std::size_t pitch = workbook::row_pitch<unsigned>(shape.width);
    std::vector<unsigned> out(in.size());
    for (std::size_t y = 0; y < shape.height; ++y)
        for (std::size_t x = 0; x < shape.width; ++x) {
            unsigned sum = work == Work::none ? in[y * pitch + x] : 0;
            const auto many = static_cast<std::size_t>(added(work));
            // x - 1 and y - 1 before the matrix are too large, being unsigned, and so outside of it
            for (std::size_t k = 0; k < many; ++k)
                if (x + k % 3 - 1 < shape.width && y + k / 3 - 1 < shape.height)
                    sum += in[(y + k / 3 - 1) * pitch + x + k % 3 - 1];
            out[y * pitch + x] = sum;
        }
    return out;
}

/// Whether a filter is right for a small matrix of random words, whose edges lie anywhere in a tile. What
/// lies behind the end of a row is not looked at.
inline bool right_at_edges(const Filter& filter, workbook::Shape shape, std::uint64_t seed) {
    const auto in = workbook::random_values<unsigned>(shape.padded_size<unsigned>(), seed);
    const auto before = workbook::random_values<unsigned>(in.size(), seed + 1);
    const DeviceBuffer<unsigned> from(in);
    DeviceBuffer<unsigned> to(before);
    filter.with(shape.view(from.data()), shape.view(to.data()))();
    const std::vector<unsigned> found = to.download();
    std::vector<unsigned> expected = filtered(in, shape, filter.work);
    workbook::adopt_padding(std::span(expected), std::span(found), shape);
    return found == expected && to.check_guards().empty();
}

/// Adds to *wrong how many elements a filter got wrong in a large matrix, each against a plain sum on the
/// device.
__global__ void count_wrong_results(Matrix<const unsigned> in, Matrix<const unsigned> out, Work work,
                                    unsigned long long* wrong) {
    for (int y = blockIdx.x; y < static_cast<int>(in.height); y += gridDim.x)
        for (int x = threadIdx.x; x < static_cast<int>(in.width); x += blockDim.x) {
            unsigned sum = work == Work::none ? element_or_zero(in, x, y) : 0;
            for (int k = 0; k < added(work); ++k)
                sum += element_or_zero(in, x + k % 3 - 1, y + k / 3 - 1);
            if (out.data[y * out.pitch + x] != sum)
                atomicAdd(wrong, 1ull);
        }
}

/// Checks a filter with matrices whose edges are random, then with the large one.
inline void check_filter(Bench& bench, const Filter& filter, PlainTiles& tiles) {
    workbook::Random random(6);
    for (int i = 0; i < bench.size(40, 3); ++i) {
        const workbook::Shape shape{1 + random.below(bench.size(400, 150)), 1 + random.below(80)};
        if (!right_at_edges(filter, shape, random.next()))
            bench.wrong(std::string(filter.name) + " of " + std::to_string(shape.width) + " × " +
                        std::to_string(shape.height));
    }
    PlainTiles::randomize(tiles.out);
    filter.with(tiles.input(), tiles.shape.view(tiles.out.data()))();
    DeviceBuffer<unsigned long long> wrong(std::vector<unsigned long long>{0});
    workbook::launch(count_wrong_results, {.grid = 132 * 8, .block = 256}, tiles.input(),
                     tiles.shape.view<const unsigned>(tiles.out.data()), filter.work, wrong.data());
    if (const auto found = wrong.download().front(); found > 0)
        bench.wrong(std::string(filter.name) + ": " + std::to_string(found) + " elements");
}

/// What a table says of the threads' work.
[[nodiscard]] inline const char* words(Work work) {
    switch (work) {
    case Work::nine:
        return "nine elements";
    case Work::six:
        return "six elements";
    case Work::three:
        return "three elements";
    case Work::columns:
        return "three sums of rows";
    default:
        return "nothing, a copy";
    }
}

/// The driver's copy, and the filters, each of which has been right once.
[[nodiscard]] inline std::vector<workbook::Contender>
filter_contenders(Bench& bench, const std::vector<Filter>& filters, PlainTiles& tiles) {
    const auto copy = [&tiles] {
        workbook::check(
            cudaMemcpyAsync(tiles.out.data(), tiles.in.data(), tiles.bytes() / 2, cudaMemcpyDeviceToDevice),
            "the driver's copy");
    };
    std::vector<workbook::Contender> contenders{{"the driver's copy", copy}};
    for (const Filter& filter : filters) {
        check_filter(bench, filter, tiles);
        contenders.push_back({filter.name, filter.with(tiles.input(), tiles.shape.view(tiles.out.data()))});
    }
    return contenders;
}

/// All filters and the driver's copy, in turns, in another order each time. They are timed twice: burst on
/// burst, and with a pause before each burst, in which a GPU that had lowered its clock may raise it again.
inline void filter_twins(Bench& bench) {
    bench.table("filter_twins",
                "A 3×3 filter in tiles of 64 × 16: how the halo comes, what is added, and how the sums go",
                workbook::joined<workbook::BenchColumn>({{"kernel", "kernel"},
                                                         {"halo", "the halo comes by"},
                                                         {"columns", "columns of a tile with its halo"},
                                                         {"work", "a sum adds"},
                                                         {"results", "the results go by"},
                                                         {"rested_ms", "time after a pause", "ms"}},
                                                        workbook::timing_columns()));
    PlainTiles tiles(workbook::shape_of(bench.size<std::size_t>(100'000'000, 10'001)));
    const std::vector<Filter> all = filters();
    const std::vector<workbook::Contender> contenders = filter_contenders(bench, all, tiles);
    const auto timed = [&](const workbook::TurnPlan& plan) {
        return bench.mode() == workbook::BenchMode::measure ? workbook::measure_in_turns(contenders, plan)
                                                            : std::vector<workbook::Timing>{};
    };
    const auto timings = timed({.rounds = 31});
    const auto rested = timed({.rounds = 11, .pause_ms = 20});
    const auto times = [&](std::size_t i, double ceiling) {
        if (timings.empty())
            return std::vector<BenchCell>{};
        return workbook::joined<BenchCell>(workbook::timing_cells(timings[i], tiles.bytes(), ceiling),
                                           {{"rested_ms", rested[i].median_ms}});
    };
    const double ceiling = timings.empty() ? 0 : timings[0].bytes_per_second(tiles.bytes());
    bench.row("filter_twins",
              workbook::joined<BenchCell>({{"kernel", contenders[0].name}}, times(0, ceiling)));
    for (std::size_t i = 0; i < all.size(); ++i) {
        std::vector<BenchCell> cells{{"kernel", all[i].name},
                                     {"halo", all[i].halo},
                                     {"work", words(all[i].work)},
                                     {"results", all[i].results}};
        if (all[i].columns > 0)
            cells.emplace_back("columns", all[i].columns);
        bench.row("filter_twins", workbook::joined<BenchCell>(std::move(cells), times(i + 1, ceiling)));
    }
}

} // namespace tma_2d
