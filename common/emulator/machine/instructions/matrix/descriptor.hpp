#pragma once
/// \file
/// Descriptors of matrices in shared memory (PTX ISA 9.0, section 9.7.15.5.1): where the elements of a tile
/// of wgmma lie. What the manual leaves open is as an H200 has it (tests/hardware).

#include <cstdint>

namespace emu::matrix {

/// The mode in which 16-byte units change places, from bits 62 and 63.
enum class Swizzle : std::uint8_t { none, bytes_128, bytes_64, bytes_32 };

constexpr std::uint32_t unit_bytes = 16;

/// The fields of a descriptor, in bytes.
struct Descriptor {
    std::uint32_t start = 0;
    std::uint32_t leading = 0; ///< "Leading dimension byte offset".
    std::uint32_t stride = 0;  ///< "Stride dimension byte offset".
    unsigned base_offset = 0;  ///< By how many rows of 128 bytes the pattern is displaced.
    Swizzle swizzle = Swizzle::none;

    explicit constexpr Descriptor(std::uint64_t bits)
        : start(field(bits, 0)), leading(field(bits, 16)), stride(field(bits, 32)),
          base_offset(bits >> 49 & 7), swizzle(static_cast<Swizzle>(bits >> 62)) {}

    /// Bytes of a line of the pattern.
    constexpr std::uint32_t pitch() const {
        constexpr std::uint32_t of[] = {16, 128, 64, 32};
        return of[static_cast<unsigned>(swizzle)];
    }

    /// Width of the pattern in which units change places, 0 for none.
    constexpr std::uint32_t pattern_bytes() const { return swizzle == Swizzle::none ? 0 : pitch(); }

    /// Where a unit of a line lies that runs along k: byte 16 · `unit` of a row of A or of a column of B.
    constexpr std::uint32_t unit_along_k(unsigned line, unsigned unit) const {
        const std::uint32_t in_core = line % 8 * pitch() + line / 8 * stride;
        return swizzled(start + in_core + (swizzle == Swizzle::none ? unit * leading : unit * unit_bytes));
    }

    /// Where a unit of eight 16-bit elements lies that runs along M or N: those of k from line 8 · `unit` on.
    constexpr std::uint32_t unit_along_lines(unsigned k, unsigned unit) const {
        const unsigned per_row = pitch() / unit_bytes;
        const bool plain = swizzle == Swizzle::none;
        const std::uint32_t along = plain ? stride : leading, across = plain ? leading : stride;
        return swizzled(start + k % 8 * pitch() + unit % per_row * unit_bytes + unit / per_row * along +
                        k / 8 * across);
    }

  private:
    static constexpr std::uint32_t field(std::uint64_t bits, unsigned from) {
        return static_cast<std::uint32_t>(bits >> from & 0x3fff) << 4;
    }
    /// Rows count from the beginning of shared memory, not from that of the tile.
    constexpr std::uint32_t swizzled(std::uint32_t address) const {
        constexpr std::uint32_t masks[] = {0, 7, 3, 1};
        const std::uint32_t row = (address >> 7) - base_offset;
        return address ^ (row & masks[static_cast<unsigned>(swizzle)]) << 4;
    }
};

} // namespace emu::matrix
