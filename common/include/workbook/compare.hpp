/// @file compare.hpp
/// Compares a result with a reference: bit for bit, or within a tolerance. Host memory only.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <span>
#include <string>
#include <type_traits>

namespace workbook {

/// What a comparison found.
struct Comparison {
    std::size_t compared = 0;
    std::size_t wrong = 0;
    std::size_t first_wrong = 0; ///< index of the first wrong element, if any is
    std::string expected;        ///< its reference value, as text
    std::string actual;          ///< its value, as text
    std::string problem;         ///< what else is wrong (sizes, guard zones); empty if nothing

    /// True if everything was as expected.
    [[nodiscard]] explicit operator bool() const noexcept { return wrong == 0 && problem.empty(); }

    /// One line for a reader; says 'ok' or what is wrong first.
    [[nodiscard]] std::string summary() const {
        if (wrong == 0)
            return problem.empty() ? "ok" : problem;
        return std::to_string(wrong) + " of " + std::to_string(compared) + " wrong, first at index " +
               std::to_string(first_wrong) + ": expected " + expected + ", got " + actual +
               (problem.empty() ? "" : "; " + problem);
    }
};

/// A value as text; floating point also with its bits, which tell NaNs and zeros apart.
template <class T>
[[nodiscard]] std::string describe(const T& value) {
    std::array<char, 80> text{};
    if constexpr (std::same_as<T, float>)
        std::snprintf(text.data(), text.size(), "%.9g (0x%08x)", static_cast<double>(value),
                      std::bit_cast<unsigned>(value));
    else if constexpr (std::same_as<T, double>)
        std::snprintf(text.data(), text.size(), "%.17g (0x%016llx)", value,
                      std::bit_cast<unsigned long long>(value));
    else if constexpr (std::is_integral_v<T>)
        return std::to_string(value);
    else if constexpr (sizeof(T) == sizeof(std::uint16_t) && requires { static_cast<float>(value); })
        std::snprintf(text.data(), text.size(), "%.9g (0x%04x)", // f16, bf16
                      static_cast<double>(static_cast<float>(value)), std::bit_cast<std::uint16_t>(value));
    else {
        std::string bytes = "bytes";
        const auto* raw = reinterpret_cast<const unsigned char*>(&value);
        for (std::size_t i = 0; i < sizeof(T); ++i) {
            std::snprintf(text.data(), text.size(), " %02x", raw[i]);
            bytes += text.data();
        }
        return bytes;
    }
    return text.data();
}

/// Compares element by element with `same(expected, actual)`. Different lengths are a failure.
template <class T, class Same>
[[nodiscard]] Comparison compare_with(std::span<const T> expected, std::span<const T> actual, Same same) {
    Comparison result;
    result.compared = std::min(expected.size(), actual.size());
    if (expected.size() != actual.size())
        result.problem =
            "expected " + std::to_string(expected.size()) + " elements, got " + std::to_string(actual.size());
    for (std::size_t i = 0; i < result.compared; ++i) {
        if (same(expected[i], actual[i]))
            continue;
        if (result.wrong++ == 0) {
            result.first_wrong = i;
            result.expected = describe(expected[i]);
            result.actual = describe(actual[i]);
        }
    }
    return result;
}

/// For data that must arrive unchanged: every bit equal, so -0 is not 0 and each NaN must be the same NaN.
template <class T>
[[nodiscard]] Comparison compare_bits(std::span<const T> expected, std::span<const T> actual) {
    static_assert(std::is_trivially_copyable_v<T>);
    return compare_with(expected, actual,
                        [](const T& e, const T& a) { return std::memcmp(&e, &a, sizeof(T)) == 0; });
}

/// How far a computed value may lie from the reference: |actual - expected| <= absolute + relative ·
/// |expected|. With both 0 the values must be equal.
struct Tolerance {
    double relative = 0;
    double absolute = 0;
};

/// True if `actual` is the number `expected` within the tolerance. A NaN matches any NaN (their bits may
/// differ between processors) and nothing else; an infinity matches only itself; at tolerance 0 the sign of
/// zero counts.
template <std::floating_point T>
[[nodiscard]] bool near(T expected, T actual, Tolerance tolerance) noexcept {
    if (std::isnan(expected) || std::isnan(actual))
        return std::isnan(expected) && std::isnan(actual);
    if (expected == actual)
        return expected != T(0) || tolerance.absolute > 0 || std::signbit(expected) == std::signbit(actual);
    if (std::isinf(expected) || std::isinf(actual))
        return false;
    const double difference = std::fabs(static_cast<double>(actual) - static_cast<double>(expected));
    return difference <= tolerance.absolute + tolerance.relative * std::fabs(static_cast<double>(expected));
}

/// For computed data. Never passes an unexpected NaN: it tests what is right, not what is wrong.
template <std::floating_point T>
[[nodiscard]] Comparison compare_near(std::span<const T> expected, std::span<const T> actual,
                                      Tolerance tolerance = {}) {
    return compare_with(expected, actual, [=](T e, T a) { return near(e, a, tolerance); });
}

} // namespace workbook
