/// @file main.cu
/// Chapter 8: the ladder of transpositions, every rung checked bit for bit and measured in one run.
#include "any_transpose.cuh"
#include "kept_transpose.cuh"
#include "tma_transpose.cuh"
#include "transpose.cuh"

#include "workbook/program.hpp"
#include "workbook/random.hpp"

#include <cuda_bf16.h>

#include <bit>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace transpose;
using workbook::Comparison;
using workbook::DeviceBuffer;

/// Random bits, whatever they mean: all kinds of NaN are among them.
template <class T>
std::vector<T> random_bits(std::size_t size, std::uint64_t seed) {
    const auto bytes = workbook::random_values<std::uint16_t>(size * sizeof(T) / 2, seed);
    std::vector<T> values(size);
    if (size > 0)
        std::memcpy(static_cast<void*>(values.data()), bytes.data(), size * sizeof(T));
    return values;
}

/// A matrix of at most `size` elements; its number of rows is a power of two, and at most that of columns.
Extent extent_of(std::size_t size) {
    std::size_t rows = 1;
    while (4 * rows * rows <= size)
        rows *= 2;
    return {rows, size / rows};
}

/// A matrix, its transposed on host and device, and where a rung puts its own.
template <class T>
struct Sides {
    Sides(Extent extent, std::uint64_t seed) : Sides(random_bits<T>(extent.size(), seed), extent) {}
    Sides(const std::vector<T>& host, Extent extent)
        : expected(transposed<T>(host, extent)), in(host), out(host.size()) {}

    std::vector<T> expected;
    DeviceBuffer<T> in;
    DeviceBuffer<T> out;
    std::string_view ran{}; ///< the rung that the last launch ended at
};

struct Matrices {
    explicit Matrices(const workbook::RunContext& run)
        : extent(extent_of(run.size)), floats(extent, run.seed), halves(extent, run.seed + 1) {}

    Extent extent;
    Sides<float> floats;
    Sides<__nv_bfloat16> halves;

    template <class T>
    Sides<T>& sides() {
        if constexpr (sizeof(T) == sizeof(float))
            return floats;
        else
            return halves;
    }
};

constexpr std::string_view any_matrix = "any_matrix";

/// What a row says if its rung could not take the matrix, or which kernel of several took it.
template <class T>
std::string fallen(Matrices& matrices, std::string_view rung) {
    const std::string_view ran = matrices.sides<T>().ran;
    if (rung == any_matrix)
        return std::string(ran) + " took it";
    if (rung.starts_with(ran))
        return {};
    return "a row or a column of " + std::to_string(matrices.extent.rows) + " x " +
           std::to_string(matrices.extent.columns) +
           " elements is no multiple of 16 bytes: " + std::string(ran) + " took it";
}

using Names = const char* const[];
constexpr Names names = {"global_only",    "shared_tile", "padded_tile",      "tma_plain",
                         "tma_swizzled",   "tma_batched", "micro_tiles",      "tma_micro_tiles",
                         "tma_persistent", "column_walk", "column_walk_bf16", "tma_kept_reads",
                         "kept_reads",     "far_columns", any_matrix.data()};

/// The row of one rung.
template <std::size_t rung, class T, const char* (*launch)(std::span<const T>, std::span<T>, Extent)>
constexpr workbook::KernelEntry<Matrices> row(const char* shows) {
    return {.name = names[rung],
            .shows = shows,
            .bytes = [](const Matrices& matrices) { return 2 * sizeof(T) * matrices.extent.size(); },
            .prepare = [](Matrices& matrices) { matrices.sides<T>().out.poison(); },
            .launch =
                [](Matrices& matrices) {
                    auto& [expected, in, out, ran] = matrices.sides<T>();
                    ran = launch(in.span(), out.span(), matrices.extent);
                },
            .check =
                [](Matrices& matrices) {
                    const auto& sides = matrices.sides<T>();
                    return workbook::check_exact(sides.out, sides.expected);
                },
            .note = [](Matrices& matrices) { return fallen<T>(matrices, names[rung]); }};
}

const char* persistent(std::span<const float> in, std::span<float> out, Extent extent) {
    return launch_tma_persistent(in, out, extent);
}

constexpr workbook::KernelEntry<Matrices> kernels[] = {
    row<0, float, launch_global_only<float>>("read rows, write columns"),
    row<1, float, launch_shared_tile<float>>("32x32 through shared memory"),
    row<2, float, launch_padded_tile<float>>("the same, rows of 33"),
    row<3, float, launch_tma_plain>("TMA, a thread per element"),
    row<4, float, launch_tma_swizzled>("TMA, 128-byte swizzle"),
    row<5, float, launch_tma_batched>("the same, 8 elements per thread"),
    row<6, float, launch_micro_tiles<float>>("16 bytes, 4x4 in registers"),
    row<7, float, launch_tma_micro_tiles>("TMA and 4x4, down columns"),
    row<8, float, persistent>("the same, 3 stages, blocks stay"),
    row<9, float, launch_column_walk<float>>("micro_tiles, down columns"),
    row<10, __nv_bfloat16, launch_column_walk<__nv_bfloat16>>("the same for bf16, 8x8"),
    row<11, float, launch_tma_kept_reads>("tma_micro_tiles, L2 keeps reads"),
    row<12, float, launch_kept_reads<float>>("column_walk, L2 keeps reads"),
    row<13, float, launch_far_columns<float>>("kept_reads, columns far apart"),
    row<14, float, launch_any_matrix>("rows may begin anywhere"),
};

} // namespace

int main(int argc, char** argv) {
    const workbook::ProgramInfo info{
        .name = "transpose",
        .summary = "a matrix transposed, thirteen rungs from slow to fast, and one for any matrix",
        .size_unit = "elements",
        .size_with_clock = std::size_t{1} << 28,
        .size_without_clock = 256 * 264,
        .device_bytes_per_element = 12,
        .host_bytes_per_element = 18,
        .needs = {.compute_major = 9, .dynamic_shared = sizeof(Ring)}};
    return workbook::run_program<Matrices>(info, kernels, argc, argv);
}
