#pragma once
/// \file
/// The 16-bit floating-point formats f16 and bf16 as bits in std::uint16_t, and the 8-bit formats e4m3 and
/// e5m2 (PTX ISA 9.0, section 5.2.3).

#include "machine/instructions/rounding.hpp"

#include <bit>
#include <cstdint>

namespace emu {

/// Both 16-bit formats return this NaN (section 9.7.4).
inline constexpr std::uint16_t canonical_nan16 = 0x7fff;

/// IEEE binary16.
struct F16 {
    static constexpr std::uint16_t infinity = 0x7c00;
    static constexpr std::uint16_t one = 0x3c00;
    static constexpr int exponent_bits = 5, fraction_bits = 10;

    /// Exact; a NaN keeps its payload.
    static constexpr float decode(std::uint16_t bits) {
        const std::uint32_t magnitude = bits & 0x7fffu;
        // A multiplication rebases the exponent; it is exact and right for subnormal numbers too.
        const auto scaled = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude << 13) * 0x1p112f);
        const std::uint32_t special = magnitude >= infinity ? 0x7f800000u : 0;
        return std::bit_cast<float>(scaled | special | (bits & 0x8000u) << 16);
    }
    /// Nearest even. The host must round to nearest.
    static constexpr std::uint16_t encode(float value) {
        const auto bits = std::bit_cast<std::uint32_t>(value);
        const std::uint32_t magnitude = bits & 0x7fffffffu;
        const std::uint32_t normal = (magnitude - 0x38000000u + 0xfffu + (magnitude >> 13 & 1)) >> 13;
        // Adding 0.5 cuts a binary32 number off at the last place of subnormal binary16 numbers.
        const std::uint32_t tiny = magnitude < 0x38800000u ? magnitude : 0;
        const std::uint32_t small =
            std::bit_cast<std::uint32_t>(std::bit_cast<float>(tiny) + 0.5f) - 0x3f000000u;
        std::uint32_t result = magnitude < 0x38800000u ? small : normal;
        result = magnitude >= 0x477ff000u ? infinity : result;
        result |= bits >> 16 & 0x8000u;
        return static_cast<std::uint16_t>(magnitude > 0x7f800000u ? canonical_nan16 : result);
    }
};

/// The upper half of IEEE binary32.
struct BF16 {
    static constexpr std::uint16_t infinity = 0x7f80;
    static constexpr std::uint16_t one = 0x3f80;
    static constexpr int exponent_bits = 8, fraction_bits = 7;

    static constexpr float decode(std::uint16_t bits) {
        return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
    }
    /// Nearest even.
    static constexpr std::uint16_t encode(float value) {
        const auto bits = std::bit_cast<std::uint32_t>(value);
        const std::uint32_t rounded = (bits + 0x7fffu + (bits >> 16 & 1)) >> 16;
        return static_cast<std::uint16_t>((bits & 0x7fffffffu) > 0x7f800000u ? canonical_nan16 : rounded);
    }
};

template <class H>
constexpr bool is_nan16(std::uint16_t bits) {
    return (bits & 0x7fff) > H::infinity;
}
/// The bits of a number as an integer that orders as the numbers do, -0 below +0: negative numbers run
/// backwards.
constexpr int ordered16(std::uint16_t bits) {
    return bits & 0x8000 ? -static_cast<int>(bits & 0x7fff) - 1 : int{bits};
}
/// Subnormal numbers become zero of the same sign.
template <class H>
constexpr std::uint16_t flush16(std::uint16_t bits) {
    return static_cast<std::uint16_t>((bits & H::infinity) == 0 ? bits & 0x8000 : bits);
}
/// Any double in any rounding mode. NaN becomes canonical.
template <class H>
constexpr std::uint16_t encode16(double value, Rounding rounding) {
    if (value != value)
        return canonical_nan16;
    const auto sign = static_cast<std::uint32_t>(std::bit_cast<std::uint64_t>(value) >> 48 & 0x8000);
    return static_cast<std::uint16_t>(encode_magnitude<H::exponent_bits, H::fraction_bits>(value, rounding) |
                                      sign);
}

/// Four exponent and three fraction bits. There is no infinity; the largest number is 448, the next code NaN.
struct E4M3 {
    static constexpr std::uint8_t nan = 0x7f, largest = 0x7e;
    /// Nearest even, saturating at the largest number; the sign is not encoded.
    static constexpr std::uint8_t encode(double value) {
        // Numbers of the format with one exponent bit more have the same codes, but for the bias.
        const double size = value < 0 ? -value : value;
        if (size >= 448)
            return largest;
        if (size < 128)
            return static_cast<std::uint8_t>(encode_magnitude<4, 3>(size, Rounding::nearest));
        return static_cast<std::uint8_t>(encode_magnitude<5, 3>(size, Rounding::nearest) - (8u << 3));
    }
    static constexpr float decode(std::uint8_t bits) {
        const unsigned exponent = bits >> 3 & 15, fraction = bits & 7;
        const float size = (bits & 0x7f) == nan ? canonical_nan
                           : exponent == 0      ? static_cast<float>(fraction) * 0x1p-9f
                                           : std::bit_cast<float>((exponent + 120) << 23 | fraction << 20);
        return bits & 0x80 ? -size : size;
    }
};
/// Five exponent and two fraction bits: the upper half of f16.
struct E5M2 {
    static constexpr std::uint8_t nan = 0x7f, largest = 0x7b;
    /// Nearest even, saturating at the largest number; the sign is not encoded.
    static constexpr std::uint8_t encode(double value) {
        const auto magnitude = encode_magnitude<5, 2>(value, Rounding::nearest);
        return static_cast<std::uint8_t>(magnitude > largest ? largest : magnitude);
    }
    static constexpr float decode(std::uint8_t bits) {
        return F16::decode(static_cast<std::uint16_t>(bits << 8));
    }
};

} // namespace emu
