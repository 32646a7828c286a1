#pragma once
/// \file
/// Operands for products of matrices, made from a number alone. They are words for registers: which element
/// of a matrix one is does not matter here.

#include "matrix_forms.hpp"

#include <span>

namespace hardware {

/// Products from here on are directed at edges: of types, of where terms are cut, of results.
constexpr std::uint64_t first_directed = std::uint64_t{1} << 32;

/// Fills `words`, as many as the form has input words.
void fill_inputs(const MatrixForm& form, std::uint64_t problem, std::span<std::uint32_t> words);

/// Memory for pass `pass` of a wmma.load: element i holds i, or the `pass`-th bits of i where i does not fit.
void fill_elements(const MatrixForm& form, unsigned pass, std::span<std::uint32_t> words);
unsigned passes_of_load(const MatrixForm& form);

} // namespace hardware
