#pragma once
/// \file
/// The text of a source line as a finding shows it.

#include <cstdint>
#include <string>

namespace emu {

/// Line `number` of a file without its indentation, or "" if it cannot be read. Of an asm statement of
/// several lines the compiler names any, such as that of an operand: for those, how the statement begins and
/// its instructions.
std::string source_text(const std::string& file, std::uint32_t number);

/// All of a file, or "" if it cannot be read.
std::string source_file(const std::string& file);

/// From now on that is the text of the file, whatever the disk says. Any thread may call.
void know_source(const std::string& file, std::string text);

} // namespace emu
