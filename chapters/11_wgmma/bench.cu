/// @file bench.cu
/// Chapter 11's measurements: how many products a second tensor cores make when nothing has to be loaded, by
/// every way that their operands can take; and how long one wgmma takes.
#include "wgmma.cuh"

#include "workbook/bench.hpp"
#include "workbook/buffer.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace wgmma;
using workbook::Bench;
using workbook::BenchCell;
using workbook::DeviceBuffer;

// ---- operands ----

/// What the elements are: ones give sums that are known in every layout; random ones cost the most power.
enum class Fill { zeros, ones, random };
constexpr const char* fill_names[] = {"zeros", "ones", "random"};

/// One as an element.
template <MatrixType type>
__device__ std::uint32_t one() {
    return type == MatrixType::bf16   ? 0x3f803f80U
           : type == MatrixType::f16  ? 0x3c003c00U
           : type == MatrixType::tf32 ? 0x3f800000U
                                      : 0x38383838U;
}

/// Random elements from 0.5 to 1, of either sign.
template <MatrixType type>
__device__ std::uint32_t random_bits(std::uint32_t i) {
    std::uint32_t bits = i * 0x9e3779b9U;
    bits ^= bits >> 15;
    bits *= 0x85ebca6bU;
    bits ^= bits >> 13;
    return type == MatrixType::bf16   ? (bits & 0x807f807fU) | 0x3f003f00U
           : type == MatrixType::f16  ? (bits & 0x83ff83ffU) | 0x38003800U
           : type == MatrixType::tf32 ? (bits & 0x807fffffU) | 0x3f000000U
                                      : (bits & 0x87878787U) | 0x30303030U;
}

/// The block fills `bytes` bytes of operands and shows them to wgmma.
template <MatrixType type>
__device__ void fill(std::byte* operands, std::uint32_t bytes, Fill with) {
    auto* words = reinterpret_cast<std::uint32_t*>(operands);
    for (std::uint32_t i = threadIdx.x; i < bytes / 4; i += blockDim.x)
        words[i] = with == Fill::zeros ? 0 : with == Fill::ones ? one<type>() : random_bits<type>(i);
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
}

// ---- the kernels ----

/// How operands come.
template <int columns, MatrixType element_type, Swizzle swizzle, Major major, bool a_from_registers>
struct Way {
    static constexpr int n = columns;
    static constexpr MatrixType type = element_type;
    static constexpr Swizzle mode = swizzle;
    static constexpr Major major_b = major;
    static constexpr bool registers = a_from_registers;
    static constexpr std::uint32_t bytes = (64 + n) * row_bytes;
};

/// The four steps of one tile.
template <class W>
__device__ void multiply(float (&sums)[W::n / 2], const std::uint32_t (&fragment)[4], std::uint64_t a,
                         std::uint64_t b) {
#pragma unroll
    for (std::uint32_t k = 0; k < steps; ++k) {
        const std::uint64_t of_b =
            advanced(b, W::major_b == Major::mn ? mn_major_step(W::mode, k) : k_major_step(W::mode, W::n, k));
        if constexpr (W::registers)
            wgmma_multiply<W::type, W::major_b>(sums, fragment, of_b, true);
        else if constexpr (W::major_b == Major::mn)
            wgmma_multiply<W::type, Major::k, Major::mn>(sums, advanced(a, k_major_step(W::mode, 64, k)),
                                                         of_b, true);
        else
            wgmma_multiply<W::type>(sums, advanced(a, k_major_step(W::mode, 64, k)), of_b, true);
    }
}

/// Each warpgroup multiplies its tiles `rounds` times, and never has more than two groups in flight;
/// `pending` 0 waits for each. out: the sums; cycles: those of the first block.
template <class W, int pending>
__global__ void repeat_wgmma(int rounds, Fill with, float* out, long long* cycles) {
    extern __shared__ __align__(1024) std::byte operands[];
    fill<W::type>(operands, W::bytes, with);
    const std::uint64_t a = matrix_descriptor(operands, k_major(W::mode, 64));
    const std::uint64_t b = matrix_descriptor(operands + 64 * row_bytes,
                                              W::major_b == Major::mn ? mn_major(W::mode, depth<W::type>)
                                                                      : k_major(W::mode, W::n));
    const auto* first = reinterpret_cast<const std::uint32_t*>(operands);
    const std::uint32_t fragment[4] = {first[threadIdx.x], first[threadIdx.x + 128], first[threadIdx.x + 256],
                                       first[threadIdx.x + 384]};
    float sums[W::n / 2];
#pragma unroll
    for (int i = 0; i < W::n / 2; ++i)
        sums[i] = 0;
    workbook::wgmma_tie(sums);
    const long long begin = clock64();
    for (int round = 0; round < rounds; ++round) {
        wgmma_fence();
        multiply<W>(sums, fragment, a, b);
        wgmma_commit();
        wgmma_wait<pending>();
    }
    wgmma_wait<0>(sums);
    if (blockIdx.x == 0 && threadIdx.x == 0)
        *cycles = clock64() - begin;
    const std::size_t warpgroup = blockIdx.x;
    float total = 0;
#pragma unroll
    for (int i = 0; i < W::n / 2; ++i)
        total += sums[i];
    out[warpgroup * block_threads + threadIdx.x] = total;
}

/// The same by mma.sync with fragments that stay in registers: each warp 16 × 64, 8 sums that do not depend
/// on each other.
__global__ void repeat_mma(int rounds, Fill with, float* out, long long* cycles) {
    __shared__ alignas(1024) std::byte operands[4096];
    fill<bf16>(operands, sizeof operands, with);
    const auto* first = reinterpret_cast<const std::uint32_t*>(operands);
    std::uint32_t fragment[8];
#pragma unroll
    for (int i = 0; i < 8; ++i)
        fragment[i] = first[threadIdx.x % 128 + 128 * i];
    const std::uint32_t a[4] = {fragment[0], fragment[1], fragment[2], fragment[3]};
    float sums[8][4] = {};
    const long long begin = clock64();
    for (int round = 0; round < rounds; ++round)
#pragma unroll
        for (int k = 0; k < static_cast<int>(steps); ++k)
#pragma unroll
            for (int i = 0; i < 8; ++i)
                multiply_now(sums[i], a, fragment[i], fragment[(i + k) % 8]);
    if (blockIdx.x == 0 && threadIdx.x == 0)
        *cycles = clock64() - begin;
    float total = 0;
#pragma unroll
    for (int i = 0; i < 32; ++i)
        total += sums[i / 4][i % 4];
    out[std::size_t{blockIdx.x} * blockDim.x + threadIdx.x] = total;
}

// ---- rows ----

/// A kernel, and what its row says.
struct Measured {
    void (*kernel)(int, Fill, float*, long long*);
    const char* instruction;
    const char* type;
    const char* a;
    const char* b;
    const char* mode;
    int n;
    unsigned threads; ///< of a block
    unsigned blocks_per_sm;
    std::size_t shared;
    double multiply_adds; ///< of a block in one round
    float ones;           ///< what a thread's sums add up to after one round of ones
    bool exact;           ///< in many rounds too
};

template <class W, int pending = 1>
Measured by_wgmma(unsigned blocks_per_sm) {
    constexpr const char* types[] = {"bf16", "f16", "tf32", "e4m3"};
    constexpr const char* modes[] = {"none", "32 bytes", "64 bytes", "128 bytes"};
    constexpr int k = depth<W::type>;
    return {.kernel = repeat_wgmma<W, pending>,
            .instruction = "wgmma",
            .type = types[static_cast<int>(W::type)],
            .a = W::registers ? "registers" : "shared memory",
            .b = W::major_b == Major::mn ? "across k" : "along k",
            .mode = modes[static_cast<int>(W::mode)],
            .n = W::n,
            .threads = block_threads,
            .blocks_per_sm = blocks_per_sm,
            .shared = W::bytes,
            .multiply_adds = 64.0 * W::n * k,
            .ones = static_cast<float>(W::n) / 2 * k,
            .exact = W::type != MatrixType::e4m3};
}

Measured by_mma(unsigned warps) {
    return {.kernel = repeat_mma,
            .instruction = "mma.sync",
            .type = "bf16",
            .a = "registers",
            .b = "registers",
            .mode = "",
            .n = 8,
            .threads = 32 * warps,
            .blocks_per_sm = 1,
            .shared = 0,
            .multiply_adds = 16.0 * 64 * 64 * warps,
            .ones = 32 * 64,
            .exact = true};
}

/// One launch on all SMs.
void launch(const Measured& measured, unsigned blocks, int rounds, Fill with, float* out, long long* cycles) {
    workbook::launch(measured.kernel,
                     {.grid = blocks, .block = measured.threads, .dynamic_shared = measured.shared}, rounds,
                     with, out, cycles);
}

/// Launches with ones, and says whether all sums are right.
bool is_right(const Measured& measured, unsigned blocks, int rounds, DeviceBuffer<float>& out,
              DeviceBuffer<long long>& cycles) {
    out.poison();
    launch(measured, blocks, rounds, Fill::ones, out.data(), cycles.data());
    const std::vector<float> sums = out.download();
    return std::all_of(sums.begin(), sums.end(),
                       [&](float sum) { return sum == measured.ones * static_cast<float>(rounds); });
}

void issue_row(Bench& bench, const Measured& measured, Fill with = Fill::random) {
    const int sms = bench.size(bench.device().multiprocessors, 2);
    const unsigned blocks = static_cast<unsigned>(sms) * measured.blocks_per_sm;
    DeviceBuffer<float> out(std::size_t{blocks} * measured.threads);
    DeviceBuffer<long long> cycles(1);
    if (!is_right(measured, blocks, 2, out, cycles))
        return bench.wrong(std::string(measured.instruction) + " of N " + std::to_string(measured.n) + ", " +
                           measured.type + ", " + measured.mode + ": wrong sums");
    const int rounds = bench.size(20'000, 2);
    const auto timing = bench.time(
        0, [&](cudaStream_t) { launch(measured, blocks, rounds, with, out.data(), cycles.data()); });
    std::vector<BenchCell> cells{
        {"instruction", measured.instruction},
        {"type", measured.type},
        {"n", measured.n},
        {"a", measured.a},
        {"b", measured.b},
        {"mode", measured.mode},
        {"warps_per_sm", static_cast<int>(measured.threads / 32 * measured.blocks_per_sm)},
        {"data", fill_names[static_cast<int>(with)]}};
    if (timing) {
        cells.emplace_back("tflops",
                           2e-12 * measured.multiply_adds * rounds * blocks / (timing->median_ms * 1e-3));
        cells.emplace_back("cycles", static_cast<double>(cycles.download().front()) / rounds);
    }
    bench.row("issue_rate", workbook::joined<BenchCell>(std::move(cells), workbook::timing_cells(timing)));
}

template <int n, MatrixType type = bf16, Swizzle mode = Swizzle::bytes128, Major major = Major::k,
          bool registers = false>
using WayOf = Way<n, type, mode, major, registers>;

void issue_rates(Bench& bench) {
    bench.table("issue_rate", "Products of tiles that stay where they are, all SMs",
                workbook::joined<workbook::BenchColumn>({{"instruction", "instruction"},
                                                         {"type", "type"},
                                                         {"n", "N"},
                                                         {"a", "A"},
                                                         {"b", "B"},
                                                         {"mode", "swizzle"},
                                                         {"warps_per_sm", "warps per SM"},
                                                         {"data", "elements"},
                                                         {"tflops", "rate", "TFLOP/s"},
                                                         {"cycles", "one round", "cycles of the SM"}},
                                                        workbook::timing_columns(false)));
    for (const unsigned warps : {4, 8, 16})
        issue_row(bench, by_mma(warps));
    for (const unsigned groups : {1, 2}) {
        issue_row(bench, by_wgmma<WayOf<8>>(groups));
        issue_row(bench, by_wgmma<WayOf<16>>(groups));
        issue_row(bench, by_wgmma<WayOf<32>>(groups));
        issue_row(bench, by_wgmma<WayOf<64>>(groups));
        issue_row(bench, by_wgmma<WayOf<128>>(groups));
        issue_row(bench, by_wgmma<WayOf<192>>(groups));
        issue_row(bench, by_wgmma<WayOf<256>>(groups));
        // Narrow products with A in registers read little shared memory: what limits those with A there?
        issue_row(bench, by_wgmma<WayOf<8, bf16, Swizzle::bytes128, Major::k, true>>(groups));
        issue_row(bench, by_wgmma<WayOf<16, bf16, Swizzle::bytes128, Major::k, true>>(groups));
        issue_row(bench, by_wgmma<WayOf<32, bf16, Swizzle::bytes128, Major::k, true>>(groups));
        issue_row(bench, by_wgmma<WayOf<64, bf16, Swizzle::bytes128, Major::k, true>>(groups));
        issue_row(bench, by_wgmma<WayOf<128, bf16, Swizzle::bytes128, Major::k, true>>(groups));
        issue_row(bench, by_wgmma<WayOf<256, bf16, Swizzle::bytes128, Major::k, true>>(groups));
    }
    issue_row(bench, by_wgmma<WayOf<256, bf16, Swizzle::none>>(1));
    issue_row(bench, by_wgmma<WayOf<256, bf16, Swizzle::bytes32>>(1));
    issue_row(bench, by_wgmma<WayOf<256, bf16, Swizzle::bytes64>>(1));
    issue_row(bench, by_wgmma<WayOf<256, bf16, Swizzle::none, Major::mn>>(1));
    issue_row(bench, by_wgmma<WayOf<256, bf16, Swizzle::bytes128, Major::mn>>(1));
    issue_row(bench, by_wgmma<WayOf<256, MatrixType::f16>>(1));
    issue_row(bench, by_wgmma<WayOf<256, MatrixType::tf32>>(1));
    issue_row(bench, by_wgmma<WayOf<256, MatrixType::e4m3>>(1));
    for (const Fill with : {Fill::zeros, Fill::ones})
        issue_row(bench, by_wgmma<WayOf<256>>(1), with);
}

/// Cycles of one block of the first SM, each group waited for before the next: four wgmma in a group.
template <int n>
void latency_row(Bench& bench) {
    const Measured measured = by_wgmma<WayOf<n>, 0>(1);
    DeviceBuffer<float> out(measured.threads);
    DeviceBuffer<long long> cycles(1);
    if (!is_right(measured, 1, 2, out, cycles))
        return bench.wrong("one wgmma at a time, N " + std::to_string(n) + ": wrong sums");
    const int rounds = bench.size(1'000, 2);
    std::vector<double> found;
    for (int i = 0; i < bench.size(11, 1); ++i) {
        launch(measured, 1, rounds, Fill::random, out.data(), cycles.data());
        found.push_back(static_cast<double>(cycles.download().front()) / rounds);
    }
    std::vector<BenchCell> cells{{"n", n}};
    if (bench.mode() == workbook::BenchMode::measure)
        cells.emplace_back("cycles", workbook::summarize(found).median_ms);
    bench.row("wgmma_latency", cells);
}

void latencies(Bench& bench) {
    bench.table("wgmma_latency", "A group of four wgmma, 64 x N x 64 of bf16, waited for before the next",
                {{"n", "N"}, {"cycles", "from issue to the end of the wait", "cycles of the SM"}});
    latency_row<8>(bench);
    latency_row<64>(bench);
    latency_row<128>(bench);
    latency_row<256>(bench);
}

constexpr workbook::BenchPart parts[] = {
    {"rates", "products a second, nothing loaded", issue_rates},
    {"latency", "one group after the other", latencies},
};

} // namespace

int main(int argc, char** argv) { return workbook::run_bench("wgmma_bench", parts, argc, argv); }
