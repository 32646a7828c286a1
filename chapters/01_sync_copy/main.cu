/// @file main.cu
/// Chapter 1: copies global memory to shared memory through the registers, checks and measures.
#include "sync_copy.cuh"

#include "workbook/program.hpp"
#include "workbook/random.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace {

using namespace sync_copy;
using workbook::Comparison;
using workbook::DeviceBuffer;

constexpr int num_per_thread = 4;
constexpr int batches = 8;

/// The array that all kernels copy, and what the latency probe needs.
struct Tiles {
    explicit Tiles(const workbook::RunContext& run)
        : run(run), host(workbook::random_values<float>(run.size, run.seed, {.specials = true})), in(host),
          out(run.size) {}

    workbook::RunContext run;
    std::vector<float> host;
    DeviceBuffer<float> in;
    DeviceBuffer<float> out;
    std::string latencies{};
};

std::size_t bytes(const Tiles& tiles) { return tiles.in.size_bytes() + tiles.out.size_bytes(); }
void prepare(Tiles& tiles) { tiles.out.poison(); }

/// Compares with the input, each tile reversed: a copy changes no bit.
template <int tile>
Comparison check_reversed(Tiles& tiles) {
    return workbook::check_exact(tiles.out, workbook::reversed_tiles(tiles.host, tile));
}

Comparison check_neighbour_sums(Tiles& tiles) {
    return workbook::check_values(tiles.out, workbook::neighbour_sums<float>(tiles.host, block_threads));
}

/// Compares one probe with its reference and keeps its line for the reader.
void check_probe(Tiles& tiles, Comparison& result, const char* where, const Probe& probe, unsigned expected,
                 int steps) {
    ++result.compared;
    if (probe.end != expected && result.wrong++ == 0) {
        result.first_wrong = result.compared - 1;
        result.expected = std::to_string(expected);
        result.actual = std::to_string(probe.end);
    }
    if (tiles.run.has_clock)
        tiles.latencies += (tiles.latencies.empty() ? "cycles per step: " : ", ") + std::string(where) + " " +
                           workbook::decimals(static_cast<double>(probe.cycles) / steps, 1);
}

/// Chases through memory larger than L2, memory that lies in L2, shared memory, and registers.
Comparison check_latencies(Tiles& tiles) {
    constexpr std::size_t line_words = 32; // one node per 128-byte line
    const bool real = tiles.run.has_clock;
    const std::size_t large = real ? 4 * tiles.run.device.l2_bytes / (line_words * sizeof(unsigned)) : 1024;
    const std::size_t small = real ? 65'536 : 1024;
    const int steps = real ? 16'384 : 512;
    const int all_nodes = static_cast<int>(small);
    Comparison result;
    tiles.latencies.clear();

    const std::vector<unsigned> far = random_cycle(large, line_words, tiles.run.seed);
    const DeviceBuffer<unsigned> far_device(far);
    workbook::L2Flush()(nullptr); // the upload may have left the end of the chain in L2
    check_probe(tiles, result, "global memory", launch_chase_global(far_device.span(), steps),
                follow(far, steps), steps);

    const std::vector<unsigned> near = random_cycle(small, line_words, tiles.run.seed);
    const DeviceBuffer<unsigned> near_device(near);
    (void)launch_chase_global(near_device.span(), all_nodes); // brings the whole chain into L2
    check_probe(tiles, result, "L2 cache", launch_chase_global(near_device.span(), steps),
                follow(near, steps), steps);

    const std::vector<unsigned> chain = random_cycle(shared_nodes, 1, tiles.run.seed);
    const DeviceBuffer<unsigned> chain_device(chain);
    check_probe(tiles, result, "shared memory", launch_chase_shared(chain_device.span(), steps),
                follow(chain, steps), steps);

    constexpr unsigned factor = 3;
    unsigned expected = 1;
    for (int step = 0; step < steps; ++step)
        expected = expected * factor + 1;
    check_probe(tiles, result, "registers", launch_chase_registers(factor, steps), expected, steps);
    return result;
}

constexpr workbook::KernelEntry<Tiles> kernels[] = {
    {.name = "one_per_thread",
     .shows = "LDG, then STS, per element",
     .bytes = bytes,
     .prepare = prepare,
     .launch = [](Tiles& tiles) { launch_one_per_thread(tiles.in.span(), tiles.out.span()); },
     .check = check_reversed<block_threads>},
    {.name = "loop_strided",
     .shows = "4 per thread, neighbours 16 bytes apart",
     .bytes = bytes,
     .prepare = prepare,
     .launch = [](Tiles& tiles) { launch_loop_strided(tiles.in.span(), tiles.out.span(), num_per_thread); },
     .check = check_reversed<block_threads * num_per_thread>},
    {.name = "loop_coalesced",
     .shows = "4 per thread, neighbours side by side",
     .bytes = bytes,
     .prepare = prepare,
     .launch = [](Tiles& tiles) { launch_loop_coalesced(tiles.in.span(), tiles.out.span(), num_per_thread); },
     .check = check_reversed<block_threads * num_per_thread>},
    {.name = "vectorized",
     .shows = "4 per thread in one 16-byte load",
     .bytes = bytes,
     .prepare = prepare,
     .launch = [](Tiles& tiles) { launch_vectorized(tiles.in.span(), tiles.out.span()); },
     .check = check_reversed<vector_tile>},
    {.name = "without_memcpy_async",
     .shows = "copy, sync, compute, sync, in batches",
     .bytes = bytes,
     .prepare = prepare,
     .launch = [](Tiles& tiles) { launch_without_memcpy_async(tiles.in.span(), tiles.out.span(), batches); },
     .check = check_neighbour_sums},
    {.name = "latency_probe",
     .shows = "time of one dependent load, per memory",
     .bytes = [](const Tiles&) { return std::size_t{0}; },
     .prepare = [](Tiles&) {},
     .launch =
         [](Tiles&) {}, // check_latencies makes its four launches: each needs another state of the caches
     .check = check_latencies,
     .note = [](Tiles& tiles) { return tiles.latencies; }},
};

} // namespace

int main(int argc, char** argv) {
    const workbook::ProgramInfo info{.name = "sync_copy",
                                     .summary = "copies to shared memory through the registers",
                                     .size_unit = "floats",
                                     .size_with_clock = 100'000'000,
                                     .size_without_clock = 100'000,
                                     .device_bytes_per_element = 2 * sizeof(float),
                                     .host_bytes_per_element = 3 * sizeof(float),
                                     .needs = {.compute_major = 8}};
    return workbook::run_program<Tiles>(info, kernels, argc, argv);
}
