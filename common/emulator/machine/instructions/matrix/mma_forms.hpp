#pragma once
/// \file
/// Which mma instructions there are (PTX ISA 9.0, sections 9.7.14.5 and 9.7.14.6), as the assembler takes
/// them for sm_90.

#include "machine/decoder.hpp"
#include "machine/instructions/matrix/formats.hpp"
#include "machine/instructions/rounding.hpp"

namespace emu::matrix {

enum class BitOperation : std::uint8_t { none, exclusive_or, conjunction };

/// What the modifiers of an mma or mma.sp say.
struct MmaForm {
    unsigned m = 0, n = 0, k = 0;
    Element d{}, a{}, b{}, c{};
    bool a_by_column = false, b_by_row = false; ///< m8n8k4 of f16 alone.
    bool sparse = false;
    bool saturate = false; ///< .satfinite
    BitOperation bits = BitOperation::none;
    Rounding rounding = Rounding::nearest;

    /// Elements of A in a row: half of them where A is sparse.
    unsigned stored_k() const { return sparse ? k / 2 : k; }
    /// m8n8k4 of f16: four products at once.
    bool is_quad() const { return k == 4 && a == Element::f16; }
    /// wmma of 8 rows and 32 columns, which is the product of the transposed matrices.
    bool turned() const { return n == 32; }
    unsigned registers_of_a() const;
    unsigned registers_of_b() const;
    unsigned registers_of(Element accumulator) const;
};

/// Floating-point factors that a tensor core adds as one sum (fused_sum.hpp).
inline bool is_tensor_float(const MmaForm& form) {
    return !is_integer(form.a) && form.a != Element::f64 && !form.is_quad();
}

/// Throws DecodeError for what is no form.
MmaForm mma_form(const DecodeContext& context);

} // namespace emu::matrix
