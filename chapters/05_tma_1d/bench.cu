/// @file bench.cu
/// Measurements of chapters 2 to 5: every way of copying for every size of tile and number of stages, and the
/// rings of chapter 5 with different grids.
#include "axpy_at_once.cuh"
#include "bench_copies.cuh"
#include "bench_fenced.cuh"
#include "bench_spared.cuh"
#include "copy_paths.cuh"
#include "overwritten.cuh"
#include "tma_1d.cuh"

#include "workbook/bench.hpp"
#include "workbook/bench_data.cuh"
#include "workbook/buffer.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace {

using copy_paths::Arrays;
using copy_paths::copy_row;
using copy_paths::Path;
using workbook::Bench;
using workbook::BenchCell;
using workbook::DeviceBuffer;

// ---- all ways into shared memory ----

struct Kernel {
    Path path;
    int stages;
    void (*kernel)(copy_paths::Job);
};

template <Path path, int... stages>
void add_kernels(std::vector<Kernel>& kernels) {
    (kernels.push_back({path, stages, copy_paths::copy_tiles<path, stages>}), ...);
}

std::vector<Kernel> all_kernels() {
    std::vector<Kernel> kernels;
    add_kernels<Path::registers_4, 1>(kernels);
    add_kernels<Path::registers_16, 1>(kernels);
    add_kernels<Path::async_4, 1, 2, 3, 4, 6, 8>(kernels);
    add_kernels<Path::async_8, 1, 2, 3, 4, 6, 8>(kernels);
    add_kernels<Path::async_16, 1, 2, 3, 4, 6, 8>(kernels);
    add_kernels<Path::bulk, 1, 2, 3, 4, 6, 8>(kernels);
    add_kernels<Path::bulk_both, 1, 2, 3, 4, 6, 8>(kernels);
    return kernels;
}

/// @param each tiles that a block takes before it makes room for the next; 0: as many blocks as fit stay
void copy_with(Bench& bench, Arrays& arrays, const Kernel& kernel, int tile_bytes, std::size_t each,
               double ceiling) {
    const std::size_t shared = static_cast<std::size_t>(tile_bytes) * static_cast<std::size_t>(kernel.stages);
    if (shared > 220 * 1024)
        return;
    copy_paths::tiles_row(bench, arrays,
                          {.table = "copy_paths",
                           .name = copy_paths::path_names[static_cast<int>(kernel.path)],
                           .kernel = kernel.kernel,
                           .stages = kernel.stages,
                           .tile_bytes = tile_bytes,
                           .each = each,
                           .blocks = copy_paths::blocks_per_sm(kernel.kernel, shared),
                           .dynamic_shared = shared},
                          ceiling);
}

void paths(Bench& bench) {
    bench.table(
        "copy_paths",
        "Copies by way of shared memory: how a tile gets there, its size, and how many are on their way",
        copy_paths::tiles_columns());
    Arrays arrays(bench.size(std::size_t{1} << 28, std::size_t{1} << 14)); // 1 GiB each
    const double ceiling = copy_row(bench, "copy_paths", "path", "copy before", arrays.bytes());
    for (const Kernel& kernel : all_kernels())
        for (int tile_bytes = 1024; tile_bytes <= 65536; tile_bytes *= bench.size(2, 8))
            for (const std::size_t each : {0, 1, 4, 16})
                if (each == 0 || each >= static_cast<std::size_t>(kernel.stages))
                    copy_with(bench, arrays, kernel, tile_bytes, each, ceiling);
    copy_row(bench, "copy_paths", "path", "copy after", arrays.bytes());
}

// ---- the rings of chapter 5 ----

/// Adds to *wrong how many elements are not fma(a, x, y) of what the arrays held.
__global__ void count_not_axpy(float a, const float* x, const float* y, std::size_t size,
                               unsigned long long* wrong) {
    const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < size; i += step)
        if (y[i] != fmaf(a, x[i], static_cast<float>(i % 1000)))
            atomicAdd(wrong, 1ull);
}

__global__ void fill_axpy(float* x, float* y, std::size_t size) {
    const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < size; i += step) {
        x[i] = static_cast<float>(workbook::random_word(i)) * 0x1p-32f;
        y[i] = static_cast<float>(i % 1000);
    }
}

void ring(Bench& bench) {
    bench.table("axpy_ring", "y = a x + y through a ring of four stages: reads two arrays, writes one",
                workbook::joined<workbook::BenchColumn>(
                    {{"kernel", "kernel"}, {"blocks_per_sm", "blocks per SM"}}, workbook::timing_columns()));
    const std::size_t size = bench.size(std::size_t{1} << 28, std::size_t{1} << 14);
    const std::size_t bytes = 3 * size * sizeof(float);
    DeviceBuffer<float> x(size);
    DeviceBuffer<float> y(size);
    constexpr float a = 0.5f;
    const double ceiling = copy_row(bench, "axpy_ring", "kernel", "copy before", bytes);
    const int sms = bench.device().multiprocessors;
    struct Variant {
        const char* name;
        void (*kernel)(float, const float*, float*, std::size_t);
        int threads;
    };
    for (const auto& [name, kernel, threads] :
         {Variant{"axpy_ring", tma_1d::axpy_ring, tma_1d::block_threads},
          Variant{"axpy_at_once", tma_1d::axpy_at_once, tma_1d::block_threads},
          Variant{"axpy_full_empty", tma_1d::axpy_full_empty, tma_1d::roles_threads}})
        for (int blocks = 1; blocks <= 6; ++blocks) {
            const auto launch = [&](cudaStream_t) {
                workbook::launch(kernel,
                                 {.grid = static_cast<unsigned>(bench.size(sms * blocks, blocks)),
                                  .block = static_cast<unsigned>(threads)},
                                 a, x.data(), y.data(), size);
            };
            DeviceBuffer<unsigned long long> wrong(std::vector<unsigned long long>{0});
            workbook::launch(fill_axpy, workbook::striding(size), x.data(), y.data(), size);
            launch(nullptr);
            workbook::launch(count_not_axpy, workbook::striding(size), a, x.data(), y.data(), size,
                             wrong.data());
            if (wrong.download().front() > 0)
                bench.wrong(std::string(name) + " with " + std::to_string(blocks) +
                            " blocks per SM: wrong result");
            const auto timing = bench.time_checked(bytes, launch);
            bench.row("axpy_ring",
                      workbook::joined<BenchCell>({{"kernel", name}, {"blocks_per_sm", blocks}},
                                                  workbook::timing_cells(timing, bytes, ceiling)));
        }
    copy_row(bench, "axpy_ring", "kernel", "copy after", bytes);
}

// ---- the prefetch into L2 ----

/// Adds to *wrong how many elements are not their index and `added` more.
__global__ void count_not_counted(const int* data, std::size_t size, int added, unsigned long long* wrong) {
    const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < size; i += step)
        if (data[i] != static_cast<int>(i) + added)
            atomicAdd(wrong, 1ull);
}

__global__ void fill_counted(int* data, std::size_t size) {
    const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < size; i += step)
        data[i] = static_cast<int>(i);
}

/// The same kernel with and without the prefetch, with so many blocks on each SM.
void prefetch(Bench& bench) {
    bench.table("prefetch", "Adding one, tile after tile, with and without asking for the next tile in L2",
                workbook::joined<workbook::BenchColumn>(
                    {{"kernel", "kernel"}, {"blocks_per_sm", "blocks per SM"}}, workbook::timing_columns()));
    const std::size_t size = bench.size(std::size_t{1} << 28, std::size_t{1} << 14);
    DeviceBuffer<int> data(size);
    const std::size_t bytes = 2 * data.size_bytes();
    const double ceiling = copy_row(bench, "prefetch", "kernel", "copy before", bytes);
    const int sms = bench.device().multiprocessors;
    struct Variant {
        const char* name;
        void (*kernel)(int*, std::size_t);
    };
    for (const int blocks : {1, 2, 4, 6, 8, 12, 16})
        for (const auto& [name, kernel] : {Variant{"add_one_loop", tma_1d::add_one_loop},
                                           Variant{"add_one_prefetch", tma_1d::add_one_prefetch}}) {
            const auto launch = [&](cudaStream_t) {
                workbook::launch(kernel,
                                 {.grid = static_cast<unsigned>(bench.size(sms * blocks, blocks)),
                                  .block = tma_1d::block_threads},
                                 data.data(), size);
            };
            DeviceBuffer<unsigned long long> wrong(std::vector<unsigned long long>{0});
            workbook::launch(fill_counted, workbook::striding(size), data.data(), size);
            launch(nullptr);
            workbook::launch(count_not_counted, workbook::striding(size), data.data(), size, 1, wrong.data());
            if (wrong.download().front() > 0)
                bench.wrong(std::string(name) + " with " + std::to_string(blocks) +
                            " blocks per SM: wrong result");
            const auto timing = bench.time_checked(bytes, launch);
            bench.row("prefetch",
                      workbook::joined<BenchCell>({{"kernel", name}, {"blocks_per_sm", blocks}},
                                                  workbook::timing_cells(timing, bytes, ceiling)));
        }
    copy_row(bench, "prefetch", "kernel", "copy after", bytes);
}

// ---- reads that a copy overtakes ----

struct Reload {
    const char* fence;
    const char* use;
    int lanes_per_bank;
    void (*kernel)(const unsigned*, unsigned, unsigned long long*);
};

void overwritten_words(Bench& bench) {
    using namespace overwritten;
    bench.table("overwritten",
                "A tile is read into registers while the next is copied over it: words of the wrong tile",
                workbook::joined<workbook::BenchColumn>({{"fence", "fence by"},
                                                         {"use", "value used"},
                                                         {"lanes_per_bank", "lanes per bank"},
                                                         {"wrong", "wrong words"},
                                                         {"words", "words read"}},
                                                        workbook::timing_columns(false)));
    constexpr Reload all[] = {
        {"nobody", "after", 1, read_and_reload<Fence::nobody, Use::after, false>},
        {"nobody", "after", 32, read_and_reload<Fence::nobody, Use::after, true>},
        {"nobody", "before", 32, read_and_reload<Fence::nobody, Use::before, true>},
        {"all readers", "after", 32, read_and_reload<Fence::readers, Use::after, true>},
        {"the issuer", "after", 32, read_and_reload<Fence::issuer, Use::after, true>},
    };
    std::vector<unsigned> indices(tiles * words);
    for (std::size_t i = 0; i < indices.size(); ++i)
        indices[i] = static_cast<unsigned>(i);
    const DeviceBuffer<unsigned> in(indices);
    const unsigned rounds = bench.size(4096u, 3u);
    const auto blocks = static_cast<unsigned>(bench.size(2 * bench.device().multiprocessors, 1));
    for (const Reload& reload : all) {
        const bool fenced = std::string(reload.fence) != "nobody";
        if (bench.dry() && !fenced)
            continue; // the emulator stops these, as it should: see mistakes.cu
        DeviceBuffer<unsigned long long> wrong(std::vector<unsigned long long>{0});
        const auto launch = [&](cudaStream_t) {
            workbook::launch(reload.kernel, {.grid = blocks, .block = threads}, in.data(), rounds,
                             wrong.data());
        };
        launch(nullptr);
        const unsigned long long found = wrong.download().front();
        if (fenced && found > 0)
            bench.wrong(std::string("a fence by ") + reload.fence + ": words of the next tile");
        bench.row("overwritten", workbook::joined<BenchCell>(
                                     {{"fence", reload.fence},
                                      {"use", reload.use},
                                      {"lanes_per_bank", reload.lanes_per_bank},
                                      {"wrong", found},
                                      {"words", std::size_t{blocks} * rounds * words}},
                                     workbook::timing_cells(bench.time(in.size_bytes(), launch, 7))));
    }
}

constexpr workbook::BenchPart parts[] = {
    {"paths", "every way of copying, tile by tile", paths},
    {"fenced", "bulk loads with and without a fence after the reads", copy_paths::fenced_loads},
    {"spared", "rings that compute, loaded by all threads or by one", copy_paths::spared_issues},
    {"ring", "the rings of bulk loads with different grids", ring},
    {"overwritten", "reads of a tile that the next copy overtakes", overwritten_words},
    {"prefetch", "the next tile prefetched into L2, or not", prefetch},
};

} // namespace

int main(int argc, char** argv) { return workbook::run_bench("tma_1d_bench", parts, argc, argv); }
