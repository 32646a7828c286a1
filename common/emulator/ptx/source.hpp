#pragma once
/// \file
/// The text under parse, and the one way to report an error in it.

#include "ptx/parser.hpp"

#include <cstddef>
#include <string_view>

namespace emu::ptx {

/// Line and column (both from 1) of a byte offset, with the line itself and a caret under the column.
/// Offsets beyond the text mean its end.
TextPosition locate(std::string_view text, std::size_t offset);

/// A view of the text that knows how to complain about a place in it.
class Source {
  public:
    explicit Source(std::string_view text) : text_(text) {}

    std::string_view text() const { return text_; }

    /// Offset of a view that points into the text.
    std::uint32_t offset_of(std::string_view part) const {
        return static_cast<std::uint32_t>(part.data() - text_.data());
    }

    /// Throws ParseError for the place `offset`.
    [[noreturn]] void fail(std::size_t offset, std::string_view message) const;

    /// Throws ParseError for the place of `part`, a view into the text.
    [[noreturn]] void fail(std::string_view part, std::string_view message) const {
        fail(offset_of(part), message);
    }

  private:
    std::string_view text_;
};

} // namespace emu::ptx
