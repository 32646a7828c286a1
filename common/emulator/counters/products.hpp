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
    /// What a wgmma reads from shared memory: rows of A for each warp, unless registers have them, and B for
    /// the four warps together.
    std::uint32_t bytes_of_a = 0, bytes_of_b = 0;
};

/// Of mma, wmma.mma and wgmma.mma_async, by the type of A; nothing for other instructions.
std::optional<Products> products_of(const ptx::Instruction& instruction);

} // namespace emu
