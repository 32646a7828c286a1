#include "ptx/lexer.hpp"

#include "ptx/messages.hpp"

#include <array>
#include <cstring>

namespace emu::ptx {

namespace {

enum Class : unsigned char { blank = 1, name_start = 2, digit = 4, name_part = 8, word = 16 };

constexpr std::array<unsigned char, 256> make_classes() {
    std::array<unsigned char, 256> table{};
    for (char c : {' ', '\t', '\r', '\n', '\v', '\f'})
        table[static_cast<unsigned char>(c)] = blank;
    for (unsigned c = '0'; c <= '9'; ++c)
        table[c] = digit | name_part | word;
    for (unsigned c = 'a'; c <= 'z'; ++c)
        table[c] = table[c - 'a' + 'A'] = name_start | name_part | word;
    table['_'] = name_start | name_part | word;
    table['$'] = name_start | name_part;
    table['%'] = name_start;
    return table;
}

constexpr auto classes = make_classes();

bool is(char c, unsigned char wanted) { return (classes[static_cast<unsigned char>(c)] & wanted) != 0; }

const char* skip_while(const char* p, unsigned char wanted) {
    while (is(*p, wanted))
        ++p;
    return p;
}

} // namespace

Lexer::Lexer(const Source& source)
    : source_(&source), cursor_(source.text().data()), end_(cursor_ + source.text().size()) {
    advance();
}

void Lexer::expect(char wanted) {
    if (!accept(wanted))
        fail_expected(messages::quoted({&wanted, 1}));
}

Token Lexer::expect_identifier(std::string_view what) {
    if (!current_.is(Token::Kind::identifier))
        fail_expected(what);
    return next();
}

void Lexer::fail_expected(std::string_view what) const {
    std::string_view found = current_.text;
    if (current_.is(Token::Kind::directive))
        found = {found.data() - 1, found.size() + 1};
    source_->fail(current_.offset, messages::expected(what, current_.is(Token::Kind::end) ? "" : found));
}

bool Lexer::at_line_start() const {
    const char* p = cursor_;
    const char* begin = source_->text().data();
    while (p > begin && (p[-1] == ' ' || p[-1] == '\t'))
        --p;
    return p == begin || p[-1] == '\n';
}

void Lexer::reread_as_number() {
    cursor_ = source_->text().data() + current_.offset;
    take(Token::Kind::number, scan_number(cursor_));
}

void Lexer::skip_line() {
    const void* newline = std::memchr(cursor_, '\n', static_cast<std::size_t>(end_ - cursor_));
    cursor_ = newline ? static_cast<const char*>(newline) : end_;
}

void Lexer::skip_comment() {
    const std::string_view rest(cursor_, static_cast<std::size_t>(end_ - cursor_));
    const std::size_t close = rest.find("*/", 2);
    if (close == std::string_view::npos)
        source_->fail(rest.substr(0, 2), messages::unterminated_comment);
    cursor_ += close + 2;
}

void Lexer::skip_blanks() {
    for (;;) {
        cursor_ = skip_while(cursor_, blank);
        if (*cursor_ == '/' && cursor_[1] == '/')
            skip_line();
        else if (*cursor_ == '/' && cursor_[1] == '*')
            skip_comment();
        else if ((*cursor_ == '#' || (*cursor_ == '@' && cursor_[1] == '@')) && at_line_start())
            skip_line(); // a preprocessor's line marker, or @@DWARF of very old compilers
        else
            return;
    }
}

void Lexer::take(Token::Kind kind, const char* end, unsigned drop) {
    current_.kind = kind;
    current_.offset = static_cast<std::uint32_t>(cursor_ - source_->text().data());
    current_.text = {cursor_ + drop, static_cast<std::size_t>(end - cursor_) - drop};
    cursor_ = end;
}

const char* Lexer::scan_directive(const char* p) const {
    ++p;
    p = skip_while(p, name_part);
    while (p[0] == ':' && p[1] == ':' && is(p[2], name_part))
        p = skip_while(p + 2, name_part);
    return p;
}

const char* Lexer::scan_number(const char* p) const {
    const bool prefixed = p[0] == '0' && std::strchr("xXbBfFdD", p[1]) && p[1] != '\0';
    if (prefixed)
        return skip_while(p + 1, name_part);
    p = skip_while(p, digit);
    if (p[0] == '.' && !is(p[1], name_start))
        p = skip_while(p + 1, digit);
    else if (p[0] == '.' && (p[1] == 'e' || p[1] == 'E'))
        ++p;
    if (p[0] == 'e' || p[0] == 'E')
        p += p[1] == '+' || p[1] == '-' ? 2 : 1;
    return skip_while(p, name_part);
}

void Lexer::scan_string() {
    const char* p = cursor_ + 1;
    while (p < end_ && *p != '"' && *p != '\n')
        p += *p == '\\' && p + 1 < end_ && p[1] != '\n' ? 2 : 1;
    if (p >= end_ || *p != '"')
        source_->fail(static_cast<std::size_t>(cursor_ - source_->text().data()),
                      messages::unterminated_string);
    take(Token::Kind::string, p, 1);
    ++cursor_;
}

void Lexer::scan_punctuation() {
    const char first = *cursor_;
    if (first == '\0' || !std::strchr("{}()[]<>,;:@!|+-*/%&^~?=", first))
        source_->fail(static_cast<std::size_t>(cursor_ - source_->text().data()),
                      messages::unexpected_character({cursor_, 1}));
    const char second = cursor_[1];
    const bool doubled = second == first && std::strchr("<>&|=", first);
    const bool compared = second == '=' && std::strchr("<>!", first);
    take(Token::Kind::punctuation, cursor_ + (doubled || compared ? 2 : 1));
}

void Lexer::advance() {
    skip_blanks();
    const char c = *cursor_;
    if (cursor_ >= end_)
        return take(Token::Kind::end, cursor_);
    if (is(c, name_start) && (c != '%' || is(cursor_[1], name_part)))
        return take(Token::Kind::identifier, skip_while(cursor_ + 1, name_part));
    if (c == '.' && is(cursor_[1], name_part))
        return take(Token::Kind::directive, scan_directive(cursor_), 1);
    if (is(c, digit))
        return take(Token::Kind::number, scan_number(cursor_));
    if (c == '"')
        return scan_string();
    scan_punctuation();
}

} // namespace emu::ptx
