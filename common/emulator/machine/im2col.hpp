#pragma once
/// \file
/// The pixels that a tensor copy in im2col mode moves (PTX ISA 5.5.4).

#include "hopper_emulator/address.hpp"
#include "machine/tensor_map.hpp"

#include <optional>
#include <vector>

namespace emu {

/// The dimension of the tensor that belongs to dimension i of the pixel box: channels lie before them, but
/// for interleaved ones, which lie behind.
constexpr std::size_t box_dimension(const TensorMap& map, std::size_t i) {
    return map.interleave == TensorInterleave::none ? i + 1 : i;
}

/// The least and the greatest coordinate that a column may begin at in dimension i of the pixel box.
struct BoxEdges {
    std::int64_t first, last;
};
BoxEdges box_edges(const TensorMap& map, std::size_t i);

/// Where the rows of a column of pixels lie in the tensor: element 0 of dimension 0, or nothing for a pixel
/// outside the tensor. `start` is the first pixel without the offsets, which move every pixel, not the box.
std::vector<std::optional<Address>> im2col_rows(const TensorMap& map,
                                                const std::array<std::int32_t, 5>& start,
                                                const std::array<std::uint16_t, 3>& offsets);

} // namespace emu
