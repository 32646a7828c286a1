#pragma once
/// \file
/// What an instruction multiplies on a tensor core.

#include "hopper_emulator/counters.hpp"
#include "ptx/module.hpp"

#include <cstdint>
#include <optional>

namespace emu {

/// Multiply-adds of one type.
struct Products {
    Counter counter{};
    std::uint32_t of_a_warp = 0; ///< In one execution by a whole warp.
};

/// Of mma, wmma.mma and wgmma.mma_async, by the type of A; nothing for other instructions.
std::optional<Products> products_of(const ptx::Instruction& instruction);

} // namespace emu
