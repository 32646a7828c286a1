#pragma once
/// \file
/// The tensor map (CUtensorMap, PTX ISA 5.5.8): what cuTensorMapEncodeTiled writes and tensor copies read.
/// The 128 bytes are opaque to programs, and NVIDIA's layout is not published: this is a layout of our own.
/// Numbers of types and modes are those of the driver API's enumerations. No CUDA header is needed.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

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
};

/// Bytes of one element; 0 for the packed types of compute capability 10.0.
unsigned element_bytes(TensorType type);
bool is_floating(TensorType type);
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

/// One line that names the argument which cuTensorMapEncodeTiled refuses and why, or nothing if it accepts
/// the map (CUDA driver API, cuTensorMapEncodeTiled, on compute capability 9.0).
std::optional<std::string> tensor_map_error(const TensorMap& map);

/// Checks the map and writes its 128 bytes. Returns tensor_map_error(map); on an error nothing is written.
std::optional<std::string> encode_tensor_map(const TensorMap& map,
                                             std::span<std::byte, tensor_map_bytes> out);

/// Writes the bytes of a map without checking it (tensormap.replace may pass through invalid states). Values
/// that do not fit the layout are cut as hardware would.
void write_tensor_map(const TensorMap& map, std::span<std::byte, tensor_map_bytes> out);

/// The map in these bytes, or nothing if they do not come from write_tensor_map.
std::optional<TensorMap> read_tensor_map(std::span<const std::byte, tensor_map_bytes> bytes);

} // namespace emu
