// Registers of wgmma: touched while a wgmma in flight has them, or used by one without a wgmma.fence behind
// the last access (PTX ISA 9.7.15.4, 9.7.15.7).

#include "findings/places.hpp"
#include "hopper_emulator/finding_kinds.hpp"
#include "rules/analysis/wgmma_uses.hpp"
#include "rules/rule.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace emu::check {
namespace {

using UseKind = WgmmaUse::Kind;

class WgmmaRegisters final : public Rule {
  public:
    explicit WgmmaRegisters(const Desk& desk)
        : Rule(desk),
          uses_(launch_.shelf.get<WgmmaUses>([this] { return std::make_shared<WgmmaUses>(kernel()); })) {
        if (uses_.any() && !kernel().program->module().is_debug)
            engine_.watch(*this, Watch::instructions);
    }
    void on_instruction(Warp& warp, std::uint32_t pc, LaneMask mask) override;

  private:
    enum class Owner : std::uint8_t { nobody, accumulator, factor };
    struct Register {
        Owner owner = Owner::nobody; ///< What a wgmma in flight has it as.
        std::uint64_t group = 0;     ///< Of that wgmma.
        std::uint32_t owner_pc = 0;
        bool waited = false; ///< Behind that wgmma, which no group has.
        std::uint32_t wait_pc = 0;
        bool touched = false; ///< Since the last wgmma.fence,
        bool written = false;
        std::uint32_t touched_pc = 0; ///< here.
    };
    struct WarpState {
        std::unordered_map<std::uint32_t, Register> registers; ///< By place in the frames of the warp.
        std::uint64_t committed = 0;
        bool is_fenced = false; ///< It has executed a wgmma.fence.
    };
    /// What the last wait left in flight, for the words.
    struct LastWait {
        bool any = false;
        std::uint32_t pc = 0;
        std::uint64_t pending = 0, groups = 0;
    };

    void multiply(Warp& warp, WarpState& state, std::uint32_t pc);
    void own(WarpState& state, Warp& warp, std::uint32_t place, Owner owner, std::uint32_t pc);
    void wait(WarpState& state, std::uint32_t pc);
    void copy(Warp& warp, WarpState& state, std::uint32_t pc);
    void access(Warp& warp, WarpState& state, std::uint32_t pc);
    void touch(Warp& warp, WarpState& state, std::uint32_t pc, std::uint32_t place, bool writes);
    void tell_in_flight(const Warp& warp, const WarpState& state, const Register& what, std::uint32_t pc,
                        bool writes);
    void tell_unfenced(const Warp& warp, const Register* what, std::uint32_t pc);

    const WgmmaUses& uses_;
    std::map<const Warp*, WarpState> warps_;
    std::map<const Warp*, LastWait> waits_;
};

std::string warp_of(const Warp& warp) { return "The warp of " + thread_name(warp, 0); }

void WgmmaRegisters::on_instruction(Warp& warp, std::uint32_t pc, LaneMask mask) {
    const WgmmaUse& use = uses_.of(pc);
    if (use.kind == UseKind::none || mask == 0) [[likely]]
        return;
    WarpState& state = warps_[&warp];
    switch (use.kind) {
    case UseKind::multiply:
        return multiply(warp, state, pc);
    case UseKind::fence:
        state.is_fenced = true;
        for (auto& [place, each] : state.registers)
            each.touched = false;
        return;
    case UseKind::commit:
        ++state.committed;
        return;
    case UseKind::wait:
        waits_[&warp] = {true, pc, use.pending, state.committed};
        return wait(state, pc);
    case UseKind::copy:
        return copy(warp, state, pc);
    default:
        return access(warp, state, pc);
    }
}

void WgmmaRegisters::wait(WarpState& state, std::uint32_t pc) {
    const std::uint64_t pending = uses_.of(pc).pending;
    for (auto& [place, each] : state.registers)
        if (each.group + pending < state.committed) {
            each.owner = Owner::nobody;
        } else if (each.group >= state.committed) {
            each.waited = true;
            each.wait_pc = pc;
        }
}

void WgmmaRegisters::multiply(Warp& warp, WarpState& state, std::uint32_t pc) {
    if (!state.is_fenced)
        tell_unfenced(warp, nullptr, pc);
    const WgmmaUse& use = uses_.of(pc);
    for (const std::uint32_t place : use.writes)
        own(state, warp, place, Owner::accumulator, pc);
    for (const std::uint32_t place : use.reads) {
        const Register& factor = state.registers[warp.frame() + place];
        if (factor.owner == Owner::accumulator)
            tell_in_flight(warp, state, factor, pc, false);
        own(state, warp, place, Owner::factor, pc);
    }
}

void WgmmaRegisters::own(WarpState& state, Warp& warp, std::uint32_t place, Owner owner, std::uint32_t pc) {
    Register& mine = state.registers[warp.frame() + place];
    if (mine.touched && state.is_fenced)
        tell_unfenced(warp, &mine, pc);
    if (mine.owner == Owner::factor && owner == Owner::accumulator)
        tell_in_flight(warp, state, mine, pc, true);
    mine = {.owner = owner, .group = state.committed, .owner_pc = pc};
}

/// The copy is another name of the register, so what holds for one holds for the other; but factors may be
/// read, and their copy is no part of the wgmma.
void WgmmaRegisters::copy(Warp& warp, WarpState& state, std::uint32_t pc) {
    const WgmmaUse& use = uses_.of(pc);
    const Register from = state.registers[warp.frame() + use.reads.front()];
    Register& into = state.registers[warp.frame() + use.writes.front()];
    if (into.owner != Owner::nobody && from.owner != Owner::accumulator)
        tell_in_flight(warp, state, into, pc, true);
    into = from;
    if (into.owner == Owner::factor)
        into.owner = Owner::nobody;
}

void WgmmaRegisters::access(Warp& warp, WarpState& state, std::uint32_t pc) {
    const WgmmaUse& use = uses_.of(pc);
    for (const std::uint32_t place : use.reads)
        touch(warp, state, pc, place, false);
    for (const std::uint32_t place : use.writes)
        touch(warp, state, pc, place, true);
}

/// To write a constant needs no fence: the compiler puts it between the fence and the wgmma, and the
/// assembler makes it a part of the wgmma.
void WgmmaRegisters::touch(Warp& warp, WarpState& state, std::uint32_t pc, std::uint32_t place, bool writes) {
    Register& mine = state.registers[warp.frame() + place];
    if (mine.owner == Owner::accumulator || (mine.owner == Owner::factor && writes))
        tell_in_flight(warp, state, mine, pc, writes);
    if (writes)
        mine.owner = Owner::nobody;
    mine.touched = uses_.of(pc).kind != UseKind::constant;
    mine.written = writes;
    mine.touched_pc = pc;
}

void WgmmaRegisters::tell_in_flight(const Warp& warp, const WarpState& state, const Register& what,
                                    std::uint32_t pc, bool writes) {
    if (!first_time(Finding::wgmma_register_in_flight, what.owner_pc, what.owner_pc))
        return;
    const bool accumulator = what.owner == Owner::accumulator;
    std::string message = warp_of(warp) + (writes ? " writes" : " reads") +
                          (accumulator ? " an accumulator" : " a register of matrix A") +
                          " while a wgmma that has it is in flight.";
    std::vector<SourceLine> lines{line(what.owner_pc, "wgmma"),
                                  line(pc, std::string(writes ? "write" : "read") + " of its register")};
    std::string advice =
        "Between the wgmma and this line execute wgmma.commit_group and wgmma.wait_group 0 (in all warps of "
        "the warpgroup).";
    const LastWait last = waits_[&warp];
    if (what.group >= state.committed) {
        message += " The wgmma was not committed to a group yet";
        message += what.waited ? ", and a wait covers committed groups only." : ".";
        if (what.waited) {
            advice = "Put wgmma.commit_group between the wgmma and the wait, and wait with N = 0.";
            lines.push_back(line(what.wait_pc, "the wait"));
        }
    } else if (const std::uint64_t later = state.committed - 1 - what.group;
               last.any && what.group < last.groups && last.pending > later) {
        message += " The warp did wait, but with N = " + std::to_string(last.pending) +
                   ", which leaves the " +
                   (last.pending == 1 ? "newest group" : std::to_string(last.pending) + " newest groups") +
                   " in flight, and the wgmma is in " + (last.pending == 1 ? "it." : "one of them.");
        advice = "Wait with wgmma.wait_group " + std::to_string(later) + " before this line.";
        lines.push_back(line(last.pc, "the wait"));
    }
    message += writes && !accumulator ? " Which value the wgmma takes is undefined."
                                      : " What the register holds is undefined.";
    if (accumulator)
        message +=
            " (The assembler may see it and put a wait of its own there, which costs the overlap: ptxas "
            "tells it as C7517 or C7518.)";
    publish(Finding::wgmma_register_in_flight, std::move(message), std::move(advice), std::move(lines), true);
}

void WgmmaRegisters::tell_unfenced(const Warp& warp, const Register* what, std::uint32_t pc) {
    if (!first_time(Finding::missing_wgmma_fence, pc, pc))
        return;
    const std::string advice =
        "Put wgmma.fence.sync.aligned before the first wgmma of the batch, after the last access to its "
        "registers, in all warps of the warpgroup.";
    if (!what)
        return publish(
            Finding::missing_wgmma_fence,
            warp_of(warp) +
                " executes its first wgmma without a wgmma.fence before it: nothing orders earlier "
                "accesses to its registers before the wgmma's own.",
            advice, {line(pc, "wgmma")}, true);
    const std::string deed = what->written ? "wrote" : "read";
    publish(Finding::missing_wgmma_fence,
            warp_of(warp) + " " + deed +
                " a register of this wgmma, and no wgmma.fence lies between. The "
                "wgmma may run before that. (The assembler may see it and put the fence there itself: ptxas "
                "tells it as C7519.)",
            advice,
            {line(what->touched_pc, "the register is " + std::string(what->written ? "written" : "read")),
             line(pc, "wgmma")},
            true);
}

} // namespace

std::unique_ptr<Rule> make_wgmma_registers(const Desk& desk) {
    return std::make_unique<WgmmaRegisters>(desk);
}

} // namespace emu::check
