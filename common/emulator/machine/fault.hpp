#pragma once
/// \file
/// The errors by which a GPU ends a kernel.

#include "hopper_emulator/findings.hpp"

namespace emu {

/// The error of an H200 for shared memory of a block that the cluster does not have.
constexpr Fault fault_of_rank(unsigned rank) {
    constexpr unsigned largest_cluster = 16;
    return rank < largest_cluster ? Fault::launch_failure : Fault::illegal_instruction;
}

} // namespace emu
