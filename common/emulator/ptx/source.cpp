#include "ptx/source.hpp"

#include <algorithm>

namespace emu::ptx {

namespace {

/// One line of text, cut to a window around the column, with a caret below.
std::string excerpt_of(std::string_view line, std::size_t column) {
    constexpr std::size_t width = 110;
    const std::size_t start = column > width - 20 ? column - (width - 20) : 0;
    const std::string_view window = line.substr(std::min(start, line.size()), width);
    std::string shown, caret;
    for (std::size_t i = 0; i < window.size(); ++i) {
        const char c = window[i];
        shown += c == '\t' ? '\t' : (c >= 32 && c < 127) ? c : '?';
        if (start + i < column)
            caret += c == '\t' ? '\t' : ' ';
    }
    return shown + "\n" + caret + "^";
}

} // namespace

TextPosition locate(std::string_view text, std::size_t offset) {
    offset = std::min(offset, text.size());
    const std::string_view before = text.substr(0, offset);
    const std::size_t newline = before.rfind('\n');
    const std::size_t start = newline == std::string_view::npos ? 0 : newline + 1;
    const std::size_t end = std::min(text.find('\n', offset), text.size());
    TextPosition position;
    position.line = static_cast<unsigned>(std::count(before.begin(), before.end(), '\n') + 1);
    position.column = static_cast<unsigned>(offset - start + 1);
    position.excerpt = excerpt_of(text.substr(start, end - start), offset - start);
    return position;
}

void Source::fail(std::size_t offset, std::string_view message) const {
    TextPosition position = locate(text_, offset);
    std::string what = "ptx:" + std::to_string(position.line) + ":" + std::to_string(position.column) + ": ";
    what += message;
    throw ParseError(std::move(what), std::move(position.excerpt));
}

TextPosition position_of(const Module& module, std::uint32_t text_offset) {
    return module.text ? locate(*module.text, text_offset) : TextPosition{};
}

} // namespace emu::ptx
