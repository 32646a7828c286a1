/// @file bench.cu
/// Chapter 10's measurements: what roles, registers that move, turns, multicast, claims and overlapping
/// kernels bring, each against a twin that differs in this alone. (Turns differ in the panels too: theirs are
/// half as wide.)
#include "bench_data.cuh"
#include "bench_loader.cuh"
#include "bench_waits.cuh"
#include "dependent.cuh"
#include "multicast.cuh"
#include "references.hpp"
#include "registers.cuh"
#include "roles.cuh"
#include "scheduler.cuh"
#include "turns.cuh"
#include "twins.cuh"

#include "workbook/bench.hpp"
#include "workbook/buffer.hpp"
#include "workbook/random.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace roles;
using workbook::Bench;
using workbook::BenchCell;
using workbook::BenchColumn;
using workbook::DeviceBuffer;

/// A twin: the words of its row, and its launch into an array of `prints` words for each column.
struct Twin {
    std::vector<BenchCell> cells;
    std::size_t prints;
    std::function<void(std::span<unsigned>)> launch;
};

/// Times twins in random order, so that none is always the first one after a pause; the first in the list is
/// the reference of what the others compute.
void race(Bench& bench, const char* table, const Words& words, std::vector<Twin> twins, double ceiling) {
    DeviceBuffer<unsigned> expected(words.shape.width * twins.front().prints);
    DeviceBuffer<unsigned> out(expected.size());
    twins.front().launch(expected.span());
    workbook::Random random(twins.size() + words.shape.height);
    for (std::size_t i = twins.size(); i > 1; --i)
        std::swap(twins[i - 1], twins[random.next() % i]);
    for (const Twin& twin : twins) {
        out.poison();
        twin.launch(out.span());
        compare(bench, expected, out, std::string(table) + ": a twin");
        const std::size_t bytes = words.bytes() + out.size_bytes();
        const auto timing = bench.time_checked(bytes, [&](cudaStream_t) { twin.launch(out.span()); });
        bench.row(table,
                  workbook::joined<BenchCell>(twin.cells, workbook::timing_cells(timing, bytes, ceiling)));
    }
}

double copy_rate(Bench& bench, std::size_t bytes) {
    const auto copy = bench.ceiling(bytes);
    return copy ? copy->bytes_per_second(bytes) : 0;
}

// ---- roles against a barrier of the block ----

template <int count>
void work_of_count(Bench& bench, const Words& words, double ceiling) {
    std::vector<Twin> twins;
    for (const bool alone : {false, true}) {
        const unsigned most = alone ? unsigned{sms} : all_blocks;
        const char* blocks = alone ? "1" : "as many as fit";
        const auto add = [&](const char* kernel, auto launch) {
            twins.push_back({{{"kernel", kernel}, {"prints", count}, {"blocks", blocks}},
                             count,
                             [&words, most, launch](auto out) { launch(words.matrix(), out, most); }});
        };
        add("meeting_ring", launch_meeting_ring<count>);
        add("ninth_meets", launch_ninth_meets<count>);
        add("eight_ask, at once", launch_eight_ask<count, 0>);
        add("eight_ask, a tile late", launch_eight_ask<count, 1>);
        add("roles_ring", launch_roles_ring<count>);
    }
    race(bench, "roles_work", words, std::move(twins), ceiling);
}

void roles_work(Bench& bench) {
    bench.table(
        "roles_work", "All threads meet for each tile, or have roles",
        workbook::joined<BenchColumn>(
            {{"kernel", "kernel"}, {"prints", "multiplications per word"}, {"blocks", "blocks on an SM"}},
            workbook::timing_columns()));
    const Words words(bench.size(sms * 6, std::size_t{2}) * panel_columns, bench.size(512, 70));
    const double ceiling = copy_rate(bench, words.bytes());
    work_of_count<4>(bench, words, ceiling);
    work_of_count<8>(bench, words, ceiling);
    work_of_count<16>(bench, words, ceiling);
    work_of_count<32>(bench, words, ceiling);
    work_of_count<48>(bench, words, ceiling); // is 64 an exception among its neighbours?
    work_of_count<64>(bench, words, ceiling);
    work_of_count<96>(bench, words, ceiling);
    work_of_count<128>(bench, words, ceiling);
}

// ---- taller panels ----

/// One block on each SM: the ring that meets, and the two with empty barriers.
template <int count>
void tall_of_count(Bench& bench, const Words& words, std::size_t height, double ceiling) {
    std::vector<Twin> twins;
    const auto add = [&](const char* kernel, auto launch) {
        twins.push_back({{{"kernel", kernel}, {"prints", count}, {"height", height}},
                         count,
                         [&words, launch](auto out) { launch(words.matrix(), out, unsigned{sms}); }});
    };
    add("meeting_ring", launch_meeting_ring<count>);
    add("eight_ask, at once", launch_eight_ask<count, 0>);
    add("roles_ring", launch_roles_ring<count>);
    race(bench, "roles_tall", words, std::move(twins), ceiling);
}

/// A taller panel stores less often: what part of the gain goes with the stores?
void tall_panels(Bench& bench) {
    bench.table("roles_tall", "Panels of more rows: all threads meet, or have empty barriers, or roles",
                workbook::joined<BenchColumn>(
                    {{"kernel", "kernel"}, {"prints", "values"}, {"height", "rows of a panel"}},
                    workbook::timing_columns()));
    for (const std::size_t height : {512, 4096}) {
        const Words words(bench.size(sms * 6, std::size_t{2}) * panel_columns,
                          bench.size(height, std::size_t{70}));
        const double ceiling = copy_rate(bench, words.bytes());
        tall_of_count<32>(bench, words, height, ceiling);
        tall_of_count<96>(bench, words, height, ceiling);
    }
}

// ---- the multiplications alone ----

/// The fingerprints that prints_alone writes for a column of its first panel.
template <int count>
void check_alone(Bench& bench, const Words& words, const std::vector<unsigned>& found) {
    for (unsigned column = 0; column < panel_columns; ++column)
        for (unsigned print = 0; print < count; ++print) {
            unsigned expected = 0;
            for (std::size_t row = 0; row < words.shape.height; ++row)
                expected = expected * base_of(print) + filled(static_cast<unsigned>(row / tile_rows % stages),
                                                              static_cast<unsigned>(row % tile_rows), column);
            for (std::size_t panel = 0; panel < words.shape.width; panel += panel_columns)
                if (found[(panel + column) * count + print] != expected)
                    return bench.wrong("prints_alone: wrong fingerprints");
        }
}

template <int count>
void alone_of_count(Bench& bench, const Words& words, double ceiling) {
    DeviceBuffer<unsigned> out(words.shape.width * count);
    const auto launch = [&](cudaStream_t) {
        launch_prints_alone<count>(words.matrix(), out.span(), unsigned{sms});
    };
    out.poison();
    launch(nullptr);
    check_alone<count>(bench, words, out.download());
    const std::size_t bytes = words.bytes() + out.size_bytes(); // of the rings that it is compared with
    const auto timing = bench.time_checked(bytes, launch);
    bench.row("roles_alone", workbook::joined<BenchCell>({{"prints", count}},
                                                         workbook::timing_cells(timing, bytes, ceiling)));
}

void multiplications_alone(Bench& bench) {
    bench.table(
        "roles_alone", "The multiplications of the rings alone, one block on each SM",
        workbook::joined<BenchColumn>({{"prints", "multiplications per word"}}, workbook::timing_columns()));
    const Words words(bench.size(sms * 6, std::size_t{2}) * panel_columns, bench.size(512, 128));
    const double ceiling = copy_rate(bench, words.bytes());
    alone_of_count<4>(bench, words, ceiling);
    alone_of_count<8>(bench, words, ceiling);
    alone_of_count<16>(bench, words, ceiling);
    alone_of_count<32>(bench, words, ceiling);
    alone_of_count<48>(bench, words, ceiling);
    alone_of_count<64>(bench, words, ceiling);
    alone_of_count<96>(bench, words, ceiling);
    alone_of_count<128>(bench, words, ceiling);
}

// ---- a loader that has more to do ----

template <int count, int steps>
void add_loaders(std::vector<Twin>& twins, const Words& words) {
    const auto add = [&](const char* loader, RingKernel kernel, int threads) {
        twins.push_back({{{"loader", loader}, {"prints", count}, {"steps", steps}},
                         count,
                         [&words, kernel, threads](std::span<unsigned> out) {
                             launch_ring(kernel, threads, words.matrix(), out, count, unsigned{sms});
                         }});
    };
    add("warp 0, all meet", ring_by_loader<count, Loader::meets, steps>, consumer_threads);
    add("a ninth warp, all meet", ring_by_loader<count, Loader::ninth_meets, steps>, roles_threads);
    add("warp 0, empty barriers", ring_by_loader<count, Loader::among_all, steps>, consumer_threads);
    add("a ninth warp, empty barriers", ring_by_loader<count, Loader::ninth, steps>, roles_threads);
}

template <int count>
void loaders_of_count(Bench& bench, const Words& words, double ceiling) {
    std::vector<Twin> twins;
    add_loaders<count, 0>(twins, words);
    add_loaders<count, 50>(twins, words);
    add_loaders<count, 100>(twins, words);
    add_loaders<count, 200>(twins, words);
    race(bench, "roles_loaders", words, std::move(twins), ceiling);
}

void loaders(Bench& bench) {
    bench.table(
        "roles_loaders", "A loader that has more to do before each copy; one block on each SM",
        workbook::joined<BenchColumn>({{"loader", "who loads"},
                                       {"prints", "values"},
                                       {"steps", "multiplications one after the other before a copy"}},
                                      workbook::timing_columns()));
    const Words words(bench.size(sms * 6, std::size_t{2}) * panel_columns, bench.size(512, 70));
    const double ceiling = copy_rate(bench, words.bytes());
    loaders_of_count<16>(bench, words, ceiling);
    loaders_of_count<32>(bench, words, ceiling);
    loaders_of_count<96>(bench, words, ceiling);
}

// ---- registers ----

/// A kernel of the ring's shape, with what the compiler made of it.
template <int count>
Twin with_registers(const char* name, RingKernel kernel, int threads, const Words& words) {
    cudaFuncAttributes found{};
    workbook::check(cudaFuncGetAttributes(&found, kernel), "asking for a kernel's attributes");
    return {{{"kernel", name},
             {"prints", count},
             {"threads", threads},
             {"registers", found.numRegs},
             {"spilled", static_cast<std::size_t>(found.localSizeBytes)}},
            count,
            [&words, kernel, threads](std::span<unsigned> out) {
                launch_ring(kernel, threads, words.matrix(), out, count, all_blocks);
            }};
}

template <int count>
void registers_of_count(Bench& bench, const Words& words, double ceiling) {
    race(
        bench, "roles_registers", words,
        {with_registers<count>("meeting_ring", meeting_ring<count>, consumer_threads, words),
         with_registers<count>("roles_ring", roles_ring<count>, roles_threads, words),
         with_registers<count>("registers_as_launched", registers_as_launched<count>, grouped_threads, words),
         with_registers<count>("registers_moved", registers_moved<count>, grouped_threads, words)},
        ceiling);
}

void registers(Bench& bench) {
    bench.table("roles_registers", "Registers: what a block is launched with, and what is spilled",
                workbook::joined<BenchColumn>({{"kernel", "kernel"},
                                               {"prints", "fingerprints per thread"},
                                               {"threads", "threads of a block"},
                                               {"registers", "registers per thread at launch"},
                                               {"spilled", "local memory per thread", "bytes"}},
                                              workbook::timing_columns()));
    const Words words(bench.size(sms * 4, std::size_t{1}) * panel_columns, bench.size(512, 40));
    const double ceiling = copy_rate(bench, words.bytes());
    registers_of_count<128>(bench, words, ceiling);
    registers_of_count<160>(bench, words, ceiling);
    registers_of_count<176>(bench, words, ceiling);
    registers_of_count<192>(bench, words, ceiling);
    registers_of_count<208>(bench, words, ceiling);
}

// ---- two groups ----

template <int count>
void turns_of_count(Bench& bench, const Words& words, std::size_t height, double ceiling) {
    const unsigned most = bench.dry() ? 1 : unsigned{sms};
    const auto twin = [&](const char* name, auto launch) {
        return Twin{{{"kernel", name}, {"prints", count}, {"height", height}},
                    count,
                    [&words, launch, most](std::span<unsigned> out) { launch(words.matrix(), out, most); }};
    };
    race(bench, "roles_turns", words,
         {twin("roles_ring", launch_roles_ring<count>),
          twin("groups_in_turns", launch_groups_in_turns<count>)},
         ceiling);
}

void turns(Bench& bench) {
    bench.table(
        "roles_turns", "Two groups on one panel, or each on its own in turns; one block on each SM",
        workbook::joined<BenchColumn>(
            {{"kernel", "kernel"}, {"prints", "fingerprints per thread"}, {"height", "rows of a panel"}},
            workbook::timing_columns()));
    for (const std::size_t height : {32, 64, 128, 512}) {
        const Words words(bench.size(sms * 8 * 512 / height, std::size_t{3}) * panel_columns,
                          bench.size(height, std::min<std::size_t>(height, 70)));
        const double ceiling = copy_rate(bench, words.bytes());
        turns_of_count<16>(bench, words, height, ceiling);
        turns_of_count<64>(bench, words, height, ceiling);
    }
}

// ---- clusters ----

template <int count, int rows>
void multicast_of_rows(Bench& bench, const Words& words, double ceiling) {
    constexpr int ring_rows = 192; // 192 KiB
    constexpr int depth = ring_rows / rows;
    for (const int cluster : bench.ends({2, 4, 8})) {
        const auto twin = [&](const char* loads, const char* handover, auto launch) {
            return Twin{{{"loads", loads},
                         {"handover", handover},
                         {"cluster", cluster},
                         {"prints", count},
                         {"tile", std::size_t{rows} * panel_columns * sizeof(unsigned)},
                         {"delivered", words.bytes() * static_cast<std::size_t>(cluster)}},
                        std::size_t{count} * static_cast<std::size_t>(cluster),
                        [&words, launch, cluster](std::span<unsigned> out) {
                            launch(cluster, words.matrix(), out, all_blocks);
                        }};
        };
        race(bench, "roles_multicast", words,
             {twin("each block", "plain", launch_unicast_ring<count, rows, depth>),
              twin("multicast", "plain", launch_multicast_ring<count, rows, depth>),
              twin("multicast", "by the letter", launch_multicast_ring_by_letter<count, rows, depth>)},
             ceiling);
    }
}

void multicasts(Bench& bench) {
    bench.table("roles_multicast", "Tiles that all blocks of a cluster need, in a ring of 192 KiB",
                workbook::joined<BenchColumn>({{"loads", "loads"},
                                               {"handover", "how a stage is handed back"},
                                               {"cluster", "blocks of the cluster"},
                                               {"prints", "fingerprints per thread"},
                                               {"tile", "tile", "bytes"},
                                               {"delivered", "delivered to blocks", "bytes"}},
                                              workbook::timing_columns()));
    const Words words(bench.size(sms * 4, std::size_t{1}) * panel_columns, bench.size(1024, 200));
    const double ceiling = copy_rate(bench, words.bytes());
    multicast_of_rows<4, 8>(bench, words, ceiling);
    multicast_of_rows<4, 16>(bench, words, ceiling);
    multicast_of_rows<4, 32>(bench, words, ceiling);
    multicast_of_rows<4, 64>(bench, words, ceiling);
    multicast_of_rows<16, 16>(bench, words, ceiling);
}

// ---- who gets which panel ----

void scheduling(Bench& bench) {
    bench.table(
        "roles_scheduling", "Panels dealt out to blocks, or claimed by them; one block on each SM",
        workbook::joined<BenchColumn>({{"kernel", "kernel"},
                                       {"heights", "heights of the panels"},
                                       {"longest", "of the average, the block with most rows, dealt"}},
                                      workbook::timing_columns()));
    const Words words(bench.size(sms * 8, std::size_t{5}) * panel_columns, bench.size(1024, 90));
    const unsigned most = bench.dry() ? 2 : unsigned{sms};
    const auto panels = words.shape.width / panel_columns;
    DeviceBuffer<unsigned> next(1);
    workbook::Random random(5);
    for (const char* how : {"equal", "random", "one in eight is tall"}) {
        std::vector<unsigned> heights(panels);
        const auto tallest = static_cast<unsigned>(words.shape.height);
        for (unsigned& height : heights)
            height = how[0] == 'e'            ? tallest / 2
                     : how[0] == 'r'          ? static_cast<unsigned>(random.next() % (tallest + 1))
                     : random.next() % 8 == 0 ? tallest
                                              : tallest / 16;
        std::vector<double> rows(most);
        for (std::size_t p = 0; p < panels; ++p)
            rows[p % most] += heights[p];
        double sum = 0;
        for (const double each : rows)
            sum += each;
        const double longest = *std::max_element(rows.begin(), rows.end()) * most / std::max(1.0, sum);
        const DeviceBuffer<unsigned> on_device(heights);
        const auto cells = [&](const char* name) {
            return std::vector<BenchCell>{{"kernel", name}, {"heights", how}, {"longest", longest}};
        };
        race(bench, "roles_scheduling", words,
             {{cells("dealt_panels"), few_prints,
               [&](auto out) { launch_dealt_panels<>(words.matrix(), on_device.span(), out, most); }},
              {cells("claimed_panels"), few_prints,
               [&](auto out) {
                   launch_claimed_panels<>(words.matrix(), on_device.span(), out, next.data(), most);
               }}},
             0);
    }
}

// ---- kernels that overlap ----

/// Pairs of dependent kernels, recorded once and launched as a graph: the host is not in their way.
class Pairs {
  public:
    Pairs(int count, Follows follows, RingKernel first, const Words& words, const unsigned* weights,
          unsigned* prints, unsigned* mixed) {
        workbook::check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "making a stream");
        const auto width = static_cast<unsigned>(words.shape.width);
        const Work work{width, static_cast<unsigned>(words.shape.height)};
        workbook::LaunchShape shape = staying_shape(first, roles_threads, sizeof(Ring<>), work.panels());
        shape.stream = stream_;
        const workbook::LaunchShape second{
            .grid = workbook::blocks_for(width, mixing_threads), .block = mixing_threads, .stream = stream_};
        const CUtensorMap map = words_map(words.matrix());
        workbook::check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal), "recording");
        for (int i = 0; i < count; ++i) {
            workbook::launch(first, shape, map, work, prints);
            launch_following(follows, mix_prints<few_prints>, second, weights, prints, mixed, width);
        }
        cudaGraph_t graph = nullptr;
        workbook::check(cudaStreamEndCapture(stream_, &graph), "recording");
        workbook::check(cudaGraphInstantiate(&graph_, graph, 0), "making a graph");
        workbook::check(cudaGraphDestroy(graph), "destroying a recording");
    }
    ~Pairs() {
        cudaGraphExecDestroy(graph_);
        cudaStreamDestroy(stream_);
    }
    Pairs(const Pairs&) = delete;
    Pairs& operator=(const Pairs&) = delete;

    void launch(cudaStream_t stream) const {
        workbook::check(cudaGraphLaunch(graph_, stream), "launching a graph");
    }

  private:
    cudaStream_t stream_ = nullptr;
    cudaGraphExec_t graph_ = nullptr;
};

struct Overlap {
    const char* second;
    Follows follows;
    RingKernel first;
};

void overlaps(Bench& bench) {
    bench.table(
        "roles_overlap", "Two dependent kernels, forty pairs in a row",
        workbook::joined<BenchColumn>(
            {{"second", "the second kernel begins"}, {"height", "rows of the matrix"}, {"pairs", "pairs"}},
            workbook::timing_columns(false)));
    const int pairs = bench.size(40, 2);
    for (const std::size_t height : {16, 64, 256, 1024}) {
        const Words words(bench.size(sms, std::size_t{2}) * panel_columns,
                          bench.size<std::size_t>(height, 20));
        const DeviceBuffer<unsigned> weights(workbook::random_values<unsigned>(few_prints, 1));
        DeviceBuffer<unsigned> prints(words.shape.width * few_prints);
        DeviceBuffer<unsigned> expected(words.shape.width);
        launch_mixed_prints<>(Follows::the_end, words.matrix(), weights.span(), prints.span(),
                              expected.span());
        std::vector<Overlap> ways{{"when the first has ended", Follows::the_end, roles_ring<few_prints>},
                                  {"when blocks of the first end", Follows::early, roles_ring<few_prints>},
                                  {"when the first lets it", Follows::early, prints_then_next<few_prints>}};
        std::rotate(ways.begin(), ways.begin() + static_cast<std::ptrdiff_t>(height / 16 % 3), ways.end());
        for (const Overlap& way : ways) {
            DeviceBuffer<unsigned> mixed(words.shape.width);
            mixed.poison();
            const Pairs recorded(pairs, way.follows, way.first, words, weights.data(), prints.data(),
                                 mixed.data());
            recorded.launch(nullptr);
            if (mixed.download() != expected.download())
                bench.wrong(std::string("roles_overlap, ") + way.second + ": wrong sums");
            const auto timing = bench.time(std::size_t{1} << 40, // what a pair uses may stay in L2
                                           [&](cudaStream_t stream) { recorded.launch(stream); });
            bench.row("roles_overlap", workbook::joined<BenchCell>(
                                           {{"second", way.second}, {"height", height}, {"pairs", pairs}},
                                           workbook::timing_cells(timing)));
        }
    }
}

constexpr workbook::BenchPart parts[] = {
    {"work", "roles against a barrier of the block, by arithmetic", roles_work},
    {"tall", "the same with taller panels", tall_panels},
    {"alone", "the multiplications of the rings alone", multiplications_alone},
    {"waits", "how long warps wait, and at which barrier", waits},
    {"loaders", "who should load, if to load takes longer", loaders},
    {"registers", "registers as launched and moved", registers},
    {"turns", "two groups together and in turns", turns},
    {"multicast", "a ring of tensor copies, by each block and by multicast", multicasts},
    {"scheduling", "panels dealt out and claimed", scheduling},
    {"overlap", "two dependent kernels, with and without overlap", overlaps},
};

} // namespace

int main(int argc, char** argv) { return workbook::run_bench("roles_bench", parts, argc, argv); }
