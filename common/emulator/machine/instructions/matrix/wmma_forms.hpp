#pragma once
/// \file
/// Which wmma instructions there are (PTX ISA 9.0, section 9.7.14.4), as the assembler takes them for sm_90.

#include "machine/instructions/matrix/mma_forms.hpp"

namespace emu::matrix {

/// What the modifiers of a wmma.mma say. Throws DecodeError for what is no form.
MmaForm wmma_form(const DecodeContext& context);

/// Which matrix a wmma.load or wmma.store moves.
enum class Matrix : std::uint8_t { a, b, c };

struct FragmentForm {
    MmaForm product; ///< Of which it is a matrix: its shape, and the type of this matrix.
    Matrix matrix = Matrix::a;
    Element type{};
    bool by_column = false;

    unsigned rows() const { return matrix == Matrix::b ? product.k : product.m; }
    unsigned columns() const { return matrix == Matrix::a ? product.k : product.n; }
    unsigned registers() const;
};

/// What the modifiers of a wmma.load or wmma.store say. Throws DecodeError for what is no form.
FragmentForm fragment_form(const DecodeContext& context, bool store);

/// Registers of A and B. Those of f16 are eight, some of them twice or four times the same.
unsigned wmma_registers_of_a(const MmaForm& form);
unsigned wmma_registers_of_b(const MmaForm& form);

} // namespace emu::matrix
