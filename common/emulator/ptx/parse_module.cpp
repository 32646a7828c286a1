/// \file
/// Directives of the module (PTX ISA 9.0, sections 11.1, 11.5 and 11.6).

#include "ptx/module_parser.hpp"

#include "ptx/messages.hpp"

#include <limits>
#include <utility>

namespace emu::ptx {

namespace {

std::unique_ptr<const std::string> own(std::string text) {
    while (!text.empty() && text.back() == '\0') // fat binaries pad with NULs
        text.pop_back();
    return std::make_unique<const std::string>(std::move(text));
}

std::optional<Linkage> linkage_of(std::string_view directive) {
    if (directive == "visible")
        return Linkage::visible;
    if (directive == "extern")
        return Linkage::external;
    if (directive == "weak")
        return Linkage::weak;
    if (directive == "common")
        return Linkage::common;
    return std::nullopt;
}

Module with_text(std::string text) {
    Module module;
    module.text = own(std::move(text));
    module.files.resize(1);
    if (module.text->size() > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()))
        Source("").fail(0, messages::text_too_long);
    return module;
}

} // namespace

Module parse(std::string text) { return ModuleParser(std::move(text)).parse(); }

ModuleParser::ModuleParser(std::string text)
    : module_(with_text(std::move(text))), source_(*module_.text), lexer_(source_),
      location_table_(module_.locations) {}

Module ModuleParser::parse() {
    while (!lexer_.peek().is(Token::Kind::end))
        module_statement();
    if (!has_version_)
        source_.fail(0, messages::missing_version);
    if (module_.target.empty())
        source_.fail(0, messages::missing_target);
    for (const PendingFunction& pending : pending_functions_)
        resolve_pending_function(pending);
    resolve_addresses();
    resolve_aliases();
    for (const Location& location : module_.locations)
        if (location.file >= module_.files.size())
            module_.files.resize(location.file + 1);
    return std::move(module_);
}

void ModuleParser::module_statement() {
    const Token directive = lexer_.peek();
    if (!directive.is(Token::Kind::directive))
        lexer_.fail_expected(has_version_ ? "a directive" : "'.version'");
    const std::string_view name = directive.text;
    if (!has_version_ && name != "version")
        source_.fail(directive.offset, messages::missing_version);
    if (name == "entry" || name == "func" || !linkage_of(name)) {
        if (name == "version")
            return version();
        if (name == "target")
            return target();
        if (name == "address_size")
            return address_size();
        if (name == "file")
            return file();
        if (name == "loc")
            return location();
        if (name == "section")
            return section();
        if (name == "alias")
            return alias();
        if (name == "pragma")
            return pragma();
        return linked_declaration(Linkage::local, directive.offset);
    }
    lexer_.next();
    linked_declaration(*linkage_of(name), directive.offset);
}

void ModuleParser::linked_declaration(Linkage linkage, std::uint32_t offset) {
    const Token directive = lexer_.peek();
    if (directive.is_directive("entry") || directive.is_directive("func")) {
        lexer_.next();
        return function(directive.text == "entry", linkage);
    }
    Declaration head = declaration_head();
    head.linkage = linkage;
    head.offset = offset;
    if (head.in_register || !head.space)
        source_.fail(directive.offset, messages::missing_space);
    module_variables(head);
}

void ModuleParser::version() {
    const Token directive = lexer_.next();
    if (std::exchange(has_version_, true))
        source_.fail(directive.offset, messages::repeated_version);
    const Token number = lexer_.peek();
    const std::size_t dot = number.text.find('.');
    if (!number.is(Token::Kind::number) || dot == std::string_view::npos || number.text.size() > 8)
        lexer_.fail_expected("a version such as 9.0");
    lexer_.next();
    for (const char c : number.text.substr(0, dot))
        module_.version_major = module_.version_major * 10 + static_cast<unsigned>(c - '0');
    for (const char c : number.text.substr(dot + 1)) {
        if (c < '0' || c > '9')
            source_.fail(number.offset, messages::malformed_number(number.text));
        module_.version_minor = module_.version_minor * 10 + static_cast<unsigned>(c - '0');
    }
}

void ModuleParser::target() {
    lexer_.next();
    module_.target = lexer_.expect_identifier("a target such as sm_90").text;
    while (lexer_.accept(','))
        module_.is_debug |= lexer_.expect_identifier("a target option").text == "debug";
}

void ModuleParser::address_size() {
    lexer_.next();
    const Token number = lexer_.peek();
    if (parse_count(lexer_, "the address size", 64) != 64)
        source_.fail(number.offset, messages::only_64_bit);
}

/// Debug sections say nothing that a run needs: kept as text up to the matching brace.
void ModuleParser::section() {
    lexer_.next();
    if (!lexer_.peek().is(Token::Kind::directive) && !lexer_.peek().is(Token::Kind::identifier))
        lexer_.fail_expected("the name of a section");
    const Token name = lexer_.next();
    if (lexer_.accept(','))
        while (!lexer_.peek().is('{') && !lexer_.peek().is(Token::Kind::end))
            lexer_.next();
    lexer_.expect('{');
    const std::uint32_t first = lexer_.previous_end();
    for (unsigned depth = 1; depth > 0;) {
        if (lexer_.peek().is(Token::Kind::end))
            lexer_.fail_expected("'}'");
        const Token token = lexer_.next();
        depth += token.is('{') ? 1u : 0u;
        depth -= token.is('}') ? 1u : 0u;
        if (depth == 0)
            module_.debug_sections.push_back({name.text, source_.text().substr(first, token.offset - first)});
    }
}

void ModuleParser::alias() {
    lexer_.next();
    const Token name = lexer_.expect_identifier("the name of a function");
    lexer_.expect(',');
    const Token meant = lexer_.expect_identifier("the name of a function");
    lexer_.expect(';');
    aliases_.emplace_back(name.text, meant.text);
}

void ModuleParser::pragma() {
    lexer_.next();
    do {
        if (!lexer_.peek().is(Token::Kind::string))
            lexer_.fail_expected("a string");
        lexer_.next();
    } while (lexer_.accept(','));
    lexer_.expect(';');
}

} // namespace emu::ptx
