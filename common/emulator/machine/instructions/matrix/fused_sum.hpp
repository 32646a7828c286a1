#pragma once
/// \file
/// How a tensor core of sm_90 adds products, bit for bit. NVIDIA does not document it; this is what an H200
/// does (tests/hardware), by the method of Xie et al., "MMA-Sim" (arXiv 2511.10909).
///
/// All products of a row and a column and the addend C are one sum. Each term is cut, toward zero, at a
/// common place: `fraction` bits below the largest exponent of a term that is not zero. A product's exponent
/// is the sum of its factors' exponents; that the product of two significands may reach 2 or more does not
/// count. The cut terms are added exactly. A binary32 result is cut toward zero, a binary16 result is rounded
/// to nearest even; a result of zero is +0.

#include "machine/instructions/matrix/formats.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace emu::matrix {

/// The elements of A or B, taken apart. A line is a row of A or a column of B.
class Factors {
  public:
    enum class Order : std::uint8_t { by_line, by_k }; ///< Which index runs slower: A is by line, B by k.

    Factors(Order order, unsigned lines, unsigned depth);

    void set(unsigned line, unsigned k, std::uint32_t bits, const FloatFormat& format);

    unsigned lines() const { return lines_; }
    unsigned depth() const { return depth_; }

  private:
    friend class FusedSum;
    enum class Kind : std::uint8_t { zero, finite, infinite, nan };
    std::size_t place(unsigned line, unsigned k) const {
        return order_ == Order::by_line ? std::size_t{line} * depth_ + k : std::size_t{k} * lines_ + line;
    }

    Order order_;
    unsigned lines_, depth_;
    unsigned fraction_bits_ = 0;
    std::vector<std::int32_t> significands_; ///< With sign; ±1 for an infinity.
    std::vector<std::int32_t> exponents_;    ///< Of the bit `fraction_bits_` of the significand.
    std::vector<Kind> kinds_;
    std::vector<bool> special_; ///< By line: holds an infinity or a NaN.
};

/// Where terms and results are cut.
struct SumRule {
    unsigned fraction = 25;        ///< Of a term, below the largest exponent.
    unsigned result_fraction = 23; ///< Of a binary32 result.
    bool half = false;             ///< C and D are binary16.
};

/// D = A B + C.
class FusedSum {
  public:
    FusedSum(const Factors& a, const Factors& b, const SumRule& rule);

    /// A row of D. `c` and `d` hold the bits of an element for each column of B; they may be the same.
    void row(unsigned row, std::span<const std::uint32_t> c, std::span<std::uint32_t> d) const;

  private:
    std::uint32_t special(unsigned row, unsigned column, std::uint32_t c) const;

    const Factors& a_;
    const Factors& b_;
    SumRule rule_;
};

} // namespace emu::matrix
