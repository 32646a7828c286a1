/// \file
/// Headers and bodies of functions (PTX ISA 9.0, sections 5.1.6, 7 and 11.2 to 11.4).

#include "ptx/module_parser.hpp"

#include "ptx/messages.hpp"

#include <algorithm>
#include <utility>

namespace emu::ptx {

namespace {

constexpr unsigned deepest_scope = 128;
constexpr std::uint64_t highest_limit = 0x7FFF'FFFFu;

bool is_prototype_directive(const Token& token) {
    return token.is_directive("branchtargets") || token.is_directive("calltargets") ||
           token.is_directive("callprototype");
}

/// After these, without a guard, the next instruction is not reached.
bool ends_control_flow(const Instruction& last) {
    if (last.guard >= 0)
        return false;
    return last.opcode == "ret" || last.opcode == "exit" || last.opcode == "bra" || last.opcode == "brx" ||
           last.opcode == "trap";
}

} // namespace

void ModuleParser::function(bool is_entry, Linkage linkage) {
    Function header;
    header.is_entry = is_entry;
    header.linkage = linkage;
    if (lexer_.peek().is_directive("attribute")) {
        lexer_.next();
        Declaration unused;
        attributes(unused);
    }
    const Token after = lexer_.peek();
    if (after.is('(')) {
        if (is_entry)
            source_.fail(after.offset, messages::entry_with_result);
        header.results = parameters();
    }
    header.name = lexer_.expect_identifier("the name of a function").text;
    if (lexer_.peek().is('('))
        header.parameters = parameters();
    function_directives(header);
    if (lexer_.accept(';')) {
        register_function(header);
        return;
    }
    if (!lexer_.peek().is('{'))
        lexer_.fail_expected("';' or the function's body");
    header.has_body = true;
    body(register_function(header));
}

void ModuleParser::function_directives(Function& function) {
    while (lexer_.peek().is(Token::Kind::directive)) {
        const Token directive = lexer_.peek();
        if (directive.text == "pragma") {
            pragma();
            continue;
        }
        lexer_.next();
        if (!function_directive(function, directive))
            source_.fail(directive.offset, messages::unknown_directive("." + std::string(directive.text)));
    }
}

bool ModuleParser::function_directive(Function& function, const Token& directive) {
    const std::string_view name = directive.text;
    if (name == "maxntid")
        function.max_threads = extents();
    else if (name == "reqntid")
        function.required_threads = extents();
    else if (name == "reqnctapercluster")
        function.required_cluster = extents();
    else if (name == "explicitcluster")
        function.explicit_cluster = true;
    else if (name == "blocksareclusters")
        function.blocks_are_clusters = true;
    else if (name == "noreturn")
        function.no_return = true;
    else if (name == "maxclusterrank")
        function.max_cluster_rank = limit_value("the cluster rank");
    else if (name == "minnctapersm" || name == "maxnctapersm")
        function.min_blocks_per_sm = limit_value("the number of blocks");
    else if (name == "maxnreg")
        function.max_registers = limit_value("the number of registers");
    else if (name == "abi_preserve" || name == "abi_preserve_control")
        limit_value("the number of registers");
    else
        return false;
    return true;
}

std::uint32_t ModuleParser::limit_value(std::string_view what) {
    return static_cast<std::uint32_t>(parse_count(lexer_, what, highest_limit));
}

/// `nx`, `nx, ny` or `nx, ny, nz`; what is not written is 1.
std::array<std::uint32_t, 3> ModuleParser::extents() {
    std::array<std::uint32_t, 3> result{1, 1, 1};
    std::size_t i = 0;
    do
        result[i++] = limit_value("a number of threads or blocks");
    while (i < result.size() && lexer_.accept(','));
    return result;
}

std::vector<Variable> ModuleParser::parameters() {
    std::vector<Variable> list;
    lexer_.expect('(');
    if (lexer_.accept(')'))
        return list;
    do {
        const Token first = lexer_.peek();
        const Declaration head = declaration_head();
        const Declarator shape = declarator();
        if ((!head.in_register && head.space != Space::param) || shape.is_range)
            source_.fail(first.offset, messages::not_a_parameter);
        if (head.in_register && !shape.dimensions.empty())
            source_.fail(shape.name, messages::register_array);
        list.push_back(make_variable(head, shape));
    } while (lexer_.accept(','));
    lexer_.expect(')');
    return list;
}

/// Enters a function under its name, or joins it with an earlier declaration. Returns its index.
std::uint32_t ModuleParser::register_function(Function& header) {
    const auto next = static_cast<std::uint32_t>(module_.functions.size());
    const auto [place, is_new] = symbols_.try_emplace(header.name, ModuleSymbol{SymbolKind::function, next});
    if (place->second.kind != SymbolKind::function)
        source_.fail(header.name, messages::other_kind(header.name));
    if (is_new) {
        module_.functions.push_back(header);
        return next;
    }
    Function& known = module_.functions[place->second.index];
    if (known.has_body && header.has_body)
        source_.fail(header.name, messages::defined_twice(header.name));
    const std::size_t before = known.parameters.size() + known.results.size();
    const std::size_t now = header.parameters.size() + header.results.size();
    if (before != now)
        source_.fail(header.name, messages::declared_differently(header.name, before, now));
    if (header.has_body || (!known.has_body && known.linkage == Linkage::local))
        known = header;
    return place->second.index;
}

void ModuleParser::declare_parameters(std::vector<Variable>& list, SymbolKind kind) {
    for (std::uint32_t i = 0; i < list.size(); ++i) {
        Variable& parameter = list[i];
        if (parameter.in_register) {
            Declaration head;
            head.type = parameter.type;
            head.parts =
                std::max(1u, static_cast<unsigned>(parameter.size / std::max(1u, size_of(parameter.type))));
            parameter.register_index = add_registers(head, {parameter.name, {}, 0, false, false});
            continue;
        }
        if (parameter.name == "_")
            continue;
        if (!scope_.declare(parameter.name, {LocalSymbol::Kind::variable, kind, i, 1, 1}))
            source_.fail(parameter.name, messages::declared_twice(parameter.name));
    }
}

void ModuleParser::body(std::uint32_t index) {
    function_ = module_.functions[index];
    location_ = 0;
    last_label_ = -1;
    location_table_.begin_function();
    open_scope(lexer_.next().offset);
    declare_parameters(function_.results, SymbolKind::result);
    declare_parameters(function_.parameters, SymbolKind::parameter);
    while (!label_scopes_.empty()) {
        if (lexer_.peek().is(Token::Kind::end))
            source_.fail(function_.name, messages::body_not_closed);
        statement();
    }
    PendingFunction& last = pending_functions_.back();
    last.function = index;
    if (last.instructions.empty() && last.targets.empty())
        pending_functions_.pop_back();
    module_.functions[index] = std::move(function_);
    function_ = Function{};
}

void ModuleParser::statement() {
    const Token token = lexer_.peek();
    switch (token.kind) {
    case Token::Kind::directive:
        return body_directive(token);
    case Token::Kind::identifier:
        lexer_.next();
        return lexer_.peek().is(':') ? label(token) : instruction(token);
    default:
        break;
    }
    if (token.is('@'))
        return guarded_instruction();
    if (token.is('{'))
        return open_scope(lexer_.next().offset);
    if (token.is('}'))
        return close_scope();
    lexer_.fail_expected("an instruction");
}

void ModuleParser::body_directive(const Token& directive) {
    if (directive.text == "loc")
        return location();
    if (directive.text == "file")
        return file();
    if (directive.text == "pragma")
        return pragma();
    if (directive.text == "section")
        return section();
    if (is_prototype_directive(directive))
        source_.fail(directive.offset, messages::label_without_body);
    const Declaration head = declaration_head();
    if (head.in_register)
        return registers(head);
    if (!head.space)
        source_.fail(head.offset, messages::missing_space);
    function_variables(head);
}

void ModuleParser::open_scope(std::uint32_t offset) {
    if (label_scopes_.size() >= deepest_scope)
        source_.fail(offset, messages::nested_too_deep(deepest_scope));
    scope_.open();
    label_scopes_.emplace_back();
}

void ModuleParser::close_scope() {
    const Token brace = lexer_.peek();
    if (label_scopes_.size() == 1)
        end_of_body(brace.offset);
    LabelScope closed = std::move(label_scopes_.back());
    label_scopes_.pop_back();
    scope_.close();
    resolve_scope(closed, label_scopes_.empty() ? nullptr : &label_scopes_.back());
    lexer_.next();
}

/// Makes sure that nothing runs or jumps off the end of the body.
void ModuleParser::end_of_body(std::uint32_t offset) {
    const auto end = static_cast<std::uint32_t>(function_.body.size());
    bool is_reached = end == 0 || !ends_control_flow(function_.body.back());
    is_reached = is_reached || last_label_ == end;
    if (!is_reached)
        return;
    Instruction ret;
    ret.opcode = "ret";
    ret.location = location_;
    ret.text_offset = offset;
    function_.body.push_back(std::move(ret));
}

void ModuleParser::label(const Token& name) {
    lexer_.expect(':');
    if (is_prototype_directive(lexer_.peek()))
        return table(name, lexer_.next());
    const auto index = static_cast<std::uint32_t>(function_.body.size());
    if (!label_scopes_.back().labels.try_emplace(name.text, Label{false, index}).second)
        source_.fail(name.offset, messages::label_twice(name.text));
    last_label_ = index;
}

void ModuleParser::table(const Token& name, const Token& directive) {
    Table table;
    table.name = name.text;
    const auto index = static_cast<std::uint32_t>(function_.tables.size());
    if (!label_scopes_.back().labels.try_emplace(name.text, Label{true, index}).second)
        source_.fail(name.offset, messages::label_twice(name.text));
    if (directive.text == "callprototype") {
        table.kind = Table::Kind::prototype;
        prototype(table);
    } else {
        table.kind =
            directive.text == "branchtargets" ? Table::Kind::branch_targets : Table::Kind::call_targets;
        do {
            const Token target = lexer_.expect_identifier("a label or a function");
            const auto slot = static_cast<std::uint32_t>(table.targets.size());
            label_scopes_.back().targets.push_back({index, slot, target.text});
            table.targets.push_back(0);
        } while (lexer_.accept(','));
    }
    lexer_.expect(';');
    function_.tables.push_back(std::move(table));
}

/// `(.param .b32 _) _ (.param .b64 _, …) .noreturn`; result and parameters may be missing.
void ModuleParser::prototype(Table& table) {
    if (lexer_.peek().is('('))
        table.results = parameters();
    lexer_.expect_identifier("'_'");
    if (lexer_.peek().is('('))
        table.parameters = parameters();
    Function unused;
    function_directives(unused);
}

} // namespace emu::ptx
