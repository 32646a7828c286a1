#pragma once
/// \file
/// The pixels that a tensor copy in im2col mode moves (PTX ISA 5.5.4).

#include "hopper_emulator/address.hpp"
#include "machine/tensor_map.hpp"

#include <optional>
#include <vector>

namespace emu {

/// Where the rows of a column of pixels lie in the tensor: element 0 of dimension 0, or nothing for a pixel
/// outside the tensor. `start` is the first pixel without the offsets, which move every pixel, not the box.
std::vector<std::optional<Address>> im2col_rows(const TensorMap& map,
                                                const std::array<std::int32_t, 5>& start,
                                                const std::array<std::uint16_t, 3>& offsets);

} // namespace emu
