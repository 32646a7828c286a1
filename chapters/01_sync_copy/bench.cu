/// @file bench.cu
/// Chapter 1's measurements: how far each memory is, and how many bytes must be on their way to use it.
#include "measuring.cuh"
#include "sync_copy.cuh"
#include "turnover_bench.cuh"
#include "work_bench.cuh"

#include "workbook/bench.hpp"
#include "workbook/bench_data.cuh"
#include "workbook/buffer.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace {

using namespace sync_copy;
using workbook::Bench;
using workbook::BenchCell;
using workbook::DeviceBuffer;

constexpr std::size_t line_words = 32; ///< a node per line of 128 bytes
constexpr int repetitions = 31;

// ---- latency ----

void begin_latency(Bench& bench) {
    bench.table("latency", "How long one load takes that the next one waits for",
                {{"memory", "memory"},
                 {"bytes", "bytes followed through", "bytes"},
                 {"cycles", "time", "cycles of the SM"},
                 {"lower_cycles", "lower quartile", "cycles"},
                 {"upper_cycles", "upper quartile", "cycles"},
                 {"ns", "time", "ns"},
                 {"repetitions", "repetitions"}});
}

/// One kind of chase: what is launched, and where it must end.
struct Chase {
    const char* memory;
    std::size_t bytes;
    int steps;
    unsigned end;
    std::function<void()> before; ///< enqueued before each chase: what shall be in L2, and what not
    std::function<void(Probe*)> launch;
};

/// Runs a chase again and again. Its clock is the SM's; events give nanoseconds.
void chase(Bench& bench, const std::string& table, const Chase& what) {
    DeviceBuffer<Probe> result(1);
    std::vector<double> cycles;
    std::vector<double> milliseconds;
    for (int i = 0; i < (bench.dry() ? 1 : repetitions + 2); ++i) {
        what.before();
        workbook::Event start;
        workbook::Event stop;
        start.record();
        what.launch(result.data());
        stop.record();
        const double elapsed = stop.milliseconds_since(start);
        const Probe probe = result.download().front();
        if (probe.end != what.end)
            return bench.wrong(std::string(what.memory) + ": the chase ended at another node");
        if (i < 2 && !bench.dry()) // warm-up
            continue;
        cycles.push_back(static_cast<double>(probe.cycles) / what.steps);
        milliseconds.push_back(elapsed);
    }
    std::vector<BenchCell> cells{{"memory", what.memory}, {"bytes", what.bytes}};
    if (bench.mode() == workbook::BenchMode::measure) {
        const workbook::Timing counted = workbook::summarize(cycles);
        const workbook::Timing timed = workbook::summarize(milliseconds);
        cells = workbook::joined<BenchCell>(std::move(cells), {{"cycles", counted.median_ms},
                                                               {"lower_cycles", counted.lower_ms},
                                                               {"upper_cycles", counted.upper_ms},
                                                               {"ns", timed.median_ms * 1e6 / what.steps},
                                                               {"repetitions", counted.repetitions}});
    }
    bench.row(table, cells);
}

/// Reads all of an array once, by many threads: what fits into L2 is there afterwards.
__global__ void read_all(const uint4* in, std::size_t count, unsigned* sum) {
    const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
    unsigned mine = 0;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step)
        mine += __ldcg(in + i).x;
    if (mine == 1) // hardly ever; the reads must not be optimised away
        atomicAdd(sum, mine);
}

/// A chase through `nodes` lines in global memory. Before it L2 is emptied, or the whole array is read.
void chase_lines(Bench& bench, const std::string& table, const char* memory, std::size_t nodes, int steps,
                 bool cold) {
    const std::vector<unsigned> chain = random_cycle(nodes, line_words, 1);
    const DeviceBuffer<unsigned> device(chain);
    DeviceBuffer<unsigned> sum(1);
    workbook::L2Flush flush;
    const auto before = [&] {
        if (cold)
            flush(nullptr);
        else
            workbook::launch(read_all, workbook::striding(chain.size() / 4),
                             reinterpret_cast<const uint4*>(device.data()), chain.size() / 4, sum.data());
    };
    chase(bench, table,
          {memory, nodes * line_words * sizeof(unsigned), steps, follow(chain, steps), before,
           [&](Probe* result) { workbook::launch(chase_global, {}, device.data(), steps, result); }});
}

void latency(Bench& bench) {
    begin_latency(bench);
    const int steps = bench.size(16384, 64);
    chase_lines(bench, "latency", "global memory", bench.size(std::size_t{1} << 22, std::size_t{256}), steps,
                true);
    chase_lines(bench, "latency", "L2 cache", bench.size(std::size_t{1} << 14, std::size_t{64}), steps,
                false);
    const std::vector<unsigned> chain = random_cycle(shared_nodes, 1, 1);
    const DeviceBuffer<unsigned> device(chain);
    chase(bench, "latency",
          {"shared memory", shared_nodes * sizeof(unsigned), steps, follow(chain, steps), [] {},
           [&](Probe* result) { workbook::launch(chase_shared, {}, device.data(), steps, result); }});
    constexpr unsigned factor = 1664525;
    unsigned end = 1;
    for (int i = 0; i < steps; ++i)
        end = end * factor + 1;
    chase(bench, "latency",
          {"registers (multiply-add)", 0, steps, end, [] {},
           [&](Probe* result) { workbook::launch(chase_registers, {}, factor, steps, result); }});
}

void staircase(Bench& bench) {
    bench.table("latency_by_size", "Latency of global memory against the bytes that are followed through",
                {{"memory", "memory"},
                 {"bytes", "bytes followed through", "bytes"},
                 {"cycles", "time", "cycles of the SM"},
                 {"lower_cycles", "lower quartile", "cycles"},
                 {"upper_cycles", "upper quartile", "cycles"},
                 {"ns", "time", "ns"},
                 {"repetitions", "repetitions"}});
    const std::size_t most = bench.size(std::size_t{1} << 28, std::size_t{1} << 16); // bytes
    for (std::size_t bytes = std::size_t{1} << 16; bytes <= most; bytes *= 2) {
        const std::size_t nodes = bytes / (line_words * sizeof(unsigned));
        // Whole trips around, so that every line has been read as often as any other.
        chase_lines(bench, "latency_by_size", "global memory", nodes,
                    bench.size(static_cast<int>(std::min<std::size_t>(nodes * 8, 1 << 15)), 64), false);
    }
}

// ---- bytes in flight ----

/// Reads the array with `loads` independent loads of a T per thread in flight, and nothing else to wait for.
/// (With eight loads of 16 bytes nvcc 13.0 uses the first value before it issues the fourth load: no such
/// reader here.)
template <class T, int loads>
__global__ void read_stream(const T* in, std::size_t count, unsigned* sums) {
    const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
    const std::size_t me = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    unsigned sum = 0;
#pragma unroll 1 // or the loads of the next trip would be in flight too
    for (std::size_t i = me; i < count; i += threads * loads) {
        T values[loads];
#pragma unroll
        for (int k = 0; k < loads; ++k)
            values[k] = i + k * threads < count ? __ldcs(in + i + k * threads) : T{};
#pragma unroll
        for (int k = 0; k < loads; ++k) {
            if constexpr (sizeof(T) == 16)
                sum += values[k].x + values[k].y + values[k].z + values[k].w;
            else
                sum += values[k];
        }
    }
    sums[me] = sum;
}

struct Reader {
    int load_bytes;
    int loads;
    void (*launch)(const workbook::LaunchShape&, const unsigned*, std::size_t, unsigned*);
};

template <class T, int loads>
constexpr Reader reader() {
    return {sizeof(T), loads,
            [](const workbook::LaunchShape& shape, const unsigned* in, std::size_t words, unsigned* sums) {
                workbook::launch(read_stream<T, loads>, shape, reinterpret_cast<const T*>(in),
                                 words * sizeof(unsigned) / sizeof(T), sums);
            }};
}

constexpr Reader readers[] = {reader<unsigned, 1>(), reader<unsigned, 4>(), reader<uint4, 1>(),
                              reader<uint4, 2>(), reader<uint4, 4>()};

/// The sum of the words that the threads' sums must add up to.
unsigned expected_sum(std::size_t words) {
    unsigned sum = 0;
    for (std::size_t i = 0; i < words; ++i)
        sum += workbook::random_word(i);
    return sum;
}

void little(Bench& bench) {
    bench.table("little", "Bandwidth of reading against the bytes that are on their way",
                workbook::joined<workbook::BenchColumn>({{"threads_per_sm", "threads per SM"},
                                                         {"load_bytes", "bytes per load", "bytes"},
                                                         {"loads", "loads per thread"},
                                                         {"in_flight", "in flight per SM", "bytes"}},
                                                        workbook::timing_columns()));
    const std::size_t words = bench.size(std::size_t{1} << 28, std::size_t{1} << 14); // 1 GiB
    const int sms = bench.device().multiprocessors;
    DeviceBuffer<unsigned> in(words);
    DeviceBuffer<unsigned> sums(static_cast<std::size_t>(sms) * 2048);
    workbook::launch(workbook::fill_random_words<unsigned>, workbook::striding(words), in.data(), words);
    const auto ceiling = bench.ceiling(in.size_bytes());
    const double rate = ceiling ? ceiling->bytes_per_second(in.size_bytes()) : 0;
    const unsigned expected = expected_sum(words);
    for (const int threads : {32, 64, 128, 256, 512, 1024, 2048})
        for (const Reader& reader : readers) {
            // A block takes more than half of an SM's shared memory, or, with two, just under half.
            const unsigned blocks = threads > 1024 ? 2 : 1;
            const workbook::LaunchShape shape{.grid = static_cast<unsigned>(sms) * blocks,
                                              .block = static_cast<unsigned>(threads) / blocks,
                                              .dynamic_shared = blocks == 1 ? 120u * 1024 : 100u * 1024};
            const auto in_flight = static_cast<std::size_t>(threads * reader.load_bytes * reader.loads);
            // Few bytes in flight take long: such points read a part of the array.
            const std::size_t part = std::min(words, std::max(words / 16, words / 32768 * in_flight));
            sums.upload(std::vector<unsigned>(sums.size(), 0));
            reader.launch(shape, in.data(), words, sums.data());
            unsigned total = 0;
            for (const unsigned sum : sums.download())
                total += sum;
            if (total != expected)
                bench.wrong("read_stream: the sum is wrong");
            const auto timing = bench.time(part * sizeof(unsigned), [&](cudaStream_t) {
                reader.launch(shape, in.data(), part, sums.data());
            });
            bench.row("little", workbook::joined<BenchCell>(
                                    {{"threads_per_sm", threads},
                                     {"load_bytes", reader.load_bytes},
                                     {"loads", reader.loads},
                                     {"in_flight", in_flight}},
                                    workbook::timing_cells(timing, part * sizeof(unsigned), rate)));
        }
}

constexpr workbook::BenchPart parts[] = {
    {"latency", "pointer chasing through each memory", latency},
    {"staircase", "latency against the size of what is followed through", staircase},
    {"little", "bandwidth against bytes in flight", little},
    {"mixes", "bandwidth against the share of reading", mixes},
    {"copies", "the driver's copy and a kernel's", copies},
    {"empty", "what a launch takes that does nothing", empty_launch},
    {"turnover", "one load per thread: blocks that stay against blocks that end", turnover},
    {"strides", "a stride with L1 and past it", strides},
    {"passages", "where the time of a warp goes", passages},
    {"work", "a copy that computes: its work, and when it asks for the next tile", work},
    {"slow", "the slow copy with and without the length of a tile", slow_copies},
    {"rounds", "where the time of a round of such a copy goes", rounds},
};

} // namespace

int main(int argc, char** argv) { return workbook::run_bench("sync_copy_bench", parts, argc, argv); }
