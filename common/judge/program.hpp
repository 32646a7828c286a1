/// @file program.hpp
/// What the main of a judge program tells the rest of it.
#pragma once

#include <string>

namespace judge {

/// The PTX file in which Kernel looks for kernels.
void use_program(const std::string& ptx_file);

/// What the PTX file says. For what no run shows: where an instruction stands.
[[nodiscard]] std::string program_text();

} // namespace judge
