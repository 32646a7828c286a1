/// @file random.hpp
/// Seeded random data that is the same on every machine.
#pragma once

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

namespace workbook {

/// A small generator with a 64-bit state; equal seeds give equal sequences everywhere, which the
/// distributions of the standard library do not promise. Source: G. Steele et al., 'Fast splittable
/// pseudorandom number generators' (SplitMix64), OOPSLA 2014.
class Random {
  public:
    explicit constexpr Random(std::uint64_t seed) noexcept : state_(seed) {}

    /// The next 64 random bits.
    constexpr std::uint64_t next() noexcept {
        state_ += 0x9E3779B97F4A7C15u;
        std::uint64_t z = state_;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
        return z ^ (z >> 31);
    }

    /// Uniform in [0, 1), a multiple of 2^-24: exact in float.
    constexpr double unit() noexcept { return static_cast<double>(next() >> 40) * 0x1p-24; }

    /// Uniform in [0, limit); limit > 0. The bias is below 2^-32 for limits below 2^32.
    constexpr std::uint64_t below(std::uint64_t limit) noexcept { return next() % limit; }

  private:
    std::uint64_t state_;
};

/// Which numbers random_values makes.
struct RandomRange {
    double low = -1; ///< smallest value
    double high = 1; ///< largest value (floating point: never reached)
    bool specials =
        false; ///< floating point: about one element in 16 is a NaN, an infinity, a denormal or a -0
};

/// A floating-point value that breaks careless code.
template <std::floating_point T>
[[nodiscard]] T random_special(Random& random) {
    using Limits = std::numeric_limits<T>;
    const std::array<T, 8> specials{
        Limits::quiet_NaN(),  -Limits::quiet_NaN(),  Limits::infinity(), -Limits::infinity(), T(-0.0),
        Limits::denorm_min(), -Limits::denorm_min(), Limits::max()};
    return specials[random.below(specials.size())];
}

/// `count` values from the seed. Integers cover all bit patterns (random_integers takes a range).
template <class T>
requires std::is_arithmetic_v<T>
[[nodiscard]] std::vector<T> random_values(std::size_t count, std::uint64_t seed, RandomRange range = {}) {
    Random random(seed);
    std::vector<T> values(count);
    for (T& value : values) {
        if constexpr (std::is_floating_point_v<T>) {
            value = static_cast<T>(range.low + (range.high - range.low) * random.unit());
            if (range.specials && random.below(16) == 0)
                value = random_special<T>(random);
        } else {
            value = static_cast<T>(random.next());
        }
    }
    return values;
}

/// `count` integers, uniform in [low, high]. high - low < 2^63.
template <std::integral T>
[[nodiscard]] std::vector<T> random_integers(std::size_t count, std::uint64_t seed, T low, T high) {
    Random random(seed);
    const std::uint64_t width = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low) + 1;
    std::vector<T> values(count);
    for (T& value : values)
        value = static_cast<T>(static_cast<std::uint64_t>(low) + random.below(width));
    return values;
}

} // namespace workbook
