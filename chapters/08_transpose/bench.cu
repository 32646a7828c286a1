/// @file bench.cu
/// Chapter 8's measurements: the ladder at several sizes, and what a reader might use instead.
#include "any_transpose.cuh"
#include "bench_causes.cuh"
#include "bench_padded.cuh"
#include "bench_sides.cuh"
#include "bench_widths.cuh"
#include "cublas.hpp"
#include "kept_transpose.cuh"
#include "tma_transpose.cuh"
#include "transpose.cuh"

#include "workbook/bench.hpp"
#include "workbook/bench_data.cuh"
#include "workbook/buffer.hpp"

#include <cuda_bf16.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

namespace {

using namespace transpose;
using workbook::Bench;

/// A rung: its name, and its launch function, which says what really ran.
template <class T>
struct Rung {
    const char* name;
    const char* (*launch)(std::span<const T>, std::span<T>, Extent);
};

const char* persistent(std::span<const float> in, std::span<float> out, Extent extent) {
    return launch_tma_persistent(in, out, extent);
}

constexpr Rung<float> float_rungs[] = {
    {"global_only", launch_global_only<float>},
    {"shared_tile", launch_shared_tile<float>},
    {"padded_tile", launch_padded_tile<float>},
    {"tma_plain", launch_tma_plain},
    {"tma_swizzled", launch_tma_swizzled},
    {"tma_batched", launch_tma_batched},
    {"micro_tiles", launch_micro_tiles<float>},
    {"tma_micro_tiles", launch_tma_micro_tiles},
    {"tma_persistent", persistent},
    {"column_walk", launch_column_walk<float>},
    {"tma_kept_reads", launch_tma_kept_reads},
    {"kept_reads", launch_kept_reads<float>},
    {"far_columns", launch_far_columns<float>},
};
using Half = __nv_bfloat16;
constexpr Rung<Half> half_rungs[] = {
    {"global_only", launch_global_only<Half>}, {"shared_tile", launch_shared_tile<Half>},
    {"padded_tile", launch_padded_tile<Half>}, {"micro_tiles", launch_micro_tiles<Half>},
    {"column_walk", launch_column_walk<Half>}, {"kept_reads", launch_kept_reads<Half>},
    {"far_columns", launch_far_columns<Half>},
};

const char* launch_lean_down(std::span<const float> in, std::span<float> out, Extent extent) {
    launch_leaning_tiles(in, out, extent, lean_tiles(extent).down);
    return "leaning_tiles";
}
const char* launch_lean_along(std::span<const float> in, std::span<float> out, Extent extent) {
    launch_leaning_tiles(in, out, extent, 1);
    return "leaning_tiles";
}
constexpr Rung<float> any_kernels[] = {
    {"padded_tile", launch_padded_tile<float>},
    {"leaning_tiles down columns", launch_lean_down},
    {"leaning_tiles along rows", launch_lean_along},
    {"any_matrix", launch_any_matrix},
};

/// Rows of the table `ladder`, or one like it, for one matrix.
template <class T>
class LadderRows {
  public:
    LadderRows(Bench& bench, Sides<T>& sides, const char* table)
        : bench_(&bench), sides_(&sides), table_(table),
          extent_(std::to_string(sides.extent().rows) + " x " + std::to_string(sides.extent().columns)) {}

    void copy(const char* name) {
        const auto timing = bench_->ceiling(sides_->bytes());
        ceiling_ = timing ? timing->bytes_per_second(sides_->bytes()) : 0;
        write(name, name, timing);
    }
    /// A copy between the very arrays that the rungs use: how fast two arrays can be copied depends on where
    /// they lie to each other.
    void copy_these() {
        const auto timing = bench_->time(sides_->bytes(), [&](cudaStream_t stream) {
            workbook::check(cudaMemcpyAsync(sides_->out().data(), sides_->in().data(), sides_->bytes() / 2,
                                            cudaMemcpyDeviceToDevice, stream),
                            "copying the matrix");
        });
        if (timing)
            ceiling_ = std::max(ceiling_, timing->bytes_per_second(sides_->bytes()));
        write("copy of these arrays", "copy of these arrays", timing);
    }
    void write(const std::string& kernel, const std::string& ran,
               const std::optional<workbook::Timing>& timing) {
        bench_->row(table_, workbook::joined<workbook::BenchCell>(
                                {{"extent", extent_},
                                 {"type", sizeof(T) == 4 ? "float32" : "bfloat16"},
                                 {"kernel", kernel},
                                 {"ran", ran}},
                                workbook::timing_cells(timing, sides_->bytes(), ceiling_)));
    }
    [[nodiscard]] const std::string& extent() const { return extent_; }

  private:
    Bench* bench_;
    Sides<T>* sides_;
    const char* table_;
    std::string extent_;
    double ceiling_ = 0;
};

/// Checks and times one rung.
template <class T>
void climb(Bench& bench, Sides<T>& sides, LadderRows<T>& rows, const Rung<T>& rung) {
    const auto launch = [&] { return rung.launch(sides.in(), sides.out(), sides.extent()); };
    const char* ran = rung.name;
    if (bench.mode() != workbook::BenchMode::once) {
        sides.poison();
        ran = launch();
        workbook::synchronize(rung.name);
        if (const auto wrong = sides.wrong_words(); wrong > 0)
            return bench.wrong(std::string(rung.name) + " at " + rows.extent() + ": " +
                               std::to_string(wrong) + " wrong elements");
    }
    const auto timing = bench.time_checked(sides.bytes(), [&](cudaStream_t) { ran = launch(); });
    rows.write(rung.name, ran, timing);
}

/// cuBLAS quiets NaNs and may flush denormal numbers, so only the others are compared, with a rung's result.
__global__ void count_other_values(const float* values, const float* expected, std::size_t count,
                                   unsigned long long* wrong) {
    const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
    unsigned long long mine = 0;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
        const float e = expected[i];
        mine += fabsf(e) >= 1.2e-38f && values[i] != e; // false for NaN
    }
    if (mine > 0)
        atomicAdd(wrong, mine);
}

/// What a reader would call instead.
void climb_cublas(Bench& bench, Sides<float>& sides, LadderRows<float>& rows) {
    if (bench.dry())
        return;
    const Geam geam;
    if (!geam.available())
        return;
    const auto [row_count, column_count] = sides.extent();
    const auto transpose = [&](cudaStream_t) {
        geam.transpose(sides.in().data(), sides.out().data(), static_cast<int>(row_count),
                       static_cast<int>(column_count));
    };
    const auto timing = bench.time(sides.bytes(), transpose);
    workbook::DeviceBuffer<float> expected(sides.extent().size());
    workbook::DeviceBuffer<unsigned long long> wrong(std::vector<unsigned long long>{0});
    launch_padded_tile<float>(sides.in(), expected.span(), sides.extent());
    sides.poison();
    transpose(nullptr);
    workbook::launch(count_other_values, workbook::striding(expected.size()), sides.out().data(),
                     expected.data(), expected.size(), wrong.data());
    if (wrong.download().front() > 0)
        return bench.wrong("cuBLAS geam gives another result at " + rows.extent());
    rows.write("cuBLAS geam", "cuBLAS geam", timing);
}

template <class T, std::size_t count>
void ladder_at(Bench& bench, Extent extent, const Rung<T> (&rungs)[count], const char* table = "ladder") {
    Sides<T> sides(extent);
    LadderRows<T> rows(bench, sides, table);
    rows.copy("copy before");
    rows.copy_these();
    for (const Rung<T>& rung : rungs)
        climb(bench, sides, rows, rung);
    if constexpr (std::is_same_v<T, float>)
        climb_cublas(bench, sides, rows);
    rows.copy("copy after");
}

void begin_ladder(Bench& bench, const char* table = "ladder", const char* title = "The rungs of the ladder") {
    bench.table(table, title,
                workbook::joined<workbook::BenchColumn>(
                    {{"extent", "matrix"}, {"type", "elements"}, {"kernel", "rung"}, {"ran", "what ran"}},
                    workbook::timing_columns()));
}

void ladder(Bench& bench) {
    begin_ladder(bench);
    ladder_at(bench, bench.size(Extent{32768, 32768}, Extent{256, 264}), float_rungs);
}

void sizes(Bench& bench) {
    begin_ladder(bench);
    ladder_at(bench, bench.size(Extent{8192, 8192}, Extent{128, 128}), float_rungs);
    ladder_at(bench, bench.size(Extent{1000, 3000}, Extent{100, 300}), float_rungs);
    ladder_at(bench, bench.size(Extent{32768, 32768}, Extent{256, 264}), half_rungs);
}

/// Matrices whose rows begin anywhere: square, wide and tall, with few rows and with few columns.
void any(Bench& bench) {
    begin_ladder(bench, "any", "Matrices whose rows begin anywhere");
    for (const Extent extent :
         {Extent{32767, 32769}, Extent{8191, 8193},  Extent{8193, 8191},  Extent{1001, 2999},
          Extent{4095, 65537},  Extent{1023, 65537}, Extent{255, 65537},  Extent{79, 65537},
          Extent{33, 65537},    Extent{32, 65537},   Extent{16, 65537},   Extent{9, 65537},
          Extent{2, 65537},     Extent{65537, 4095}, Extent{65537, 1023}, Extent{65537, 255},
          Extent{65537, 79},    Extent{65537, 33},   Extent{65537, 32},   Extent{65537, 16},
          Extent{65537, 9},     Extent{65537, 2},    Extent{79, 1698959}, Extent{1698959, 79},
          Extent{32, 4194305},  Extent{2855697, 47}, Extent{17, 7895161}, Extent{4194305, 16},
          Extent{2, 67108865},  Extent{67108865, 2}, Extent{97, 1383687}, Extent{894785, 150},
          Extent{199, 674461},  Extent{695429, 193}, Extent{257, 522247}, Extent{588675, 228}})
        ladder_at(bench,
                  bench.size(extent, Extent{std::min<std::size_t>(extent.rows, 129),
                                            std::min<std::size_t>(extent.columns, 131)}),
                  any_kernels, "any");
}

constexpr workbook::BenchPart parts[] = {
    {"ladder", "all rungs at 32768 x 32768 float32", ladder},
    {"crowding", "some rungs with fewer blocks on each SM", crowding},
    {"padded", "padded_tile, one thing changed at a time", padded_variants},
    {"staying", "blocks that stay, with a warp for each job", staying},
    {"columns", "which columns of tiles follow each other", columns},
    {"sizes", "all rungs at other sizes, and for bfloat16", sizes},
    {"any", "matrices whose rows begin anywhere", any},
    {"widths", "every width from 2 to 340", widths},
};

} // namespace

int main(int argc, char** argv) { return workbook::run_bench("transpose_bench", parts, argc, argv); }
