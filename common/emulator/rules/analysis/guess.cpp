#include "rules/analysis/guess.hpp"

#include <vector>

namespace emu::check {
namespace {

using ptx::Instruction;
using ptx::Operand;
using ptx::SymbolKind;

/// An address as far as the text of a function tells: a register or a symbol, and bytes behind it.
struct Place {
    enum class Root : std::uint8_t { none, reg, symbol };
    Root root = Root::none;
    SymbolKind symbol_kind = SymbolKind::none;
    std::uint32_t index = 0;
    std::int64_t offset = 0;
    friend bool operator==(const Place&, const Place&) = default;
};

/// The instruction that sets a register, if there is only one.
const Instruction* only_definition(const ptx::Function& function, std::uint32_t index) {
    const Instruction* found = nullptr;
    for (const Instruction& each : function.body) {
        const bool sets = !each.operands.empty() && each.operands[0].kind == Operand::Kind::reg &&
                          each.operands[0].index == index;
        if (sets && found)
            return nullptr;
        if (sets)
            found = &each;
    }
    return found;
}

/// Follows copies, address conversions and sums with a constant back to where the address comes from.
Place place_of(const ptx::Function& function, const Operand& operand, unsigned steps = 8) {
    if (operand.kind == Operand::Kind::symbol)
        return {Place::Root::symbol, operand.symbol_kind, operand.index, operand.offset};
    if (operand.kind != Operand::Kind::reg)
        return {};
    const Place itself{Place::Root::reg, SymbolKind::none, operand.index, 0};
    const Instruction* const set = steps ? only_definition(function, operand.index) : nullptr;
    if (!set || set->guard >= 0 || set->operands.size() < 2)
        return itself;
    const bool sum =
        set->opcode == "add" && set->operands.size() == 3 && set->operands[2].kind == Operand::Kind::integer;
    if (!sum && set->opcode != "mov" && set->opcode != "cvta")
        return itself;
    Place from = place_of(function, set->operands[1], steps - 1);
    if (from.root == Place::Root::none)
        return itself;
    if (sum)
        from.offset += static_cast<std::int64_t>(set->operands[2].bits);
    return from;
}

/// The place that a load or an atomic update accesses; `operand` is its number in the text.
Place accessed(const ptx::Function& function, const Instruction& instruction, std::size_t operand) {
    if (instruction.operands.size() <= operand)
        return {};
    const Operand& address = instruction.operands[operand];
    if (address.kind != Operand::Kind::address || address.elements.empty())
        return {};
    Place place = place_of(function, address.elements[0]);
    place.offset += address.offset;
    return place;
}

/// Where control may go from the instruction at `at`; a barrier ends the path.
void add_successors(const ptx::Function& function, std::uint32_t at, std::vector<std::uint32_t>& open) {
    const Instruction& instruction = function.body[at];
    const bool always = instruction.guard < 0;
    if (instruction.opcode == "bar" || instruction.opcode == "barrier")
        return;
    if (instruction.opcode == "bra" && !instruction.operands.empty())
        open.push_back(instruction.operands[0].index);
    const bool leaves = instruction.opcode == "bra" || instruction.opcode == "brx" ||
                        instruction.opcode == "ret" || instruction.opcode == "exit" ||
                        instruction.opcode == "trap";
    if (!(leaves && always) && at + 1 < function.body.size())
        open.push_back(at + 1);
}

bool update_follows(const ptx::Function& function, std::uint32_t load) {
    const Place place = accessed(function, function.body[load], 1);
    if (function.body[load].opcode != "ld" || place.root == Place::Root::none)
        return false;
    std::vector<bool> seen(function.body.size());
    std::vector<std::uint32_t> open;
    add_successors(function, load, open);
    while (!open.empty()) {
        const std::uint32_t at = open.back();
        open.pop_back();
        if (at >= seen.size() || seen[at])
            continue;
        seen[at] = true;
        const Instruction& instruction = function.body[at];
        if (instruction.opcode == "atom" && accessed(function, instruction, 1) == place)
            return true;
        if (instruction.opcode == "red" && accessed(function, instruction, 0) == place)
            return true;
        add_successors(function, at, open);
    }
    return false;
}

} // namespace

bool GuessedReads::contains(const Kernel& kernel, std::uint32_t pc) {
    const auto [known, is_new] = known_.try_emplace(pc, false);
    if (is_new) {
        const DecodedFunction& function = *kernel.functions[kernel.function_of[pc]];
        known->second = update_follows(*function.source, pc - function.first);
    }
    return known->second;
}

} // namespace emu::check
