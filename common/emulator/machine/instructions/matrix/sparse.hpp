#pragma once
/// \file
/// Which elements of a sparse A are stored (PTX ISA 9.0, sections 9.7.14.6.1 and 9.7.15.6.1).

#include "machine/instructions/matrix/formats.hpp"
#include "machine/lanes.hpp"

#include <array>

namespace emu::matrix {

/// The metadata of 16 rows of A in the lanes of a warp.
struct Metadata {
    Element type{};
    unsigned stored = 0;   ///< Elements in a row of A.
    unsigned selector = 0; ///< Which lanes of each group of four hold it.
    std::array<std::uint32_t, warp_size> bits{};

    /// Lanes of a group of four that hold the metadata of a row.
    static unsigned lanes(Element type, unsigned stored);
    /// Which k a stored element of A has.
    unsigned k_of(unsigned row, unsigned stored_element) const;
};

} // namespace emu::matrix
