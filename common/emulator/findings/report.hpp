#pragma once
/// \file
/// Text as programs read it.

#include "hopper_emulator/findings.hpp"

#include <string>
#include <string_view>

namespace emu {

/// Text as a JSON string, quotes included. Bytes that are not UTF-8 pass unchanged.
std::string json_string(std::string_view text);

} // namespace emu
