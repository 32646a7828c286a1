/// @file bench_waits.cuh
/// A measurement: where the time of a ring goes. The rings of the chapter and their twins once more, with a
/// clock in each warp. A warp notes three moments of each tile; what came of them is worked out afterwards,
/// on the host.
#pragma once

#include "bench_data.cuh"
#include "roles.cuh"
#include "twins.cuh"

#include "workbook/bench.hpp"
#include "workbook/buffer.hpp"
#include "workbook/interleaved.hpp"

#include <cuda/ptx>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace roles {

/// When a warp passed three places of its loop, for one tile: in cycles of its SM's clock, modulo 2^32.
struct alignas(16) Moments {
    unsigned begins; ///< looks at the full barrier
    unsigned full;   ///< has seen the tile; the same as `begins` where it was there at the first look
    unsigned used;   ///< has multiplied
    unsigned nothing = 0;
};

/// How a stage is handed back, and who asks for its next tile.
enum class Hands {
    meet,      ///< meeting_ring
    meet_nine, ///< ninth_meets
    pair,      ///< eight_ask, at once
    pair_nine, ///< roles_ring
    alone      ///< prints_alone: nobody asks, waits or meets
};
__host__ __device__ constexpr bool ninth_warp(Hands hands) {
    return hands == Hands::meet_nine || hands == Hands::pair_nine;
}
__host__ __device__ constexpr bool by_pair(Hands hands) {
    return hands == Hands::pair || hands == Hands::pair_nine;
}
__host__ __device__ constexpr bool all_meet(Hands hands) {
    return hands == Hands::meet || hands == Hands::meet_nine;
}

inline constexpr unsigned noted_tiles = 192; ///< of a block, at most

/// What a block notes; behind a warp's last tile when its loop ended, as `begins`.
struct Notes {
    Moments of[consumer_warps][noted_tiles + 1];
    unsigned part[consumer_warps]; ///< of the SM, in which the warp lives
};

struct NotedRing {
    Ring<> ring;
    Notes notes;
};

/// The clock, between what is written before it and after it.
__device__ inline unsigned cycles_now() {
    unsigned cycles = 0;
    asm volatile("mov.u32 %0, %%clock;" : "=r"(cycles)::"memory");
    return cycles;
}

/// A consumer warp of any of the five. A second look at the clock in front of a tile only where the first
/// look at the barrier was in vain.
template <int count, Hands hands>
__device__ void use_noted(NotedRing& memory, const CUtensorMap& map, const Work& work, unsigned* out,
                          Notes* found) {
    Ring<>& ring = memory.ring;
    const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    auto& notes = memory.notes.of[warp];
    const bool loads = (hands == Hands::meet || hands == Hands::pair) && workbook::warp_index() == 0;
    NextWhenEmpty next{{blockIdx.x}};
    const auto load = [&](unsigned stage) { // as meeting_ring and eight_ask do
        if constexpr (hands == Hands::pair)
            next.load(ring, map, work);
        else
            next.next.load(ring, stage, map, work);
    };
    if (loads)
        for (unsigned stage = 0; stage < stages; ++stage)
            load(stage);
    RingState<stages> from;
    unsigned k = 0;
    for (unsigned panel = blockIdx.x; panel < work.panels(); panel += gridDim.x) {
        Prints<count> prints;
        for (unsigned tile = 0; tile < work.tiles(); ++tile, ++k, from.advance()) {
            Moments at{};
            at.begins = at.full = cycles_now();
            if constexpr (hands != Hands::alone)
                if (!ptx::mbarrier_test_wait_parity(&ring.full[from.index], from.phase)) {
                    workbook::wait_parity(&ring.full[from.index], from.phase);
                    at.full = cycles_now();
                }
            prints.absorb(ring.tiles[from.index], threadIdx.x, work.rows_of(tile));
            if constexpr (hands != Hands::alone)
                ptx::fence_proxy_async(ptx::space_shared);
            at.used = cycles_now();
            if constexpr (by_pair(hands)) {
                __syncwarp();
                if (workbook::elect_one())
                    (void)ptx::mbarrier_arrive(&ring.empty[from.index]);
            } else if constexpr (all_meet(hands))
                __syncthreads();
            if (loads)
                load(from.index);
            if (lane == 0 && k < noted_tiles)
                notes[k] = at;
        }
        if (const unsigned column = panel * panel_columns + threadIdx.x; column < work.width)
            prints.store(place_of(column, out, count));
    }
    k = min(k, noted_tiles);
    if (lane == 0)
        notes[k] = {cycles_now(), 0, 0};
    __syncwarp();
    for (unsigned i = lane; i <= k; i += 32)
        found[blockIdx.x].of[warp][i] = notes[i];
    if (lane == 0)
        found[blockIdx.x].part[warp] = ptx::get_sreg_warpid() % 4;
}

/// One of the five, and what its blocks have noted.
template <int count, Hands hands>
__global__ void __launch_bounds__(ninth_warp(hands) ? roles_threads : consumer_threads, 1)
    noted_ring(const __grid_constant__ CUtensorMap map, Work work, unsigned* out, Notes* found) {
    NotedRing& memory = *reinterpret_cast<NotedRing*>(ring_memory);
    Ring<>& ring = memory.ring;
    if (threadIdx.x == 0)
        ring.initialise(1, consumer_warps);
    if constexpr (hands == Hands::alone)
        for (int stage = 0; stage < stages; ++stage)
            for (int row = 0; row < tile_rows; ++row)
                ring.tiles[stage].at[row][threadIdx.x] = filled(stage, row, threadIdx.x);
    __syncthreads();
    if (workbook::warp_index() < consumer_warps)
        use_noted<count, hands>(memory, map, work, out, found);
    else if constexpr (hands == Hands::meet_nine)
        ask_and_meet(ring, map, work);
    else if (workbook::elect_one())
        produce(ring, map, work);
}

// ---- what the notes say ----

/// Cycles for each tile: means over warps, tiles and blocks. The first five make up the sixth.
struct Waits {
    double waits = 0;    ///< a warp waits for the tile
    double computes = 0; ///< multiplies
    double slowest = 0;  ///< waits for the slowest warp, where all meet
    double rest =
        0; ///< the hand-over itself, the asking, and all else until the warp looks for its next tile
    double stores = 0; ///< the same behind the last tile of a panel: its fingerprints are stored
    double loop = 0;
    double first = 0; ///< `rest` of warp 0
    double late = 0;  ///< share of tiles that were not there at a warp's first look
    double apart = 0; ///< from the first warp that has a tile to the last
    double both = 0;  ///< share of the time of a part of an SM in which two of its warps multiply
    double one = 0;   ///< in which one does
    double ends = 0;  ///< in which none does, and one or both are between two panels

    static constexpr auto all() {
        return std::array{&Waits::waits,  &Waits::computes, &Waits::slowest, &Waits::rest,
                          &Waits::stores, &Waits::loop,     &Waits::first,   &Waits::late,
                          &Waits::apart,  &Waits::both,     &Waits::one,     &Waits::ends};
    }
    void add(const Waits& of, double weight) {
        for (const auto each : all())
            this->*each += weight * of.*each;
    }
};

/// The notes of one block, counted from its first warp's beginning.
class Block {
  public:
    /// @param tiles of the block; @param each of a panel
    Block(const Notes& notes, unsigned tiles, unsigned each) : notes_(&notes), tiles_(tiles), each_(each) {}

    [[nodiscard]] int begins(int warp, unsigned k) const { return since(notes_->of[warp][k].begins); }
    [[nodiscard]] int full(int warp, unsigned k) const { return since(notes_->of[warp][k].full); }
    [[nodiscard]] int used(int warp, unsigned k) const { return since(notes_->of[warp][k].used); }
    [[nodiscard]] bool ends_panel(unsigned k) const { return k % each_ == each_ - 1; }

    [[nodiscard]] Waits waits(bool meet) const {
        Waits sum;
        for (unsigned k = 0; k < tiles_; ++k) {
            int slowest = used(0, k), first = full(0, k), last = first;
            for (int warp = 1; warp < consumer_warps; ++warp) {
                slowest = std::max(slowest, used(warp, k));
                first = std::min(first, full(warp, k));
                last = std::max(last, full(warp, k));
            }
            sum.apart += consumer_warps * (last - first);
            for (int warp = 0; warp < consumer_warps; ++warp) {
                const int free = meet ? slowest : used(warp, k);
                const int rest = begins(warp, k + 1) - free;
                sum.waits += full(warp, k) - begins(warp, k);
                sum.late += full(warp, k) != begins(warp, k);
                sum.computes += used(warp, k) - full(warp, k);
                sum.slowest += free - used(warp, k);
                (ends_panel(k) ? sum.stores : sum.rest) += rest;
                sum.first += warp == 0 && !ends_panel(k) ? consumer_warps * rest : 0;
                sum.loop += begins(warp, k + 1) - begins(warp, k);
            }
        }
        Waits mean;
        mean.add(sum, 1.0 / tiles_ / consumer_warps);
        for (unsigned part = 0; part < 4; ++part)
            add_part(part, mean);
        return mean;
    }

  private:
    /// From one moment to another, of which none is 2^31 cycles after the other.
    [[nodiscard]] int since(unsigned moment) const {
        return static_cast<int>(moment - notes_->of[0][0].begins);
    }

    /// How much of its time a part has two, one or none of its warps at their multiplications.
    void add_part(unsigned part, Waits& mean) const {
        struct Change {
            int at, busy, between;
        };
        std::vector<Change> changes;
        for (int warp = 0; warp < consumer_warps; ++warp)
            for (unsigned k = 0; notes_->part[warp] == part && k < tiles_; ++k) {
                changes.push_back({full(warp, k), 1, 0});
                changes.push_back({used(warp, k), -1, ends_panel(k) ? 1 : 0});
                if (ends_panel(k))
                    changes.push_back({k + 1 < tiles_ ? full(warp, k + 1) : begins(warp, k + 1), 0, -1});
            }
        if (changes.empty())
            return;
        std::sort(changes.begin(), changes.end(),
                  [](const Change& a, const Change& b) { return a.at < b.at; });
        const double all = 4.0 * (changes.back().at - changes.front().at);
        int busy = 0, between = 0;
        for (std::size_t i = 0; i + 1 < changes.size(); ++i) {
            busy += changes[i].busy;
            between += changes[i].between;
            const double share = (changes[i + 1].at - changes[i].at) / all;
            mean.both += busy >= 2 ? share : 0;
            mean.one += busy == 1 ? share : 0;
            mean.ends += busy == 0 && between > 0 ? share : 0;
        }
    }

    const Notes* notes_;
    unsigned tiles_, each_;
};

// ---- one ring ----

/// One of the five: the chapter's kernel and its twin with a clock.
struct Noted {
    const char* kernel;
    Hands hands;
    RingKernel plain;
    void (*noted)(CUtensorMap, Work, unsigned*, Notes*);

    [[nodiscard]] int threads() const { return ninth_warp(hands) ? roles_threads : consumer_threads; }
};

/// What a count of fingerprints has all its rows made from.
class WaitsOf {
  public:
    WaitsOf(workbook::Bench& bench, const Words& words, int count)
        : bench_(&bench), words_(&words), count_(count), work_{static_cast<unsigned>(words.shape.width),
                                                               static_cast<unsigned>(words.shape.height)},
          blocks_(std::min(work_.panels(), unsigned{sms})), out_(words.shape.width * std::size_t(count)),
          found_(blocks_) {}

    void rows(const std::vector<Noted>& rings) {
        for (const Noted& ring : rings)
            check(ring);
        std::vector<workbook::Contender> all;
        for (const Noted& ring : rings) {
            all.push_back({ring.kernel, [this, &ring] { launch_plain(ring); }});
            all.push_back({ring.kernel, [this, &ring] { launch_noted(ring); }});
        }
        std::vector<workbook::Timing> times;
        if (bench_->mode() == workbook::BenchMode::measure)
            times = workbook::measure_in_turns(all, {.rounds = 11, .launches = 8});
        for (std::size_t i = 0; i < rings.size(); ++i) {
            std::vector<workbook::BenchCell> cells{{"kernel", rings[i].kernel}, {"prints", count_}};
            if (!times.empty())
                cells = workbook::joined<workbook::BenchCell>(
                    std::move(cells),
                    {{"plain_ms", times[2 * i].median_ms}, {"noted_ms", times[2 * i + 1].median_ms}});
            row(rings[i], std::move(cells));
        }
    }

  private:
    void launch_plain(const Noted& ring) {
        launch_ring(ring.plain, ring.threads(), words_->matrix(), out_.span(), std::size_t(count_), blocks_);
    }
    void launch_noted(const Noted& ring) {
        workbook::launch(ring.noted,
                         {.grid = blocks_,
                          .block = static_cast<unsigned>(ring.threads()),
                          .dynamic_shared = sizeof(NotedRing)},
                         words_map(words_->matrix()), work_, out_.data(), found_.data());
    }

    /// The twin with a clock computes what the plain one does.
    void check(const Noted& ring) {
        workbook::DeviceBuffer<unsigned> expected(out_.size());
        launch_ring(ring.plain, ring.threads(), words_->matrix(), expected.span(), std::size_t(count_),
                    blocks_);
        out_.poison();
        launch_noted(ring);
        compare(*bench_, expected, out_, std::string("roles_waits: ") + ring.kernel + " with a clock");
    }

    void row(const Noted& ring, std::vector<workbook::BenchCell> cells) {
        constexpr int launches = 5;
        Waits mean;
        std::vector<Notes> notes;
        const unsigned each = work_.tiles(), tiles = work_.panels() / blocks_ * each;
        for (int i = 0; i < launches && bench_->mode() == workbook::BenchMode::measure; ++i) {
            launch_noted(ring);
            notes = found_.download();
            for (const Notes& block : notes)
                mean.add(Block(block, tiles, each).waits(all_meet(ring.hands)), 1.0 / blocks_ / launches);
        }
        if (!notes.empty())
            cells = workbook::joined<workbook::BenchCell>(std::move(cells), {{"waits", mean.waits},
                                                                             {"computes", mean.computes},
                                                                             {"slowest", mean.slowest},
                                                                             {"rest", mean.rest},
                                                                             {"stores", mean.stores},
                                                                             {"loop", mean.loop},
                                                                             {"first", mean.first},
                                                                             {"late", 100 * mean.late},
                                                                             {"apart", mean.apart},
                                                                             {"both", 100 * mean.both},
                                                                             {"one", 100 * mean.one},
                                                                             {"ends", 100 * mean.ends}});
        bench_->row("roles_waits", cells);
        if (count_ == 32 && ring.hands != Hands::alone)
            course(ring, notes);
    }

    /// Some tiles from the middle of a panel of one block, warp by warp.
    void course(const Noted& ring, const std::vector<Notes>& notes) {
        constexpr unsigned first = 3 * 32 + 12, tiles = 8;
        for (int warp = 0; warp < consumer_warps; ++warp)
            for (unsigned k = first; k < first + tiles; ++k) {
                std::vector<workbook::BenchCell> cells{
                    {"kernel", ring.kernel}, {"prints", count_}, {"warp", warp}, {"tile", k}};
                if (!notes.empty()) {
                    const Notes& of = notes[notes.size() / 2];
                    const Block block(of, noted_tiles, 32);
                    const int origin = block.begins(0, first);
                    cells = workbook::joined<workbook::BenchCell>(
                        std::move(cells), {{"part", of.part[warp]},
                                           {"begins", block.begins(warp, k) - origin},
                                           {"full", block.full(warp, k) - origin},
                                           {"used", block.used(warp, k) - origin},
                                           {"next", block.begins(warp, k + 1) - origin}});
                }
                bench_->row("roles_course", cells);
            }
    }

    workbook::Bench* bench_;
    const Words* words_;
    int count_;
    Work work_;
    unsigned blocks_;
    workbook::DeviceBuffer<unsigned> out_;
    workbook::DeviceBuffer<Notes> found_;
};

template <int count>
void waits_of_count(workbook::Bench& bench, const Words& words) {
    WaitsOf(bench, words, count)
        .rows({{"meeting_ring", Hands::meet, meeting_ring<count>, noted_ring<count, Hands::meet>},
               {"ninth_meets", Hands::meet_nine, ninth_meets<count>, noted_ring<count, Hands::meet_nine>},
               {"eight_ask, at once", Hands::pair, eight_ask<count, 0>, noted_ring<count, Hands::pair>},
               {"roles_ring", Hands::pair_nine, roles_ring<count>, noted_ring<count, Hands::pair_nine>},
               {"prints_alone", Hands::alone, prints_alone<count>, noted_ring<count, Hands::alone>}});
}

/// One block on each SM.
inline void waits(workbook::Bench& bench) {
    bench.table("roles_waits", "Where the time of a ring goes, one block on each SM: cycles for each tile",
                {{"kernel", "kernel"},
                 {"prints", "multiplications per word"},
                 {"plain_ms", "time without a clock", "ms"},
                 {"noted_ms", "time with one", "ms"},
                 {"waits", "a warp waits for the tile", "cycles"},
                 {"computes", "multiplies", "cycles"},
                 {"slowest", "waits for the slowest warp", "cycles"},
                 {"rest", "hands over, and goes to the next tile", "cycles"},
                 {"stores", "stores", "cycles"},
                 {"loop", "all", "cycles"},
                 {"first", "warp 0 hands over, asks, and goes to the next", "cycles"},
                 {"late", "tiles that were not there at the first look", "%"},
                 {"apart", "from the first warp that has a tile to the last", "cycles"},
                 {"both", "of a part's time: two warps multiply", "%"},
                 {"one", "one warp multiplies", "%"},
                 {"ends", "none, at the end of a panel", "%"}});
    bench.table("roles_course", "Eight tiles of one block, warp by warp",
                {{"kernel", "kernel"},
                 {"prints", "multiplications per word"},
                 {"warp", "warp"},
                 {"tile", "tile"},
                 {"part", "part of the SM"},
                 {"begins", "looks for the tile", "cycles"},
                 {"full", "has seen it", "cycles"},
                 {"used", "has multiplied", "cycles"},
                 {"next", "looks for the next", "cycles"}});
    const Words words(bench.size(sms * 6, std::size_t{2}) * panel_columns, bench.size(512, 70));
    waits_of_count<4>(bench, words);
    waits_of_count<8>(bench, words);
    waits_of_count<16>(bench, words);
    waits_of_count<32>(bench, words);
    waits_of_count<48>(bench, words);
    waits_of_count<64>(bench, words);
    waits_of_count<96>(bench, words);
    waits_of_count<128>(bench, words);
}

} // namespace roles
