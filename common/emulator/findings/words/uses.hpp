#pragma once
/// \file
/// What was done with a value that means nothing.

#include "rules/analysis/values.hpp"

#include <string_view>

namespace emu::check {

/// "stored to global memory": follows "That value is".
std::string_view deed(Use use);

} // namespace emu::check
