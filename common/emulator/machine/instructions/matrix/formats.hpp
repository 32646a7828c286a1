#pragma once
/// \file
/// The types of the elements of matrices (PTX ISA 9.0, section 9.7.14.2).

#include <cstdint>
#include <optional>
#include <string_view>

namespace emu::matrix {

enum class Element : std::uint8_t { f16, bf16, tf32, e4m3, e5m2, f32, f64, s8, u8, s4, u4, b1, s32 };

constexpr std::optional<Element> element_of(std::string_view name) {
    constexpr std::string_view names[] = {"f16", "bf16", "tf32", "e4m3", "e5m2", "f32", "f64",
                                          "s8",  "u8",   "s4",   "u4",   "b1",   "s32"};
    for (unsigned i = 0; i < std::size(names); ++i)
        if (names[i] == name)
            return static_cast<Element>(i);
    return std::nullopt;
}

/// Bits that an element takes in a register or in memory.
constexpr unsigned bits_of(Element element) {
    switch (element) {
    case Element::b1:
        return 1;
    case Element::s4:
    case Element::u4:
        return 4;
    case Element::e4m3:
    case Element::e5m2:
    case Element::s8:
    case Element::u8:
        return 8;
    case Element::f16:
    case Element::bf16:
        return 16;
    case Element::f64:
        return 64;
    default:
        return 32;
    }
}

constexpr bool is_integer(Element element) { return element >= Element::s8; }

/// A floating-point format of at most 32 bits.
struct FloatFormat {
    unsigned exponent_bits = 0, fraction_bits = 0;
    unsigned unread_bits = 0; ///< Lowest bits that the tensor core does not read.
    bool has_infinities = true;

    constexpr int bias() const { return (1 << (exponent_bits - 1)) - 1; }
};

constexpr FloatFormat format_of(Element element) {
    switch (element) {
    case Element::f16:
        return {5, 10};
    case Element::bf16:
        return {8, 7};
    case Element::tf32:
        return {8, 10, 13};
    case Element::e4m3:
        return {4, 3, 0, false};
    case Element::e5m2:
        return {5, 2};
    default:
        return {8, 23};
    }
}

} // namespace emu::matrix
