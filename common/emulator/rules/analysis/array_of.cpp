#include "rules/analysis/array_of.hpp"

#include "rules/analysis/dataflow.hpp"

#include <algorithm>
#include <limits>

namespace emu::check {

using ptx::Instruction;
using ptx::Operand;

namespace {

bool is_word_of_address(std::string_view type) {
    return type == "u32" || type == "s32" || type == "b32" || type == "u64" || type == "s64" || type == "b64";
}

/// A mask that cuts off low bits or chooses a block of the cluster, and leaves the rest: as a signed number
/// of the operation's width it is negative.
bool keeps_high_bits(const Operand& mask, bool is_wide) {
    return mask.kind == Operand::Kind::integer &&
           (is_wide ? static_cast<std::int64_t>(mask.bits) < 0
                    : static_cast<std::int32_t>(static_cast<std::uint32_t>(mask.bits)) < 0);
}

/// Calls `f(operand)` for the operands that are addresses, in their order.
template <class F>
void for_addresses(const Instruction& instruction, F&& f) {
    for (const Operand& operand : instruction.operands)
        if (operand.kind == Operand::Kind::address)
            f(operand);
}

} // namespace

// -- one function

BaseArrays::BaseArrays(const ptx::Module& module, const ptx::Function& function)
    : module_(module), function_(function), values_(function.registers.size()) {
    while (pass())
        ;
}

std::optional<BaseArrays::Base> BaseArrays::of_address(std::uint32_t instruction, unsigned which) const {
    std::optional<Base> found;
    unsigned number = 0;
    for_addresses(function_.body[instruction], [&](const Operand& operand) {
        if (number++ == which && !operand.elements.empty())
            if (const Value value = of(operand.elements[0]); value.kind == Value::Kind::array)
                found = value.base;
    });
    return found;
}

/// What a register holds that is set in two places.
BaseArrays::Value BaseArrays::joined(const Value& a, const Value& b) {
    if (a.kind == Value::Kind::unset || a == b)
        return b;
    return b.kind == Value::Kind::unset ? a : unknown();
}

BaseArrays::Value BaseArrays::sum(const Value& a, const Value& b) {
    if (a.kind == Value::Kind::unset || b.kind == Value::Kind::unset)
        return {};
    if (a.kind == Value::Kind::number)
        return b;
    return b.kind == Value::Kind::number ? a : unknown();
}

/// Of an operation that makes a number of numbers, and of addresses nothing that is known.
BaseArrays::Value BaseArrays::of_numbers(std::initializer_list<Value> sources) {
    Value all = number();
    for (const Value& each : sources) {
        if (each.kind == Value::Kind::unset)
            return {};
        if (each.kind != Value::Kind::number)
            all = unknown();
    }
    return all;
}

/// True if anything was learnt.
bool BaseArrays::pass() {
    bool more = false;
    for (const Instruction& each : function_.body)
        if (Dataflow::has_result(each))
            more |= set(each.operands[0], result(each));
    return more;
}

bool BaseArrays::set(const Operand& destination, const Value& value) {
    if (value.kind == Value::Kind::unset)
        return false;
    bool more = false;
    if (destination.kind == Operand::Kind::reg) {
        Value& known = values_[destination.index];
        const Value now = joined(known, value);
        more = now != known;
        known = now;
    }
    for (const Operand& element : destination.elements)
        more |= set(element, value);
    return more;
}

BaseArrays::Value BaseArrays::of(const Operand& operand) const {
    switch (operand.kind) {
    case Operand::Kind::reg: {
        const Value& value = values_[operand.index];
        return operand.negated ? of_numbers({value}) : value;
    }
    case Operand::Kind::symbol: {
        const bool in_module = operand.symbol_kind == ptx::SymbolKind::module_variable;
        if (!in_module && operand.symbol_kind != ptx::SymbolKind::function_variable)
            return number();
        const auto& variables = in_module ? module_.variables : function_.variables;
        if (variables[operand.index].space != ptx::Space::shared)
            return number();
        return {Value::Kind::array, {operand.symbol_kind, operand.index}};
    }
    case Operand::Kind::vector:
    case Operand::Kind::pair:
    case Operand::Kind::tuple: {
        Value all = number();
        for (const Operand& element : operand.elements)
            all = of_numbers({all, of(element)});
        return all;
    }
    default:
        return number();
    }
}

BaseArrays::Value BaseArrays::result(const Instruction& instruction) const {
    const std::string_view opcode = instruction.opcode;
    const auto& operands = instruction.operands;
    if (opcode == "ld" || opcode == "ldu" || opcode == "atom" || opcode == "setp" || opcode == "isspacep")
        return number();
    if ((opcode == "mov" || opcode == "cvta") && operands.size() == 2)
        return of(operands[1]);
    if (opcode == "cvt" && operands.size() == 2 &&
        std::ranges::all_of(instruction.modifiers, is_word_of_address))
        return of(operands[1]);
    if (opcode == "mapa" && operands.size() == 3)
        return sum(of(operands[1]), of_numbers({of(operands[2])}));
    if (opcode == "selp" && operands.size() == 4)
        return joined(of(operands[1]), of(operands[2]));
    return arithmetic(instruction);
}

BaseArrays::Value BaseArrays::arithmetic(const Instruction& instruction) const {
    const std::string_view opcode = instruction.opcode;
    const auto& operands = instruction.operands;
    if (instruction.has("cc")) // The low half of something longer.
        return otherwise(instruction);
    if (operands.size() == 3) {
        if (opcode == "add" || opcode == "or" || opcode == "xor")
            return sum(of(operands[1]), of(operands[2]));
        if (opcode == "sub")
            return sum(of(operands[1]), of_numbers({of(operands[2])}));
        if (opcode == "and")
            return masked(instruction);
    }
    if ((opcode == "mad" || opcode == "mad24") && operands.size() == 4)
        return sum(of_numbers({of(operands[1]), of(operands[2])}), of(operands[3]));
    return otherwise(instruction);
}

BaseArrays::Value BaseArrays::masked(const Instruction& instruction) const {
    const bool is_wide = instruction.has("b64");
    const auto& operands = instruction.operands;
    if (keeps_high_bits(operands[2], is_wide))
        return of(operands[1]);
    if (keeps_high_bits(operands[1], is_wide))
        return of(operands[2]);
    return otherwise(instruction);
}

BaseArrays::Value BaseArrays::otherwise(const Instruction& instruction) const {
    Value all = number();
    for (std::size_t i = 1; i < instruction.operands.size(); ++i)
        all = of_numbers({all, of(instruction.operands[i])});
    return all;
}

// -- a kernel

ArraysOfKernel::ArraysOfKernel(const Kernel& kernel, std::uint32_t shared_size) {
    find_arrays(kernel, shared_size);
    if (arrays_.size() < 2 || arrays_.size() > std::numeric_limits<std::uint16_t>::max())
        return;
    known_.resize(kernel.code.size());
    for (const auto& function : kernel.functions) {
        const BaseArrays bases(kernel.program->module(), *function->source);
        for (std::uint32_t i = 0; i < function->source->body.size(); ++i)
            for (unsigned which = 0; which < most_addresses; ++which)
                if (const auto base = bases.of_address(i, which))
                    known_[function->first + i][which] = number_of(kernel, *function, *base);
    }
}

void ArraysOfKernel::find_arrays(const Kernel& kernel, std::uint32_t shared_size) {
    const ptx::Module& module = kernel.program->module();
    const auto add = [&](std::string_view symbol, std::uint64_t start, std::uint64_t size) {
        if (size > 0)
            arrays_.push_back(
                {symbol, static_cast<std::uint32_t>(start), static_cast<std::uint32_t>(start + size)});
    };
    for (std::size_t i = 0; i < module.variables.size(); ++i)
        if (const ptx::Variable& each = module.variables[i];
            each.space == ptx::Space::shared && !each.unsized && kernel.module_shared[i])
            add(each.name, kernel.module_shared[i], each.size);
    for (const auto& function : kernel.functions)
        for (std::size_t i = 0; i < function->variables.size(); ++i)
            if (const LocalPlacement& each = function->variables[i]; each.space == ptx::Space::shared)
                add(function->source->variables[i].name, each.offset, each.size);
    if (shared_size > kernel.dynamic_shared_offset)
        add({}, kernel.dynamic_shared_offset, shared_size - kernel.dynamic_shared_offset);
    std::ranges::sort(arrays_, {}, &Array::start);
}

std::uint16_t ArraysOfKernel::number_of(const Kernel& kernel, const DecodedFunction& function,
                                        const BaseArrays::Base& base) const {
    const bool in_module = base.kind == ptx::SymbolKind::module_variable;
    const ptx::Variable& variable =
        (in_module ? kernel.program->module().variables : function.source->variables)[base.index];
    if (variable.size == 0 && !variable.unsized)
        return 0;
    const std::uint32_t start = variable.unsized ? kernel.dynamic_shared_offset
                                : in_module      ? kernel.module_shared[base.index]
                                                 : function.variables[base.index].offset;
    const auto found = std::ranges::find(arrays_, start, &Array::start);
    return found == arrays_.end() ? std::uint16_t{0}
                                  : static_cast<std::uint16_t>(found - arrays_.begin() + 1);
}

const ArraysOfKernel::Array* ArraysOfKernel::at(std::uint32_t offset) const {
    const auto behind = std::ranges::upper_bound(arrays_, offset, {}, &Array::start);
    if (behind == arrays_.begin() || offset >= std::prev(behind)->end)
        return nullptr;
    return &*std::prev(behind);
}

} // namespace emu::check
