#include "rules/analysis/late_reads.hpp"

#include "machine/block.hpp"
#include "machine/cluster.hpp"

#include <algorithm>
#include <bit>
#include <set>
#include <tuple>

namespace emu::check {
namespace {

using ptx::Instruction;
using ptx::Operand;

bool names(const Operand& operand, std::uint32_t index) {
    return (operand.kind == Operand::Kind::reg && operand.index == index) ||
           std::ranges::any_of(operand.elements, [&](const Operand& e) { return names(e, index); });
}

/// Instructions whose first operand is no destination.
bool has_result(const Instruction& instruction) {
    static constexpr std::string_view without[] = {"st",   "red", "bra",  "brx",   "bar",    "barrier",
                                                   "exit", "ret", "call", "fence", "membar", "cp"};
    if (instruction.operands.empty() || std::ranges::find(without, instruction.opcode) != std::end(without))
        return false;
    return instruction.operands[0].kind != Operand::Kind::address;
}

/// A copy from register to register costs no instruction on hardware, so it is no use.
bool is_copy(const Instruction& instruction) {
    return instruction.opcode == "mov" && instruction.operands.size() == 2 &&
           instruction.operands[0].kind == Operand::Kind::reg &&
           instruction.operands[1].kind == Operand::Kind::reg;
}

bool reads(const Instruction& instruction, std::uint32_t index) {
    if (instruction.guard >= 0 && static_cast<std::uint32_t>(instruction.guard) == index)
        return true;
    for (std::size_t i = has_result(instruction) ? 1 : 0; i < instruction.operands.size(); ++i)
        if (names(instruction.operands[i], index))
            return true;
    return false;
}

bool is_shared_load(const Instruction& instruction) {
    if (instruction.opcode != "ld")
        return instruction.opcode == "ldmatrix";
    static constexpr std::string_view elsewhere[] = {"global",      "param", "param::entry",
                                                     "param::func", "local", "const"};
    return std::ranges::none_of(elsewhere, [&](std::string_view space) { return instruction.has(space); });
}

/// What may tell another thread, or the async proxy, that this thread is done with what came before.
bool may_order(const Instruction& instruction) {
    static constexpr std::string_view those[] = {"bar", "barrier", "mbarrier", "cp",  "atom",
                                                 "red", "fence",   "membar",   "call"};
    if (std::ranges::find(those, instruction.opcode) != std::end(those))
        return true;
    return instruction.opcode == "st" && (instruction.has("release") || instruction.has("relaxed") ||
                                          instruction.has("volatile") || instruction.has("async"));
}

/// A copy of the async proxy to shared memory.
bool writes_shared_asynchronously(const Instruction& instruction) {
    if (instruction.opcode != "cp" || !instruction.has("bulk"))
        return false;
    const auto destination = std::ranges::find_if(instruction.modifiers, [](std::string_view modifier) {
        return modifier.starts_with("shared") || modifier == "global";
    });
    return destination != instruction.modifiers.end() && *destination != "global";
}

/// The search for paths from one load to a use of one of its registers behind something that may order them.
class Search {
  public:
    explicit Search(const ptx::Function& function) : function_(function) {}

    /// Fills `carriers` with the registers that hold the value.
    bool is_late(std::uint32_t load, std::uint32_t index, std::set<std::uint32_t>& carriers) {
        seen_.clear();
        late_ = false;
        carriers_ = &carriers;
        carriers.insert(index);
        push(load + 1, index, false);
        while (!open_.empty()) {
            const State state = open_.back();
            open_.pop_back();
            step(state);
        }
        return late_;
    }

  private:
    using State = std::tuple<std::uint32_t, std::uint32_t, bool>; ///< Instruction, register, ordered.

    void push(std::uint32_t at, std::uint32_t index, bool ordered) {
        if (at < function_.body.size() && seen_.insert({at, index, ordered}).second)
            open_.push_back({at, index, ordered});
    }
    void step(const State& state) {
        auto [at, index, ordered] = state;
        const Instruction& instruction = function_.body[at];
        const bool always = instruction.guard < 0;
        if (is_copy(instruction) && instruction.operands[1].index == index) {
            carriers_->insert(instruction.operands[0].index);
            push(at + 1, instruction.operands[0].index, ordered);
        } else if (reads(instruction, index)) {
            late_ |= ordered;
            if (always)
                return;
        }
        if (has_result(instruction) && names(instruction.operands[0], index) && always)
            return;
        ordered |= may_order(instruction);
        if (instruction.opcode == "bra" && !instruction.operands.empty())
            push(instruction.operands[0].index, index, ordered);
        const bool leaves = instruction.opcode == "bra" || instruction.opcode == "brx" ||
                            instruction.opcode == "ret" || instruction.opcode == "exit" ||
                            instruction.opcode == "trap";
        if (!(leaves && always))
            push(at + 1, index, ordered);
    }

    const ptx::Function& function_;
    std::set<State> seen_;
    std::vector<State> open_;
    std::set<std::uint32_t>* carriers_ = nullptr;
    bool late_ = false;
};

void registers_of(const Operand& operand, std::vector<std::uint32_t>& found) {
    if (operand.kind == Operand::Kind::reg)
        found.push_back(operand.index);
    for (const Operand& element : operand.elements)
        registers_of(element, found);
}

void find_in_function(const DecodedFunction& decoded, std::vector<std::uint8_t>& at) {
    const ptx::Function& function = *decoded.source;
    Search search(function);
    std::set<std::uint32_t> carriers;
    for (std::uint32_t i = 0; i < function.body.size(); ++i) {
        if (!is_shared_load(function.body[i]) || function.body[i].operands.empty())
            continue;
        std::vector<std::uint32_t> filled;
        registers_of(function.body[i].operands[0], filled);
        for (const std::uint32_t index : filled) {
            std::set<std::uint32_t> holding;
            if (search.is_late(i, index, holding)) {
                at[decoded.first + i] |= LateReadSites::load;
                carriers.merge(holding);
            }
        }
        if (at[decoded.first + i] & LateReadSites::load) // A use of any of them waits for all.
            carriers.insert(filled.begin(), filled.end());
    }
    for (std::uint32_t i = 0; i < function.body.size() && !carriers.empty(); ++i) {
        std::vector<std::uint32_t> named;
        for (const Operand& operand : function.body[i].operands)
            registers_of(operand, named);
        if (function.body[i].guard >= 0)
            named.push_back(static_cast<std::uint32_t>(function.body[i].guard));
        if (std::ranges::any_of(named, [&](std::uint32_t r) { return carriers.contains(r); }))
            at[decoded.first + i] |= LateReadSites::names;
    }
}

} // namespace

LateReadSites find_late_reads(const Kernel& kernel) {
    LateReadSites sites;
    if (std::ranges::none_of(kernel.sources,
                             [](const Instruction* i) { return i && writes_shared_asynchronously(*i); }))
        return sites;
    std::vector<std::uint8_t> at(kernel.code.size());
    for (const auto& function : kernel.functions)
        find_in_function(*function, at);
    if (std::ranges::any_of(at, [](std::uint8_t site) { return (site & LateReadSites::load) != 0; }))
        sites.at = std::move(at);
    return sites;
}

/// An instruction, while it is looked at.
struct LateReads::Look {
    Warp& warp;
    std::uint32_t pc;
    std::vector<Holder>& holders;
    const Kernel& kernel = *warp.cluster().info().kernel;
    const Instruction& instruction = *kernel.sources[pc];

    std::uint32_t place(std::uint32_t index) const {
        return warp.frame() + kernel.functions[kernel.function_of[pc]]->registers[index];
    }
    template <class F>
    void each_row(const Operand& operand, F&& f) {
        if (operand.kind == Operand::Kind::reg)
            f(place(operand.index));
        for (const Operand& element : operand.elements)
            each_row(element, f);
    }
    /// The row holds something else from now on.
    void overwrite(std::uint32_t place, LaneMask lanes) {
        for (Holder& each : holders)
            if (each.place == place)
                each.lanes &= ~lanes;
        std::erase_if(holders, [](const Holder& each) { return each.lanes == 0; });
    }
    void use(std::uint32_t place, LaneMask mask, Epoch now) {
        for (const Holder& each : holders)
            if (each.place == place)
                use(*each.load, each.lanes & mask & each.load->pending, now);
    }
    void use(Load& load, LaneMask lanes, Epoch now) {
        load.pending &= ~lanes;
        for_lanes(lanes, [&](unsigned lane) {
            if (now != load.epoch)
                load.used[lane] = now;
            load.use_pc[lane] = pc;
        });
        for (auto& [lane, act] : load.waiting)
            if (lanes >> lane & 1)
                act(pc);
        std::erase_if(load.waiting, [&](const auto& each) { return (lanes >> each.first & 1) != 0; });
    }
    void copy(std::uint32_t from, std::uint32_t to, LaneMask mask) {
        std::vector<Holder> more;
        for (const Holder& each : holders)
            if (each.place == from && each.lanes & mask)
                more.push_back({to, each.lanes & mask, each.load});
        overwrite(to, mask);
        holders.insert(holders.end(), more.begin(), more.end());
    }
};

void LateReads::before_instruction(Warp& warp, std::uint32_t pc, LaneMask mask, Epoch now) {
    const std::size_t number = warp.block().rank() * 32 + warp.index();
    if (number >= holders_.size() || holders_[number].empty())
        return;
    Look look{warp, pc, holders_[number]};
    const Instruction& instruction = look.instruction;
    if (instruction.guard >= 0)
        look.use(look.place(static_cast<std::uint32_t>(instruction.guard)), warp.active(), now);
    if (is_copy(instruction))
        return look.copy(look.place(instruction.operands[1].index), look.place(instruction.operands[0].index),
                         mask);
    for (std::size_t i = has_result(instruction) ? 1 : 0; i < instruction.operands.size(); ++i)
        look.each_row(instruction.operands[i], [&](std::uint32_t place) { look.use(place, mask, now); });
    if (has_result(instruction))
        look.each_row(instruction.operands[0], [&](std::uint32_t place) { look.overwrite(place, mask); });
}

void LateReads::read(Warp& warp, std::uint32_t pc, LaneMask lanes, Epoch now) {
    if (!(sites_.at[pc] & LateReadSites::load))
        return;
    const unsigned number = warp.block().rank() * 32 + warp.index();
    if (number >= holders_.size())
        holders_.resize(number + 1);
    auto& all = loads_[{number, pc}];
    if (all.empty() || all.back()->epoch != now) {
        all.push_back(std::make_shared<Load>());
        all.back()->epoch = now;
        if (all.size() > kept)
            all.pop_front();
    }
    all.back()->pending |= lanes;
    for_lanes(lanes, [&](unsigned lane) { all.back()->used[lane] = 0; });
    Look look{warp, pc, holders_[number]};
    look.each_row(look.instruction.operands[0], [&](std::uint32_t place) {
        holders_[number].push_back({place, lanes, all.back()});
    });
}

void LateReads::settle(Warp& warp, LaneMask lanes, Epoch now) {
    const std::size_t number = warp.block().rank() * 32 + warp.index();
    if (number >= holders_.size())
        return;
    Look look{warp, warp.pc(), holders_[number]};
    for (const Holder& each : holders_[number])
        look.use(*each.load, each.lanes & lanes & each.load->pending, now);
}

LateReads::Load* LateReads::find(unsigned warp, std::uint32_t pc, Epoch epoch) {
    const auto all = loads_.find({warp, pc});
    if (all == loads_.end())
        return nullptr;
    const auto found = std::ranges::find(all->second, epoch, [](const auto& each) { return each->epoch; });
    return found == all->second.end() ? nullptr : found->get();
}

} // namespace emu::check
