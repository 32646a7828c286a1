#pragma once
/// \file
/// PTX text to Module.

#include "hopper_emulator/module.hpp"
#include "ptx/module.hpp"

#include <string>

namespace emu::ptx {

using emu::ParseError;

/// Parses one module. Throws ParseError. Never reads outside `text`, however damaged.
Module parse(std::string text);

/// "ptx:LINE:COLUMN" plus the line with a caret, for an error found after parsing.
struct TextPosition {
    unsigned line = 0, column = 0;
    std::string excerpt;
};
TextPosition position_of(const Module& module, std::uint32_t text_offset);

} // namespace emu::ptx
