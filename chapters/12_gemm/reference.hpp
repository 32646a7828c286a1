/// @file reference.hpp
/// Chapter 12: what the host knows of a product, and how far from it a right result may be.
#pragma once

#include "tiles.cuh"

#include "workbook/compare.hpp"
#include "workbook/random.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <numbers>
#include <string>
#include <vector>

namespace gemm {

/// `count` normal random numbers, rounded to bf16. Zeros or small integers would make tensor cores draw less
/// power and run faster than they do with data.
[[nodiscard]] inline std::vector<bf16> normal_values(std::size_t count, std::uint64_t seed) {
    workbook::Random random(seed);
    std::vector<bf16> values(count);
    for (bf16& value : values) {
        const double radius = std::sqrt(-2 * std::log(1 - random.unit()));
        value = __float2bfloat16(static_cast<float>(radius * std::cos(2 * std::numbers::pi * random.unit())));
    }
    return values;
}

/// One element of a product: its value, and the largest magnitude of any product and of any sum on the way.
struct Element {
    double value = 0;
    double largest = 0;
};

[[nodiscard]] inline Element element(const std::vector<bf16>& a, const std::vector<bf16>& b, unsigned k,
                                     std::size_t row, std::size_t column) {
    Element sum;
    for (unsigned i = 0; i < k; ++i) {
        const double product = static_cast<double>(__bfloat162float(a[row * k + i])) *
                               static_cast<double>(__bfloat162float(b[column * k + i]));
        sum.value += product;
        sum.largest = std::max({sum.largest, std::abs(product), std::abs(sum.value)});
    }
    return sum;
}

/// How far a right result may be from element.value, if its sums are made in the order of k.
///
/// A product of two bf16 has 16 significant bits, so f32 holds it exactly. fma rounds each sum to nearest and
/// errs by 2^-24 of it: k sums by k · 2^-24 of the largest. A tensor core adds 8 products or more to the sum
/// so far in one go. It cuts each of these terms 25 bits below the exponent of the largest, and the sum to
/// f32, 23 bits below its own: j products cost (j + 1) · 2^-25 + 2^-23 of the largest, which is less than
/// j · 2^-24 from 8 on. The sums on the way are larger than the exact ones by as much as they err, for which
/// a sixteenth is more than enough up to k = 2^19. The last rounding, to the 8 bits of bf16, errs by 2^-8 of
/// the value at most (half of a step of 2^-7). Among denormal numbers it errs by half of the smallest, and k
/// sums of f32 by no more than that together up to k = 2^15.
/// Factors are normal numbers; how tensor cores cut is what an H200 does (tests/hardware/matrix.txt).
[[nodiscard]] inline double error_bound(const Element& of, unsigned k) {
    const double sums = (k + k / 16.0) * 0x1p-24 * of.largest;
    return sums + 0x1p-8 * (std::abs(of.value) + sums) + 0x1p-133;
}

/// Elements of a product that the host has computed: all of a small one, and of a large one some hundreds,
/// the corners among them.
class Samples {
  public:
    Samples(const std::vector<bf16>& a, const std::vector<bf16>& b, Extent extent, std::uint64_t seed)
        : extent_(extent) {
        const std::size_t all = std::size_t{extent.m} * extent.n;
        const bool small = all * extent.k <= std::size_t{1} << 27;
        workbook::Random random(seed);
        for (std::size_t i = 0; i < (small ? all : std::size_t{4096}); ++i) {
            const std::size_t at = small ? i : i == 0 ? 0 : i == 1 ? all - 1 : random.below(all);
            places_.push_back(at);
            elements_.push_back(element(a, b, extent.k, at / extent.n, at % extent.n));
        }
    }

    /// Each sample within its bound; NaN is not. Of everything else in a large result only that it was
    /// written: nothing that random numbers give is as large as the poison of buffers.
    [[nodiscard]] workbook::Comparison compare(const std::vector<bf16>& out) const {
        workbook::Comparison result;
        result.compared = places_.size();
        for (std::size_t i = 0; i < places_.size(); ++i) {
            const double actual = static_cast<double>(__bfloat162float(out[places_[i]]));
            if (!(std::abs(actual - elements_[i].value) <= error_bound(elements_[i], extent_.k)))
                note(result, places_[i], elements_[i].value, actual);
        }
        for (std::size_t i = 0; i < out.size(); ++i)
            if (const double actual = static_cast<double>(__bfloat162float(out[i]));
                !(std::abs(actual) < 1e30))
                note(result, i, std::nan(""), actual);
        return result;
    }

  private:
    static void note(workbook::Comparison& result, std::size_t place, double expected, double actual) {
        if (result.wrong++ != 0)
            return;
        result.first_wrong = place;
        result.expected = std::isnan(expected) ? "a number" : std::to_string(expected);
        result.actual = std::to_string(actual);
    }

    Extent extent_;
    std::vector<std::size_t> places_;
    std::vector<Element> elements_;
};

} // namespace gemm
