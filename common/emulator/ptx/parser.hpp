#pragma once
/// \file
/// PTX text to Module.

#include "ptx/module.hpp"

#include <stdexcept>
#include <string>

namespace emu::ptx {

/// The text is not PTX that can be used. what() is one line "ptx:LINE:COLUMN: message", excerpt() the source
/// line with a caret.
class ParseError : public std::runtime_error {
  public:
    ParseError(std::string message, std::string excerpt)
        : std::runtime_error(std::move(message)), excerpt_(std::move(excerpt)) {}
    const std::string& excerpt() const { return excerpt_; }

  private:
    std::string excerpt_;
};

/// Parses one module. Throws ParseError. Never reads outside `text`, however damaged.
Module parse(std::string text);

/// "ptx:LINE:COLUMN" plus the line with a caret, for an error found after parsing.
struct TextPosition {
    unsigned line = 0, column = 0;
    std::string excerpt;
};
TextPosition position_of(const Module& module, std::uint32_t text_offset);

} // namespace emu::ptx
