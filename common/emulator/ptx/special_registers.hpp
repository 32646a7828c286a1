#pragma once
/// \file
/// The names of PTX ISA 9.0, section 10.

#include <string_view>

namespace emu::ptx {

/// True for the name of a special register, with its `%` and without a component: "%tid", "%clock64".
bool is_special_register(std::string_view name);

} // namespace emu::ptx
