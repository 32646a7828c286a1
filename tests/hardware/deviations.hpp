#pragma once
/// \file
/// Where an H200, or the assembler that made its machine code, does not do what the PTX manual says, and the
/// emulator stays with the manual.

#include "random_program.hpp"

#include <span>
#include <string_view>
#include <vector>

namespace hardware {

struct Deviation {
    std::string_view pattern;  ///< A regular expression for the instruction.
    std::string_view producer; ///< And for one whose result it reads, if it deviates only then.
    std::string_view what;
};

std::span<const Deviation> deviations();

/// For each instruction, whether its results can be compared: neither it nor one whose result it needs
/// deviates.
std::vector<bool> comparable(const RandomProgram& program);

} // namespace hardware
