#pragma once
/// \file
/// Which lane holds which element of the matrices of a warp (PTX ISA 9.0, section 9.7.14.5). Lane 4 g + t is
/// thread t of group g.

#include <cstdint>

namespace emu::matrix {

/// Where an element is: bits `shift` and above of register `index` of a lane.
struct Place {
    unsigned index = 0, lane = 0, shift = 0;
};

/// A of `height` 8 or 16 rows, in elements of `bits`. Four threads hold 16 bytes of a row in as many
/// registers, then comes the row 8 below, then the next 16 bytes of both.
constexpr Place place_in_a(unsigned height, unsigned bits, unsigned row, unsigned k) {
    const unsigned in_register = bits < 32 ? 32 / bits : 1, in_group = 4 * in_register;
    const unsigned index = k / in_group * (height / 8) + row / 8;
    return {index, 4 * (row % 8) + k % in_group / in_register, k % in_register * bits};
}

constexpr Place place_in_b(unsigned bits, unsigned k, unsigned column) {
    const unsigned in_register = bits < 32 ? 32 / bits : 1, in_group = 4 * in_register;
    return {k / in_group, 4 * column + k % in_group / in_register, k % in_register * bits};
}

/// C and D: two columns a thread, in one register where two elements fit.
constexpr Place place_in_c(unsigned bits, unsigned row, unsigned column) {
    const unsigned lane = 4 * (row % 8) + column / 2;
    if (bits == 16)
        return {row / 8, lane, 16 * (column % 2)};
    return {2 * (row / 8) + column % 2, lane, 0};
}

/// Four products at once, each in eight lanes: lanes 4 q to 4 q + 3, and those 16 higher.
namespace quad_pairs {

constexpr unsigned lane_of(unsigned quad, unsigned thread, bool upper) {
    return 4 * quad + thread + (upper ? 16 : 0);
}

/// A (row, k) stored by rows, and B (k, column) stored by columns, when `along` is k.
constexpr Place place_in_factor(bool k_is_along, unsigned quad, unsigned line, unsigned k) {
    const unsigned thread = k_is_along ? line % 4 : k, element = k_is_along ? k : line % 4;
    return {element / 2, lane_of(quad, thread, line >= 4), 16 * (element % 2)};
}

constexpr Place place_in_c(unsigned bits, unsigned quad, unsigned row, unsigned column) {
    if (bits == 16)
        return {column / 2, lane_of(quad, row % 4, row >= 4), 16 * (column % 2)};
    return {(column & 4) | (row & 2) | (column & 1), lane_of(quad, (row & 1) | (column & 2), row >= 4), 0};
}

} // namespace quad_pairs

} // namespace emu::matrix
