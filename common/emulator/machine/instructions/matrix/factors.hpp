#pragma once
/// \file
/// The elements of a matrix, taken apart.

#include "machine/instructions/matrix/formats.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace emu::matrix {

/// An element, or an addend of it.
struct Part {
    /// Of zero, an infinity and a NaN: lower than that of any product, also when two are added.
    static constexpr std::int16_t no_exponent = -10'000;

    std::int32_t significand = 0; ///< With sign; ±1 of an infinity.
    std::int32_t exponent = no_exponent;
    bool infinite = false, nan = false;
};

Part take_apart(std::uint32_t bits, const FloatFormat& format);

/// The elements of A or B, of any floating-point type of at most 32 bits. A line is a row of A or a column of
/// B; their number is a multiple of eight.
class Factors {
  public:
    /// Element k of a line lies in `bytes` at line · line_bytes + k · its size. `negate` changes all signs.
    Factors(Element type, unsigned lines, unsigned depth, std::span<const std::byte> bytes,
            std::size_t line_bytes, bool negate = false);

    unsigned lines() const { return lines_; }
    unsigned depth() const { return depth_; }

  private:
    friend class FusedSum;
    static constexpr unsigned strip = 8; ///< Lines that lie side by side for each k.

    std::size_t place(unsigned line, unsigned k) const {
        return (std::size_t{line} / strip * depth_ + k) * strip + line % strip;
    }
    Part part(unsigned line, unsigned k) const { return matrix::take_apart(bits_[place(line, k)], format_); }

    template <class Word>
    void gather(std::span<const std::byte> bytes, std::size_t line_bytes, std::uint32_t sign);
    void take_apart(unsigned first_line);
    void scale(unsigned first_line);

    FloatFormat format_;
    unsigned lines_, depth_;
    std::vector<std::uint32_t> bits_;
    std::vector<std::int32_t> significands_;
    std::vector<std::int32_t> wide_exponents_;
    std::vector<std::int16_t> exponents_;
    std::vector<float> values_;         ///< Over 2^scale; zero where that is too small for a float.
    std::vector<std::int32_t> scales_;  ///< By line: its largest exponent.
    std::vector<std::int32_t> special_; ///< By line: not zero if it has an infinity or a NaN.
};

} // namespace emu::matrix
