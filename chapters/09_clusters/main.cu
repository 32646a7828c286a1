/// @file main.cu
/// Chapter 9: the kernels of clusters and distributed shared memory, checked and measured.
#include "bench_rings.cuh"
#include "clusters.cuh"
#include "multicast_ring.cuh"
#include "references.hpp"
#include "remote_async.cuh"

#include "workbook/program.hpp"
#include "workbook/random.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <vector>

namespace {

using namespace clusters;
using workbook::Comparison;
using workbook::DeviceBuffer;

constexpr int cluster_size = 4;   ///< of all kernels that are not about the size
constexpr int probe_steps = 4096; ///< of the latency probe
constexpr int stream_blocks = 2 * cluster_size;
constexpr BatchRing ring{.words = 1024, .stages = 4};
constexpr BatchRing pair_ring{.words = 8192, .stages = 3}; ///< 32 KiB each: one that waits for its bytes
constexpr std::size_t stays_in_l2 = std::size_t{1} << 22;  ///< elements: 16 MiB

/// Values whose histogram slopes, so that the picture shows something: small ones are the most common.
std::vector<unsigned> sloping_values(std::size_t size, std::uint64_t seed) {
    workbook::Random random(seed);
    std::vector<unsigned> values(size);
    for (unsigned& value : values)
        value = static_cast<unsigned>((random.next() >> 32) * (random.next() >> 32) >> 32);
    return values;
}

/// The blocks of a stream in pairs: one on each SM, or, without a clock, two pairs.
std::size_t pair_blocks(const workbook::RunContext& run) {
    const int sms = run.has_clock ? workbook::device_attribute(cudaDevAttrMultiProcessorCount) : 4;
    return static_cast<std::size_t>(sms / 2 * 2);
}

/// The arrays that the kernels work on.
struct Arrays {
    explicit Arrays(const workbook::RunContext& run)
        : run(run), integers(sloping_values(run.size, run.seed)),
          x_host(workbook::random_values<float>(run.size, run.seed + 1, {.specials = true})),
          y_host(workbook::random_values<float>(run.size, run.seed + 2, {.specials = true})),
          values(integers), x(x_host), y(y_host), floats(run.size), words(run.size * cluster_size),
          sums(cluster_count(run.size, cluster_size)), bins(bin_count), totals(stream_blocks),
          pair_totals(pair_blocks(run)), seen(std::min<std::size_t>(run.size, 1000)) {}

    workbook::RunContext run;
    std::vector<unsigned> integers;
    std::vector<float> x_host;
    std::vector<float> y_host;
    DeviceBuffer<unsigned> values;
    DeviceBuffer<float> x;
    DeviceBuffer<float> y;
    DeviceBuffer<float> floats;
    DeviceBuffer<unsigned> words; ///< one copy of the array per block of a cluster
    DeviceBuffer<unsigned> sums;
    DeviceBuffer<unsigned> bins;
    DeviceBuffer<unsigned> totals;      ///< what each block of a stream saw
    DeviceBuffer<unsigned> pair_totals; ///< the same for a stream in pairs
    DeviceBuffer<Exchange> seen;
    std::string latencies{};

    std::span<const unsigned> in() const { return values.span(); }
    /// The part of the array that every block of a pair needs.
    std::span<const unsigned> in_l2() const { return in().first(std::min(values.size(), stays_in_l2)); }
    /// The part of `words` that a kernel fills which writes as much as it reads.
    std::span<unsigned> out() { return words.span().first(values.size()); }
};

std::size_t read_and_written(const Arrays& arrays) { return 2 * arrays.values.size_bytes(); }
void poison(Arrays& arrays) {
    arrays.floats.poison();
    arrays.words.poison();
    arrays.sums.poison();
    arrays.seen.poison();
}

/// Compares what a kernel wrote to out(), and that it left the rest of `words` alone.
Comparison check_out(Arrays& arrays, std::vector<unsigned> expected) {
    constexpr unsigned poison_word = 0x01010101u * DeviceBuffer<unsigned>::poison_byte;
    expected.resize(arrays.words.size(), poison_word);
    return workbook::check_exact(arrays.words, expected);
}

Comparison check_sums(Arrays& arrays) {
    return workbook::check_exact(arrays.sums, chunk_sums(arrays.integers, cluster_size));
}
Comparison check_shifted(Arrays& arrays) {
    return check_out(arrays, shifted_tiles(arrays.integers, cluster_size));
}
Comparison check_turned(Arrays& arrays) {
    return workbook::check_exact(arrays.words, turned_copies(arrays.integers, cluster_size));
}

/// True if the device can run clusters of `blocks`.
bool can_run(int blocks) { return blocks <= portable_cluster || max_active_clusters(blocks) > 0; }

/// The bins of the whole array, and how many of the values each block of a cluster counted: text for a
/// terminal.
std::string picture(const std::vector<unsigned>& bins, int blocks) {
    const auto per_block = static_cast<std::size_t>(bins_per_block(blocks));
    std::vector<double> counted;
    for (std::size_t first = 0; first < bins.size(); first += per_block) {
        double sum = 0;
        for (std::size_t i = first; i < std::min(bins.size(), first + per_block); ++i)
            sum += bins[i];
        counted.push_back(sum);
    }
    const double most = std::max(1.0, *std::max_element(counted.begin(), counted.end()));
    std::string text = "bins of each block of a cluster, and the values counted there";
    for (std::size_t rank = 0; rank < counted.size(); ++rank) {
        char line[120];
        std::snprintf(line, sizeof line, "\n  block %2zu  bins %4zu to %4zu  %10.0f  ", rank,
                      rank * per_block, std::min(bins.size(), (rank + 1) * per_block) - 1, counted[rank]);
        text += line + std::string(static_cast<std::size_t>(std::lround(40 * counted[rank] / most)), '#');
    }
    return text;
}

/// The row of the histogram for one cluster size. Where the device cannot run it, the row says so.
template <int blocks>
constexpr workbook::KernelEntry<Arrays> histogram_row(const char* name, const char* shows) {
    return {.name = name,
            .shows = shows,
            .bytes = [](const Arrays& arrays) { return can_run(blocks) ? arrays.values.size_bytes() : 0; },
            .prepare = [](Arrays& arrays) { arrays.bins.upload(std::vector<unsigned>(bin_count)); },
            .launch =
                [](Arrays& arrays) {
                    if (can_run(blocks))
                        launch_histogram(arrays.in(), arrays.bins.span(), blocks);
                },
            .check =
                [](Arrays& arrays) {
                    return can_run(blocks) ? workbook::check_exact(arrays.bins, counts(arrays.integers))
                                           : Comparison{};
                },
            .note = [](Arrays& arrays) -> std::string {
                if (!can_run(blocks))
                    return "not run: this device has no clusters of " + std::to_string(blocks) + " blocks";
                return blocks == cluster_size ? picture(arrays.bins.download(), blocks) : "";
            }};
}

/// The row of a stream: every block adds up the whole array.
template <void (*launch)(std::span<const unsigned>, std::span<unsigned>, BatchRing, int)>
constexpr workbook::KernelEntry<Arrays> stream_row(const char* name, const char* shows) {
    return {.name = name,
            .shows = shows,
            .bytes = [](const Arrays& arrays) { return arrays.values.size_bytes(); },
            .prepare = [](Arrays& arrays) { arrays.totals.upload(std::vector<unsigned>(stream_blocks)); },
            .launch = [](Arrays& arrays) { launch(arrays.in(), arrays.totals.span(), ring, cluster_size); },
            .check =
                [](Arrays& arrays) {
                    const unsigned total =
                        std::accumulate(arrays.integers.begin(), arrays.integers.end(), 0u);
                    return workbook::check_exact(arrays.totals, std::vector<unsigned>(stream_blocks, total));
                }};
}

/// The row of a stream in pairs, through the ring that gains most from them: every block adds up in_l2().
template <void (*launch)(std::span<const unsigned>, std::span<unsigned>, BatchRing, int)>
constexpr workbook::KernelEntry<Arrays> pair_row(const char* name, const char* shows) {
    return {.name = name,
            .shows = shows,
            .bytes = [](const Arrays& arrays) { return arrays.in_l2().size_bytes(); },
            .prepare =
                [](Arrays& arrays) {
                    arrays.pair_totals.upload(std::vector<unsigned>(arrays.pair_totals.size()));
                },
            .launch = [](Arrays& arrays) { launch(arrays.in_l2(), arrays.pair_totals.span(), pair_ring, 2); },
            .check =
                [](Arrays& arrays) {
                    const std::span<const unsigned> part =
                        std::span(arrays.integers).first(arrays.in_l2().size());
                    const unsigned total = std::accumulate(part.begin(), part.end(), 0u);
                    return workbook::check_exact(arrays.pair_totals,
                                                 std::vector<unsigned>(arrays.pair_totals.size(), total));
                }};
}

/// Chases through the block's own memory and through every neighbour's; the chains must end where they
/// should.
Comparison check_latency(Arrays& arrays) {
    Comparison result;
    unsigned expected = 0;
    for (int step = 0; step < probe_steps; ++step)
        expected = next_node(expected);
    arrays.latencies.clear();
    for (int owner = 0; owner < cluster_size; ++owner) {
        const Probe probe = launch_chase_dsmem(probe_steps, owner, cluster_size);
        ++result.compared;
        if (probe.end != expected && result.wrong++ == 0) {
            result.first_wrong = static_cast<std::size_t>(owner);
            result.expected = std::to_string(expected);
            result.actual = std::to_string(probe.end);
        }
        if (arrays.run.has_clock)
            arrays.latencies += (owner == 0 ? "cycles per step from block 0: own memory "
                                            : ", block " + std::to_string(owner) + " ") +
                                workbook::decimals(static_cast<double>(probe.cycles) / probe_steps, 1);
    }
    return result;
}

/// More blocks per cluster never allow more clusters, and every size up to 8 must be possible.
Comparison check_active_clusters(Arrays&) {
    Comparison result;
    int previous = 0;
    for (int blocks = 1; blocks <= largest_cluster; blocks *= 2) {
        const int active = max_active_clusters(blocks);
        if ((blocks > 1 && active > previous) || (blocks <= portable_cluster && active < 1))
            result.problem = std::to_string(active) + " clusters of " + std::to_string(blocks) + " blocks";
        previous = active;
    }
    return result;
}

std::string active_clusters_note(Arrays&) {
    std::string text = "clusters at a time, by blocks per cluster:";
    for (int blocks = 1; blocks <= largest_cluster; blocks *= 2)
        text += (blocks > 1 ? ", " : " ") + std::to_string(blocks) + ": " +
                std::to_string(max_active_clusters(blocks));
    return text;
}

constexpr workbook::KernelEntry<Arrays> kernels[] = {
    {.name = "neighbour_variable",
     .shows = "write to the neighbour, read it back",
     .bytes = [](const Arrays& arrays) { return arrays.seen.size() * (sizeof(unsigned) + sizeof(Exchange)); },
     .prepare = poison,
     .launch =
         [](Arrays& arrays) {
             launch_neighbour_variable(arrays.in().first(arrays.seen.size()), arrays.seen.span());
         },
     .check =
         [](Arrays& arrays) {
             return workbook::check_exact(arrays.seen,
                                          exchanges(std::span(arrays.integers).first(arrays.seen.size())));
         }},
    {.name = "initialise_sync_use_sync",
     .shows = "reverse 1024 floats across 4 blocks",
     .bytes = read_and_written,
     .prepare = poison,
     .launch =
         [](Arrays& arrays) {
             launch_initialise_sync_use_sync(arrays.x.span(), arrays.floats.span(), cluster_size);
         },
     .check =
         [](Arrays& arrays) {
             return workbook::check_exact(
                 arrays.floats, workbook::reversed_tiles(arrays.x_host, cluster_size * block_threads));
         }},
    {.name = "split_arrive_wait",
     .shows = "work between arrive and wait",
     .bytes = [](const Arrays& arrays) { return 3 * arrays.x.size_bytes(); },
     .prepare = poison,
     .launch =
         [](Arrays& arrays) {
             launch_split_arrive_wait(arrays.x.span(), arrays.y.span(), arrays.floats.span(), cluster_size);
         },
     .check =
         [](Arrays& arrays) {
             return workbook::check_values(arrays.floats,
                                           reversed_plus(arrays.x_host, arrays.y_host, cluster_size));
         }},
    {.name = "ring_exchange",
     .shows = "every tile visits every block",
     .bytes = read_and_written,
     .prepare = poison,
     .launch = [](Arrays& arrays) { launch_ring_exchange(arrays.in(), arrays.out(), cluster_size); },
     .check = [](Arrays& arrays) { return check_out(arrays, ring_results(arrays.integers, cluster_size)); }},
    {.name = "cluster_sum",
     .shows = "rank 0 reads the sums of all blocks",
     .bytes = [](const Arrays& arrays) { return arrays.values.size_bytes() + arrays.sums.size_bytes(); },
     .prepare = poison,
     .launch = [](Arrays& arrays) { launch_cluster_sum(arrays.in(), arrays.sums.span(), cluster_size); },
     .check = check_sums},
    {.name = "remote_arrive",
     .shows = "all arrive on the mbarrier of rank 0",
     .bytes = [](const Arrays& arrays) { return arrays.values.size_bytes() + arrays.sums.size_bytes(); },
     .prepare = poison,
     .launch = [](Arrays& arrays) { launch_remote_arrive(arrays.in(), arrays.sums.span(), cluster_size); },
     .check = check_sums},
    {.name = "store_async",
     .shows = "st.async into the neighbour's tile",
     .bytes = read_and_written,
     .prepare = poison,
     .launch = [](Arrays& arrays) { launch_store_async(arrays.in(), arrays.out(), cluster_size); },
     .check = check_shifted},
    {.name = "bulk_to_neighbour",
     .shows = "one bulk copy, shared to shared",
     .bytes = read_and_written,
     .prepare = poison,
     .launch = [](Arrays& arrays) { launch_bulk_to_neighbour(arrays.in(), arrays.out(), cluster_size); },
     .check = check_shifted},
    {.name = "tile_for_each",
     .shows = "4 blocks copy the same tile 4 times",
     .bytes = [](const Arrays& arrays) { return (1 + cluster_size) * arrays.values.size_bytes(); },
     .prepare = poison,
     .launch = [](Arrays& arrays) { launch_tile_for_each(arrays.in(), arrays.words.span(), cluster_size); },
     .check = check_turned},
    {.name = "multicast_tile",
     .shows = "one copy lands in all 4 blocks",
     .bytes = [](const Arrays& arrays) { return (1 + cluster_size) * arrays.values.size_bytes(); },
     .prepare = poison,
     .launch = [](Arrays& arrays) { launch_multicast_tile(arrays.in(), arrays.words.span(), cluster_size); },
     .check = check_turned},
    stream_row<launch_stream_batches<Loads::alone, Handover::plain>>(
        "stream_alone", "a ring that each block fills for itself"),
    stream_row<launch_stream_multicast>("stream_multicast", "a ring filled by multicast, 4 blocks"),
    stream_row<launch_stream_batches<Loads::shared, Handover::letter>>(
        "stream_by_letter", "the same, handed back by the letter of PTX"),
    pair_row<launch_stream_batches<Loads::alone, Handover::plain>>("pair_alone",
                                                                   "3 stages of 32 KiB, each block loads"),
    pair_row<launch_stream_batches<Loads::shared, Handover::plain>>("pair_multicast",
                                                                    "the same by multicast, in pairs"),
    histogram_row<1>("histogram_1", "8192 bins in one block"),
    histogram_row<2>("histogram_2", "8192 bins over 2 blocks"),
    histogram_row<4>("histogram_4", "8192 bins over 4 blocks"),
    histogram_row<8>("histogram_8", "8192 bins over 8 blocks"),
    histogram_row<16>("histogram_16", "over 16 blocks, with the opt-in"),
    {.name = "dsmem_latency",
     .shows = "time of one dependent remote load",
     .bytes = [](const Arrays&) { return std::size_t{0}; },
     .prepare = [](Arrays&) {},
     .launch = [](Arrays&) {}, // check_latency makes its launches, one per owner of the chain
     .check = check_latency,
     .note = [](Arrays& arrays) { return arrays.latencies; }},
    {.name = "active_clusters",
     .shows = "cudaOccupancyMaxActiveClusters",
     .bytes = [](const Arrays&) { return std::size_t{0}; },
     .prepare = [](Arrays&) {},
     .launch = [](Arrays&) {}, // a question to the runtime, not a kernel
     .check = check_active_clusters,
     .note = active_clusters_note},
};

} // namespace

int main(int argc, char** argv) {
    const workbook::ProgramInfo info{.name = "clusters",
                                     .summary = "clusters of blocks and their distributed shared memory",
                                     .size_unit = "elements",
                                     .size_with_clock = 50'000'000,
                                     .size_without_clock = 50'001,
                                     .device_bytes_per_element = (4 + cluster_size) * sizeof(float),
                                     .host_bytes_per_element = (4 + 2 * cluster_size) * sizeof(float),
                                     .needs = {.compute_major = 9, .cluster_size = cluster_size}};
    return workbook::run_program<Arrays>(info, kernels, argc, argv);
}
