/// \file
/// `.file` and `.loc` (PTX ISA 9.0, section 11.5).

#include "ptx/module_parser.hpp"

#include "ptx/messages.hpp"

#include <algorithm>
#include <string>

namespace emu::ptx {

namespace {

constexpr std::uint64_t highest_line = 0xFFFF'FFFFu;

/// The name that a string of `.file` stands for. nvcc writes every byte that is not ASCII as three octal
/// digits behind a backslash, and a quote or a backslash of the name behind a backslash.
std::string file_name(std::string_view text) {
    const auto is_octal = [](char c) { return c >= '0' && c <= '7'; };
    std::string name;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const std::string_view rest = text.substr(i + 1, 3);
        if (text[i] != '\\' || rest.empty()) {
            name += text[i];
        } else if (rest.size() == 3 && rest[0] <= '3' && std::ranges::all_of(rest, is_octal)) {
            name += static_cast<char>((rest[0] - '0') * 64 + (rest[1] - '0') * 8 + (rest[2] - '0'));
            i += 3;
        } else {
            if (rest[0] != '"' && rest[0] != '\\')
                name += text[i];
            name += rest[0];
            i += 1;
        }
    }
    return name;
}

} // namespace

/// A bare number: `.loc 1 2 3` separates them by blanks only, so an expression would read too far.
std::uint32_t ModuleParser::plain_number(std::string_view what, std::uint64_t limit) {
    if (!lexer_.peek().is(Token::Kind::number))
        lexer_.fail_expected(what);
    const Token number = lexer_.next();
    const Constant value = value_of(source_, number);
    if (!value.is_integer() || value.bits > limit)
        source_.fail(number.offset, messages::out_of_range(what, limit));
    return static_cast<std::uint32_t>(value.bits);
}

void ModuleParser::file() {
    lexer_.next();
    const std::uint32_t index = plain_number("a file number", most_files);
    if (!lexer_.peek().is(Token::Kind::string))
        lexer_.fail_expected("a file name in quotes");
    const Token name = lexer_.next();
    if (lexer_.accept(',')) { // time stamp and size
        parse_constant(lexer_);
        lexer_.expect(',');
        parse_constant(lexer_);
    }
    if (index >= module_.files.size())
        module_.files.resize(index + 1);
    if (index > 0)
        module_.files[index] = file_name(name.text);
}

void ModuleParser::location() {
    lexer_.next();
    const std::uint32_t file = plain_number("a file number", most_files);
    const std::uint32_t line = plain_number("a line number", highest_line);
    const std::uint32_t column = plain_number("a column number", highest_line);
    std::array<std::uint32_t, 3> site{};
    bool is_inlined = false;
    while (lexer_.accept(',')) {
        const Token attribute = lexer_.expect_identifier("function_name or inlined_at");
        if (attribute.text == "function_name") {
            lexer_.expect_identifier("the label of a name");
            summands();
        } else if (attribute.text == "inlined_at") {
            is_inlined = true;
            site = {plain_number("a file number", most_files), plain_number("a line number", highest_line),
                    plain_number("a column number", highest_line)};
        } else {
            source_.fail(attribute.offset, messages::expected("function_name or inlined_at", attribute.text));
        }
    }
    const std::uint32_t index =
        is_inlined ? location_table_.add_inlined(file, line, column, site[0], site[1], site[2])
                   : location_table_.add(file, line, column);
    if (line == 0)
        return; // "no line of its own": the instructions go on belonging to the line before
    location_ = index;
    if (function_.location == 0)
        function_.location = index;
}

} // namespace emu::ptx
