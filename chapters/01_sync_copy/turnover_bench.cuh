/// @file turnover_bench.cuh
/// The measuring of turnover.cuh: what a copy of one element per thread lacks, and where its time goes.
#pragma once

#include "sync_copy.cuh"
#include "turnover.cuh"

#include "workbook/bench.hpp"
#include "workbook/bench_data.cuh"
#include "workbook/buffer.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace sync_copy {

using workbook::Bench;
using workbook::BenchCell;
using workbook::DeviceBuffer;

/// A launch of the experiment. Everything that is not asked for is as in one_per_thread.
struct Moved {
    unsigned block = block_threads;
    unsigned threads_per_sm = 2048;
    unsigned tiles = 1; ///< that a block takes before it ends; 0: blocks stay
};

/// Dynamic shared memory with which exactly `blocks` fit on an SM, whatever else would let more fit. So every
/// launch leaves the same to L1. Source: CUDA C++ Programming Guide, 'Compute Capabilities': 228 KB for an
/// SM, of which each block takes 1 KB for the system, at most 227 KB for a block.
inline std::size_t shared_for(unsigned blocks) {
    constexpr std::size_t per_sm = 228 * 1024;
    constexpr std::size_t system = 1024;
    return (per_sm / blocks - system) / 128 * 128;
}

inline workbook::LaunchShape shape_of(const Bench& bench, const Moved& moved, std::size_t tiles) {
    const unsigned blocks = moved.threads_per_sm / moved.block;
    const std::size_t grid = moved.tiles > 0
                                 ? (tiles + moved.tiles - 1) / moved.tiles
                                 : static_cast<std::size_t>(bench.device().multiprocessors) * blocks;
    return {.grid = static_cast<unsigned>(std::min(grid, tiles)),
            .block = moved.block,
            .dynamic_shared = shared_for(blocks)};
}

/// Complains if not as many blocks fit on an SM as the experiment says.
template <class Kernel>
void check_fit(Bench& bench, Kernel* kernel, const Moved& moved, const workbook::LaunchShape& shape) {
    int most = 0;
    workbook::raise_limits(kernel, shape);
    workbook::check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
                        &most, kernel, static_cast<int>(moved.block), shape.dynamic_shared),
                    "asking how many blocks fit");
    if (static_cast<unsigned>(most) != moved.threads_per_sm / moved.block)
        bench.wrong("turnover: " + std::to_string(most) + " blocks of " + std::to_string(moved.block) +
                    " threads fit on an SM");
}

/// Adds to *wrong how many elements are not their partner's.
template <class T, Between between>
__global__ void count_not_moved(const T* in, const T* out, std::size_t count, unsigned block,
                                unsigned* wrong) {
    const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
        const std::size_t start = i - i % block;
        const T expected = in[start + partner<between>(static_cast<unsigned>(i - start), block)];
        const T found = out[i];
        bool same = false;
        if constexpr (sizeof(T) == 16)
            same = found.x == expected.x && found.y == expected.y && found.z == expected.z &&
                   found.w == expected.w;
        else
            same = found == expected;
        if (!same)
            atomicAdd(wrong, 1u);
    }
}

/// Two arrays of words, the first random.
struct Arrays {
    explicit Arrays(std::size_t words) : in(words), out(words) {
        workbook::launch(workbook::fill_random_words<unsigned>, workbook::striding(words), in.data(), words);
    }
    DeviceBuffer<unsigned> in;
    DeviceBuffer<unsigned> out;
};

/// Whether every element of the second array is its partner of the first.
template <class T, Between between>
bool is_moved(const Arrays& arrays, unsigned block) {
    const std::size_t count = arrays.in.size() * sizeof(unsigned) / sizeof(T);
    DeviceBuffer<unsigned> wrong(std::vector<unsigned>{0});
    workbook::launch(count_not_moved<T, between>, workbook::striding(count),
                     reinterpret_cast<const T*>(arrays.in.data()),
                     reinterpret_cast<const T*>(arrays.out.data()), count, block, wrong.data());
    return wrong.download().front() == 0;
}

inline const char* name_of(Between between) {
    constexpr const char* names[] = {"nothing", "its warp", "its block", "its block, twice"};
    return names[static_cast<int>(between)];
}

inline void turnover_row(Bench& bench, const char* what, const char* between, std::size_t load_bytes,
                         const Moved& moved, const std::optional<workbook::Timing>& timing, std::size_t bytes,
                         double rate) {
    std::vector<BenchCell> cells{{"what", what},
                                 {"between", between},
                                 {"load_bytes", load_bytes},
                                 {"block", moved.block},
                                 {"threads_per_sm", moved.threads_per_sm},
                                 {"in_flight", moved.threads_per_sm * load_bytes}};
    cells.emplace_back("tiles_per_block", moved.tiles); // 0: blocks that stay
    bench.row("turnover",
              workbook::joined<BenchCell>(std::move(cells), workbook::timing_cells(timing, bytes, rate)));
}

/// A row of a copy.
template <class T, Between between>
void move_row(Bench& bench, Arrays& arrays, const Moved& moved, double rate) {
    const std::size_t count = arrays.in.size() * sizeof(unsigned) / sizeof(T);
    const auto* in = reinterpret_cast<const T*>(arrays.in.data());
    auto* out = reinterpret_cast<T*>(arrays.out.data());
    const workbook::LaunchShape shape = shape_of(bench, moved, count / moved.block);
    check_fit(bench, move_tiles<T, between>, moved, shape);
    const auto launch = [&](cudaStream_t) {
        workbook::launch(move_tiles<T, between>, shape, in, out, count);
    };
    arrays.out.poison();
    launch(nullptr);
    if (!is_moved<T, between>(arrays, moved.block))
        return bench.wrong("move_tiles: wrong result");
    const std::size_t bytes = 2 * arrays.in.size_bytes();
    turnover_row(bench, "copy", name_of(between), sizeof(T), moved, bench.time(bytes, launch), bytes, rate);
}

/// A row of a kernel that only reads.
template <class T>
void read_row(Bench& bench, Arrays& arrays, const Moved& moved, double rate, unsigned expected) {
    const std::size_t count = arrays.in.size() * sizeof(unsigned) / sizeof(T);
    const auto* in = reinterpret_cast<const T*>(arrays.in.data());
    const workbook::LaunchShape shape = shape_of(bench, moved, count / moved.block);
    check_fit(bench, read_tiles<T>, moved, shape);
    DeviceBuffer<unsigned> rare(std::vector<unsigned>{0});
    const auto launch = [&](cudaStream_t) { workbook::launch(read_tiles<T>, shape, in, count, rare.data()); };
    launch(nullptr);
    if (rare.download().front() != expected)
        return bench.wrong("read_tiles: wrong count");
    const std::size_t bytes = arrays.in.size_bytes();
    turnover_row(bench, "read", "nothing", sizeof(T), moved, bench.time(bytes, launch), bytes, rate);
}

/// A row of as many blocks as the copy has, all of which end at once: what coming and going costs alone.
template <class T>
void empty_row(Bench& bench, Arrays& arrays, const Moved& moved, double rate) {
    const std::size_t count = arrays.in.size() * sizeof(unsigned) / sizeof(T);
    const workbook::LaunchShape shape = shape_of(bench, moved, count / moved.block);
    const auto timing = bench.time(2 * arrays.in.size_bytes(), [&](cudaStream_t) {
        workbook::launch(move_tiles<T, Between::nothing>, shape, static_cast<const T*>(nullptr),
                         static_cast<T*>(nullptr), 0);
    });
    turnover_row(bench, "nothing", "nothing", sizeof(T), moved, timing, 2 * arrays.in.size_bytes(), rate);
}

template <class T>
void turnover_rows(Bench& bench, Arrays& arrays, double rate, unsigned expected) {
    const auto copies = [&](const Moved& moved) {
        move_row<T, Between::nothing>(bench, arrays, moved, rate);
        move_row<T, Between::warp>(bench, arrays, moved, rate);
        move_row<T, Between::block>(bench, arrays, moved, rate);
    };
    // How long a block stays, all else as in one_per_thread.
    for (const unsigned tiles : {1u, 2u, 4u, 8u, 16u, 32u, 0u}) {
        copies({.tiles = tiles});
        read_row<T>(bench, arrays, {.tiles = tiles}, rate, expected);
    }
    for (const unsigned tiles : {1u, 8u, 0u})
        move_row<T, Between::twice>(bench, arrays, {.tiles = tiles}, rate);
    // The size of a block, with as many threads on the SM.
    for (const unsigned block : {64u, 128u, 512u, 1024u})
        for (const unsigned tiles : {1u, 0u})
            copies({.block = block, .tiles = tiles});
    for (const unsigned block : {64u, 128u, 256u, 512u, 1024u})
        empty_row<T>(bench, arrays, {.block = block}, rate);
    // The number of threads on the SM, and with it the bytes in flight.
    for (const unsigned threads : {256u, 512u, 1024u, 1536u})
        for (const unsigned tiles : {1u, 0u}) {
            copies({.threads_per_sm = threads, .tiles = tiles});
            read_row<T>(bench, arrays, {.threads_per_sm = threads, .tiles = tiles}, rate, expected);
        }
}

inline void turnover(Bench& bench) {
    bench.table("turnover", "One load per thread and tile: how long blocks stay, and whom a thread waits for",
                workbook::joined<workbook::BenchColumn>({{"what", "what"},
                                                         {"between", "waits for"},
                                                         {"load_bytes", "bytes per load", "bytes"},
                                                         {"block", "threads per block"},
                                                         {"threads_per_sm", "threads per SM"},
                                                         {"in_flight", "in flight per SM, at most", "bytes"},
                                                         {"tiles_per_block", "tiles per block"}},
                                                        workbook::timing_columns()));
    Arrays arrays(bench.size(std::size_t{1} << 27, std::size_t{1} << 14)); // 512 MiB, and as many written
    const auto ceiling = bench.ceiling(2 * arrays.in.size_bytes());
    const double rate = ceiling ? ceiling->bytes_per_second(2 * arrays.in.size_bytes()) : 0;
    unsigned expected = 0;
    for (std::size_t i = 0; i < arrays.in.size(); ++i)
        expected += (workbook::random_word(i) & 0xFFFFF) == 0;
    turnover_rows<unsigned>(bench, arrays, rate, expected);
    turnover_rows<uint4>(bench, arrays, rate, expected);
}

// ---- what L1 does for a stride ----

/// A row of a kernel that reverses tiles of four elements per thread.
inline void stride_row(Bench& bench, const char* name, void (*kernel)(const float*, float*, std::size_t, int),
                       Arrays& arrays, double rate) {
    constexpr int each = 4;
    const std::size_t size = arrays.in.size();
    const auto* in = reinterpret_cast<const float*>(arrays.in.data());
    auto* out = reinterpret_cast<float*>(arrays.out.data());
    const auto launch = [&](cudaStream_t) {
        workbook::launch(kernel, loop_shape(size, each), in, out, size, each);
    };
    arrays.out.poison();
    launch(nullptr);
    if (!is_moved<unsigned, Between::block>(arrays, block_threads * each))
        return bench.wrong(std::string(name) + ": wrong result");
    const auto timing = bench.time(2 * arrays.in.size_bytes(), launch);
    bench.row("strides",
              workbook::joined<BenchCell>({{"kernel", name}},
                                          workbook::timing_cells(timing, 2 * arrays.in.size_bytes(), rate)));
}

/// The strided and the coalesced loop, with L1 and past it.
inline void strides(Bench& bench) {
    bench.table("strides", "Neighbours 16 bytes apart and side by side, by way of L1 and past it",
                workbook::joined<workbook::BenchColumn>({{"kernel", "kernel"}}, workbook::timing_columns()));
    Arrays arrays(bench.size(std::size_t{1} << 27, std::size_t{1} << 14));
    const auto ceiling = bench.ceiling(2 * arrays.in.size_bytes());
    const double rate = ceiling ? ceiling->bytes_per_second(2 * arrays.in.size_bytes()) : 0;
    stride_row(bench, "loop_strided", loop_strided, arrays, rate);
    stride_row(bench, "loop_strided, past L1", loop_past_l1<true>, arrays, rate);
    stride_row(bench, "loop_coalesced", loop_coalesced, arrays, rate);
    stride_row(bench, "loop_coalesced, past L1", loop_past_l1<false>, arrays, rate);
}

// ---- where the time of a block goes ----

/// From when to when each SM was at work, by its own clock.
class SmSpans {
  public:
    void add(unsigned sm, long long first, long long last) {
        if (sm >= spans_.size())
            spans_.resize(sm + 1);
        spans_[sm].first = std::min(spans_[sm].first, first);
        spans_[sm].last = std::max(spans_[sm].last, last);
    }

    /// Of all SMs together.
    [[nodiscard]] double cycles() const {
        double sum = 0;
        for (const Span& span : spans_)
            sum += span.last > 0 ? static_cast<double>(span.last - span.first) : 0;
        return sum;
    }

  private:
    struct Span {
        long long first = std::numeric_limits<long long>::max();
        long long last = 0;
    };
    std::vector<Span> spans_;
};

/// Means over the watched warps, in cycles of their SM, and how many warps an SM had.
struct Times {
    double loading = 0;
    double storing = 0;
    double resident = 0;  ///< warps of an SM between `begun` and `stored`, on average
    double in_flight = 0; ///< of them, warps whose load had not come
};

inline Times times_of(const std::vector<Passage>& passages) {
    SmSpans sms;
    Times sum;
    double warps = 0;
    for (const Passage& passage : passages) {
        if (passage.begun == 0)
            continue;
        ++warps;
        sum.loading += static_cast<double>(passage.loaded - passage.begun);
        sum.storing += static_cast<double>(passage.stored - passage.loaded);
        sms.add(passage.sm, passage.begun, passage.stored);
    }
    const double elapsed = sms.cycles();
    const double each = static_cast<double>(passages.size()) / warps; // a watched warp stands for so many
    sum.resident = each * (sum.loading + sum.storing) / elapsed;
    sum.in_flight = each * sum.loading / elapsed;
    sum.loading /= warps;
    sum.storing /= warps;
    return sum;
}

template <class T, Between between>
void passage_row(Bench& bench, Arrays& arrays, const Moved& moved) {
    const std::size_t count = arrays.in.size() * sizeof(unsigned) / sizeof(T);
    const std::size_t tiles = count / moved.block;
    const workbook::LaunchShape shape = shape_of(bench, moved, tiles);
    check_fit(bench, watch_tiles<T, between>, moved, shape);
    DeviceBuffer<Passage> passages(std::vector<Passage>(count / 32));
    arrays.out.poison();
    for (int i = 0; i < 3; ++i) // the last one is kept
        workbook::launch(watch_tiles<T, between>, shape, reinterpret_cast<const T*>(arrays.in.data()),
                         reinterpret_cast<T*>(arrays.out.data()), count, passages.data());
    if (!is_moved<T, between>(arrays, moved.block))
        return bench.wrong("watch_tiles: wrong result");
    std::vector<BenchCell> cells{{"between", name_of(between)},
                                 {"load_bytes", sizeof(T)},
                                 {"block", moved.block},
                                 {"threads_per_sm", moved.threads_per_sm},
                                 {"tiles_per_block", moved.tiles}};
    if (bench.mode() == workbook::BenchMode::measure) {
        const Times times = times_of(passages.download());
        cells =
            workbook::joined<BenchCell>(std::move(cells), {{"loading", times.loading},
                                                           {"storing", times.storing},
                                                           {"resident", times.resident},
                                                           {"in_flight", times.in_flight * 32 * sizeof(T)}});
    }
    bench.row("passages", cells);
}

template <class T>
void passage_rows(Bench& bench, Arrays& arrays) {
    for (const unsigned tiles : {1u, 4u, 16u, 0u}) {
        passage_row<T, Between::warp>(bench, arrays, {.tiles = tiles});
        passage_row<T, Between::block>(bench, arrays, {.tiles = tiles});
    }
    for (const unsigned block : {64u, 1024u})
        for (const unsigned tiles : {1u, 0u})
            passage_row<T, Between::block>(bench, arrays, {.block = block, .tiles = tiles});
}

inline void passages(Bench& bench) {
    bench.table("passages", "Where the time of a warp goes, by the clock of its SM",
                {{"between", "waits for"},
                 {"load_bytes", "bytes per load", "bytes"},
                 {"block", "threads per block"},
                 {"threads_per_sm", "threads per SM"},
                 {"tiles_per_block", "tiles per block"},
                 {"loading", "until its load had come", "cycles"},
                 {"storing", "from there until its store", "cycles"},
                 {"resident", "warps that an SM had, on average"},
                 {"in_flight", "in flight per SM, on average", "bytes"}});
    Arrays arrays(bench.size(std::size_t{1} << 26, std::size_t{1} << 16));
    passage_rows<unsigned>(bench, arrays);
    passage_rows<uint4>(bench, arrays);
}

} // namespace sync_copy
