#pragma once
/// \file
/// The tensor map (CUtensorMap, PTX ISA 5.5.8): what cuTensorMapEncodeTiled writes and tensor copies read.
/// The 128 bytes are opaque to programs, but some change bits of them: they are those that the driver of an
/// H200 writes (580.159.04), and mean what they mean to an H200. tests/hardware/tensor_maps.txt holds its
/// maps; the fields of the first 64 bytes are also in NVIDIA's public attention kernels, fmha_v2,
/// src/fmha/hopper/tma_types.h and tma_descriptor.h. Numbers of types and modes are those of the driver
/// API's enumerations. No CUDA header is needed.

#include "machine/fact.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace emu {

inline constexpr std::size_t tensor_map_bytes = 128;
inline constexpr std::size_t tensor_map_alignment = 64;

/// CUtensorMapDataType.
enum class TensorType : std::uint8_t {
    u8,
    u16,
    u32,
    s32,
    u64,
    s64,
    f16,
    f32,
    f64,
    bf16,
    f32_ftz,
    tf32,
    tf32_ftz,
    u4x16_align8, ///< This and the following need compute capability 10.0.
    u4x16_align16,
    u6x16_align16,
    none = 255, ///< Bits that stand for no type.
};

/// CUtensorMapInterleave.
enum class TensorInterleave : std::uint8_t { none, bytes16, bytes32 };

/// CUtensorMapSwizzle.
enum class TensorSwizzle : std::uint8_t {
    none,
    bytes32,
    bytes64,
    bytes128,
    bytes128_atom32, ///< This and the following need compute capability 10.0.
    bytes128_atom32_flip8,
    bytes128_atom64,
};

/// The arguments of cuTensorMapEncodeTiled; arrays innermost dimension first.
struct TensorMap {
    TensorType type = TensorType::u8;
    std::uint32_t rank = 1;                         ///< 1 to 5.
    std::uint64_t address = 0;                      ///< Global address of the tensor.
    std::array<std::uint64_t, 5> dims{};            ///< Elements.
    std::array<std::uint64_t, 4> strides{};         ///< Bytes between neighbours in dimension i + 1.
    std::array<std::uint32_t, 5> box{};             ///< Elements traversed.
    std::array<std::uint32_t, 5> element_strides{}; ///< Step of the traversal.
    TensorInterleave interleave = TensorInterleave::none;
    TensorSwizzle swizzle = TensorSwizzle::none;
    std::uint8_t l2_promotion = 0; ///< CUtensorMapL2promotion, 0 to 3. No effect here.
    std::uint8_t oob_fill = 0;     ///< CUtensorMapFloatOOBfill: 0 zeros, 1 NaN.
    bool im2col = false;           ///< A map for im2col mode.
    bool rounds_other = false;     ///< Asks for rounding to TF32 though the elements are no 32-bit floats.
};

/// Bytes of one element; 0 for the packed types of compute capability 10.0.
unsigned element_bytes(TensorType type);
bool is_floating(TensorType type);
/// Bytes that a coordinate of dimension 0 counts: an element, or a group of an interleaved layout.
unsigned coordinate_bytes(const TensorMap& map);
/// Spelling for messages, e.g. "FLOAT32".
const char* name_of(TensorType type);

/// Width of a swizzle pattern in bytes, 0 for none.
unsigned swizzle_bytes(TensorSwizzle swizzle);

/// Where the byte at a shared address lies under a swizzle mode: hardware XORs bits of the absolute address.
/// In the 128-byte mode bits 4 to 6 are XORed with bits 7 to 9, in the 64-byte mode bits 4 and 5 with bits 7
/// and 8, in the 32-byte mode bit 4 with bit 7 (CUDA programming guide, "TMA swizzle").
constexpr std::uint32_t swizzled(std::uint32_t address, TensorSwizzle swizzle) {
    const std::uint32_t mask = swizzle == TensorSwizzle::bytes128  ? 7
                               : swizzle == TensorSwizzle::bytes64 ? 3
                               : swizzle == TensorSwizzle::bytes32 ? 1
                                                                   : 0;
    return address ^ (((address >> 7) & mask) << 4);
}

/// Bytes of the box if each element stride is stepped only as often as it fits. The driver limits this number
/// and writes it into the map; a copy moves the last, partial step as well.
std::uint64_t bytes_in_whole_steps(const TensorMap& map);

/// The argument which cuTensorMapEncodeTiled refuses and why, or nothing if it accepts the map (CUDA driver
/// API, cuTensorMapEncodeTiled, on compute capability 9.0).
std::optional<Flaw> tensor_map_error(const TensorMap& map);

/// Checks the map and writes its 128 bytes. Returns tensor_map_error(map); on an error nothing is written.
std::optional<Flaw> encode_tensor_map(const TensorMap& map, std::span<std::byte, tensor_map_bytes> out);

/// Writes the bytes of a map without checking it.
void write_tensor_map(const TensorMap& map, std::span<std::byte, tensor_map_bytes> out);

/// What the bytes mean to the hardware; any bytes mean something. Bits without a field do not matter.
TensorMap read_tensor_map(std::span<const std::byte, tensor_map_bytes> bytes);

/// Why an H200 ends a copy with this map by an illegal instruction, or nothing if it does not.
/// It looks at less than the driver does, and for loads only at what only loads use.
std::optional<Flaw> tensor_map_fault(const TensorMap& map, bool load);

/// Whether the bits without a field and the words that the hardware does not look at are as the driver writes
/// them: what is no map is most likely not so.
bool looks_encoded(std::span<const std::byte, tensor_map_bytes> bytes);

/// The fields that tensormap.replace changes (PTX ISA 9.7.9.28).
enum class TensorMapField : std::uint8_t {
    global_address,
    rank, ///< One less than the rank.
    box_dim,
    global_dim,
    global_stride,
    element_stride,
    elemtype, ///< In PTX's numbering.
    interleave_layout,
    swizzle_mode,
    fill_mode,
};

/// Changes the bits of one field and no other; what does not fit is cut.
void replace_in_tensor_map(std::span<std::byte, tensor_map_bytes> bytes, TensorMapField field,
                           unsigned dimension, std::uint64_t value);

/// Changes the address as cuTensorMapReplaceAddress does: the upper 7 bits stay.
void replace_tensor_map_address(std::span<std::byte, tensor_map_bytes> bytes, std::uint64_t address);

} // namespace emu
