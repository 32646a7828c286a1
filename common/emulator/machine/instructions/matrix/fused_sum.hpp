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

#include "machine/instructions/matrix/factors.hpp"

#include <cstdint>
#include <span>

namespace emu::matrix {

/// One product: element `a` of a row of A, element `b` of a column of B.
struct Term {
    std::uint8_t a, b;
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
    /// Products of one sum; 16 where terms are cut after 25 bits. Then 32 bits hold the sum.
    static constexpr unsigned most_terms = 32;

    FusedSum(const Factors& a, const Factors& b, const SumRule& rule) : a_(a), b_(b), rule_(rule) {}

    /// A row of D. `c` and `d` hold the bits of an element for each column of B; they may be the same.
    void row(unsigned row, std::span<const std::uint32_t> c, std::span<std::uint32_t> d) const;
    /// The same of some of the products: those of a sparse A, or of one step of several.
    void row(unsigned row, std::span<const Term> terms, std::span<const std::uint32_t> c,
             std::span<std::uint32_t> d) const;

  private:
    struct Line;
    struct Strip;

    void add_strip(const Line& line, unsigned column, const std::uint32_t* c, std::uint32_t* d) const;
    void read_addends(const std::uint32_t* c, Strip& strip) const;
    void find_units(const Line& line, unsigned column, Strip& strip) const;
    static void add_products(const Line& line, Strip& strip);
    bool finish(Strip& strip, std::uint32_t* d) const;
    std::uint32_t finish_one(const Line& line, unsigned column, const Strip& strip, unsigned i) const;
    std::int64_t sum_one_by_one(const Line& line, unsigned column, std::int32_t largest) const;
    bool special(const Line& line, unsigned column, float addend, std::uint32_t& d) const;

    const Factors& a_;
    const Factors& b_;
    SumRule rule_;
};

} // namespace emu::matrix
