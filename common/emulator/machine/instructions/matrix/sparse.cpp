#include "machine/instructions/matrix/sparse.hpp"

namespace emu::matrix {
namespace {

/// Elements that one index of the metadata is for.
unsigned together_in(Element type) { return bits_of(type) == 4 ? 2 : 1; }
/// Elements that one digit of the metadata is for.
unsigned stored_in_chunk(Element type) { return type == Element::tf32 ? 1 : 2 * together_in(type); }

} // namespace

unsigned Metadata::lanes(Element type, unsigned stored) { return stored / stored_in_chunk(type) / 4; }

// Of four places of a row (of two of tf32, of eight of 4-bit integers, in pairs) two are stored; a digit of
// the metadata says which. A lane holds eight digits: four of a row and four of the row 8 below, or, of types
// of 8 bits and less, all of one row, and the next lane those of the row 8 below.
unsigned Metadata::k_of(unsigned row, unsigned stored_element) const {
    const unsigned together = together_in(type), in_chunk = stored_in_chunk(type);
    const unsigned chunk = stored_element / in_chunk, within = stored_element % in_chunk;
    const unsigned first = 4 * (row % 8) + selector * lanes(type, stored), upper = row / 8;
    const std::uint32_t digit = bits_of(type) >= 16
                                    ? bits[first + chunk / 4] >> (16 * upper + 4 * (chunk % 4)) & 0xf
                                    : bits[first + chunk / 8 * 2 + upper] >> 4 * (chunk % 8) & 0xf;
    if (type == Element::tf32)
        return 2 * chunk + (digit & 3) / 2;
    return 2 * in_chunk * chunk + together * (digit >> (2 * (within / together)) & 3) + within % together;
}

} // namespace emu::matrix
