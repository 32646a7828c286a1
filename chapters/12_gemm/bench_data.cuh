/// @file bench_data.cuh
/// Chapter 12's measurements: matrices that the device fills, and how results are compared there.
#pragma once

#include "launching.cuh"

#include "workbook/bench.hpp"
#include "workbook/bench_data.cuh"
#include "workbook/buffer.hpp"
#include "workbook/interleaved.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gemm {

/// What matrices hold. Tensor cores draw less power where few bits change.
enum class Fill { normal, small_integers, ones, zeros };

/// values[i] is a normal random number (Box and Muller's method), an integer from -2 to 2, 1 or 0.
template <class T>
__global__ void fill_matrix(T* values, std::size_t count, std::uint64_t seed, Fill fill) {
    const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
        const std::uint32_t one = workbook::random_word(2 * i + seed),
                            two = workbook::random_word(2 * i + 1 + seed);
        float value = fill == Fill::ones ? 1.0f : 0.0f;
        if (fill == Fill::normal)
            value = sqrtf(-2 * logf((static_cast<float>(one) + 1) * 0x1p-32f)) *
                    cospif(static_cast<float>(two) * 0x1p-31f);
        if (fill == Fill::small_integers)
            value = static_cast<float>(static_cast<int>(one % 5) - 2);
        values[i] = static_cast<T>(value);
    }
}

/// Adds to counts[0] how many elements differ in any bit, and to counts[1] how many by more than two
/// roundings to bf16 can explain where sums were added in another order.
static __global__ void count_differences(const bf16* values, const bf16* expected, std::size_t count,
                                         float slack, unsigned long long* counts) {
    const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
    unsigned long long different = 0, far = 0;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
        const float value = __bfloat162float(values[i]), wanted = __bfloat162float(expected[i]);
        different += !(value == wanted);
        far += !(fabsf(value - wanted) <= 0x1p-7f * fabsf(wanted) + slack);
    }
    if (different > 0)
        atomicAdd(&counts[0], different);
    if (far > 0)
        atomicAdd(&counts[1], far);
}

/// The matrices of a product on the device.
template <class T>
class Product {
  public:
    explicit Product(Extent extent, Fill fill = Fill::normal)
        : extent_(extent), a_(std::size_t{extent.m} * extent.k), b_(std::size_t{extent.n} * extent.k),
          out_(std::size_t{extent.m} * extent.n), expected_(out_.size()) {
        workbook::launch(fill_matrix<T>, workbook::striding(a_.size()), a_.data(), a_.size(), 1, fill);
        workbook::launch(fill_matrix<T>, workbook::striding(b_.size()), b_.data(), b_.size(),
                         std::uint64_t{1} << 40, fill);
    }

    [[nodiscard]] OperandsOf<T> operands() { return {a_.data(), b_.data(), out_.data(), extent_}; }
    [[nodiscard]] OperandsOf<T> expecting() { return {a_.data(), b_.data(), expected_.data(), extent_}; }
    [[nodiscard]] const Extent& extent() const { return extent_; }
    [[nodiscard]] std::string name() const {
        return std::to_string(extent_.m) + " x " + std::to_string(extent_.n) + " x " +
               std::to_string(extent_.k);
    }
    void poison() { out_.poison(); }

    struct Differences {
        unsigned long long bits = 0;
        unsigned long long far = 0;
    };
    /// The result against the expected one.
    [[nodiscard]] Differences differences() {
        workbook::DeviceBuffer<unsigned long long> counts(std::vector<unsigned long long>{0, 0});
        const float slack = 0x1p-16f * static_cast<float>(extent_.k); // normal numbers: magnitudes of about k
        workbook::launch(count_differences, workbook::striding(out_.size()), out_.data(), expected_.data(),
                         out_.size(), slack, counts.data());
        const auto found = counts.download();
        return {found[0], found[1]};
    }

  private:
    Extent extent_;
    workbook::DeviceBuffer<T> a_;
    workbook::DeviceBuffer<T> b_;
    workbook::DeviceBuffer<bf16> out_;
    workbook::DeviceBuffer<bf16> expected_;
};

/// Bursts of about as many operations, so that every burst takes some milliseconds.
[[nodiscard]] inline workbook::TurnPlan turns(Extent extent, int rounds = 21) {
    constexpr double operations = 8e12;
    return {.rounds = rounds,
            .launches = static_cast<int>(std::clamp(operations / extent.operations(), 2.0, 60.0))};
}

/// The cells of a time, with the rate and its share of another's time.
[[nodiscard]] inline std::vector<workbook::BenchCell>
product_cells(const std::optional<workbook::Timing>& timing, Extent extent,
              const std::optional<workbook::Timing>& of = std::nullopt) {
    std::vector<workbook::BenchCell> cells = workbook::timing_cells(timing);
    if (timing)
        cells.emplace_back("tflops", extent.operations() / timing->median_ms * 1e-9);
    if (timing && of)
        cells.emplace_back("share", 100 * of->median_ms / timing->median_ms);
    return cells;
}

/// The columns that product_cells fills.
[[nodiscard]] inline std::vector<workbook::BenchColumn> product_columns() {
    return workbook::joined<workbook::BenchColumn>(
        workbook::timing_columns(false), {{"tflops", "rate", "TFLOP/s"}, {"share", "of cuBLAS", "%"}});
}

/// Contenders in turns; where nothing is timed each runs once.
[[nodiscard]] inline std::vector<std::optional<workbook::Timing>>
in_turns(workbook::Bench& bench, const std::vector<workbook::Contender>& contenders,
         const workbook::TurnPlan& plan) {
    std::vector<std::optional<workbook::Timing>> timings(contenders.size());
    if (bench.mode() == workbook::BenchMode::measure) {
        const auto measured = workbook::measure_in_turns(contenders, plan);
        std::copy(measured.begin(), measured.end(), timings.begin());
        return timings;
    }
    for (const workbook::Contender& contender : contenders) {
        contender.run();
        workbook::synchronize(contender.name.c_str());
    }
    return timings;
}

} // namespace gemm
