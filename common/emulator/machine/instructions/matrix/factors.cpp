#include "machine/instructions/matrix/factors.hpp"

#include "machine/instructions/matrix/vectors.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace emu::matrix {
namespace {

std::int32_t hidden_bit(const FloatFormat& format) { return 1 << format.fraction_bits; }
std::int32_t sign_bit(const FloatFormat& format) { return hidden_bit(format) << format.exponent_bits; }
/// The lowest magnitude that is an infinity or a NaN. A format without infinities has one NaN.
std::int32_t lowest_special(const FloatFormat& format) {
    return sign_bit(format) - (format.has_infinities ? hidden_bit(format) : 1);
}

} // namespace

Part take_apart(std::uint32_t bits, const FloatFormat& format) {
    const auto all = static_cast<std::int32_t>(bits >> format.unread_bits);
    const std::int32_t magnitude = all & (sign_bit(format) - 1), hidden = hidden_bit(format);
    const std::int32_t exponent = magnitude >> format.fraction_bits, fraction = magnitude & (hidden - 1);
    const auto with_sign = [&](std::int32_t value) { return all & sign_bit(format) ? -value : value; };
    Part part;
    if (magnitude >= lowest_special(format)) {
        part.infinite = format.has_infinities && fraction == 0;
        part.nan = !part.infinite;
        part.significand = with_sign(1);
    } else if (magnitude) {
        part.significand = with_sign(exponent ? fraction | hidden : fraction);
        part.exponent = std::max(exponent, 1) - format.bias();
    }
    return part;
}

Factors::Factors(Element type, unsigned lines, unsigned depth, std::span<const std::byte> bytes,
                 std::size_t line_bytes, bool negate)
    : format_(format_of(type)), lines_(lines), depth_(depth), bits_(std::size_t{lines} * depth),
      significands_(std::size_t{strip} * depth), wide_exponents_(significands_.size()),
      exponents_(bits_.size()), values_(bits_.size()), scales_(lines), special_(lines) {
    const std::uint32_t sign = negate ? 1u << (bits_of(type) - 1) : 0;
    if (bits_of(type) == 8)
        gather<std::uint8_t>(bytes, line_bytes, sign);
    else if (bits_of(type) == 16)
        gather<std::uint16_t>(bytes, line_bytes, sign);
    else
        gather<std::uint32_t>(bytes, line_bytes, sign);
    for (unsigned line = 0; line < lines; line += strip) {
        take_apart(line);
        scale(line);
    }
}

template <class Word>
void Factors::gather(std::span<const std::byte> bytes, std::size_t line_bytes, std::uint32_t sign) {
    std::uint32_t* into = bits_.data();
    for (unsigned first = 0; first < lines_; first += strip)
        for (unsigned k = 0; k < depth_; ++k)
            for (unsigned line = first; line < first + strip; ++line) {
                Word word;
                std::memcpy(&word, &bytes[line * line_bytes + k * sizeof word], sizeof word);
                *into++ = word ^ sign;
            }
}

/// As the function of this name does it, but four elements at once.
void Factors::take_apart(unsigned first_line) {
    const std::int32_t hidden = hidden_bit(format_), sign = sign_bit(format_), bias = format_.bias();
    const std::int32_t special_from = lowest_special(format_);
    const Integers none = Integers{} + Part::no_exponent;
    for (unsigned first = 0; first < strip; first += 4) {
        Integers largest = none, special{};
        for (unsigned k = 0; k < depth_; ++k) {
            const std::size_t at = k * strip + first;
            const auto raw = load<Integers>(&bits_[place(first_line, k) + first]);
            const Integers bits = raw >> static_cast<std::int32_t>(format_.unread_bits);
            const Integers magnitude = bits & (sign - 1);
            const Integers is_special = magnitude >= special_from, is_zero = magnitude == 0;
            const Integers field = magnitude >> static_cast<std::int32_t>(format_.fraction_bits);
            const Integers is_normal = field > 0;
            const Integers exponent = (is_special | is_zero) ? none : larger(field, Integers{} + 1) - bias;
            const Integers significand = ((magnitude & (hidden - 1)) | (is_normal & hidden)) & ~is_special;
            const Integers is_negative = (bits & sign) != 0;
            store((significand ^ is_negative) - is_negative, &significands_[at]);
            store(exponent, &wide_exponents_[at]);
            largest = larger(largest, exponent);
            special |= is_special;
        }
        store(largest, &scales_[first_line + first]);
        store(special, &special_[first_line + first]);
    }
}

void Factors::scale(unsigned first_line) {
    const std::int32_t bias = 127 - static_cast<std::int32_t>(format_.fraction_bits);
    const std::int32_t* const exponents = wide_exponents_.data();
    const std::int32_t* const significands = significands_.data();
    for (unsigned k = 0; k < depth_; ++k) {
        const std::size_t from = k * strip, into = place(first_line, k);
        const auto low = load<Integers>(exponents + from), high = load<Integers>(exponents + from + 4);
        store(narrowed(low, high), &exponents_[into]);
        for (unsigned first = 0; first < strip; first += 4) {
            const auto line_scale = load<Integers>(&scales_[first_line + first]);
            const Integers power = larger((first ? high : low) - line_scale + bias, Integers{}) << 23;
            const auto significand = load<Integers>(significands + from + first);
            store(__builtin_convertvector(significand, Floats) * std::bit_cast<Floats>(power),
                  &values_[into + first]);
        }
    }
}

} // namespace emu::matrix
