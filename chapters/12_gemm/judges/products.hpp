/// @file products.hpp
/// What the judges of chapter 12 share: products of small integers, which are exact, and what a wrong element
/// of one may be.
#pragma once

#include "judge.hpp"

#include "workbook/tensor_map.hpp"

#include <cuda_bf16.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace judge {

using bf16 = __nv_bfloat16;

/// As the exercises declare it.
struct Extent {
    unsigned m = 0;
    unsigned n = 0;
    unsigned k = 0;
};

inline constexpr unsigned edge = 64; ///< of a block's part of the result, and of a step along k

/// What the judge of one exercise knows of wrong elements.
struct Words {
    std::string all_zero{};    ///< said if no element is anything else
    unsigned columns_left = 0; ///< of the element whose value it may be
    std::string of_the_left{}; ///< said then
    std::string otherwise{};   ///< said of an element whose value is none of the usual slips
};

/// A product on the host and on the device.
class Product {
  public:
    /// The matrices begin `offset` elements behind a multiple of 256 bytes.
    explicit Product(Extent of, std::size_t offset = 8)
        : extent(of), a_(integers(of.m, 1)), b_(integers(of.n, 2)), a(a_, offset), b(b_, offset),
          out(output<bf16>(std::size_t{of.m} * of.n, 8)) {}

    /// The map of a matrix, read in boxes of `box_rows` rows and 64 columns.
    [[nodiscard]] CUtensorMap map_a(unsigned box_rows = edge) const {
        return map(a.data(), extent.m, extent.k, box_rows);
    }
    [[nodiscard]] CUtensorMap map_b(unsigned box_rows = edge) const {
        return map(b.data(), extent.n, extent.k, box_rows);
    }
    [[nodiscard]] CUtensorMap map_out(unsigned box_rows = edge) const {
        return map(out.data(), extent.m, extent.n, box_rows);
    }

    /// A block for each 64 × 64 of the result.
    [[nodiscard]] dim3 grid() const { return {(extent.n + edge - 1) / edge, (extent.m + edge - 1) / edge}; }

    /// Fails unless the result is right.
    void expect(const Words& words = {}) const {
        std::vector<bf16> expected(std::size_t{extent.m} * extent.n);
        for (std::size_t i = 0; i < expected.size(); ++i)
            expected[i] = __float2bfloat16(partial(i, 0, extent.k));
        expect_exact<bf16>("out", out, expected,
                           [&](const Wrong<bf16>& wrong) { return explain(wrong, words); });
    }

    const Extent extent;

  private:
    [[nodiscard]] std::vector<bf16> integers(unsigned rows, std::uint64_t seed) const {
        const auto numbers = workbook::random_integers<int>(std::size_t{rows} * extent.k, seed, -4, 4);
        return {numbers.begin(), numbers.end()};
    }

    template <class T>
    [[nodiscard]] static CUtensorMap map(const T* data, unsigned rows, unsigned columns, unsigned box_rows) {
        return workbook::make_tensor_map(data,
                                         workbook::TensorLayout<2>{.dims = {columns, rows},
                                                                   .strides = {columns * sizeof(T)},
                                                                   .box = {edge, box_rows},
                                                                   .swizzle = workbook::Swizzle::bytes128});
    }

    /// The products of element `index` of the result from `first` to before `end` of k.
    [[nodiscard]] float partial(std::size_t index, unsigned first, unsigned end) const {
        const std::size_t row = index / extent.n * extent.k, column = index % extent.n * extent.k;
        float sum = 0;
        for (unsigned i = first; i < end && i < extent.k; ++i)
            sum += static_cast<float>(a_[row + i]) * static_cast<float>(b_[column + i]);
        return sum;
    }

    [[nodiscard]] static bool is_zero(const std::vector<bf16>& values) {
        return std::ranges::all_of(values, [](bf16 value) { return static_cast<float>(value) == 0; });
    }

    /// The usual slips: a step that was left out, or multiplied in the place of another.
    [[nodiscard]] std::string explain(const Wrong<bf16>& wrong, const Words& words) const {
        const std::string row = std::to_string(wrong.index / extent.n);
        const unsigned column = wrong.index % extent.n;
        const std::string place =
            "It is element (" + row + ", " + std::to_string(column) + ") of the result. ";
        if (!words.all_zero.empty() && is_zero(out.download()))
            return words.all_zero;
        if (is_poison(wrong.actual))
            return place + "No thread wrote it.";
        const unsigned steps = (extent.k + edge - 1) / edge;
        const float all = partial(wrong.index, 0, extent.k), is = static_cast<float>(wrong.actual);
        const auto step = [&](unsigned i) { return partial(wrong.index, i * edge, (i + 1) * edge); };
        const auto same = [&](float sum) { return static_cast<float>(__float2bfloat16(sum)) == is; };
        const unsigned left = words.columns_left;
        if (left != 0 && column >= left && same(partial(wrong.index - left, 0, extent.k)))
            return place + "That is the value of element (" + row + ", " + std::to_string(column - left) +
                   "): " + words.of_the_left;
        for (unsigned i = 0; steps > 1 && i < steps; ++i)
            if (same(all - step(i)))
                return place + "That is the sum without the products of step " + std::to_string(i) + ".";
        for (unsigned i = 0; i < steps; ++i)
            for (unsigned j = 0; j < steps; ++j)
                if (i != j && same(all - step(i) + step(j)))
                    return place + "That is the sum with the products of step " + std::to_string(j) +
                           " in the place of those of step " + std::to_string(i) + ".";
        return place + words.otherwise;
    }

    std::vector<bf16> a_;
    std::vector<bf16> b_;

  public:
    const Input<bf16> a;
    const Input<bf16> b;
    workbook::DeviceBuffer<bf16> out;
};

/// 'with m = 64, n = 64, k = 512'.
[[nodiscard]] inline std::string with_extent(Extent of) {
    return "with m = " + std::to_string(of.m) + ", n = " + std::to_string(of.n) +
           ", k = " + std::to_string(of.k);
}

} // namespace judge
