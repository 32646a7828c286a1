/// \file
/// Declarations of variables and registers (PTX ISA 9.0, sections 5.1 to 5.4).

#include "ptx/module_parser.hpp"

#include "ptx/messages.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace emu::ptx {

namespace {

constexpr std::uint64_t largest_variable = std::uint64_t{1} << 48;
constexpr std::uint64_t most_registers = 1u << 20;
constexpr std::uint64_t most_registers_of_all = 1u << 23;
constexpr std::size_t most_made_names = 1u << 20;
constexpr unsigned most_dimensions = 32;
constexpr std::uint64_t largest_alignment = 65536;
constexpr std::string_view component_names = "xyzw";

std::optional<Space> space_of(std::string_view directive) {
    if (directive == "global")
        return Space::global;
    if (directive == "shared" || directive == "shared::cta")
        return Space::shared;
    if (directive == "const")
        return Space::constant;
    if (directive == "local")
        return Space::local;
    if (directive == "param")
        return Space::param;
    if (directive == "tex") // the old name for textures: handles in global memory
        return Space::global;
    return std::nullopt;
}

bool is_opaque_type(std::string_view name) {
    return name == "texref" || name == "samplerref" || name == "surfref";
}

/// `a * b`, or something above `largest_variable` when that is too much.
std::uint64_t product(std::uint64_t a, std::uint64_t b) {
    if (a == 0 || b == 0)
        return 0;
    return a > largest_variable / b ? largest_variable + 1 : a * b;
}

} // namespace

ModuleParser::Declaration ModuleParser::declaration_head() {
    Declaration head;
    head.offset = lexer_.peek().offset;
    while (lexer_.peek().is(Token::Kind::directive)) {
        const Token directive = lexer_.next();
        if (!declaration_part(head, directive))
            source_.fail(directive.offset, messages::unknown_directive("." + std::string(directive.text)));
    }
    if (head.type == Type::none)
        source_.fail(lexer_.peek().offset, messages::missing_type);
    return head;
}

bool ModuleParser::declaration_part(Declaration& head, const Token& directive) {
    const std::string_view name = directive.text;
    if (const auto type = type_from_name(name)) {
        head.type = *type;
    } else if (is_opaque_type(name)) {
        head.type = Type::b64;
    } else if (name == "reg") {
        head.in_register = true;
    } else if (const auto space = space_of(name)) {
        head.space = space;
    } else if (name == "align") {
        head.alignment = alignment();
    } else if (name == "v2" || name == "v4") {
        head.parts = static_cast<unsigned>(name[1] - '0');
    } else if (name == "ptr") {
        pointer_attributes();
    } else if (name == "attribute") {
        attributes(head);
    } else {
        return false;
    }
    return true;
}

std::uint32_t ModuleParser::alignment() {
    const Token number = lexer_.peek();
    const std::uint32_t value = plain_number("an alignment", largest_alignment);
    if (!std::has_single_bit(value))
        source_.fail(number.offset, messages::not_an_alignment);
    return value;
}

/// After `.ptr`: space and alignment of what a kernel's pointer points to, hints that a run does not need.
void ModuleParser::pointer_attributes() {
    if (lexer_.peek().is(Token::Kind::directive) && space_of(lexer_.peek().text))
        lexer_.next();
    if (lexer_.peek().is_directive("align")) {
        lexer_.next();
        alignment();
    }
}

void ModuleParser::attributes(Declaration& head) {
    lexer_.expect('(');
    do {
        if (!lexer_.peek().is(Token::Kind::directive))
            lexer_.fail_expected("an attribute such as .managed");
        head.managed |= lexer_.next().text == "managed";
        if (lexer_.accept('(')) {
            do
                parse_constant(lexer_);
            while (lexer_.accept(','));
            lexer_.expect(')');
        }
    } while (lexer_.accept(','));
    lexer_.expect(')');
}

ModuleParser::Declarator ModuleParser::declarator() {
    Declarator shape;
    shape.name = lexer_.expect_identifier("a name").text;
    if (lexer_.accept('<')) {
        shape.is_range = true;
        shape.range = plain_number("the number of names", most_registers);
        lexer_.expect('>');
    }
    while (lexer_.accept('[')) {
        const Token size = lexer_.peek();
        if (shape.dimensions.size() == most_dimensions)
            source_.fail(size.offset, messages::nested_too_deep(most_dimensions));
        if (size.is(']') && !shape.dimensions.empty())
            lexer_.fail_expected("a size");
        shape.is_open |= size.is(']');
        shape.dimensions.push_back(size.is(']') ? 0 : parse_count(lexer_, "an array size", largest_variable));
        lexer_.expect(']');
    }
    return shape;
}

std::vector<std::uint64_t> ModuleParser::element_dimensions(const Declaration& head,
                                                            const Declarator& shape) const {
    std::vector<std::uint64_t> dimensions = shape.dimensions;
    if (head.parts > 1)
        dimensions.push_back(head.parts);
    return dimensions;
}

Variable ModuleParser::make_variable(const Declaration& head, const Declarator& shape) {
    Variable variable;
    variable.name = shape.name;
    variable.space = head.space.value_or(Space::generic);
    variable.type = head.type;
    variable.linkage = head.linkage;
    variable.managed = head.managed;
    variable.in_register = head.in_register;
    variable.unsized = shape.is_open;
    variable.size = product(size_of(head.type), head.parts);
    if (variable.size == 0 && !head.in_register)
        source_.fail(shape.name, messages::missing_type);
    variable.alignment = head.alignment ? head.alignment : std::max(1u, static_cast<unsigned>(variable.size));
    std::uint64_t extent =
        variable.size; // counts `[]` and `[0]` as one, so that inner dimensions are checked too
    for (const std::uint64_t dimension : shape.dimensions) {
        variable.size = product(variable.size, dimension);
        extent = product(extent, std::max<std::uint64_t>(dimension, 1));
    }
    if (extent > largest_variable)
        source_.fail(shape.name, messages::variable_too_large);
    return variable;
}

std::string_view ModuleParser::made_name(std::string name) {
    if (module_.made_names.size() == most_made_names)
        source_.fail(lexer_.peek().offset, messages::too_many_names);
    module_.made_names.push_back(std::make_unique<const std::string>(std::move(name)));
    return *module_.made_names.back();
}

void ModuleParser::module_variables(const Declaration& head) {
    do {
        const Declarator shape = declarator();
        Variable variable = make_variable(head, shape);
        InitialiserState state{&variable, element_dimensions(head, shape), size_of(head.type), 0, {}};
        const Token sign = lexer_.peek();
        if (lexer_.accept('=')) {
            if (shape.is_range)
                source_.fail(sign.offset, messages::no_initialiser_here);
            if (head.linkage == Linkage::external)
                source_.fail(sign.offset, messages::extern_initialised);
            initialiser(state);
        } else if (variable.unsized && head.linkage != Linkage::external) {
            source_.fail(shape.name, messages::unsized_needs_values);
        }
        for (std::uint64_t i = 0; shape.is_range && i < shape.range; ++i) {
            Variable member = variable;
            member.name = made_name(std::string(shape.name) + std::to_string(i));
            add_module_variable(std::move(member), state.names, true);
        }
        if (!shape.is_range)
            add_module_variable(std::move(variable), state.names, true);
    } while (lexer_.accept(','));
    lexer_.expect(';');
}

/// Gives a variable its place in the module. `is_named` is false for one declared inside a function, whose
/// name only that function's scope knows.
std::uint32_t ModuleParser::add_module_variable(Variable variable, const std::vector<std::string_view>& names,
                                                bool is_named) {
    auto index = static_cast<std::uint32_t>(module_.variables.size());
    bool is_new = true;
    if (is_named) {
        const auto [place, inserted] =
            symbols_.try_emplace(variable.name, ModuleSymbol{SymbolKind::module_variable, index});
        if (place->second.kind != SymbolKind::module_variable)
            source_.fail(variable.name, messages::other_kind(variable.name));
        index = place->second.index;
        is_new = inserted;
    }
    const std::size_t first = variable.relocations.size() - names.size();
    if (is_new || module_.variables[index].linkage == Linkage::external)
        for (std::size_t i = 0; i < names.size(); ++i)
            pending_addresses_.push_back({index, static_cast<std::uint32_t>(first + i), names[i]});
    if (is_new)
        module_.variables.push_back(std::move(variable));
    else
        merge_variable(module_.variables[index], std::move(variable));
    return index;
}

/// Declarations may repeat; at most one of them defines.
void ModuleParser::merge_variable(Variable& known, Variable&& now) {
    const bool was_declared = known.linkage == Linkage::external,
               is_declared = now.linkage == Linkage::external;
    if (!was_declared && !is_declared && known.linkage != Linkage::common && now.linkage != Linkage::common)
        source_.fail(now.name, messages::defined_twice(now.name));
    if (was_declared && !is_declared) {
        known = std::move(now);
        return;
    }
    known.alignment = std::max(known.alignment, now.alignment);
    known.size = std::max(known.size, now.size);
}

void ModuleParser::function_variables(const Declaration& head) {
    do {
        const Declarator shape = declarator();
        Variable variable = make_variable(head, shape);
        const bool in_module = head.space == Space::global || head.space == Space::constant;
        InitialiserState state{&variable, element_dimensions(head, shape), size_of(head.type), 0, {}};
        const Token sign = lexer_.peek();
        if (lexer_.accept('=')) {
            if (!in_module || shape.is_range)
                source_.fail(sign.offset, messages::no_initialiser_here);
            initialiser(state);
        }
        LocalSymbol symbol{LocalSymbol::Kind::variable,
                           in_module ? SymbolKind::module_variable : SymbolKind::function_variable, 0, 1, 1};
        const std::uint64_t members = shape.is_range ? shape.range : 1;
        symbol.count = static_cast<std::uint32_t>(members);
        symbol.index =
            static_cast<std::uint32_t>(in_module ? module_.variables.size() : function_.variables.size());
        for (std::uint64_t i = 0; i < members; ++i) {
            Variable member = variable;
            if (shape.is_range)
                member.name = made_name(std::string(shape.name) + std::to_string(i));
            if (in_module)
                add_module_variable(std::move(member), state.names, false);
            else
                function_.variables.push_back(std::move(member));
        }
        if (!(shape.is_range ? scope_.declare_range(shape.name, symbol) : scope_.declare(shape.name, symbol)))
            source_.fail(shape.name, messages::declared_twice(shape.name));
    } while (lexer_.accept(','));
    lexer_.expect(';');
}

void ModuleParser::registers(const Declaration& head) {
    do {
        const Declarator shape = declarator();
        if (!shape.dimensions.empty())
            source_.fail(shape.name, messages::register_array);
        add_registers(head, shape);
    } while (lexer_.accept(','));
    lexer_.expect(';');
}

/// Adds the registers of one declarator to the function and its innermost scope; returns the first one's
/// index.
std::uint32_t ModuleParser::add_registers(const Declaration& head, const Declarator& shape) {
    const auto first = static_cast<std::uint32_t>(function_.registers.size());
    const std::uint64_t members = shape.is_range ? shape.range : 1;
    all_registers_ += members * head.parts;
    if (first + members * head.parts > most_registers || all_registers_ > most_registers_of_all)
        source_.fail(shape.name, messages::too_many_registers);
    for (std::uint64_t i = 0; i < members; ++i)
        for (unsigned part = 0; part < head.parts; ++part)
            function_.registers.push_back({shape.name, head.type, static_cast<std::uint32_t>(i),
                                           shape.is_range,
                                           head.parts > 1 ? component_names[part % 4] : char{0}});
    const LocalSymbol symbol{LocalSymbol::Kind::reg, SymbolKind::none, first,
                             static_cast<std::uint32_t>(members), head.parts};
    if (!(shape.is_range ? scope_.declare_range(shape.name, symbol) : scope_.declare(shape.name, symbol)))
        source_.fail(shape.name, messages::declared_twice(shape.name));
    return first;
}

} // namespace emu::ptx
