#pragma once
/// \file
/// Text as programs read it.

#include "hopper_emulator/findings.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace emu {

/// Text as a JSON string, quotes included. Bytes that are not UTF-8 pass unchanged.
std::string json_string(std::string_view text);

/// Files that the emulator writes beside what it tells.
enum class Output : std::uint8_t { report, counters, trace, recording };

/// Says, once of each, that the file cannot be written, and has_lost_output() from then on.
void lose_output(Output which, const std::string& file);

} // namespace emu
