#pragma once
/// \file
/// What is wrong with a tensor map, as a fact; how its bytes are written and changed.

#include "hopper_emulator/tensor_map.hpp"
#include "machine/fact.hpp"

namespace emu {

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

/// The argument which cuTensorMapEncodeTiled or cuTensorMapEncodeIm2col refuses and why, or nothing if it
/// accepts the map (CUDA driver API, on compute capability 9.0).
std::optional<Flaw> tensor_map_error(const TensorMap& map);

/// Writes the bytes of a map without checking it.
void write_tensor_map(const TensorMap& map, std::span<std::byte, tensor_map_bytes> out);

/// Why an H200 ends a copy with this map by an illegal instruction, or nothing if it does not.
/// It looks at less than the driver does, and for loads only at what only loads use.
std::optional<Flaw> tensor_map_fault(const TensorMap& map, bool load, bool im2col = false);

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

} // namespace emu
