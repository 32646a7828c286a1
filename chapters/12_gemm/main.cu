/// @file main.cu
/// Chapter 12: the ladder of matrix products, every rung checked and measured in one run.
#include "ladder.cuh"
#include "reference.hpp"

#include "workbook/program.hpp"
#include "workbook/random.hpp"

#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace gemm;
using workbook::Comparison;
using workbook::DeviceBuffer;

/// A result of at most `size` elements, nearly square, and as deep as it is wide: 393 × 392 for 393 * 392.
/// Below 64 elements there is no multiple of eight columns, and the result is empty.
Extent extent_of(std::size_t size) {
    const auto edge = static_cast<unsigned>(std::sqrt(static_cast<double>(size)));
    const unsigned columns = edge / 8 * 8;
    const auto rows = static_cast<unsigned>(columns > 0 ? size / columns : edge);
    return {rows, columns, columns};
}

struct Matrices {
    explicit Matrices(const workbook::RunContext& run)
        : extent(extent_of(run.size)), a_host(normal_values(std::size_t{extent.m} * extent.k, run.seed)),
          b_host(normal_values(std::size_t{extent.n} * extent.k, run.seed + 1)), a(a_host), b(b_host),
          out(std::size_t{extent.m} * extent.n), samples(a_host, b_host, extent, run.seed + 2) {}

    Extent extent;
    std::vector<bf16> a_host;
    std::vector<bf16> b_host;
    DeviceBuffer<bf16> a;
    DeviceBuffer<bf16> b;
    DeviceBuffer<bf16> out;
    Samples samples;

    [[nodiscard]] Operands operands() { return {a.data(), b.data(), out.data(), extent}; }
};

/// The row of the rung with this number.
template <std::size_t rung>
constexpr workbook::KernelEntry<Matrices> row() {
    return {.name = rungs[rung].name,
            .shows = rungs[rung].shows,
            .bytes =
                [](const Matrices& matrices) {
                    return matrices.a.size_bytes() + matrices.b.size_bytes() + matrices.out.size_bytes();
                },
            .prepare = [](Matrices& matrices) { matrices.out.poison(); },
            .launch = [](Matrices& matrices) { rungs[rung].launch(matrices.operands()); },
            .check =
                [](Matrices& matrices) {
                    Comparison result = matrices.samples.compare(matrices.out.download());
                    result.problem += matrices.out.check_guards();
                    return result;
                },
            .operations = [](const Matrices& matrices) { return matrices.extent.operations(); }};
}

template <std::size_t... numbers>
constexpr auto rows(std::index_sequence<numbers...>) {
    return std::array{row<numbers>()...};
}
constexpr auto kernels = rows(std::make_index_sequence<std::size(rungs)>());

} // namespace

int main(int argc, char** argv) {
    const workbook::ProgramInfo info{
        .name = "gemm",
        .summary = "matrices multiplied, thirteen rungs from slow to fast",
        .size_unit = "elements of the result",
        .size_with_clock = 4096 * 4096,
        // Edges that are no multiple of any tile, and more steps than the longest ring has stages.
        .size_without_clock = 393 * 392,
        .device_bytes_per_element = 3 * sizeof(bf16),
        .host_bytes_per_element = 4 * sizeof(bf16),
        .needs = {.compute_major = 9, .dynamic_shared = sizeof(overlapped::Memory)}};
    return workbook::run_program<Matrices>(info, kernels, argc, argv);
}
