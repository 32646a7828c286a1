/// @file matrix_layout.hpp
/// Matrix descriptors: how wgmma is told where a tile lies in shared memory; and which thread holds which
/// element of its result.
///
/// Sources: PTX ISA, 'Asynchronous Warpgroup Level Matrix Instructions': 'Shared Memory Matrix Layout',
/// 'Strides', 'Matrix Descriptor Format', 'Register Fragments'. What an H200 makes of each field is recorded
/// in tests/hardware. Needs no CUDA header; with nvcc all functions are for host and device.
#pragma once

#include "swizzle.hpp"

#include <cstdint>

// No function can do this: nvcc knows the words, other compilers do not. Undefined again below.
#ifdef __CUDACC__
#define WORKBOOK_HOST_DEVICE __host__ __device__
#else
#define WORKBOOK_HOST_DEVICE
#endif

namespace workbook {

// ---- matrix descriptors: where a tile lies ----

inline constexpr int warpgroup_threads = 128;
inline constexpr int wgmma_rows = 64;              ///< of A and D
inline constexpr std::uint32_t wgmma_k_bytes = 32; ///< of a row of A or a column of B, in every type

/// Which dimension of an operand is dense in memory: k, or the other one: m of A, n of B. Elements that are
/// not of 16 bits must be k-major.
enum class Major : std::uint8_t { k, mn };

/// How a tile lies in shared memory, apart from its address. Offsets are bytes, multiples of 16, below 2^18.
/// What they are offsets between (PTX ISA, 'Strides'; lines are rows of A and columns of B):
///
///     tile                   leading                           stride
///     k-major, no swizzle    16 bytes of k to the next 16      8 lines to the next 8
///     k-major, swizzled      not used                          8 lines to the next 8
///     mn-major, no swizzle   8 of k to the next 8              8 lines to the next 8
///     mn-major, swizzled     a width of lines to the next      8 of k to the next 8
struct MatrixLayout {
    std::uint32_t leading = 0;
    std::uint32_t stride = 0;
    Swizzle swizzle = Swizzle::none;
    /// (address / 128) % 8 of where the swizzle's pattern begins. 0 for whatever a tensor copy has brought,
    /// since that swizzles absolute addresses too; other values are for tiles whose writer began the pattern
    /// somewhere else than at a multiple of swizzle_period().
    std::uint32_t base_offset = 0;
};

/// A number of bytes, or an address, as a descriptor has it: in units of 16 bytes, 14 bits.
WORKBOOK_HOST_DEVICE constexpr std::uint64_t descriptor_field(std::uint32_t bytes) {
    return (bytes & 0x3ffff) >> 4;
}

/// The swizzle mode as a descriptor has it: 128 bytes is 1, 64 is 2, 32 is 3. CUtensorMapSwizzle counts the
/// other way.
WORKBOOK_HOST_DEVICE constexpr std::uint64_t descriptor_swizzle(Swizzle mode) {
    return mode == Swizzle::none ? 0 : 4 - static_cast<std::uint64_t>(mode);
}

/// The descriptor of a tile that begins at `address`, a multiple of 16 in the block's shared memory window
/// (PTX ISA, 'Matrix Descriptor Format').
WORKBOOK_HOST_DEVICE constexpr std::uint64_t matrix_descriptor(std::uint32_t address,
                                                               const MatrixLayout& layout) {
    return descriptor_field(address) | descriptor_field(layout.leading) << 16 |
           descriptor_field(layout.stride) << 32 | std::uint64_t{layout.base_offset & 7} << 49 |
           descriptor_swizzle(layout.swizzle) << 62;
}

/// The descriptor of what begins `bytes` later. Nothing else of it changes, so this is one addition.
WORKBOOK_HOST_DEVICE constexpr std::uint64_t advanced(std::uint64_t descriptor, std::uint32_t bytes) {
    return descriptor + (bytes >> 4);
}

/// A tile along k as tensor copies bring it: in panels as wide as the mode, 16 bytes without swizzle, each of
/// `lines` rows of A or columns of B, one panel behind the other.
WORKBOOK_HOST_DEVICE constexpr MatrixLayout k_major(Swizzle mode, std::uint32_t lines) {
    const std::uint32_t unused = 16;
    return {.leading = mode == Swizzle::none ? lines * 16 : unused,
            .stride = 8 * swizzle_width(mode),
            .swizzle = mode};
}

/// How many bytes behind the start of such a tile the k-th multiplication begins. Within a panel that is 32
/// bytes for each: the pattern of the swizzle depends on bits 7 and up of the address, which stay the same.
WORKBOOK_HOST_DEVICE constexpr std::uint32_t k_major_step(Swizzle mode, std::uint32_t lines,
                                                          std::uint32_t k) {
    const std::uint32_t byte = k * wgmma_k_bytes;
    return byte / swizzle_width(mode) * lines * swizzle_width(mode) + byte % swizzle_width(mode);
}

/// A tile across k, as tensor copies bring it: panels as wide as the mode (16 bytes without swizzle), now
/// along m or n, each of `depth` rows, one for each k.
WORKBOOK_HOST_DEVICE constexpr MatrixLayout mn_major(Swizzle mode, std::uint32_t depth) {
    const std::uint32_t panel = depth * swizzle_width(mode);
    const std::uint32_t eight_k = 8 * swizzle_width(mode);
    return mode == Swizzle::none ? MatrixLayout{.leading = eight_k, .stride = panel}
                                 : MatrixLayout{.leading = panel, .stride = eight_k, .swizzle = mode};
}

/// How many bytes behind the start of such a tile of 16-bit elements the k-th multiplication begins.
WORKBOOK_HOST_DEVICE constexpr std::uint32_t mn_major_step(Swizzle mode, std::uint32_t k) {
    return k * 16 * swizzle_width(mode);
}

// ---- which element is where ----

/// The row of D that thread `thread` of its warpgroup holds as its i-th accumulator: 0 to 63.
WORKBOOK_HOST_DEVICE constexpr int accumulator_row(int thread, int i) {
    return thread / 32 * 16 + thread % 32 / 4 + i / 2 % 2 * 8;
}

/// The column of D of the same accumulator: 0 to N - 1 for i from 0 to N / 2 - 1.
WORKBOOK_HOST_DEVICE constexpr int accumulator_column(int thread, int i) {
    return i / 4 * 8 + thread % 4 * 2 + i % 2;
}

} // namespace workbook

#undef WORKBOOK_HOST_DEVICE
