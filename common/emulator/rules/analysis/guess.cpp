#include "rules/analysis/guess.hpp"

#include "rules/analysis/dataflow.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <string_view>
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

/// What a load's value reaches inside its function: registers, and memory of the thread's own, which counts
/// as one place.
class Reach {
  public:
    Reach(const Dataflow& flow, std::uint32_t load)
        : flow_(flow), registers_(flow.function().registers.size()) {
        set(flow[load].operands[0]);
        while (spread()) {
        }
    }
    /// The instruction has the value among its operands, or one that was made of it.
    bool is_source(std::uint32_t at) const {
        const Instruction& instruction = flow_[at];
        const auto& operands = instruction.operands;
        return std::any_of(operands.begin() + Dataflow::has_result(instruction), operands.end(),
                           [&](const Operand& each) { return holds(each); });
    }
    /// The value decides whether the instruction is executed, with what, or how long the thread waits before.
    bool decides(std::uint32_t at) const {
        if (is_decided_by(flow_.all_conditions(at)) || chooses_source(at))
            return true;
        for (std::uint32_t i = 0; i < flow_.function().body.size(); ++i)
            if (const Instruction& branch = flow_[i];
                branch.opcode == "bra" && branch.guard >= 0 && !branch.operands.empty() &&
                registers_[static_cast<std::uint32_t>(branch.guard)] && waits(i, at))
                return true;
        return false;
    }

  private:
    bool is_decided_by(const std::vector<Dataflow::Condition>& conditions) const {
        return std::ranges::any_of(conditions, [&](const auto& each) { return registers_[each.predicate]; });
    }
    /// What the instruction uses is set in several places, and the value decides in which.
    bool chooses_source(std::uint32_t at) const {
        std::vector<bool> seen(registers_.size());
        std::vector<std::uint32_t> open;
        const std::function<void(const Operand&)> look = [&](const Operand& operand) {
            if (operand.kind == Operand::Kind::reg && !seen[operand.index]) {
                seen[operand.index] = true;
                open.push_back(operand.index);
            }
            std::ranges::for_each(operand.elements, look);
        };
        std::ranges::for_each(flow_[at].operands, look);
        while (!open.empty()) {
            const auto& definitions = flow_.definitions(open.back());
            open.pop_back();
            for (const std::uint32_t each : definitions) {
                if (definitions.size() > 1 && each != at && is_decided_by(flow_.conditions(each)))
                    return true;
                if (!Dataflow::is_load(flow_[each]))
                    std::for_each(flow_[each].operands.begin() + 1, flow_[each].operands.end(), look);
            }
        }
        return false;
    }
    bool holds(const Operand& operand) const {
        return (operand.kind == Operand::Kind::reg && registers_[operand.index]) ||
               std::ranges::any_of(operand.elements, [&](const Operand& each) { return holds(each); });
    }
    bool set(const Operand& operand) {
        bool more = false;
        if (operand.kind == Operand::Kind::reg && !registers_[operand.index])
            registers_[operand.index] = more = true;
        for (const Operand& each : operand.elements)
            more |= set(each);
        return more;
    }
    static bool is_private(const Instruction& instruction) {
        return instruction.has("local") ||
               std::ranges::any_of(instruction.modifiers,
                                   [](std::string_view each) { return each.starts_with("param"); });
    }
    /// One way leads to the branch again before `at`, the other does not: `while (*lock) ;`.
    bool waits(std::uint32_t branch, std::uint32_t at) const {
        const auto comes_back = [&](std::uint32_t next) {
            return next == branch || (next != at && flow_.reaches(next, branch, true, at));
        };
        return comes_back(flow_[branch].operands[0].index) != comes_back(branch + 1) &&
               flow_.reaches(branch, at, false);
    }
    bool spread() {
        bool more = false;
        for (std::uint32_t at = 0; at < flow_.function().body.size(); ++at) {
            const Instruction& each = flow_[at];
            const bool own = is_private(each);
            const bool guarded = each.guard >= 0 && registers_[static_cast<std::uint32_t>(each.guard)];
            if (own && each.opcode == "st" && !own_memory_ && (guarded || is_source(at)))
                own_memory_ = more = true;
            // What other threads have seen of the value is theirs.
            if (!Dataflow::has_result(each) || Dataflow::is_load(each))
                continue;
            if (guarded || is_source(at) || (own && each.opcode == "ld" && own_memory_))
                more |= set(each.operands[0]);
        }
        return more;
    }

    const Dataflow& flow_;
    std::vector<bool> registers_;
    bool own_memory_ = false;
};

bool is_update_of(const ptx::Function& function, const Instruction& instruction, const Place& place) {
    return (instruction.opcode == "atom" && accessed(function, instruction, 1) == place) ||
           (instruction.opcode == "red" && accessed(function, instruction, 0) == place);
}

bool decides_update(const ptx::Function& function, std::uint32_t load) {
    const Place place = accessed(function, function.body[load], 1);
    if (function.body[load].opcode != "ld" || place.root == Place::Root::none)
        return false;
    std::optional<Dataflow> flow;
    std::optional<Reach> reach;
    for (std::uint32_t at = 0; at < function.body.size(); ++at) {
        if (!is_update_of(function, function.body[at], place))
            continue;
        if (!flow) {
            flow.emplace(function);
            reach.emplace(*flow, load);
        }
        if (flow->reaches(load, at, false) && (reach->is_source(at) || reach->decides(at)))
            return true;
    }
    return false;
}

} // namespace

bool GuessedReads::contains(const Kernel& kernel, std::uint32_t pc) {
    const std::lock_guard lock(mutex_);
    const auto [known, is_new] = known_.try_emplace(pc, false);
    if (is_new) {
        const DecodedFunction& function = *kernel.functions[kernel.function_of[pc]];
        known->second = decides_update(*function.source, pc - function.first);
    }
    return known->second;
}

} // namespace emu::check
