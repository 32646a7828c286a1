/// \file
/// Instructions and their operands (PTX ISA 9.0, sections 4.3.2, 6 and 9.1 to 9.3).

#include "ptx/module_parser.hpp"

#include "ptx/messages.hpp"
#include "ptx/special_registers.hpp"

#include <algorithm>
#include <utility>

namespace emu::ptx {

namespace {

constexpr unsigned deepest_list = 8;
/// The register of `%r1 + 4`, in messages.
constexpr std::string_view sum_name = "sum";

/// Selectors of video instructions: b0 … b3, h0, h1, and combinations such as b7654.
bool is_video_selector(std::string_view name) {
    if (name.size() < 2 || (name[0] != 'b' && name[0] != 'h'))
        return false;
    return name.find_first_not_of("01234567", 1) == std::string_view::npos;
}

/// The part of a vector register that `.x`, or `.r` in its colour names, selects; -1 for none.
int component_index(std::string_view name) {
    if (name.size() != 1)
        return -1;
    for (const std::string_view names : {std::string_view("xyzw"), std::string_view("rgba")})
        if (const std::size_t at = names.find(name[0]); at != std::string_view::npos)
            return static_cast<int>(at);
    return -1;
}

/// Instructions for which `name[3]` is a place in memory; for others it is an address value.
bool takes_address(std::string_view opcode) { return opcode != "mov" && opcode != "cvta"; }

} // namespace

void ModuleParser::guarded_instruction() {
    lexer_.expect('@');
    const bool is_negated = lexer_.accept('!');
    const Token name = lexer_.expect_identifier("a predicate register");
    const auto symbol = scope_.find(name.text);
    if (!symbol || symbol->kind != LocalSymbol::Kind::reg || symbol->parts != 1 ||
        function_.registers[symbol->index].type != Type::pred)
        source_.fail(name.offset, messages::guard_needs_predicate(name.text));
    instruction(lexer_.expect_identifier("an instruction"));
    function_.body.back().guard = static_cast<std::int32_t>(symbol->index);
    function_.body.back().guard_negated = is_negated;
}

void ModuleParser::instruction(const Token& opcode) {
    Instruction made;
    made.opcode = opcode_ = opcode.text;
    made.text_offset = opcode.offset;
    made.location = location_;
    while (lexer_.peek().is(Token::Kind::directive))
        made.modifiers.push_back(lexer_.next().text);
    has_unresolved_ = false;
    if (!lexer_.peek().is(';')) {
        do
            made.operands.push_back(sum_of(operand(), opcode));
        while (lexer_.accept(','));
    }
    lexer_.expect(';');
    function_.body.push_back(std::move(made));
    if (has_unresolved_)
        note_unresolved(static_cast<std::uint32_t>(function_.body.size() - 1));
}

/// `%r1 + 4` outside of brackets, which ptxas takes where a register may be read: an addition of its own
/// before the instruction, into a register that has no name.
Operand ModuleParser::sum_of(Operand first, const Token& opcode) {
    if (first.kind != Operand::Kind::reg || !lexer_.peek().is('+'))
        return first;
    const Type type = function_.registers[first.index].type;
    const unsigned bytes = size_of(type);
    const bool is_integer = type != Type::pred && type != Type::f16 && type != Type::f32 &&
                            type != Type::f64 && (bytes == 2 || bytes == 4 || bytes == 8);
    if (!is_integer)
        lexer_.fail_expected("',' or ';'");
    Instruction sum;
    sum.opcode = "add";
    sum.modifiers.push_back(bytes == 2 ? "u16" : bytes == 4 ? "u32" : "u64");
    sum.text_offset = opcode.offset;
    sum.location = location_;
    Operand result = first;
    result.index = static_cast<std::uint32_t>(function_.registers.size());
    result.name = sum_name;
    function_.registers.push_back({result.name, type});
    Operand constant;
    constant.kind = Operand::Kind::integer;
    constant.bits = static_cast<std::uint64_t>(summands());
    sum.operands = {result, std::move(first), std::move(constant)};
    function_.body.push_back(std::move(sum));
    return result;
}

Operand ModuleParser::operand() {
    const Token& token = lexer_.peek();
    if (token.is(Token::Kind::identifier) && token.text != "WARP_SZ")
        return with_pair(identifier_operand());
    if (token.is('['))
        return address_operand();
    if (token.is('{'))
        return list_operand(Operand::Kind::vector, '}');
    if (token.is('(') && opcode_ == "call")
        return list_operand(Operand::Kind::tuple, ')');
    if (next_is_name_after('!') || next_is_name_after('-'))
        return negated_operand();
    return constant_operand();
}

bool ModuleParser::next_is_name_after(char sign) const {
    if (!lexer_.peek().is(sign))
        return false;
    Lexer ahead = lexer_;
    ahead.next();
    return ahead.peek().is(Token::Kind::identifier) && ahead.peek().text != "WARP_SZ";
}

Operand ModuleParser::negated_operand() {
    lexer_.next();
    Operand result = identifier_operand();
    result.negated = true;
    return result;
}

Operand ModuleParser::constant_operand() {
    const Token first = lexer_.peek();
    if (!begins_constant(first))
        lexer_.fail_expected("an operand");
    const Constant value = parse_constant(lexer_);
    Operand result;
    result.bits = value.bits;
    result.name = source_.text().substr(first.offset, lexer_.previous_end() - first.offset);
    switch (value.kind) {
    case Constant::Kind::f32:
        result.kind = Operand::Kind::float32;
        break;
    case Constant::Kind::f64:
        result.kind = Operand::Kind::float64;
        break;
    default:
        result.kind = Operand::Kind::integer;
    }
    return result;
}

/// `p|q`: the second half of a pair of destinations.
Operand ModuleParser::with_pair(Operand first) {
    if (!lexer_.accept('|'))
        return first;
    Operand pair;
    pair.kind = Operand::Kind::pair;
    pair.elements.push_back(std::move(first));
    pair.elements.push_back(identifier_operand());
    return pair;
}

Operand ModuleParser::identifier_operand() {
    const Token name = lexer_.expect_identifier("a name");
    if (name.text == "_") {
        Operand sink;
        sink.kind = Operand::Kind::sink;
        sink.name = name.text;
        return sink;
    }
    if (const auto symbol = scope_.find(name.text); symbol && symbol->kind == LocalSymbol::Kind::reg)
        return register_operand(name, *symbol);
    else if (!symbol && is_special_register(name.text))
        return special_operand(name);
    return named_operand(name);
}

Operand ModuleParser::special_operand(const Token& name) {
    Operand result;
    result.kind = Operand::Kind::special;
    result.name = name.text;
    const Token part = lexer_.peek();
    const bool is_component =
        part.text.size() == 1 && std::string_view("xyzw").find(part.text) != part.text.npos;
    if (!part.is(Token::Kind::directive) || !is_component)
        return result;
    lexer_.next();
    const std::size_t length = name.text.size() + 2; // a blank before the dot is rare, but legal
    result.name = part.offset == name.offset + name.text.size()
                      ? source_.text().substr(name.offset, length)
                      : made_name(std::string(name.text) + "." + std::string(part.text));
    return result;
}

Operand ModuleParser::register_operand(const Token& name, const LocalSymbol& symbol) {
    Operand result;
    result.kind = Operand::Kind::reg;
    result.index = symbol.index;
    result.name = name.text;
    if (symbol.parts == 1) {
        result.selector = selector();
        return result;
    }
    if (lexer_.peek().is(Token::Kind::directive)) {
        const Token part = lexer_.next();
        const int index = component_index(part.text);
        if (index < 0 || static_cast<unsigned>(index) >= symbol.parts)
            source_.fail(part.offset, messages::no_component);
        result.index += static_cast<std::uint32_t>(index);
        return result;
    }
    Operand vector;
    vector.kind = Operand::Kind::vector;
    vector.name = name.text;
    for (std::uint32_t i = 0; i < symbol.parts; ++i, ++result.index)
        vector.elements.push_back(result);
    return vector;
}

std::string_view ModuleParser::selector() {
    if (!lexer_.peek().is(Token::Kind::directive))
        return {};
    const Token part = lexer_.next();
    if (!is_video_selector(part.text))
        source_.fail(part.offset, messages::no_component);
    return part.text;
}

/// A variable, parameter, function, table or label. What is not known yet stays Kind::none with its name, for
/// resolve.cpp.
Operand ModuleParser::named_operand(const Token& name) {
    Operand result;
    result.name = name.text;
    const auto symbol = scope_.find(name.text);
    if (symbol) {
        result.kind = Operand::Kind::symbol;
        result.symbol_kind = symbol->symbol_kind;
        result.index = symbol->index;
    } else {
        has_unresolved_ = true;
    }
    result.offset = summands();
    if (lexer_.peek().is('['))
        element_of(result);
    return result;
}

/// `name[3]`: an array element, counted in elements.
void ModuleParser::element_of(Operand& symbol) {
    const Variable* variable = nullptr;
    if (symbol.kind == Operand::Kind::none) {
        const ModuleSymbol* found = find_in_module(symbol.name);
        if (found && found->kind == SymbolKind::module_variable)
            variable = &module_.variables[found->index];
    } else if (symbol.symbol_kind == SymbolKind::function_variable) {
        variable = &function_.variables[symbol.index];
    } else if (symbol.symbol_kind == SymbolKind::module_variable) {
        variable = &module_.variables[symbol.index];
    }
    if (!variable)
        lexer_.fail_expected("','");
    lexer_.expect('[');
    const std::uint64_t index = parse_count(lexer_, "an array index", 1u << 30);
    lexer_.expect(']');
    symbol.offset = wrapping_sum(symbol.offset, static_cast<std::int64_t>(index * size_of(variable->type)));
    if (!takes_address(opcode_))
        return;
    Operand address;
    address.kind = Operand::Kind::address;
    address.offset = std::exchange(symbol.offset, 0);
    address.elements.push_back(std::move(symbol));
    symbol = std::move(address);
}

/// `{a, b}` and `(a, b)`.
Operand ModuleParser::list_operand(Operand::Kind kind, char close) {
    if (++vector_depth_ > deepest_list)
        source_.fail(lexer_.peek().offset, messages::nested_too_deep(deepest_list));
    Operand list;
    list.kind = kind;
    lexer_.next();
    if (!lexer_.peek().is(close)) {
        do
            list.elements.push_back(operand());
        while (lexer_.accept(','));
    }
    lexer_.expect(close);
    --vector_depth_;
    return list;
}

/// `[base + offset, coordinates…]`.
Operand ModuleParser::address_operand() {
    if (++vector_depth_ > deepest_list)
        source_.fail(lexer_.peek().offset, messages::nested_too_deep(deepest_list));
    Operand address;
    address.kind = Operand::Kind::address;
    lexer_.expect('[');
    Operand base = operand();
    address.offset = wrapping_sum(std::exchange(base.offset, 0), summands());
    address.elements.push_back(std::move(base));
    while (lexer_.accept(','))
        address.elements.push_back(operand());
    lexer_.expect(']');
    if (lexer_.peek().is_directive("unified"))
        address.selector = lexer_.next().text;
    --vector_depth_;
    return address;
}

} // namespace emu::ptx
