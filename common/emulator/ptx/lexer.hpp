#pragma once
/// \file
/// PTX text to tokens (PTX ISA 9.0, section 4). Tokens are views into the text; nothing is copied.

#include "ptx/source.hpp"

#include <cstdint>
#include <string_view>

namespace emu::ptx {

struct Token {
    enum class Kind : std::uint8_t {
        end,
        identifier,  ///< Names, opcodes, `%r1`, `$L__BB0_1`, `_`.
        directive,   ///< text = what follows the dot; `::` stays inside: "reg", "L2::128B", "x".
        number,      ///< Any literal; constant.hpp gives its value.
        string,      ///< text = what stands between the quotes.
        punctuation, ///< One character, or two for operators such as `<<`.
    };
    Kind kind = Kind::end;
    std::uint32_t offset = 0; ///< Of the first byte, dot and quote included.
    std::string_view text;

    bool is(Kind wanted) const { return kind == wanted; }
    bool is(char wanted) const {
        return kind == Kind::punctuation && text.size() == 1 && text.front() == wanted;
    }
    bool is_operator(std::string_view wanted) const { return kind == Kind::punctuation && text == wanted; }
    bool is_directive(std::string_view wanted) const { return kind == Kind::directive && text == wanted; }
    bool is_identifier(std::string_view wanted) const { return kind == Kind::identifier && text == wanted; }
};

/// A cursor over the tokens with one token of look-ahead. Copying it is cheap: a copy is a bookmark.
/// The text must be followed by a NUL byte, as the contents of a std::string are; the scanner stops there.
class Lexer {
  public:
    explicit Lexer(const Source& source);

    /// The token under the cursor.
    const Token& peek() const { return current_; }

    /// Returns the token under the cursor and moves on. Throws ParseError on bytes that are no token.
    Token next() {
        Token taken = current_;
        previous_end_ = static_cast<std::uint32_t>(cursor_ - source_->text().data());
        advance();
        return taken;
    }

    /// Moves on if the token is this punctuation character.
    bool accept(char wanted) {
        if (!current_.is(wanted))
            return false;
        next();
        return true;
    }

    /// Moves past this punctuation character or throws.
    void expect(char wanted);

    /// Moves past an identifier and returns it, or throws "expected `what`".
    Token expect_identifier(std::string_view what);

    /// Throws "expected `what`, found …" at the token under the cursor.
    [[noreturn]] void fail_expected(std::string_view what) const;

    /// `.5` where a number may stand: reads the directive under the cursor again, as a number.
    void reread_as_number();

    const Source& source() const { return *source_; }

    /// Offset of the first byte after the token that was taken last.
    std::uint32_t previous_end() const { return previous_end_; }

  private:
    void advance();
    void skip_blanks();
    void skip_line();
    void skip_comment();
    bool at_line_start() const;
    void take(Token::Kind kind, const char* end, unsigned drop = 0);
    const char* scan_directive(const char* p) const;
    const char* scan_number(const char* p) const;
    void scan_string();
    void scan_punctuation();

    const Source* source_;
    const char* cursor_;
    const char* end_;
    Token current_;
    std::uint32_t previous_end_ = 0;
};

} // namespace emu::ptx
