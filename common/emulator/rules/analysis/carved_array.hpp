#pragma once
/// \file
/// Arrays that a program lays out itself in its dynamic shared memory.

#include "machine/program.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace emu::check {

/// From where on an access counts.
struct CarvedArray {
    std::int64_t begin = 0; ///< Bytes behind the begin of dynamic shared memory, of what is constant.
};
/// Of a load or store; nothing if its address was not computed from dynamic shared memory.
std::optional<CarvedArray> carved_array(const Kernel& kernel, std::uint32_t pc);

/// The name in front of the brackets in a line of source, if there is one and the same everywhere; else "".
std::string only_array_of(const std::string& line);

} // namespace emu::check
