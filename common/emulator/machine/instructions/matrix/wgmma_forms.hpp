#pragma once
/// \file
/// Which wgmma.mma_async instructions there are (PTX ISA 9.0, sections 9.7.15.5.2 and 9.7.15.6.2), as the
/// assembler takes them for sm_90a.

#include "machine/decoder.hpp"
#include "machine/instructions/matrix/formats.hpp"

namespace emu::matrix {

/// Warps of a warpgroup, and the rows of D that each of them holds.
inline constexpr unsigned warpgroup_warps = 4, warp_rows = 16;
/// What A's stored elements take in a row, in every form.
inline constexpr unsigned bytes_of_a_row = 32;

/// What the modifiers and the immediate operands of a wgmma.mma_async say.
struct WgmmaForm {
    unsigned n = 0, k = 0;
    Element d{}, a{}, b{};
    bool sparse = false;
    bool saturate = false;       ///< .satfinite
    bool a_in_registers = false; ///< Else in shared memory, as B always is.
    bool negate_a = false, negate_b = false;
    bool a_by_column = false, b_by_row = false; ///< "MN-major" in shared memory.

    /// Elements of A in a row: half of them where A is sparse.
    unsigned stored_k() const { return sparse ? k / 2 : k; }
    unsigned bytes_of_b_line() const { return k * bits_of(b) / 8; }
    /// Of D, in each thread.
    unsigned registers_of_d() const { return d == Element::f16 ? n / 4 : n / 2; }
};

/// Without the immediate operands. Throws DecodeError for what is no form.
WgmmaForm wgmma_form(const DecodeContext& context);

} // namespace emu::matrix
