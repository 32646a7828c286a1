#pragma once
/// \file
/// Random straight-line PTX programs with random inputs: the same for a seed on every machine.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace hardware {

/// Threads of the one block that runs a program; each has inputs of its own.
inline constexpr std::size_t threads = 128;

/// One program. Its kernel `program(inputs, results)` takes two arrays of 8-byte slots in global memory,
/// indexed [value][thread]; a value occupies the low bytes of its slot.
struct RandomProgram {
    std::string ptx;
    std::vector<std::string> instructions; ///< In order; each makes one result.
    std::vector<std::uint64_t> inputs;
    std::string kinds;                           ///< Of the results; see Instruction::kinds.
    std::vector<std::vector<std::size_t>> needs; ///< The instructions whose results each reads.
};

/// The program of `seed`, with `length` instructions.
RandomProgram random_program(std::uint64_t seed, std::size_t length);

/// The slot of a result with each NaN replaced by one NaN, since PTX leaves its sign and payload open.
std::uint64_t canonical(std::uint64_t slot, char kind);

} // namespace hardware
