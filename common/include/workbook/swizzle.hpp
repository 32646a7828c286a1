/// @file swizzle.hpp
/// Where a tensor copy puts each byte of a tile under the three swizzle modes of Hopper.
///
/// The hardware moves chunks of 16 bytes. It takes bits 7 and up of a byte's ABSOLUTE address in shared
/// memory (which 128-byte line it lies in) and XORs them into bits 4 and up (which chunk of the line it is):
///
///     mode        bits 4 to ...  are XORed with  = CUTLASS        pattern repeats every
///     32 bytes    4              7               Swizzle<1,4,3>   256 bytes
///     64 bytes    4, 5           7, 8            Swizzle<2,4,3>   512 bytes
///     128 bytes   4, 5, 6        7, 8, 9         Swizzle<3,4,3>   1024 bytes
///
/// Bits 7 and up stay as they are, so that the same function leads there and back.
///
/// Before that XOR, each row of the box lies one width of the mode (32, 64 or 128 bytes) behind the one
/// before, also where the rows are narrower: 16 bytes a row under the 128-byte mode take one chunk of every
/// 128-byte line, and the copy leaves the other seven untouched. The tile then takes more shared memory than
/// the copy counts on its barrier. Sources: PTX ISA, 'Tensor Swizzling Modes'; CUDA C++ Programming Guide,
/// 'TMA Swizzle' and 'The Swizzle Modes'; what an H200 did is recorded in tests/hardware/tensor_copies.txt.
/// Needs no CUDA header; with nvcc all functions are for host and device.
#pragma once

#include <cstddef>
#include <cstdint>

// No function can do this: nvcc knows the words, other compilers do not. Undefined again below.
#ifdef __CUDACC__
#define WORKBOOK_HOST_DEVICE __host__ __device__
#else
#define WORKBOOK_HOST_DEVICE
#endif

namespace workbook {

/// The swizzle modes, numbered as CUtensorMapSwizzle.
enum class Swizzle : std::uint8_t { none, bytes32, bytes64, bytes128 };

inline constexpr std::uint32_t swizzle_chunk_bytes = 16; ///< what moves as one
inline constexpr std::uint32_t shared_banks = 32;        ///< of 4 bytes each

/// How many neighbouring chunks change places with each other: 1 (none do), 2, 4 or 8.
WORKBOOK_HOST_DEVICE constexpr std::uint32_t swizzle_chunks(Swizzle mode) {
    return std::uint32_t{1} << static_cast<unsigned>(mode);
}

/// Their size in bytes, which the inner dimension of a box must not exceed: 32, 64 or 128; 16 without
/// swizzle, where a box may be wider.
WORKBOOK_HOST_DEVICE constexpr std::uint32_t swizzle_width(Swizzle mode) {
    return swizzle_chunks(mode) * swizzle_chunk_bytes;
}

/// Bytes after which the pattern repeats: 256, 512 or 1024. A tile aligned to it begins where the pattern
/// begins. Without swizzle 128, the alignment that every tensor copy wants of its tile.
WORKBOOK_HOST_DEVICE constexpr std::uint32_t swizzle_period(Swizzle mode) {
    return swizzle_chunks(mode) * 128;
}

/// Bytes from one row of a box to the next in shared memory: `row_bytes` without swizzle, else the width of
/// the mode, however narrow the row is.
WORKBOOK_HOST_DEVICE constexpr std::uint32_t box_row_pitch(std::uint32_t row_bytes, Swizzle mode) {
    return mode == Swizzle::none ? row_bytes : swizzle_width(mode);
}

/// The address in shared memory of the byte that would be at `address` without swizzle. `address` is absolute
/// (of the shared window), or an offset within a tile that is aligned to swizzle_period(mode).
WORKBOOK_HOST_DEVICE constexpr std::uint32_t swizzled_address(std::uint32_t address, Swizzle mode) {
    const std::uint32_t line = address / 128;
    return address ^ (line % swizzle_chunks(mode) * swizzle_chunk_bytes);
}

/// The same for the tile of a box, whose rows lie swizzle_width(mode) apart, and which is aligned to
/// swizzle_period(mode): the place in its row of the chunk number `chunk` of row `row`. A 128-byte line holds
/// 1, 2 or 4 rows; rows that share a line share the XOR.
WORKBOOK_HOST_DEVICE constexpr std::uint32_t swizzled_chunk(std::uint32_t row, std::uint32_t chunk,
                                                            Swizzle mode) {
    const std::uint32_t row_group = row * swizzle_width(mode) / 128;
    return chunk ^ (row_group % swizzle_chunks(mode));
}

/// The index in such a tile of element (row, column), for elements of type T, whose size divides 16.
template <class T>
WORKBOOK_HOST_DEVICE constexpr std::uint32_t swizzled_index(std::uint32_t row, std::uint32_t column,
                                                            Swizzle mode) {
    static_assert(swizzle_chunk_bytes % sizeof(T) == 0, "an element must not straddle two chunks");
    constexpr std::uint32_t per_chunk = swizzle_chunk_bytes / sizeof(T);
    const std::uint32_t first = row * (swizzle_width(mode) / sizeof(T));
    return first + swizzled_chunk(row, column / per_chunk, mode) * per_chunk + column % per_chunk;
}

/// The bank of shared memory that holds the byte at an absolute address.
WORKBOOK_HOST_DEVICE constexpr std::uint32_t bank_of(std::uint32_t address) {
    return address / 4 % shared_banks;
}

} // namespace workbook

#undef WORKBOOK_HOST_DEVICE
