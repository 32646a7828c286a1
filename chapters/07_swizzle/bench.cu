/// @file bench.cu
/// Chapter 7's measurements: what a column costs in each mode, in shared memory alone and in a whole kernel.
#include "swizzle.cuh"

#include "workbook/bench.hpp"
#include "workbook/bench_data.cuh"
#include "workbook/buffer.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace {

using namespace swizzle;
using workbook::Bench;
using workbook::BenchCell;
using workbook::DeviceBuffer;

constexpr const char* access_name(Access access) {
    return access == Access::bytes16 ? "16 bytes" : "4 bytes";
}

// ---- shared memory alone ----

/// Where element (row, column) of a tile of 32 × 32 ints lies, in bytes. The first four are column_sums'
/// places.
enum class Layout { none, bytes32, bytes64, bytes128, padded };
constexpr const char* layout_names[] = {"no swizzle", "32 bytes", "64 bytes", "128 bytes", "padding"};

template <Layout layout, Access access>
__device__ std::uint32_t place(int row, int column) {
    if constexpr (layout == Layout::padded)
        return (row * (sum_columns + (access == Access::bytes16 ? 4 : 1)) + column) * sizeof(int);
    else {
        constexpr auto mode = static_cast<Swizzle>(layout);
        constexpr int strip = tile_columns(mode);
        const std::uint32_t offset = column / strip * tile_elements(mode) + row * strip + column % strip;
        return workbook::swizzled_address(offset * sizeof(int), mode);
    }
}

/// What one block measured.
struct Cost {
    long long cycles;
    unsigned sum; ///< of what the first thread read: keeps the reads, and checks them
};

/// All warps read down columns, again and again; lane r reads row r.
template <Layout layout, Access access>
__global__ void read_columns(int rounds, Cost* cost) {
    constexpr int words = tile_rows * (sum_columns + 4);
    __shared__ alignas(1024) unsigned tile[words];
    const int row = static_cast<int>(threadIdx.x) % 32;
    if (threadIdx.x < 32)
        for (int column = 0; column < sum_columns; ++column)
            tile[place<layout, access>(row, column) / sizeof(int)] = row * sum_columns + column;
    __syncthreads();
    const auto base = static_cast<std::uint32_t>(__cvta_generic_to_shared(tile));
    unsigned sum = 0;
    const long long begin = clock64();
#pragma unroll 4
    for (int round = 0; round < rounds; ++round)
        if constexpr (access == Access::bytes16) {
            unsigned a, b, c, d;
            asm volatile("ld.volatile.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                         : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
                         : "r"(base + place<layout, access>(row, column_of<access>(0))));
            sum += a + b + c + d;
        } else
            for (int k = 0; k < per_warp; ++k) {
                unsigned value;
                asm volatile("ld.volatile.shared.u32 %0, [%1];"
                             : "=r"(value)
                             : "r"(base + place<layout, access>(row, column_of<access>(k))));
                sum += value;
            }
    __syncthreads();
    if (threadIdx.x == 0)
        *cost = {clock64() - begin, sum};
}

template <Layout layout, Access access>
void column_cost(Bench& bench) {
    const int rounds = bench.size(4096, 4);
    DeviceBuffer<Cost> cost(1);
    std::vector<double> cycles;
    for (int i = 0; i < (bench.dry() ? 1 : 33); ++i) {
        workbook::launch(read_columns<layout, access>, {.block = block_threads}, rounds, cost.data());
        const Cost found = cost.download().front();
        // Thread 0 reads row 0, whose elements are the numbers of their columns.
        unsigned once = 0;
        for (int k = 0; k < per_warp; ++k)
            once += access == Access::bytes16 ? static_cast<unsigned>(k) : static_cast<unsigned>(k * warps);
        if (found.sum != once * static_cast<unsigned>(rounds))
            return bench.wrong(std::string("read_columns, ") + layout_names[static_cast<int>(layout)] +
                               ": wrong sum");
        if (i >= 2)
            cycles.push_back(static_cast<double>(found.cycles));
    }
    const int per_round = (access == Access::bytes16 ? 1 : per_warp) * warps; // accesses of a warp
    std::vector<BenchCell> cells{{"layout", layout_names[static_cast<int>(layout)]},
                                 {"access", access_name(access)}};
    if (bench.mode() == workbook::BenchMode::measure) {
        const workbook::Timing timing = workbook::summarize(cycles);
        const double accesses = static_cast<double>(per_round) * rounds;
        cells = workbook::joined<BenchCell>(
            std::move(cells), {{"cycles", timing.median_ms / accesses},
                               {"cycles_per_column", timing.median_ms / accesses * per_round / sum_columns},
                               {"repetitions", timing.repetitions}});
    }
    bench.row("column_cost", cells);
}

template <Access access>
void column_costs(Bench& bench) {
    column_cost<Layout::none, access>(bench);
    column_cost<Layout::bytes32, access>(bench);
    column_cost<Layout::bytes64, access>(bench);
    column_cost<Layout::bytes128, access>(bench);
    column_cost<Layout::padded, access>(bench);
}

void columns(Bench& bench) {
    bench.table("column_cost", "Reading down columns of a tile in shared memory, eight warps on one SM",
                {{"layout", "swizzle"},
                 {"access", "access"},
                 {"cycles", "per access of a warp", "cycles of the SM"},
                 {"cycles_per_column", "per column of 32 ints", "cycles of the SM"},
                 {"repetitions", "repetitions"}});
    column_costs<Access::bytes4>(bench);
    column_costs<Access::bytes16>(bench);
}

// ---- the whole kernel ----

/// The reference: a thread per column.
__global__ void add_columns(const int* data, std::size_t width, std::size_t height, unsigned* out) {
    const std::size_t x = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (x >= width)
        return;
    unsigned sum = 0;
    for (std::size_t y = 0; y < height; ++y)
        sum += data[y * width + x];
    out[x] = sum;
}

struct Sums {
    explicit Sums(workbook::Shape shape)
        : data(shape.width * shape.height), out(shape.width),
          expected(shape.width), matrix{data.data(), shape.width, shape.height, shape.width} {
        workbook::launch(workbook::fill_random_words<int>, workbook::striding(data.size()), data.data(),
                         data.size());
        workbook::launch(add_columns, {.grid = workbook::blocks_for(shape.width, 32), .block = 32},
                         data.data(), shape.width, shape.height, expected.data());
    }
    DeviceBuffer<int> data;
    DeviceBuffer<unsigned> out;
    DeviceBuffer<unsigned> expected;
    Matrix<const int> matrix;
};

using Launch = void (*)(Matrix<const int>, std::span<unsigned>);

void sum_with(Bench& bench, Sums& sums, const char* layout, Access access, Launch launch, double ceiling) {
    sums.out.poison();
    launch(sums.matrix, sums.out.span());
    if (sums.out.download() != sums.expected.download())
        return bench.wrong(std::string("column_sums, ") + layout + ": wrong sums");
    const std::size_t bytes = sums.data.size_bytes() + sums.out.size_bytes();
    const auto timing = bench.time(bytes, [&](cudaStream_t) { launch(sums.matrix, sums.out.span()); });
    bench.row("column_sums",
              workbook::joined<BenchCell>({{"layout", layout}, {"access", access_name(access)}},
                                          workbook::timing_cells(timing, bytes, ceiling)));
}

template <Access access>
void sum_all(Bench& bench, Sums& sums, double ceiling) {
    const auto with = [&](const char* layout, Launch launch) {
        sum_with(bench, sums, layout, access, launch, ceiling);
    };
    with("no swizzle", launch_column_sums<Swizzle::none, access>);
    with("32 bytes", launch_column_sums<Swizzle::bytes32, access>);
    with("64 bytes", launch_column_sums<Swizzle::bytes64, access>);
    with("128 bytes", launch_column_sums<Swizzle::bytes128, access>);
    with("padding", launch_column_sums_padded<access>);
}

void column_sums_of_a_matrix(Bench& bench) {
    bench.table("column_sums", "The sum of every column of a matrix of 8192 x 32768 ints",
                workbook::joined<workbook::BenchColumn>({{"layout", "swizzle"}, {"access", "access"}},
                                                        workbook::timing_columns()));
    Sums sums(bench.size(workbook::Shape{32768, 8192}, workbook::Shape{64, 64}));
    const auto timing = bench.ceiling(sums.data.size_bytes());
    const double ceiling = timing ? timing->bytes_per_second(sums.data.size_bytes()) : 0;
    sum_all<Access::bytes4>(bench, sums, ceiling);
    sum_all<Access::bytes16>(bench, sums, ceiling);
}

constexpr workbook::BenchPart parts[] = {
    {"columns", "columns of a tile in shared memory", columns},
    {"sums", "the kernel column_sums", column_sums_of_a_matrix},
};

} // namespace

int main(int argc, char** argv) { return workbook::run_bench("swizzle_bench", parts, argc, argv); }
