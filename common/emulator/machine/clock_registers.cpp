#include "machine/clock_registers.hpp"

#include <algorithm>

namespace emu {
namespace {

using ptx::Operand;

bool reads_clock(const Operand& operand) {
    return operand.kind == Operand::Kind::special &&
           (operand.name.starts_with("%clock") || operand.name.starts_with("%globaltimer"));
}

/// Whether any register or clock among the operand's parts is one of `marked`.
bool is_marked(const Operand& operand, const std::vector<bool>& marked) {
    return reads_clock(operand) || (operand.kind == Operand::Kind::reg && marked[operand.index]) ||
           std::ranges::any_of(operand.elements,
                               [&](const Operand& each) { return is_marked(each, marked); });
}

/// Marks the registers that the operand names; true if one is new. A destination in memory names an address.
bool mark(const Operand& destination, std::vector<bool>& marked) {
    bool is_new = false;
    if (destination.kind == Operand::Kind::reg) {
        is_new = !marked[destination.index];
        marked[destination.index] = true;
    } else if (destination.kind == Operand::Kind::vector || destination.kind == Operand::Kind::pair) {
        for (const Operand& each : destination.elements)
            is_new |= mark(each, marked);
    }
    return is_new;
}

bool passes_on(const ptx::Instruction& instruction, const std::vector<bool>& marked) {
    return instruction.operands.size() > 1 &&
           std::any_of(instruction.operands.begin() + 1, instruction.operands.end(),
                       [&](const Operand& each) { return is_marked(each, marked); });
}

} // namespace

std::vector<FrameBytes> find_clock_registers(const DecodedFunction& function) {
    const ptx::Function& source = *function.source;
    std::vector<bool> marked(source.registers.size());
    for (bool again = true; again;) {
        again = false;
        for (const ptx::Instruction& each : source.body)
            if (passes_on(each, marked))
                again |= mark(each.operands.front(), marked);
    }
    std::vector<FrameBytes> rows;
    for (std::size_t i = 0; i < marked.size(); ++i) {
        const std::uint32_t begin = function.registers[i];
        if (marked[i])
            rows.push_back({begin, begin + register_bytes(source.registers[i].type)});
    }
    return rows;
}

} // namespace emu
