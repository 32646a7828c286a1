/// @file numerics.hpp
/// What a tensor core of Hopper makes of a sum of products, worked out on the host bit for bit; and what
/// other ways of adding make of it.
///
/// NVIDIA documents none of this. The rule is what an H200 did with ten million sums of each form
/// (docs/pages/emulator_reference.md, 'Compared with hardware'); the method is that of Xie et al., 'MMA-Sim'.
#pragma once

#include "workbook/matrix_layout.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

namespace wgmma {

/// Where wgmma cuts the terms of a sum, and the sum.
struct SumRule {
    int fraction = 25;          ///< binary digits of a term, below the largest exponent of all
    int result_fraction = 23;   ///< binary digits of the result, as f32 has
    int lowest_exponent = -126; ///< that counts for a subnormal factor: the type's
};

inline constexpr SumRule rule_of_bf16{};
inline constexpr SumRule rule_of_tf32{};
inline constexpr SumRule rule_of_f16{.lowest_exponent = -14};
inline constexpr SumRule rule_of_e4m3{.fraction = 13, .result_fraction = 13, .lowest_exponent = -6};

/// `value` as f32, cut toward zero after `fraction` binary digits.
inline float cut_toward_zero(double value, int fraction) {
    if (std::fabs(value) >= 0x1p128)
        return static_cast<float>(std::copysign(INFINITY, value));
    auto nearest = static_cast<float>(value);
    if (std::fabs(static_cast<double>(nearest)) > std::fabs(value))
        nearest = std::nextafter(nearest, 0.0F);
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(nearest) & ~0U << (23 - fraction));
}

/// The sum of c and all a[i] · b[i] if one of the terms is an infinity or a NaN; 0 if none is. What a tensor
/// core makes of a NaN has all bits set but the sign.
inline float special_sum(std::span<const float> a, std::span<const float> b, float c) {
    float sum = std::isfinite(c) ? 0.0F : c;
    for (std::size_t i = 0; i < a.size(); ++i)
        if (!std::isfinite(a[i]) || !std::isfinite(b[i]))
            sum += a[i] * b[i];
    return std::isnan(sum) ? std::bit_cast<float>(0x7fffffffU) : sum;
}

/// c + a[0] · b[0] + a[1] · b[1] + … as one wgmma adds it: the products are exact; every term is cut, toward
/// zero, `fraction` digits below the largest exponent of a term; what is left is added exactly, and the sum
/// is cut toward zero. The order plays no part. The exponent of a product is the sum of its factors'
/// exponents. Values are those of elements of the type.
inline float tensor_sum(std::span<const float> a, std::span<const float> b, float c, const SumRule& rule) {
    if (const float special = special_sum(a, b, c); special != 0)
        return special;
    constexpr int none = -10'000;
    const auto exponent = [](float value, int lowest) { return std::max(std::ilogb(value), lowest); };
    int largest = c != 0 ? exponent(c, -126) : none;
    for (std::size_t i = 0; i < a.size(); ++i)
        if (a[i] != 0 && b[i] != 0)
            largest = std::max(largest,
                               exponent(a[i], rule.lowest_exponent) + exponent(b[i], rule.lowest_exponent));
    if (largest == none)
        return 0;
    const int unit = largest - rule.fraction;
    const auto cut = [unit](float x, float y) {
        return std::trunc(std::ldexp(double{x}, -unit) * double{y});
    };
    double sum = cut(c, 1);
    for (std::size_t i = 0; i < a.size(); ++i)
        sum += cut(a[i], b[i]);
    return sum == 0 ? 0 : cut_toward_zero(std::ldexp(sum, unit), rule.result_fraction);
}

/// The same as a loop of fused multiply-adds in f32 has it: rounded to nearest after each.
inline float fma_sum(std::span<const float> a, std::span<const float> b, float c) {
    for (std::size_t i = 0; i < a.size(); ++i)
        c = std::fma(a[i], b[i], c);
    return c;
}

/// The same in f64, rounded to f32 at the end.
inline float double_sum(std::span<const float> a, std::span<const float> b, float c) {
    double sum = c;
    for (std::size_t i = 0; i < a.size(); ++i)
        sum += double{a[i]} * double{b[i]};
    return static_cast<float>(sum);
}

/// Sixteen products and an addend that show one thing, with elements that bf16 and f16 have.
struct DirectedSum {
    const char* shows;
    float c;
    float a[16];
    float b[16];
};

/// What is not shown has factors of zero.
inline constexpr DirectedSum directed_sums[] = {
    {"fifteen terms of 2^-26, then 1: each is cut to nothing",
     0,
     {0x1p-13F, 0x1p-13F, 0x1p-13F, 0x1p-13F, 0x1p-13F, 0x1p-13F, 0x1p-13F, 0x1p-13F, 0x1p-13F, 0x1p-13F,
      0x1p-13F, 0x1p-13F, 0x1p-13F, 0x1p-13F, 0x1p-13F, 1},
     {0x1p-13F, 0x1p-13F, 0x1p-13F, 0x1p-13F, 0x1p-13F, 0x1p-13F, 0x1p-13F, 0x1p-13F, 0x1p-13F, 0x1p-13F,
      0x1p-13F, 0x1p-13F, 0x1p-13F, 0x1p-13F, 0x1p-13F, 1}},
    {"1 + 1.5 · 2^-24: the sum is cut, and not rounded", 0, {1, 0x1.8p-12F}, {1, 0x1p-12F}},
    {"2^26 - 2^26 + fourteen halves: cut by what cancels",
     0,
     {0x1p13F, -0x1p13F, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
     {0x1p13F, 0x1p13F, .5F, .5F, .5F, .5F, .5F, .5F, .5F, .5F, .5F, .5F, .5F, .5F, .5F, .5F}},
    {"1.5 · 1.5 - 1.5 · 1.5 + 2^-25: an exponent of 0 + 0, although 1.5 · 1.5 is 2.25",
     0,
     {1.5F, -1.5F, 0x1p-12F},
     {1.5F, 1.5F, 0x1p-13F}},
    {"(1.5 + 1.5 - 1.5) · 2^127: nothing overflows on the way",
     0,
     {0x1.8p127F, 0x1.8p127F, -0x1.8p127F},
     {1, 1, 1}},
};

/// For e4m3, of whose terms fewer digits are kept.
inline constexpr DirectedSum directed_sums_e4m3[] = {
    {"1 + 2^-13 + 2^-14: the first is kept, the second cut", 0, {1, 0x1p-6F, 0x1p-6F}, {1, 0x1p-7F, 0x1p-8F}},
    {"256 + 15 · 2^-6: the small terms are cut to nothing",
     256,
     {.125F, .125F, .125F, .125F, .125F, .125F, .125F, .125F, .125F, .125F, .125F, .125F, .125F, .125F,
      .125F},
     {.125F, .125F, .125F, .125F, .125F, .125F, .125F, .125F, .125F, .125F, .125F, .125F, .125F, .125F,
      .125F}},
};

} // namespace wgmma
