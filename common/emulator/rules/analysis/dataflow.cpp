#include "rules/analysis/dataflow.hpp"

#include "rules/analysis/opcodes.hpp"
#include "rules/analysis/values.hpp"

#include <algorithm>
#include <array>

namespace emu::check {

using ptx::Instruction;
using ptx::Operand;

namespace {

bool in_private_memory(const Instruction& instruction) {
    return std::ranges::any_of(instruction.modifiers, [](std::string_view m) {
        return m.starts_with("param") || m == "local" || m == "const";
    });
}

bool is_strong(const Instruction& instruction) {
    return instruction.has("volatile") || instruction.has("relaxed") || instruction.has("acquire") ||
           instruction.has("release") || instruction.has("async") || instruction.has("mmio");
}

/// Special registers that differ between the threads of a launch, or from one moment to the next.
bool is_position(std::string_view name) {
    return !name.starts_with("%ntid") && !name.starts_with("%nctaid") && !name.starts_with("%nclusterid") &&
           !name.starts_with("%cluster_nctaid");
}

bool is_integer(const Operand& operand) { return operand.kind == Operand::Kind::integer; }

} // namespace

bool Dataflow::has_result(const Instruction& instruction) {
    static constexpr std::array<std::string_view, 14> without{
        "st",  "red",   "bra",    "brx", "bar",      "barrier",   "exit",
        "ret", "fence", "membar", "cp",  "prefetch", "nanosleep", "trap"};
    return !instruction.operands.empty() && !is_one_of(instruction.opcode, without) &&
           instruction.operands[0].kind != Operand::Kind::address;
}

bool Dataflow::is_barrier(const Instruction& instruction) {
    // bar.warp.sync is for the threads of one warp.
    return (instruction.opcode == "bar" || instruction.opcode == "barrier") && !instruction.has("warp");
}

bool Dataflow::is_load(const Instruction& instruction) {
    return (instruction.opcode == "ld" || instruction.opcode == "ldu") && !in_private_memory(instruction);
}

bool Dataflow::is_store(const Instruction& instruction) {
    return instruction.opcode == "st" && !in_private_memory(instruction) && !is_strong(instruction);
}

Dataflow::Dataflow(const ptx::Function& function)
    : function_(function), definitions_(function.registers.size()), uses_(function.registers.size()),
      successors_(function.body.size()), predecessors_(function.body.size()) {
    static constexpr std::array<std::string_view, 5> leaving{"bra", "brx", "ret", "exit", "trap"};
    for (std::uint32_t at = 0; at < function.body.size(); ++at) {
        const Instruction& instruction = function.body[at];
        const bool result = has_result(instruction);
        for (std::size_t i = 0; i < instruction.operands.size(); ++i)
            note(instruction.operands[i], at, i == 0 && result ? definitions_ : uses_);
        if (instruction.guard >= 0)
            uses_[static_cast<std::uint32_t>(instruction.guard)].push_back(at);
        auto& next = successors_[at];
        if (instruction.opcode == "bra" && !instruction.operands.empty())
            next.push_back(instruction.operands[0].index);
        if (instruction.opcode == "brx")
            for (const ptx::Table& table : function.tables)
                next.insert(next.end(), table.targets.begin(), table.targets.end());
        if (!(instruction.guard < 0 && is_one_of(instruction.opcode, leaving)))
            next.push_back(at + 1);
        std::erase_if(next, [&](std::uint32_t each) { return each >= function.body.size(); });
        for (const std::uint32_t each : next)
            predecessors_[each].push_back(at);
    }
}

void Dataflow::note(const Operand& operand, std::uint32_t at,
                    std::vector<std::vector<std::uint32_t>>& table) {
    if (operand.kind == Operand::Kind::reg)
        table[operand.index].push_back(at);
    for (const Operand& element : operand.elements)
        note(element, at, table);
}

const Operand& Dataflow::address_of(const Instruction& instruction) {
    return instruction.operands[has_result(instruction) ? 1 : 0];
}

// -- values

struct Dataflow::Walk {
    const Dataflow& flow;
    std::vector<bool> seen = std::vector<bool>(flow.definitions_.size());
    Origins found{};

    void look(const Operand& operand) {
        if (operand.kind == Operand::Kind::special)
            found.position |= is_position(operand.name);
        if (operand.kind == Operand::Kind::reg && !seen[operand.index]) {
            seen[operand.index] = true;
            for (const std::uint32_t at : flow.definitions(operand.index))
                look_at(at);
        }
        for (const Operand& element : operand.elements)
            look(element);
    }
    void look_at(std::uint32_t at) {
        static constexpr std::array<std::string_view, 6> from_memory{"ld",   "ldu", "atom",
                                                                     "call", "tex", "ldmatrix"};
        const Instruction& instruction = flow[at];
        if (is_one_of(instruction.opcode, from_memory)) {
            if (in_private_memory(instruction) && !instruction.has("local"))
                return;
            found.memory = true;
            // Which of many values it is depends on the thread: directly, or by a place that it has read.
            if (is_load(instruction) && instruction.operands.size() > 1) {
                const Origins address = flow.origins(instruction.operands[1]);
                found.data |= address.position || address.data || address.counter;
            }
            return;
        }
        found.position |= instruction.opcode == "elect" || instruction.opcode == "activemask";
        for (std::size_t i = 1; i < instruction.operands.size(); ++i)
            look(instruction.operands[i]);
        if (instruction.opcode == "add" && instruction.operands.size() == 3 &&
            is_integer(instruction.operands[2]))
            found.counter |= steps(instruction.operands[0], instruction.operands[1]);
    }
    /// `next` = `from` + a constant, and `from` is, by copies, `next`.
    bool steps(const Operand& next, const Operand& from) const {
        std::vector<std::uint32_t> open{from.index};
        std::vector<std::uint32_t> known;
        while (!open.empty() && known.size() < 64) {
            const std::uint32_t reg = open.back();
            open.pop_back();
            if (reg == next.index)
                return true;
            if (std::ranges::find(known, reg) != known.end())
                continue;
            known.push_back(reg);
            for (const std::uint32_t at : flow.definitions(reg))
                if (flow[at].operands.size() >= 2 && flow[at].operands[1].kind == Operand::Kind::reg &&
                    (flow[at].opcode == "mov" ||
                     (flow[at].opcode == "add" && is_integer(flow[at].operands.back()))))
                    open.push_back(flow[at].operands[1].index);
        }
        return false;
    }
};

Dataflow::Origins Dataflow::origins(const Operand& operand) const {
    Walk walk{*this};
    walk.look(operand);
    return walk.found;
}

std::optional<std::string> Dataflow::formula(const Operand& operand, unsigned depth) const {
    using Kind = Operand::Kind;
    if (operand.kind == Kind::integer || operand.kind == Kind::float32 || operand.kind == Kind::float64)
        return std::to_string(operand.bits);
    if (operand.kind == Kind::special && !is_position(operand.name))
        return std::string(operand.name);
    if (operand.kind == Kind::address && operand.elements.size() == 1 &&
        operand.elements[0].symbol_kind == ptx::SymbolKind::parameter)
        return "parameter " + std::to_string(operand.elements[0].index) + " + " +
               std::to_string(operand.offset);
    if (operand.kind != Kind::reg || depth == 0 || definitions_[operand.index].size() != 1)
        return std::nullopt;
    const Instruction& made = function_.body[definitions_[operand.index].front()];
    if (made.guard >= 0 || Values::tells_lanes_apart(made) || made.operands.size() < 2)
        return std::nullopt;
    std::string text;
    for (std::size_t i = 1; i < made.operands.size(); ++i) {
        const auto part = formula(made.operands[i], depth - 1);
        if (!part)
            return std::nullopt;
        text += (i > 1 ? ", " : "") + *part;
    }
    if (made.opcode == "mov" || (made.opcode == "ld" && !is_load(made)))
        return text;
    std::string name(made.opcode);
    for (const std::string_view modifier : made.modifiers)
        name += "." + std::string(modifier);
    return name + "(" + text + ")";
}

// -- places

std::optional<Dataflow::Place> Dataflow::place(std::uint32_t at) const {
    const Operand& address = address_of(function_.body[at]);
    if (address.kind != Operand::Kind::address || address.elements.empty())
        return std::nullopt;
    std::vector<std::uint32_t> on_path;
    auto found = base(address.elements[0], on_path);
    if (found)
        found->offset += address.offset;
    return found;
}

/// `on_path`: registers that are being looked at. One that leads back to itself is a pointer that moves.
std::optional<Dataflow::Place> Dataflow::base(const Operand& operand,
                                              std::vector<std::uint32_t>& on_path) const {
    if (operand.kind == Operand::Kind::symbol) {
        if (operand.symbol_kind == ptx::SymbolKind::module_variable)
            return Place{Place::Base::variable, operand.index, operand.offset};
        if (operand.symbol_kind == ptx::SymbolKind::function_variable)
            return Place{Place::Base::local_variable, operand.index, operand.offset};
        return std::nullopt;
    }
    if (operand.kind != Operand::Kind::reg || on_path.size() > 64 ||
        std::ranges::find(on_path, operand.index) != on_path.end())
        return std::nullopt;
    on_path.push_back(operand.index);
    std::optional<Place> found;
    bool several = false;
    for (const std::uint32_t at : definitions_[operand.index]) {
        const auto here = base_of_definition(at, on_path);
        several |= found && here && *found != *here;
        found = found ? found : here;
    }
    on_path.pop_back();
    return several ? std::nullopt : found;
}

std::optional<Dataflow::Place> Dataflow::base_of_definition(std::uint32_t at,
                                                            std::vector<std::uint32_t>& on_path) const {
    const Instruction& made = function_.body[at];
    const auto& operands = made.operands;
    if (made.opcode == "ld" && operands.size() == 2 && operands[1].kind == Operand::Kind::address &&
        !operands[1].elements.empty() && operands[1].elements[0].symbol_kind == ptx::SymbolKind::parameter)
        return Place{Place::Base::parameter,
                     operands[1].elements[0].index * 4096 + static_cast<std::uint32_t>(operands[1].offset),
                     0};
    if (made.opcode == "mov" || made.opcode == "cvta" || made.opcode == "cvt")
        return operands.size() == 2 ? base(operands[1], on_path) : std::nullopt;
    if (made.opcode == "mad" && operands.size() == 4)
        return base(operands[3], on_path);
    if (made.opcode != "add" || operands.size() != 3)
        return std::nullopt;
    auto left = base(operands[1], on_path);
    const auto right = base(operands[2], on_path);
    if (left && right)
        return std::nullopt;
    if (left && is_integer(operands[2]))
        left->offset += static_cast<std::int64_t>(operands[2].bits);
    return left ? left : right;
}

// -- conditions

std::vector<Dataflow::Condition> Dataflow::conditions(std::uint32_t at) const {
    // Instructions from which the end can be reached without `at`. Where one way of a branch does and the
    // other does not, it decides about `at`.
    std::vector<bool> avoids(function_.body.size());
    std::vector<std::uint32_t> open;
    const auto visit = [&](std::uint32_t each) {
        if (each != at && !avoids[each]) {
            avoids[each] = true;
            open.push_back(each);
        }
    };
    for (std::uint32_t i = 0; i < function_.body.size(); ++i)
        if (const auto& opcode = function_.body[i].opcode;
            opcode == "ret" || opcode == "exit" || opcode == "trap")
            visit(i);
    while (!open.empty()) {
        const std::uint32_t each = open.back();
        open.pop_back();
        std::ranges::for_each(predecessors_[each], visit);
    }
    std::vector<Condition> found;
    if (const std::int32_t guard = function_.body[at].guard; guard >= 0 && function_.body[at].opcode != "bra")
        found.push_back({at, static_cast<std::uint32_t>(guard), !function_.body[at].guard_negated});
    for (std::uint32_t i = 0; i < function_.body.size(); ++i) {
        const Instruction& branch = function_.body[i];
        if (branch.guard < 0 || i == at)
            continue;
        const bool jumps = branch.opcode == "bra" && successors_[i].size() == 2;
        const bool leaves = branch.opcode == "ret" || branch.opcode == "exit";
        if (!jumps && !leaves)
            continue;
        const bool taken = leaves || avoids[successors_[i][0]], not_taken = avoids[successors_[i].back()];
        if (taken != not_taken)
            found.push_back({i, static_cast<std::uint32_t>(branch.guard), branch.guard_negated == taken});
    }
    return found;
}

std::vector<Dataflow::Condition> Dataflow::all_conditions(std::uint32_t at) const {
    std::vector<Condition> all = conditions(at);
    for (std::size_t i = 0; i < all.size() && all.size() < 256; ++i)
        if (all[i].at != at)
            for (const Condition& outer : conditions(all[i].at))
                if (std::ranges::find(all, outer.at, &Condition::at) == all.end())
                    all.push_back(outer);
    return all;
}

std::vector<std::uint32_t> Dataflow::comparisons(std::uint32_t predicate) const {
    std::vector<std::uint32_t> found, open{predicate}, seen;
    while (!open.empty()) {
        const std::uint32_t reg = open.back();
        open.pop_back();
        if (std::ranges::find(seen, reg) != seen.end())
            continue;
        seen.push_back(reg);
        for (const std::uint32_t at : definitions_[reg]) {
            const Instruction& made = function_.body[at];
            if (made.opcode == "setp")
                found.push_back(at);
            // setp compares its second and third operand; a fourth is a predicate.
            for (std::size_t i = made.opcode == "setp" ? 3 : 1; i < made.operands.size(); ++i)
                if (made.operands[i].kind == Operand::Kind::reg &&
                    function_.registers[made.operands[i].index].type == ptx::Type::pred)
                    open.push_back(made.operands[i].index);
        }
    }
    return found;
}

bool Dataflow::reaches(std::uint32_t from, std::uint32_t to, bool past_barriers,
                       std::uint32_t avoided) const {
    std::vector<bool> seen(function_.body.size());
    std::vector<std::uint32_t> open{from};
    while (!open.empty()) {
        const std::uint32_t at = open.back();
        open.pop_back();
        if (at != from && !past_barriers && is_barrier(function_.body[at]))
            continue;
        for (const std::uint32_t next : successors_[at]) {
            if (next == to)
                return true;
            if (!seen[next] && next != avoided) {
                seen[next] = true;
                open.push_back(next);
            }
        }
    }
    return false;
}

} // namespace emu::check
