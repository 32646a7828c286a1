#include "listeners/unwritten.hpp"

#include "machine/cluster.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace emu::check {
namespace {

using ptx::Instruction;
using ptx::Operand;

/// Instructions whose first operand is no destination.
bool has_destination(const Instruction& instruction) {
    static constexpr std::array<std::string_view, 22> without{
        "st",    "red",     "bra",     "brx",        "bar",       "barrier",  "exit", "ret",
        "call",  "fence",   "membar",  "mbarrier",   "cp",        "prefetch", "trap", "nanosleep",
        "brkpt", "discard", "pmevent", "setmaxnreg", "tensormap", "prefetchu"};
    return std::ranges::find(without, instruction.opcode) == without.end();
}

/// Instructions whose result depends on values that no other rule follows: what comes in is used.
bool uses_all(const Instruction& instruction) {
    static constexpr std::array<std::string_view, 6> those{"vote", "match",      "redux",
                                                           "atom", "activemask", "elect"};
    return !has_destination(instruction) || std::ranges::find(those, instruction.opcode) != those.end();
}

bool is_predicate(const Kernel& kernel, std::uint32_t pc, const Operand& operand) {
    const ptx::Function& f = *kernel.functions[kernel.function_of[pc]]->source;
    return operand.kind == Operand::Kind::reg && f.registers[operand.index].type == ptx::Type::pred;
}

} // namespace

/// The instruction at hand: where its registers lie and which lanes of them hold unwritten values.
struct UnwrittenValues::Flow {
    UnwrittenValues& all;
    Warp& warp;
    std::uint32_t pc;
    LaneMask mask;
    const Kernel& kernel;
    std::uint32_t load = 0; ///< Of the last such value seen.

    std::uint32_t place(std::uint32_t index) const {
        return warp.frame() + kernel.functions[kernel.function_of[pc]]->registers[index];
    }
    /// Lanes of `mask` in which the operand, or an element of it, holds an unwritten value.
    LaneMask of(const Operand& operand) {
        LaneMask lanes = 0;
        if (operand.kind == Operand::Kind::reg)
            if (const Value* value = all.find(warp, place(operand.index)); value && value->lanes & mask) {
                load = value->load;
                lanes = value->lanes & mask;
            }
        for (const Operand& element : operand.elements)
            lanes |= of(element);
        return lanes;
    }
    /// The bits of a predicate operand, its negation applied.
    LaneMask bits(const Operand& operand) {
        if (operand.kind == Operand::Kind::integer)
            return operand.bits ? all_lanes : 0;
        if (operand.kind != Operand::Kind::reg)
            return 0;
        const LaneMask p = warp.predicate(
            {kernel.functions[kernel.function_of[pc]]->registers[operand.index], Row::Base::frame});
        return operand.negated ? ~p : p;
    }
    LaneMask result(const Instruction& instruction);
    LaneMask combined(const Instruction& instruction);
    LaneMask shuffled(const Instruction& instruction);
    void write(const Operand& destination, LaneMask unwritten) {
        if (destination.kind == Operand::Kind::reg)
            all.set(warp, place(destination.index), mask, unwritten, load);
        for (const Operand& element : destination.elements)
            write(element, unwritten);
    }
};

/// A logical operation of predicates: an operand that decides the result alone hides the other.
LaneMask UnwrittenValues::Flow::combined(const Instruction& instruction) {
    const bool is_and = instruction.opcode == "and" || instruction.has("and");
    const bool is_or = instruction.opcode == "or" || instruction.has("or");
    const bool compares = instruction.opcode == "setp";
    const Operand& last = instruction.operands.back();
    const LaneMask b = of(last);
    LaneMask a = of(instruction.operands[1]);
    if (compares)
        a |= of(instruction.operands[2]);
    const auto decides = [&](const Operand& operand) {
        return is_and ? ~bits(operand) : is_or ? bits(operand) : LaneMask{0};
    };
    const LaneMask hidden_a = decides(last) & ~b;
    const LaneMask hidden_b = compares ? 0 : decides(instruction.operands[1]) & ~a;
    return (a & ~hidden_a) | (b & ~hidden_b);
}

/// A shuffle hands on the value of another lane.
LaneMask UnwrittenValues::Flow::shuffled(const Instruction& instruction) {
    const LaneMask source = of(instruction.operands[1]);
    if (!source)
        return 0;
    const Operand& by = instruction.operands[2];
    const std::uint32_t* rows =
        by.kind == Operand::Kind::reg
            ? warp.row<std::uint32_t>(
                  {kernel.functions[kernel.function_of[pc]]->registers[by.index], Row::Base::frame})
            : nullptr;
    LaneMask result = 0;
    for_lanes(mask, [&](unsigned lane) {
        const std::uint32_t distance = rows ? rows[lane] : static_cast<std::uint32_t>(by.bits);
        const std::uint32_t from = instruction.has("up")     ? lane - distance
                                   : instruction.has("down") ? lane + distance
                                   : instruction.has("bfly") ? lane ^ distance
                                                             : distance % warp_size;
        result |= LaneMask{(source >> (from < warp_size ? from : lane) & 1) != 0} << lane;
    });
    return result;
}

LaneMask UnwrittenValues::Flow::result(const Instruction& instruction) {
    const auto& operands = instruction.operands;
    if (instruction.opcode == "selp" && operands.size() == 4) {
        const LaneMask a = of(operands[1]), b = of(operands[2]), c = of(operands[3]);
        const LaneMask taken = bits(operands[3]);
        return (a & taken) | (b & ~taken) | c;
    }
    const bool logical = instruction.opcode == "and" || instruction.opcode == "or";
    if (logical && operands.size() == 3 && is_predicate(kernel, pc, operands[0]))
        return combined(instruction);
    if (instruction.opcode == "setp" && operands.size() == 4)
        return combined(instruction);
    if (instruction.opcode == "shfl" && operands.size() >= 3)
        return shuffled(instruction);
    LaneMask lanes = 0;
    for (std::size_t i = 1; i < operands.size(); ++i)
        lanes |= of(operands[i]);
    return lanes;
}

const UnwrittenValues::Value* UnwrittenValues::find(const Warp& warp, std::uint32_t place) const {
    const auto found =
        std::ranges::find_if(values_, [&](const Value& v) { return v.warp == &warp && v.place == place; });
    return found == values_.end() ? nullptr : &*found;
}

void UnwrittenValues::set(const Warp& warp, std::uint32_t place, LaneMask lanes, LaneMask unwritten,
                          std::uint32_t load) {
    if (const Value* known = find(warp, place)) {
        Value& value = values_[static_cast<std::size_t>(known - values_.data())];
        value.lanes = (value.lanes & ~lanes) | (unwritten & lanes);
        if (unwritten)
            value.load = load;
        if (!value.lanes) {
            value = values_.back();
            values_.pop_back();
        }
    } else if (unwritten & lanes) {
        values_.push_back({&warp, place, unwritten & lanes, load});
    }
}

void UnwrittenValues::load(Warp& warp, std::uint32_t pc, unsigned lane, std::int64_t offset) {
    Flow flow{*this, warp, pc, 1u << lane, *warp.cluster().info().kernel, pc};
    const Instruction& instruction = *flow.kernel.sources[pc];
    const Operand& destination = instruction.operands.front();
    if (destination.kind != Operand::Kind::vector)
        return flow.write(destination, 1u << lane);
    const unsigned size = [&] {
        for (const auto modifier : instruction.modifiers)
            if (const auto type = ptx::type_from_name(modifier))
                return ptx::size_of(*type);
        return 4u;
    }();
    const auto element = static_cast<std::size_t>(offset) / std::max(1u, size);
    if (offset >= 0 && element < destination.elements.size())
        flow.write(destination.elements[element], 1u << lane);
}

void UnwrittenValues::before_instruction(Warp& warp, std::uint32_t pc, LaneMask mask,
                                         const std::function<void(std::uint32_t)>& used) {
    Flow flow{*this, warp, pc, mask, *warp.cluster().info().kernel};
    const Instruction& instruction = *flow.kernel.sources[pc];
    if (instruction.guard >= 0) {
        Flow all{*this, warp, pc, warp.active(), flow.kernel};
        if (const Value* guard = find(warp, all.place(static_cast<std::uint32_t>(instruction.guard)));
            guard && guard->lanes & warp.active())
            used(guard->load);
    }
    if (instruction.operands.empty())
        return;
    if (uses_all(instruction)) {
        LaneMask lanes = 0;
        for (std::size_t i = has_destination(instruction) ? 1 : 0; i < instruction.operands.size(); ++i)
            lanes |= flow.of(instruction.operands[i]);
        if (lanes)
            used(flow.load);
        if (has_destination(instruction))
            flow.write(instruction.operands.front(), 0);
        return;
    }
    const LaneMask unwritten = flow.result(instruction);
    const bool is_load = instruction.opcode == "ld" || instruction.opcode == "ldu";
    if (is_load && unwritten)
        used(flow.load); // An address.
    flow.write(instruction.operands.front(), is_load ? 0 : unwritten);
}

} // namespace emu::check
