#pragma once
/// \file
/// The tensor map (CUtensorMap, PTX ISA 5.5.8): what cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col write
/// and tensor copies read.
/// The 128 bytes are opaque to programs, but some change bits of them: they are those that the driver of an
/// H200 writes (580.159.04), and mean what they mean to an H200. tests/hardware/tensor_maps.txt and
/// im2col.txt hold its maps; the fields of the first 64 bytes are also in NVIDIA's public attention kernels,
/// fmha_v2, src/fmha/hopper/tma_types.h and tma_descriptor.h. Numbers of types and modes are those of the
/// driver API's enumerations. No CUDA header is needed.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#pragma GCC visibility push(default)
namespace emu {

inline constexpr std::size_t tensor_map_bytes = 128;    ///< Size of a map.
inline constexpr std::size_t tensor_map_alignment = 64; ///< Bytes, where a kernel uses it.

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

/// The arguments of cuTensorMapEncodeTiled or, if `im2col`, of cuTensorMapEncodeIm2col; arrays innermost
/// dimension first.
struct TensorMap {
    TensorType type = TensorType::u8;                     ///< Of the elements.
    std::uint32_t rank = 1;                               ///< 1 to 5.
    std::uint64_t address = 0;                            ///< Global address of the tensor.
    std::array<std::uint64_t, 5> dims{};                  ///< Elements.
    std::array<std::uint64_t, 4> strides{};               ///< Bytes between neighbours in dimension i + 1.
    std::array<std::uint32_t, 5> box{};                   ///< Elements traversed. Im2col: channels per pixel.
    std::array<std::uint32_t, 5> element_strides{};       ///< Step of the traversal.
    TensorInterleave interleave = TensorInterleave::none; ///< Of groups of elements in global memory.
    TensorSwizzle swizzle = TensorSwizzle::none;          ///< Of 16-byte pieces in shared memory.
    std::uint8_t l2_promotion = 0;                        ///< CUtensorMapL2promotion, 0 to 3. No effect here.
    std::uint8_t oob_fill = 0;                            ///< CUtensorMapFloatOOBfill: 0 zeros, 1 NaN.
    bool im2col = false;                                  ///< A map for im2col mode.
    std::array<std::int32_t, 3> lower_corner{};           ///< Im2col: pixelBoxLowerCorner.
    std::array<std::int32_t, 3> upper_corner{};           ///< Im2col: pixelBoxUpperCorner.
    std::uint32_t pixels_per_column = 0;                  ///< Im2col.
    bool rounds_other = false; ///< Asks for rounding to TF32 though the elements are no 32-bit floats.
};

/// Checks the map and writes its 128 bytes. Returns nothing, or one line that names the argument which
/// cuTensorMapEncodeTiled or cuTensorMapEncodeIm2col refuses, and why (CUDA driver API, on compute
/// capability 9.0); then nothing is written.
std::optional<std::string> encode_tensor_map(const TensorMap& map,
                                             std::span<std::byte, tensor_map_bytes> out);

/// What the bytes mean to the hardware; any bytes mean something. Bits without a field do not matter.
TensorMap read_tensor_map(std::span<const std::byte, tensor_map_bytes> bytes);

/// Changes the address as cuTensorMapReplaceAddress does: the upper 7 bits stay.
void replace_tensor_map_address(std::span<std::byte, tensor_map_bytes> bytes, std::uint64_t address);

} // namespace emu
#pragma GCC visibility pop
