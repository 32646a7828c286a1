#include "rules/analysis/deliberate.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

namespace emu::check {
namespace {

using Kind = Deliberate::Kind;
using ptx::Instruction;
using ptx::Operand;

bool is_relational(const Instruction& comparison) {
    static constexpr std::array<std::string_view, 8> those{"lt", "le", "gt", "ge", "lo", "ls", "hi", "hs"};
    return std::ranges::any_of(those, [&](std::string_view each) { return comparison.has(each); });
}

/// The questions about one function.
class Reader {
  public:
    explicit Reader(const Dataflow& flow) : flow_(flow) {}

    Kind kind_of_store(std::uint32_t store) const;
    /// An ordinary store of one value.
    bool is_plain(std::uint32_t store) const {
        return Dataflow::is_store(flow_[store]) && flow_[store].operands.size() == 2 &&
               stored(store).kind != Operand::Kind::vector;
    }
    bool may_read(std::uint32_t load, std::uint32_t store, Kind kind, bool same_cluster) const;
    bool same_value(std::uint32_t a, std::uint32_t b) const {
        const auto value = stored_constant(a);
        return value && value == stored_constant(b);
    }
    bool same_place(std::uint32_t a, std::uint32_t b) const {
        const auto place = flow_.place(a);
        return place && place == flow_.place(b);
    }

  private:
    const Operand& stored(std::uint32_t store) const { return flow_[store].operands[1]; }
    std::optional<std::string> stored_constant(std::uint32_t store) const {
        return flow_.formula(stored(store));
    }
    bool is_data(std::uint32_t comparison) const;
    bool reads_place_of(const Operand& value, std::uint32_t store) const;
    std::vector<std::uint32_t> comparisons_before(std::uint32_t store, bool all) const;
    std::vector<std::uint32_t> companions(std::uint32_t store) const;
    bool is_claimed(std::uint32_t store, std::uint32_t flag) const;
    bool is_winner(std::uint32_t store) const;
    bool is_relaxation(std::uint32_t store) const;
    bool only_decides(std::uint32_t load) const;
    bool decides_about_barrier(const std::vector<std::uint32_t>& predicates) const;

    const Dataflow& flow_;
};

/// Compares what a thread finds in memory, and is no bound of an index or of a loop.
bool Reader::is_data(std::uint32_t comparison) const {
    const Instruction& each = flow_[comparison];
    if (each.operands.size() < 3)
        return false;
    const auto a = flow_.origins(each.operands[1]), b = flow_.origins(each.operands[2]);
    if (!a.data && !b.data)
        return false;
    const auto counts = [](const Dataflow::Origins& o) { return o.counter || (o.position && !o.memory); };
    return !(is_relational(each) && (counts(a) || counts(b)));
}

/// The value is loaded from where the store goes, perhaps by another index.
bool Reader::reads_place_of(const Operand& value, std::uint32_t store) const {
    std::vector<std::uint32_t> open, seen;
    if (value.kind == Operand::Kind::reg)
        open.push_back(value.index);
    while (!open.empty() && seen.size() < 64) {
        const std::uint32_t reg = open.back();
        open.pop_back();
        if (std::ranges::find(seen, reg) != seen.end())
            continue;
        seen.push_back(reg);
        for (const std::uint32_t at : flow_.definitions(reg)) {
            if (Dataflow::is_load(flow_[at]) && same_place(at, store))
                return true;
            if (!Dataflow::is_load(flow_[at]))
                for (std::size_t i = 1; i < flow_[at].operands.size(); ++i)
                    if (flow_[at].operands[i].kind == Operand::Kind::reg)
                        open.push_back(flow_[at].operands[i].index);
        }
    }
    return false;
}

std::vector<std::uint32_t> Reader::comparisons_before(std::uint32_t store, bool all) const {
    std::vector<std::uint32_t> found;
    for (const auto& condition : all ? flow_.all_conditions(store) : flow_.conditions(store))
        for (const std::uint32_t each : flow_.comparisons(condition.predicate))
            found.push_back(each);
    return found;
}

/// The other ordinary stores under just the same conditions.
std::vector<std::uint32_t> Reader::companions(std::uint32_t store) const {
    std::vector<std::uint32_t> found;
    const auto conditions = flow_.conditions(store);
    for (std::uint32_t at = 0; at < flow_.function().body.size(); ++at)
        if (at != store && Dataflow::is_store(flow_[at]) && flow_.conditions(at) == conditions)
            found.push_back(at);
    return found;
}

/// The thread looks whether a flag is set and sets it together with the store.
bool Reader::is_claimed(std::uint32_t store, std::uint32_t flag) const {
    return stored_constant(flag) &&
           std::ranges::any_of(comparisons_before(store, false), [&](std::uint32_t each) {
               const auto& operands = flow_[each].operands;
               return (reads_place_of(operands[1], flag) && flow_.formula(operands[2])) ||
                      (reads_place_of(operands[2], flag) && flow_.formula(operands[1]));
           });
}

bool Reader::is_winner(std::uint32_t store) const {
    if (flow_.origins(stored(store)).memory)
        return false;
    bool claimed = false;
    for (const std::uint32_t other : companions(store)) {
        if (!stored_constant(other))
            return false; // Two numbers may be of two threads.
        claimed |= is_claimed(store, other);
    }
    return claimed || flow_.origins(Dataflow::address_of(flow_[store])).uniform();
}

bool Reader::is_relaxation(std::uint32_t store) const {
    if (stored(store).kind != Operand::Kind::reg)
        return false;
    const auto is_stored = [&](const Operand& operand) {
        return operand.kind == Operand::Kind::reg && operand.index == stored(store).index;
    };
    const auto tests = [&](std::uint32_t each) {
        const auto& operands = flow_[each].operands;
        return is_relational(flow_[each]) &&
               ((is_stored(operands[1]) && reads_place_of(operands[2], store)) ||
                (is_stored(operands[2]) && reads_place_of(operands[1], store)));
    };
    if (!std::ranges::any_of(comparisons_before(store, false), tests))
        return false;
    const auto others = companions(store); // An exchange stores twice.
    return !others.empty() && std::ranges::all_of(others, [&](std::uint32_t each) {
        return stored_constant(each) && flow_.origins(Dataflow::address_of(flow_[each])).uniform();
    });
}

Kind Reader::kind_of_store(std::uint32_t store) const {
    if (!is_plain(store) || !flow_.place(store))
        return Kind::none;
    if (is_relaxation(store))
        return Kind::relaxation;
    const auto conditions = comparisons_before(store, true);
    if (std::ranges::none_of(conditions, [&](std::uint32_t each) { return is_data(each); }))
        return Kind::none;
    if (stored_constant(store))
        return Kind::flag;
    return is_winner(store) ? Kind::winner : Kind::none;
}

/// What is loaded is compared with constants, for branches and guards, and leads nowhere else.
bool Reader::only_decides(std::uint32_t load) const {
    static constexpr std::array<std::string_view, 5> handing_on{"mov", "cvt", "and", "or", "not"};
    std::vector<std::uint32_t> open, seen, predicates;
    const Operand& target = flow_[load].operands[0];
    if (target.kind != Operand::Kind::reg)
        return false;
    open.push_back(target.index);
    while (!open.empty()) {
        const std::uint32_t reg = open.back();
        open.pop_back();
        if (std::ranges::find(seen, reg) != seen.end())
            continue;
        seen.push_back(reg);
        const bool is_predicate = flow_.function().registers[reg].type == ptx::Type::pred;
        if (is_predicate)
            predicates.push_back(reg);
        for (const std::uint32_t at : flow_.uses(reg)) {
            const Instruction& use = flow_[at];
            if (is_predicate && use.guard == static_cast<std::int32_t>(reg))
                continue;
            const bool compares = use.opcode == "setp";
            if (!compares && std::ranges::find(handing_on, use.opcode) == handing_on.end())
                return false;
            for (std::size_t i = 1; i < use.operands.size(); ++i)
                if (!is_predicate && use.operands[i].index != reg && !flow_.formula(use.operands[i]) && i < 3)
                    return false;
            if (use.operands[0].kind != Operand::Kind::reg)
                return false;
            open.push_back(use.operands[0].index);
        }
    }
    return !decides_about_barrier(predicates);
}

bool Reader::decides_about_barrier(const std::vector<std::uint32_t>& predicates) const {
    for (std::uint32_t at = 0; at < flow_.function().body.size(); ++at)
        if (Dataflow::is_barrier(flow_[at]) || flow_[at].opcode == "call")
            for (const auto& condition : flow_.all_conditions(at))
                if (std::ranges::find(predicates, condition.predicate) != predicates.end())
                    return true;
    return false;
}

bool Reader::may_read(std::uint32_t load, std::uint32_t store, Kind kind, bool same_cluster) const {
    if (!Dataflow::is_load(flow_[load]) || !same_place(load, store))
        return false;
    bool before = false; // The thread looks, and then perhaps stores itself.
    for (std::uint32_t at = 0; at < flow_.function().body.size() && !before; ++at)
        before = Dataflow::is_store(flow_[at]) && same_place(at, store) && kind_of_store(at) == kind &&
                 flow_.reaches(load, at, !same_cluster);
    return before && (kind == Kind::relaxation || only_decides(load));
}

} // namespace

const Dataflow& Deliberate::flow(const Kernel& kernel, std::uint32_t function) {
    return flows_.try_emplace(function, *kernel.functions[function]->source).first->second;
}

bool Deliberate::same_value(const Kernel& kernel, std::uint32_t one, std::uint32_t other) {
    const std::lock_guard lock(mutex_);
    const auto [known, is_new] = same_.try_emplace({one, other}, false);
    const std::uint32_t function = kernel.function_of[one];
    if (!is_new || kernel.function_of[other] != function)
        return known->second;
    const std::uint32_t first = kernel.functions[function]->first;
    const Reader reader(flow(kernel, function));
    known->second = reader.is_plain(one - first) && reader.is_plain(other - first) &&
                    kernel.code[one].width == kernel.code[other].width &&
                    reader.same_value(one - first, other - first);
    return known->second;
}

Deliberate::Kind Deliberate::of(const Kernel& kernel, Access one, Access other, bool same_cluster) {
    const std::lock_guard lock(mutex_);
    const std::uint32_t function = kernel.function_of[one.pc];
    if (kernel.function_of[other.pc] != function)
        return Kind::none;
    if (!one.stores)
        std::swap(one, other);
    const auto [known, is_new] = pairs_.try_emplace({one.pc, other.pc, same_cluster}, Kind::none);
    if (!is_new)
        return known->second;
    const DecodedFunction& decoded = *kernel.functions[function];
    const Reader reader(flow(kernel, function));
    const std::uint32_t a = one.pc - decoded.first, b = other.pc - decoded.first;
    const Kind kind = reader.kind_of_store(a);
    const auto both_fit = [&] {
        if (!other.stores)
            return reader.may_read(b, a, kind, same_cluster);
        return reader.same_place(a, b) && reader.kind_of_store(b) == kind &&
               (kind != Kind::flag || reader.same_value(a, b));
    };
    if (kind != Kind::none && both_fit())
        known->second = kind;
    return known->second;
}

std::string_view describe(Deliberate::Kind kind) {
    switch (kind) {
    case Deliberate::Kind::flag:
        return "a flag, which all threads set to the same value and which serves only to decide";
    case Deliberate::Kind::winner:
        return "a search, of which any thread that finds something may leave its number";
    case Deliberate::Kind::relaxation:
        return "a relaxation, which a flag repeats until nothing changes";
    case Deliberate::Kind::none:
        break;
    }
    return "";
}

} // namespace emu::check
