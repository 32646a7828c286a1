#pragma once
/// \file
/// Which wmma instructions there are (PTX ISA 9.0, section 9.7.14.4), as the assembler takes them for sm_90.

#include "machine/instructions/matrix/mma_forms.hpp"

namespace emu::matrix {

/// Which of three matrices a wmma.load or wmma.store moves.
enum class Fragment : std::uint8_t { a, b, c };

/// What the modifiers of a wmma.mma say. Throws DecodeError for what is no form.
MmaForm wmma_form(const DecodeContext& context);

/// Registers of a fragment. Those of f16 are eight, some of them twice or four times the same.
unsigned wmma_registers_of_a(const MmaForm& form);
unsigned wmma_registers_of_b(const MmaForm& form);

} // namespace emu::matrix
