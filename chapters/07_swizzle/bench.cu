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

/// Where element (row, column) of a tile of 32 × 32 ints lies. The first four and the last are column_sums'
/// places; `padded` pads by one access.
enum class Layout { none, bytes32, bytes64, bytes128, padded, padded_by_map };
constexpr const char* layout_names[] = {"no swizzle", "32 bytes", "64 bytes",
                                        "128 bytes",  "padding",  "padding of 16 bytes"};

template <Layout layout, Access access>
__device__ std::uint32_t place(int row, int column) {
    if constexpr (layout == Layout::padded)
        return (row * (sum_columns + (access == Access::bytes16 ? 4 : 1)) + column) * sizeof(int);
    else if constexpr (layout == Layout::padded_by_map)
        return PanelTile<Swizzle::none, map_pad>::place(row, column);
    else
        return PanelTile<static_cast<Swizzle>(layout), 0>::place(row, column);
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
    column_cost<Layout::padded_by_map, access>(bench);
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

/// column_sums as it has to be where no map cuts the matrix into panels: one copy for each panel of a tile.
template <Swizzle mode, Access access>
__global__ void column_sums_by_panel(const __grid_constant__ CUtensorMap map, int width, int height,
                                     unsigned* out) {
    using Tile = PanelTile<mode, 0>;
    __shared__ alignas(base_end) std::byte tile[Tile::bytes];
    __shared__ std::uint64_t bar;
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&bar, 1);
        ptx::fence_proxy_async(ptx::space_shared);
    }
    const int x = static_cast<int>(blockIdx.x) * sum_columns;
    unsigned sums[per_warp] = {};
    std::uint32_t parity = 0;
    for (int y = 0; y < height; y += tile_rows, parity ^= 1) {
        ptx::fence_proxy_async(ptx::space_shared);
        __syncthreads();
        if (threadIdx.x == 0) {
            ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar,
                                           sizeof(tile));
            for (int panel = 0; panel < Tile::panels; ++panel)
                ptx::cp_async_bulk_tensor(ptx::space_shared, ptx::space_global,
                                          tile + panel * Tile::panel_bytes, &map,
                                          {x + panel * Tile::columns, y}, &bar);
        }
        wait(&bar, parity);
        add_row<access>(tile, Tile::place, sums);
    }
    write_sums<access>(sums, x, width, out);
}

template <Swizzle mode, Access access>
void launch_column_sums_by_panel(Matrix<const int> matrix, std::span<unsigned> out) {
    workbook::launch(column_sums_by_panel<mode, access>,
                     {.grid = workbook::blocks_for(matrix.width, sum_columns), .block = block_threads},
                     tile_map(matrix, tile_columns(mode), mode), static_cast<int>(matrix.width),
                     static_cast<int>(matrix.height), out.data());
}

/// column_sums with two tiles in turn: the copy of the next goes on while one is read.
template <Swizzle mode>
__global__ void column_sums_two_tiles(const __grid_constant__ CUtensorMap map, int width, int height,
                                      unsigned* out) {
    using Tile = PanelTile<mode, 0>;
    __shared__ alignas(base_end) std::byte tiles[2][Tile::bytes];
    __shared__ std::uint64_t bars[2];
    const int block = static_cast<int>(blockIdx.x);
    const auto ask = [&](int tile) {
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bars[tile % 2],
                                       sizeof(tiles[0]));
        ptx::cp_async_bulk_tensor(ptx::space_shared, ptx::space_global, tiles[tile % 2], &map,
                                  {0, tile * tile_rows, block * Tile::panels}, &bars[tile % 2]);
    };
    if (threadIdx.x == 0) {
        for (std::uint64_t& bar : bars)
            ptx::mbarrier_init(&bar, 1);
        ptx::fence_proxy_async(ptx::space_shared);
        ask(0);
    }
    unsigned sums[per_warp] = {};
    for (int tile = 0; tile * tile_rows < height; ++tile) {
        ptx::fence_proxy_async(ptx::space_shared);
        __syncthreads();
        if (threadIdx.x == 0 && (tile + 1) * tile_rows < height)
            ask(tile + 1);
        wait(&bars[tile % 2], tile / 2 % 2);
        add_row<Access::bytes16>(tiles[tile % 2], Tile::place, sums);
    }
    write_sums<Access::bytes16>(sums, block * sum_columns, width, out);
}

template <Swizzle mode>
void launch_column_sums_two_tiles(Matrix<const int> matrix, std::span<unsigned> out) {
    workbook::launch(column_sums_two_tiles<mode>,
                     {.grid = workbook::blocks_for(matrix.width, sum_columns), .block = block_threads},
                     PanelTile<mode, 0>::map(matrix), static_cast<int>(matrix.width),
                     static_cast<int>(matrix.height), out.data());
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
    const auto timing =
        bench.time_checked(bytes, [&](cudaStream_t) { launch(sums.matrix, sums.out.span()); });
    bench.row("column_sums",
              workbook::joined<BenchCell>({{"layout", layout}, {"access", access_name(access)}},
                                          workbook::timing_cells(timing, bytes, ceiling)));
}

template <Access access>
void sum_all(Bench& bench, Sums& sums, double ceiling) {
    const auto with = [&](const char* layout, Launch launch) {
        sum_with(bench, sums, layout, access, launch, ceiling);
    };
    with("no swizzle", launch_column_sums<Swizzle::none, 0, access>);
    with("32 bytes", launch_column_sums<Swizzle::bytes32, 0, access>);
    with("32 bytes, four copies", launch_column_sums_by_panel<Swizzle::bytes32, access>);
    with("64 bytes", launch_column_sums<Swizzle::bytes64, 0, access>);
    with("64 bytes, two copies", launch_column_sums_by_panel<Swizzle::bytes64, access>);
    with("128 bytes", launch_column_sums<Swizzle::bytes128, 0, access>);
    with("padding by the map", launch_column_sums<Swizzle::none, map_pad, access>);
    with("padding by threads", launch_column_sums_padded<access>);
    if constexpr (access == Access::bytes16) {
        with("no swizzle, two tiles", launch_column_sums_two_tiles<Swizzle::none>);
        with("128 bytes, two tiles", launch_column_sums_two_tiles<Swizzle::bytes128>);
    }
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

// ---- fewer blocks: what the others hide ----

/// The sums with so much unused shared memory that only `blocks` blocks fit on an SM.
template <Swizzle mode, int pad>
void sum_in_blocks(Bench& bench, Sums& sums, const char* layout, int blocks) {
    const auto kernel = column_sums<mode, pad, Access::bytes16>;
    constexpr std::size_t per_sm = 227 * 1024;
    constexpr std::size_t reserved = 1024; // in each block, for the system
    const std::size_t share = per_sm / static_cast<std::size_t>(blocks) - PanelTile<mode, pad>::bytes;
    const std::size_t unused = blocks == 8 ? 0 : share - 4 * reserved;
    const Matrix<const int> matrix = sums.matrix;
    const auto launch = [&](cudaStream_t) {
        workbook::launch(kernel,
                         {.grid = workbook::blocks_for(matrix.width, sum_columns),
                          .block = block_threads,
                          .dynamic_shared = unused},
                         PanelTile<mode, pad>::map(matrix), static_cast<int>(matrix.width),
                         static_cast<int>(matrix.height), sums.out.data());
    };
    sums.out.poison();
    launch(nullptr);
    if (sums.out.download() != sums.expected.download())
        return bench.wrong(std::string("column_sums in few blocks, ") + layout + ": wrong sums");
    int fit = 0;
    workbook::check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, kernel, block_threads, unused),
                    "asking how many blocks fit");
    if (fit != blocks)
        return bench.wrong(std::string("column_sums in few blocks: ") + std::to_string(fit) + " fit");
    const std::size_t bytes = sums.data.size_bytes() + sums.out.size_bytes();
    bench.row("column_sums_blocks",
              workbook::joined<BenchCell>({{"layout", layout}, {"blocks_per_sm", blocks}},
                                          workbook::timing_cells(bench.time_checked(bytes, launch), bytes)));
}

void column_sums_in_few_blocks(Bench& bench) {
    bench.table(
        "column_sums_blocks",
        "The same with room for fewer blocks on an SM, 16 bytes a lane, a matrix of 8192 x 32768 ints",
        {{"layout", "swizzle"},
         {"blocks_per_sm", "blocks per SM"},
         {"median_ms", "time", "ms"},
         {"min_ms", "least", "ms"},
         {"lower_ms", "lower quartile", "ms"},
         {"upper_ms", "upper quartile", "ms"},
         {"repetitions", "repetitions"},
         {"gb_per_s", "rate", "GB/s"}});
    Sums sums(bench.size(workbook::Shape{32768, 8192}, workbook::Shape{64, 64}));
    for (const int blocks : {8, 4, 2, 1}) {
        sum_in_blocks<Swizzle::none, 0>(bench, sums, "no swizzle", blocks);
        sum_in_blocks<Swizzle::bytes128, 0>(bench, sums, "128 bytes", blocks);
    }
}

// ---- the shape of a tile, and how many are under way ----

/// add_one_swizzled with tiles of any shape.
template <Swizzle mode, int columns, int rows>
__global__ void add_one_in_tiles(const __grid_constant__ CUtensorMap from,
                                 const __grid_constant__ CUtensorMap to) {
    __shared__ alignas(base_end) int tile[columns * rows];
    __shared__ alignas(128) int result[columns * rows];
    __shared__ std::uint64_t bar;
    const std::int32_t at[] = {static_cast<int>(blockIdx.x) * columns, static_cast<int>(blockIdx.y) * rows};
    if (threadIdx.x == 0)
        load(tile, sizeof(tile), from, at, &bar);
    __syncthreads();
    wait(&bar, 0);
    for (int i = threadIdx.x; i < columns * rows; i += blockDim.x)
        result[i] = tile[workbook::swizzled_address(i * sizeof(int), mode) / sizeof(int)] + 1;
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (threadIdx.x == 0)
        store(to, at, result);
}

/// The numbers that add_one_in_tiles got wrong.
__global__ void count_wrong(const int* in, const int* out, std::size_t size, unsigned* wrong) {
    for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < size;
         i += std::size_t{gridDim.x} * blockDim.x)
        if (static_cast<unsigned>(out[i]) != static_cast<unsigned>(in[i]) + 1)
            atomicAdd(wrong, 1);
}

struct InOut {
    explicit InOut(workbook::Shape shape)
        : in(shape.width * shape.height),
          out(in.size()), from{in.data(), shape.width, shape.height, shape.width}, to{out.data(), shape.width,
                                                                                      shape.height,
                                                                                      shape.width} {
        workbook::launch(workbook::fill_random_words<int>, workbook::striding(in.size()), in.data(),
                         in.size());
    }
    DeviceBuffer<int> in;
    DeviceBuffer<int> out;
    Matrix<int> from;
    Matrix<int> to;
};

template <class T>
CUtensorMap box_map(Matrix<T> matrix, int columns, int rows, Swizzle mode) {
    return workbook::make_tensor_map(matrix.data,
                                     workbook::TensorLayout<2>{.dims = {matrix.width, matrix.height},
                                                               .strides = {matrix.pitch * sizeof(T)},
                                                               .box = {static_cast<std::uint32_t>(columns),
                                                                       static_cast<std::uint32_t>(rows)},
                                                               .swizzle = mode});
}

template <Swizzle mode, int columns, int rows>
void add_in_tiles(Bench& bench, InOut& data, int threads) {
    const CUtensorMap from = box_map(data.from, columns, rows, mode);
    const CUtensorMap to = box_map(data.to, columns, rows, Swizzle::none);
    const dim3 grid(workbook::blocks_for(data.from.width, columns),
                    workbook::blocks_for(data.from.height, rows));
    const auto launch = [&](cudaStream_t) {
        workbook::launch(add_one_in_tiles<mode, columns, rows>,
                         {.grid = grid, .block = static_cast<unsigned>(threads)}, from, to);
    };
    data.out.poison();
    launch(nullptr);
    DeviceBuffer<unsigned> wrong(std::vector<unsigned>{0});
    workbook::launch(count_wrong, workbook::striding(data.in.size()), data.in.data(), data.out.data(),
                     data.in.size(), wrong.data());
    if (wrong.download().front() != 0)
        return bench.wrong("add_one_in_tiles: wrong elements");
    int resident = 0;
    workbook::check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
                        &resident, add_one_in_tiles<mode, columns, rows>, threads, 0),
                    "asking how many blocks fit");
    constexpr int bytes = columns * rows * static_cast<int>(sizeof(int));
    const std::size_t moved = 2 * data.in.size_bytes();
    bench.row("tile_shapes",
              workbook::joined<BenchCell>({{"layout", layout_names[static_cast<int>(mode)]},
                                           {"row_bytes", columns * static_cast<int>(sizeof(int))},
                                           {"rows", rows},
                                           {"bytes", bytes},
                                           {"threads", threads},
                                           {"blocks_per_sm", resident},
                                           {"under_way", resident * bytes},
                                           {"blocks", std::size_t{grid.x} * grid.y}},
                                          workbook::timing_cells(bench.time_checked(moved, launch), moved)));
}

void tile_shapes(Bench& bench) {
    bench.table("tile_shapes",
                "out = in + 1 on 8192 x 12288 ints: tiles of other shapes, blocks of other sizes",
                {{"layout", "swizzle"},
                 {"row_bytes", "a row", "bytes"},
                 {"rows", "rows"},
                 {"bytes", "a tile", "bytes"},
                 {"threads", "threads"},
                 {"blocks_per_sm", "blocks per SM"},
                 {"under_way", "tiles per SM", "bytes"},
                 {"blocks", "blocks"},
                 {"median_ms", "time", "ms"},
                 {"min_ms", "least", "ms"},
                 {"lower_ms", "lower quartile", "ms"},
                 {"upper_ms", "upper quartile", "ms"},
                 {"repetitions", "repetitions"},
                 {"gb_per_s", "rate", "GB/s"}});
    InOut data(bench.size(workbook::Shape{12288, 8192}, workbook::Shape{64, 128}));
    add_in_tiles<Swizzle::bytes32, 8, 32>(bench, data, 256);
    add_in_tiles<Swizzle::none, 8, 32>(bench, data, 256);
    add_in_tiles<Swizzle::bytes64, 16, 32>(bench, data, 256);
    add_in_tiles<Swizzle::bytes128, 32, 32>(bench, data, 256);
    add_in_tiles<Swizzle::bytes128, 32, 8>(bench, data, 256);
    add_in_tiles<Swizzle::bytes32, 8, 128>(bench, data, 256);
    add_in_tiles<Swizzle::bytes32, 8, 32>(bench, data, 64);
    add_in_tiles<Swizzle::bytes128, 32, 8>(bench, data, 64);
}

constexpr workbook::BenchPart parts[] = {
    {"columns", "columns of a tile in shared memory", columns},
    {"sums", "the kernel column_sums", column_sums_of_a_matrix},
    {"blocks", "the kernel column_sums with fewer blocks on an SM", column_sums_in_few_blocks},
    {"tiles", "tiles of other shapes", tile_shapes},
};

} // namespace

int main(int argc, char** argv) { return workbook::run_bench("swizzle_bench", parts, argc, argv); }
