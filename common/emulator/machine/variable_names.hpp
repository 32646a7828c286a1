#pragma once
/// \file
/// What lies at a byte of a variable, as C++ names it where the program has debug information.

#include "machine/program.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace emu {

/// A variable's name as the source has it, without the function that it stands in.
std::string plain_name(std::string_view symbol);

/// A byte of a variable: "sm.full[0]", else "sm + 1792", or "sm" for its first one.
std::string byte_name(const Program& program, std::string_view symbol, std::uint64_t size,
                      std::uint64_t offset);

/// A byte of dynamic shared memory, if the kernel names that memory by one variable only and its type says
/// more than bytes: "row[3].y" of `extern __shared__ float4 row[]`.
std::optional<std::string> dynamic_byte_name(const Kernel& kernel, std::uint64_t offset);

/// A byte of an allocation that has a name, which is a variable of the program or of another one.
std::string global_byte_name(const Program& program, const Allocation& allocation, std::uint64_t offset);

} // namespace emu
