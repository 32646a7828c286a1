/// \file
/// Names that were used before they were known: labels, tables, functions and variables of the module.

#include "ptx/module_parser.hpp"

#include "ptx/messages.hpp"

namespace emu::ptx {

namespace {

bool is_unresolved(const Operand& operand) { return operand.kind == Operand::Kind::none; }

bool has_constant_address(const Variable& variable) {
    return variable.space == Space::global || variable.space == Space::constant;
}

} // namespace

const ModuleParser::ModuleSymbol* ModuleParser::find_in_module(std::string_view name) const {
    const auto found = symbols_.find(name);
    return found == symbols_.end() ? nullptr : &found->second;
}

void ModuleParser::note_unresolved(std::uint32_t instruction) {
    label_scopes_.back().instructions.push_back(instruction);
}

/// Gives labels of `scope` to the operand; true if it or a part of it still waits for a name.
bool ModuleParser::resolve_labels(Operand& operand, const LabelScope& scope) {
    bool waits = false;
    for (Operand& element : operand.elements)
        waits |= resolve_labels(element, scope);
    if (!is_unresolved(operand))
        return waits;
    const auto found = scope.labels.find(operand.name);
    if (found == scope.labels.end())
        return true;
    operand.index = found->second.index;
    operand.kind = found->second.is_table ? Operand::Kind::symbol : Operand::Kind::label;
    operand.symbol_kind = found->second.is_table ? SymbolKind::table : SymbolKind::none;
    return waits;
}

/// A scope ends: its labels are all known now. What they do not answer goes to the scope around it, or, at
/// the end of the function, waits for the end of the module.
void ModuleParser::resolve_scope(LabelScope& scope, LabelScope* outer) {
    if (!outer)
        pending_functions_.emplace_back();
    auto& instructions = outer ? outer->instructions : pending_functions_.back().instructions;
    auto& targets = outer ? outer->targets : pending_functions_.back().targets;
    for (const std::uint32_t index : scope.instructions) {
        bool waits = false;
        for (Operand& operand : function_.body[index].operands)
            waits |= resolve_labels(operand, scope);
        if (waits)
            instructions.push_back(index);
    }
    for (const PendingTarget& target : scope.targets) {
        Table& table = function_.tables[target.table];
        const auto found = scope.labels.find(target.name);
        const bool is_here = table.kind == Table::Kind::branch_targets && found != scope.labels.end();
        if (is_here && !found->second.is_table)
            table.targets[target.slot] = found->second.index;
        else if (!outer && table.kind == Table::Kind::branch_targets)
            source_.fail(target.name, messages::not_a_label(target.name));
        else
            targets.push_back(target);
    }
}

/// Gives functions and variables of the module to the operand. Throws when nothing has the name.
void ModuleParser::resolve_in_module(Operand& operand) {
    for (Operand& element : operand.elements)
        resolve_in_module(element);
    if (!is_unresolved(operand))
        return;
    const ModuleSymbol* found = find_in_module(operand.name);
    if (!found)
        source_.fail(operand.name, messages::undefined_name(operand.name));
    operand.kind = Operand::Kind::symbol;
    operand.symbol_kind = found->kind;
    operand.index = found->index;
}

void ModuleParser::resolve_pending_function(const PendingFunction& pending) {
    Function& function = module_.functions[pending.function];
    for (const std::uint32_t index : pending.instructions) {
        Instruction& instruction = function.body[index];
        for (Operand& operand : instruction.operands) {
            if (instruction.opcode == "bra" && is_unresolved(operand))
                source_.fail(operand.name, messages::not_a_label(operand.name));
            resolve_in_module(operand);
        }
    }
    for (const PendingTarget& target : pending.targets) {
        const ModuleSymbol* found = find_in_module(target.name);
        if (!found || found->kind != SymbolKind::function)
            source_.fail(target.name, messages::not_a_function(target.name));
        function.tables[target.table].targets[target.slot] = found->index;
    }
}

void ModuleParser::resolve_addresses() {
    for (const PendingAddress& pending : pending_addresses_) {
        const ModuleSymbol* found = find_in_module(pending.name);
        if (!found)
            source_.fail(pending.name, messages::undefined_name(pending.name));
        if (found->kind == SymbolKind::module_variable &&
            !has_constant_address(module_.variables[found->index]))
            source_.fail(pending.name, messages::address_not_constant(pending.name));
        Relocation& relocation = module_.variables[pending.variable].relocations[pending.relocation];
        relocation.kind = found->kind;
        relocation.index = found->index;
    }
}

/// Replaces an alias by the function it stands for.
void ModuleParser::redirect(Operand& operand) {
    for (Operand& element : operand.elements)
        redirect(element);
    if (operand.symbol_kind == SymbolKind::function && module_.functions[operand.index].alias_of >= 0)
        operand.index = static_cast<std::uint32_t>(module_.functions[operand.index].alias_of);
}

void ModuleParser::resolve_aliases() {
    if (aliases_.empty())
        return;
    for (const auto& [name, meant] : aliases_) {
        const ModuleSymbol* from = find_in_module(name);
        const ModuleSymbol* to = find_in_module(meant);
        if (!from || from->kind != SymbolKind::function)
            source_.fail(name, messages::no_function_here(name));
        if (!to || to->kind != SymbolKind::function || !module_.functions[to->index].has_body)
            source_.fail(meant, messages::alias_target(meant));
        module_.functions[from->index].alias_of = to->index;
    }
    for (Function& function : module_.functions) {
        for (Instruction& instruction : function.body)
            for (Operand& operand : instruction.operands)
                redirect(operand);
        for (Table& table : function.tables)
            if (table.kind == Table::Kind::call_targets)
                for (std::uint32_t& target : table.targets)
                    if (module_.functions[target].alias_of >= 0)
                        target = static_cast<std::uint32_t>(module_.functions[target].alias_of);
    }
    for (Variable& variable : module_.variables)
        for (Relocation& relocation : variable.relocations)
            if (relocation.kind == SymbolKind::function && module_.functions[relocation.index].alias_of >= 0)
                relocation.index = static_cast<std::uint32_t>(module_.functions[relocation.index].alias_of);
}

} // namespace emu::ptx
