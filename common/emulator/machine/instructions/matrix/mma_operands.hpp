#pragma once
/// \file
/// The operands of an mma or wmma.mma in the registers of a warp, element by element.

#include "machine/instructions/matrix/fragments.hpp"
#include "machine/instructions/matrix/mma_forms.hpp"
#include "machine/instructions/matrix/registers.hpp"
#include "machine/instructions/matrix/sparse.hpp"

namespace emu::matrix {

struct MmaPlan final : WarpPlan {
    MmaForm form;
    Rows d, a, b, c;
    Row metadata;          ///< Of a sparse A.
    unsigned selector = 0; ///< Which lanes of a group hold the metadata.

    /// Of floating-point forms: where the words of A by rows, and of B by columns, are among the registers,
    /// [register][lane]; and the elements of C and D, twice that and 1 for an upper half.
    std::vector<std::uint16_t> words_of_a, words_of_b, places_of_c, places_of_d;
    /// Works them out.
    void find_places();
};

inline const MmaPlan& plan_of(const Op& op) { return *static_cast<const MmaPlan*>(op.extra); }

/// Where an element is that is not one of m8n8k4 of f16, nor of a sparse A.
Place place_of_a(const MmaForm& form, unsigned row, unsigned k);
Place place_of_b(const MmaForm& form, unsigned k, unsigned column);
Place place_of_c(const MmaForm& form, Element type, unsigned row, unsigned column);

/// What computes a product of this form.
Warp::MeetingAction action_of(const MmaForm& form);

/// The bits of the elements of A, B and C, and a place for those of D.
class MmaOperands {
  public:
    MmaOperands(Warp& warp, const Op& op);

    /// The elements of A by rows and those of B by columns, packed.
    std::vector<std::uint32_t> rows_of_a() const;
    std::vector<std::uint32_t> columns_of_b() const;

    /// `stored` counts the elements that a row of A has: k, or where A is sparse half as many; see k_of().
    std::uint32_t a(unsigned row, unsigned stored) const;
    std::uint32_t b(unsigned k, unsigned column) const;
    std::uint32_t c(unsigned row, unsigned column) const;
    /// Element `i` of C by rows.
    std::uint32_t c_at(std::size_t i) const {
        const unsigned place = plan_.places_of_c.data()[i];
        const std::uint32_t word = c_.row(0)[place / 2];
        return bits_of(form_.c) == 16 ? word >> 16 * (place % 2) & 0xffff : word;
    }
    void set_d_at(std::size_t i, std::uint32_t bits) {
        const unsigned place = plan_.places_of_d.data()[i];
        std::uint32_t& word = d_.row(0)[place / 2];
        if (bits_of(form_.d) == 16)
            word = (word & 0xffff0000u >> 16 * (place % 2)) | bits << 16 * (place % 2);
        else
            word = bits;
    }
    void set_d(unsigned row, unsigned column, std::uint32_t bits);

    double wide_a(unsigned row, unsigned k) const;
    double wide_b(unsigned k, unsigned column) const;
    double wide_c(unsigned row, unsigned column) const;
    void set_wide_d(unsigned row, unsigned column, double value);

    /// The 32 elements of one bit from k on.
    std::uint32_t bits_of_a(unsigned row, unsigned k) const;
    std::uint32_t bits_of_b(unsigned k, unsigned column) const;

    /// One of the four products of m8n8k4.
    float quad_a(unsigned quad, unsigned row, unsigned k) const;
    float quad_b(unsigned quad, unsigned k, unsigned column) const;
    float quad_c(unsigned quad, unsigned row, unsigned column) const;
    void set_quad_d(unsigned quad, unsigned row, unsigned column, std::uint32_t bits);

    /// Which k a stored element of A has.
    unsigned k_of(unsigned row, unsigned stored) const;

    void write_d(Warp& warp, const Op& op, LaneMask lanes) const;

  private:
    const MmaPlan& plan_;
    const MmaForm& form_;
    Registers a_, b_, c_, d_;
    Metadata metadata_;
};

} // namespace emu::matrix
