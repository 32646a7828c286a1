#pragma once
/// \file
/// The errors by which a GPU ends a kernel.

#include <cstdint>

namespace emu {

/// The CUDA error that ends a launch. The CUDA libraries translate it; the machine does not know their
/// numbers.
enum class Fault : std::uint8_t {
    none,
    launch_failure,
    illegal_address,
    misaligned_address,
    illegal_instruction,
    assert_failed,
    trap,
    invalid_address_space,
    invalid_pc,
    timeout,
};

/// The error of an H200 for shared memory of a block that the cluster does not have.
constexpr Fault fault_of_rank(unsigned rank) {
    constexpr unsigned largest_cluster = 16;
    return rank < largest_cluster ? Fault::launch_failure : Fault::illegal_instruction;
}

} // namespace emu
