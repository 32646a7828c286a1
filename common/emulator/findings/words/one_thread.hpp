#pragma once
/// \file
/// How a program chooses one thread of a block.

#include "hopper_emulator/dim3.hpp"

#include <string>

namespace emu::check {

/// "if (threadIdx.x == 0)": names one thread of such a block, and not one of each row.
inline std::string one_thread_of(const Dim3& block) {
    std::string condition = "threadIdx.x == 0";
    if (block.y > 1)
        condition += " && threadIdx.y == 0";
    if (block.z > 1)
        condition += " && threadIdx.z == 0";
    return "if (" + condition + ")";
}

} // namespace emu::check
