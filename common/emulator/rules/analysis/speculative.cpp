#include "rules/analysis/speculative.hpp"

#include "machine/block.hpp"
#include "rules/analysis/dataflow.hpp"

#include <algorithm>
#include <string_view>

namespace emu::check {
namespace {

using ptx::Instruction;
using ptx::Operand;

/// May throw away one of its sources.
bool may_hide(const ptx::Function& function, const Instruction& instruction) {
    const auto& operands = instruction.operands;
    if (instruction.opcode == "selp" || (instruction.opcode == "setp" && operands.size() == 4))
        return true;
    return (instruction.opcode == "and" || instruction.opcode == "or") && operands.size() == 3 &&
           operands[0].kind == Operand::Kind::reg &&
           function.registers[operands[0].index].type == ptx::Type::pred;
}

/// The search in one function: registers whose value may come to be hidden, loads that fill them, and what
/// names a register that may hold such a load's value.
class LoadSearch {
  public:
    explicit LoadSearch(const DecodedFunction& decoded)
        : decoded_(decoded), function_(*decoded.source), leads_(function_.registers.size()),
          carries_(function_.registers.size()) {
        while (backwards())
            ;
    }

    void add_to(std::vector<std::uint8_t>& at) {
        bool any = false;
        for (std::uint32_t i = 0; i < function_.body.size(); ++i)
            if (const Instruction& each = function_.body[i]; Dataflow::is_load(each) && is_in(each, leads_)) {
                at[decoded_.first + i] |= SpeculativeSites::load;
                carries_[each.operands[0].index] = any = true;
            }
        while (any && forwards())
            ;
        for (std::uint32_t i = 0; i < function_.body.size() && any; ++i)
            if (const Instruction& each = function_.body[i];
                std::ranges::any_of(each.operands, [&](const Operand& o) { return names(o); }) ||
                (each.guard >= 0 && carries_[static_cast<std::uint32_t>(each.guard)]))
                at[decoded_.first + i] |= SpeculativeSites::names;
    }

  private:
    static bool is_in(const Instruction& instruction, const std::vector<bool>& registers) {
        return !instruction.operands.empty() && instruction.operands[0].kind == Operand::Kind::reg &&
               registers[instruction.operands[0].index];
    }
    bool passes(const Instruction& instruction) const {
        return Values::hands_on(instruction) || may_hide(function_, instruction);
    }
    bool backwards() {
        bool more = false;
        for (auto each = function_.body.rbegin(); each != function_.body.rend(); ++each)
            if (may_hide(function_, *each) || (Values::hands_on(*each) && is_in(*each, leads_)))
                for (std::size_t i = 1; i < each->operands.size(); ++i)
                    if (const Operand& o = each->operands[i];
                        o.kind == Operand::Kind::reg && !leads_[o.index])
                        leads_[o.index] = more = true;
        return more;
    }
    bool forwards() {
        bool more = false;
        for (const Instruction& each : function_.body)
            if (passes(each) && each.operands[0].kind == Operand::Kind::reg &&
                !carries_[each.operands[0].index] &&
                std::any_of(each.operands.begin() + 1, each.operands.end(),
                            [&](const Operand& o) { return names(o); }))
                carries_[each.operands[0].index] = more = true;
        return more;
    }
    bool names(const Operand& operand) const {
        return (operand.kind == Operand::Kind::reg && carries_[operand.index]) ||
               std::ranges::any_of(operand.elements, [&](const Operand& e) { return names(e); });
    }

    const DecodedFunction& decoded_;
    const ptx::Function& function_;
    std::vector<bool> leads_, carries_;
};

} // namespace

SpeculativeSites find_speculative_loads(const Kernel& kernel) {
    SpeculativeSites sites;
    sites.at.resize(kernel.code.size());
    for (const auto& function : kernel.functions)
        LoadSearch(*function).add_to(sites.at);
    if (std::ranges::all_of(sites.at, [](std::uint8_t each) { return each == 0; }))
        sites.at.clear();
    return sites;
}

void SpeculativeLoads::read(Warp& warp, std::uint32_t pc, LaneMask lanes, Epoch now) {
    const std::pair key{warp.block().rank() * 32 + warp.index(), pc};
    auto& all = loads_[key];
    if (all.empty() || all.back().epoch != now) {
        all.push_back({++last_origin_, now, 0, {}});
        by_origin_[last_origin_] = key;
        if (all.size() > kept) {
            by_origin_.erase(all.front().origin);
            all.pop_front();
        }
    }
    for_lanes(lanes, [&](unsigned lane) { values_.taint_register(warp, pc, lane, 0, all.back().origin); });
}

bool SpeculativeLoads::when_used(unsigned warp, std::uint32_t pc, Epoch epoch, unsigned lane,
                                 std::uint32_t about, std::function<void()> act) {
    const auto all = loads_.find({warp, pc});
    if (all == loads_.end())
        return false;
    const auto load = std::ranges::find(all->second, epoch, &Load::epoch);
    if (load == all->second.end() || (load->used >> lane & 1))
        return false;
    if (std::ranges::none_of(load->waiting,
                             [&](const auto& w) { return w.lane == lane && w.about == about; }))
        load->waiting.push_back({lane, about, std::move(act)});
    return true;
}

OriginId SpeculativeLoads::on_lane_joins(OriginId one, OriginId other, unsigned lane) {
    if (one > other)
        std::swap(one, other);
    const auto known = joins_.find({one, other});
    if (known != joins_.end())
        return known->second;
    if (joins_.size() >= kept_joins) { // One of the two is followed.
        on_lane_uses(one, lane);
        return other;
    }
    joined_[++last_origin_] = {one, other};
    return joins_[{one, other}] = last_origin_;
}

void SpeculativeLoads::on_lane_uses(OriginId origin, unsigned lane) {
    if (const auto parts = joined_.find(origin); parts != joined_.end()) {
        on_lane_uses(parts->second.first, lane);
        return on_lane_uses(parts->second.second, lane);
    }
    const auto key = by_origin_.find(origin);
    if (key == by_origin_.end())
        return;
    auto& all = loads_[key->second];
    const auto load = std::ranges::find(all, origin, &Load::origin);
    if (load == all.end() || (load->used >> lane & 1))
        return;
    load->used |= LaneMask{1} << lane;
    std::vector<Load::Waiting> now;
    for (auto& each : load->waiting)
        if (each.lane == lane)
            now.push_back(std::move(each));
    std::erase_if(load->waiting, [&](const auto& each) { return each.lane == lane; });
    for (const auto& each : now)
        each.act();
}

} // namespace emu::check
