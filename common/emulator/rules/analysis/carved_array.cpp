#include "rules/analysis/carved_array.hpp"

#include <cctype>

namespace emu::check {
namespace {

using ptx::Instruction;
using ptx::Operand;

/// The instruction that sets a register, if there is only one.
const Instruction* only_write(const ptx::Function& function, std::uint32_t index) {
    const Instruction* found = nullptr;
    for (const Instruction& each : function.body) {
        if (each.operands.empty() || each.operands[0].kind != Operand::Kind::reg ||
            each.operands[0].index != index || each.opcode == "st" || each.opcode == "red")
            continue;
        if (found)
            return nullptr;
        found = &each;
    }
    return found;
}

/// The constant part of an address in dynamic shared memory.
class Constant {
  public:
    Constant(const ptx::Module& module, const ptx::Function& function)
        : module_(module), function_(function) {}

    std::optional<std::int64_t> of(const Operand& operand, unsigned steps = 16) const {
        if (operand.kind == Operand::Kind::symbol &&
            operand.symbol_kind == ptx::SymbolKind::module_variable) {
            const ptx::Variable& variable = module_.variables[operand.index];
            if (variable.space == ptx::Space::shared && variable.unsized)
                return operand.offset;
            return {};
        }
        const Instruction* const set =
            operand.kind == Operand::Kind::reg && steps != 0 ? only_write(function_, operand.index) : nullptr;
        return set && set->guard < 0 ? result(*set, steps - 1) : std::nullopt;
    }

  private:
    std::optional<std::int64_t> result(const Instruction& set, unsigned steps) const {
        const auto& operands = set.operands;
        if ((set.opcode == "mov" || set.opcode == "cvta" || set.opcode == "cvt") && operands.size() == 2)
            return of(operands[1], steps);
        if (set.opcode == "mad" && operands.size() == 4)
            return of(operands[3], steps);
        if (set.opcode != "add" || operands.size() != 3)
            return {};
        for (const unsigned side : {1u, 2u}) {
            auto base = of(operands[side], steps);
            const Operand& other = operands[3 - side];
            if (base && other.kind == Operand::Kind::integer)
                *base += static_cast<std::int64_t>(other.bits);
            if (base)
                return base;
        }
        return {};
    }

    const ptx::Module& module_;
    const ptx::Function& function_;
};

} // namespace

std::optional<CarvedArray> carved_array(const Kernel& kernel, std::uint32_t pc) {
    const DecodedFunction& function = *kernel.functions[kernel.function_of[pc]];
    for (const Operand& operand : kernel.sources[pc]->operands) {
        if (operand.kind != Operand::Kind::address || operand.elements.empty())
            continue;
        const auto base = Constant(kernel.program->module(), *function.source).of(operand.elements[0]);
        return base ? std::optional(CarvedArray{*base + operand.offset}) : std::nullopt;
    }
    return {};
}

std::string only_array_of(const std::string& line) {
    const auto is_letter = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
    std::string name;
    for (std::size_t at = line.find('['); at != std::string::npos; at = line.find('[', at + 1)) {
        std::size_t begin = at;
        while (begin > 0 && is_letter(line[begin - 1]))
            --begin;
        const std::string here = line.substr(begin, at - begin);
        if (here.empty() || (!name.empty() && here != name))
            return {};
        name = here;
    }
    return name;
}

} // namespace emu::check
