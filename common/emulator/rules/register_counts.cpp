// setmaxnreg: warps of one warpgroup that do not execute the same, and more registers asked for than the
// block has.

#include "findings/places.hpp"
#include "hopper_emulator/finding_kinds.hpp"
#include "rules/rule.hpp"

#include <algorithm>
#include <utility>

namespace emu::check {
namespace {

constexpr unsigned group_warps = 4; ///< Warps of a warpgroup (PTX ISA 9.7.15).

class RegisterCounts final : public Rule {
  public:
    explicit RegisterCounts(const Desk& desk) : Rule(desk) {
        const auto uses = [](const ptx::Instruction* each) { return each->opcode == "setmaxnreg"; };
        if (std::ranges::any_of(kernel().sources, uses))
            engine_.watch(*this, Watch::instructions);
    }
    void on_instruction(Warp& warp, std::uint32_t pc, LaneMask mask) override;
    void on_thread_exit(const WarpLanes& lanes) override;
    void on_block_exit(Block& block) override;

  private:
    struct Executed {
        std::uint32_t pc = 0;
        LaneMask lanes = 0;
    };
    struct WarpCounts {
        std::vector<Executed> executed;
        std::uint32_t now = 0;   ///< Registers of each thread.
        std::uint32_t wants = 0; ///< It waits for so many; 0: it does not.
        std::uint32_t wait_pc = 0;
        Warp* warp = nullptr;
    };
    using Warps = std::vector<WarpCounts>; ///< Of a block.

    Warps& of(const Block& block);
    std::string text(std::uint32_t pc) const;
    std::uint32_t count(std::uint32_t pc) const {
        return static_cast<std::uint32_t>(instruction(pc).operands.front().bits);
    }
    bool is_same(std::uint32_t a, std::uint32_t b) const {
        return instruction(a).has("inc") == instruction(b).has("inc") && count(a) == count(b);
    }
    std::uint32_t at_launch() const;
    std::int64_t left_over(const Warps& warps) const;
    void grant(Warps& warps) const;
    void compare(const Warps& warps, unsigned a, unsigned b);
    void tell_alone(const Warps& warps, unsigned first, std::size_t n, unsigned example);
    void tell_starved(const Warps& warps, const WarpCounts& waiting);

    std::vector<Warps> blocks_; ///< By rank.
    bool is_divided_ = false;
};

/// Registers of each thread when the kernel starts; 0: PTX does not say. With setmaxnreg in it, the assembler
/// gives a kernel all that its directives allow: .maxnreg, or what .minnctapersm blocks of .maxntid threads
/// leave of an SM's registers. (ptxas 13.0, -v: 240, 168, 128 and 96 for 256, 384, 512 and 640 threads.)
std::uint32_t RegisterCounts::at_launch() const {
    const auto& source = kernel().source();
    const std::uint32_t threads = source.max_threads[0] * source.max_threads[1] * source.max_threads[2];
    if (source.max_registers || !threads || !source.min_blocks_per_sm)
        return source.max_registers;
    constexpr std::uint32_t of_sm = 65536, most = 248, step = 8;
    return std::min(of_sm / (threads * source.min_blocks_per_sm) / step * step, most);
}

RegisterCounts::Warps& RegisterCounts::of(const Block& block) {
    if (blocks_.size() <= block.rank())
        blocks_.resize(cluster_.blocks().size());
    Warps& warps = blocks_[block.rank()];
    const std::uint32_t count = (block.thread_count() + warp_size - 1) / warp_size;
    while (warps.size() < count)
        warps.emplace_back().now = at_launch();
    return warps;
}

/// "setmaxnreg.dec 40"
std::string RegisterCounts::text(std::uint32_t pc) const {
    return std::string("setmaxnreg.") + (instruction(pc).has("inc") ? "inc " : "dec ") +
           std::to_string(count(pc));
}

/// Of what the launch gave the block, per lane.
std::int64_t RegisterCounts::left_over(const Warps& warps) const {
    std::int64_t left = 0;
    for (const WarpCounts& each : warps)
        left += std::int64_t{at_launch()} - each.now;
    return left;
}

void RegisterCounts::grant(Warps& warps) const {
    for (WarpCounts& each : warps)
        if (each.wants && left_over(warps) >= std::int64_t{each.wants} - each.now)
            each.now = std::exchange(each.wants, 0);
}

void RegisterCounts::on_instruction(Warp& warp, std::uint32_t pc, LaneMask mask) {
    if (instruction(pc).opcode != "setmaxnreg")
        return;
    Warps& warps = of(warp.block());
    WarpCounts& mine = warps[warp.index()];
    mine.warp = &warp;
    // Lanes that come one after the other execute it together on hardware.
    if (!mine.executed.empty() && mine.executed.back().pc == pc && !(mine.executed.back().lanes & mask)) {
        mine.executed.back().lanes |= mask;
        return;
    }
    mine.executed.push_back({pc, mask});
    if (mine.wants)
        return; // On hardware it is still waiting.
    if (instruction(pc).has("inc")) {
        mine.wants = std::max(count(pc), mine.now);
        mine.wait_pc = pc;
    } else {
        mine.now = std::min(mine.now, count(pc));
    }
    grant(warps);
}

void RegisterCounts::on_thread_exit(const WarpLanes& lanes) {
    const Block& block = lanes.warp->block();
    if (!lanes.warp->finished() || blocks_.size() <= block.rank() || cluster_.stopped())
        return;
    const Warps& warps = of(block);
    const unsigned own = lanes.warp->index(), first = own / group_warps * group_warps;
    for (unsigned i = first; i < std::min<std::size_t>(first + group_warps, warps.size()); ++i)
        if (i != own && lanes.warp->block().warps()[i]->finished())
            compare(warps, i, own);
}

/// "The same setmaxnreg instruction must be executed by all warps in a warpgroup" (PTX ISA 9.7.19.5).
void RegisterCounts::compare(const Warps& warps, unsigned a, unsigned b) {
    const auto& one = warps[a].executed;
    const auto& other = warps[b].executed;
    for (std::size_t n = 0; n < std::max(one.size(), other.size()); ++n) {
        if (n < one.size() && n < other.size() && is_same(one[n].pc, other[n].pc))
            continue;
        return tell_alone(warps, a / group_warps * group_warps, n, n < one.size() ? a : b);
    }
}

void RegisterCounts::tell_alone(const Warps& warps, unsigned first, std::size_t n, unsigned example) {
    const std::uint32_t pc = warps[example].executed[n].pc;
    is_divided_ = true;
    if (!first_time(Finding::divergent_setmaxnreg, pc, pc))
        return;
    const auto end = std::min<std::size_t>(first + group_warps, warps.size());
    std::vector<SourceLine> lines{line(pc, "by " + thread_name(*warps[example].warp, 0))};
    unsigned with = 0;
    for (std::size_t i = first; i < end; ++i) {
        const auto& executed = warps[i].executed;
        if (n < executed.size() && is_same(executed[n].pc, pc))
            ++with;
        else if (n < executed.size() && lines.size() == 1)
            lines.push_back(line(executed[n].pc, "by " + thread_name(*warps[i].warp, 0)));
    }
    const std::string all = std::to_string(end - first);
    const char* const rest =
        lines.size() > 1 ? "another executed another one in its place." : "the others ended without it.";
    publish(Finding::divergent_setmaxnreg,
            text(pc) + " was executed by only " + std::to_string(with) + " of the " + all +
                " warps of its warpgroup (warps " + std::to_string(first) + " to " + std::to_string(end - 1) +
                "); " + rest,
            "Let all four warps of the warpgroup execute the same setmaxnreg: put it at the head of the "
            "warpgroup's own role, before the branch that only one of its warps takes.",
            std::move(lines));
}

void RegisterCounts::on_block_exit(Block& block) {
    if (at_launch() == 0 || blocks_.size() <= block.rank() || cluster_.stopped())
        return;
    const Warps& warps = blocks_[block.rank()];
    const auto waiting = std::ranges::find_if(warps, [](const WarpCounts& each) { return each.wants != 0; });
    if (waiting != warps.end())
        tell_starved(warps, *waiting);
}

/// The emulator lets such a warp go on; a GPU does not. Where warpgroups do not act as one, that is the
/// mistake.
void RegisterCounts::tell_starved(const Warps& warps, const WarpCounts& waiting) {
    if (is_divided_ || !first_time(Finding::deadlock, waiting.wait_pc, waiting.wait_pc))
        return;
    const auto total = static_cast<std::int64_t>(at_launch() * warps.size());
    std::int64_t lowered = 0, raised = 0, asked = 0;
    for (const WarpCounts& each : warps) {
        const std::int64_t count = each.wants ? each.wants : each.now;
        asked += count;
        (count > at_launch() ? raised : lowered) += count;
    }
    const auto warps_that = [&](bool raise) {
        return std::ranges::count_if(warps, [&](const WarpCounts& each) {
            return ((each.wants ? each.wants : each.now) > at_launch()) == raise;
        });
    };
    const auto multiple = [](std::int64_t registers, std::int64_t of) {
        return of ? registers / of / 8 * 8 : 0;
    };
    const std::int64_t give = multiple(total - raised, warps_that(false));
    const std::int64_t take = multiple(total - lowered, warps_that(true));
    constexpr std::int64_t least = 24; // PTX ISA 9.7.19.5: from 24 to 256.
    const auto number = [](std::int64_t n) { return std::to_string(n); };
    std::string advice = "All warps together may hold no more than the launch gave. ";
    if (give >= least)
        advice +=
            "Let those that give registers back keep fewer (setmaxnreg.dec " + number(give) + "), or let ";
    else
        advice += "Let ";
    advice += "those that take some ask for fewer (setmaxnreg.inc " + number(take) + ").";
    const std::string thread = thread_name(*waiting.warp, 0);
    publish(Finding::deadlock,
            "Nobody can go on where " + thread + " and its warp wait at " + text(waiting.wait_pc) +
                " for registers of the block's pool: the launch gave " + number(at_launch()) +
                " for each thread of " + number(static_cast<std::int64_t>(warps.size())) + " warps, " +
                number(total * warp_size) + " in all, and " + number(asked * warp_size) +
                " are asked for. (The emulator let the warp go on.)",
            std::move(advice), {line(waiting.wait_pc, "wait of " + thread)});
}

} // namespace

std::unique_ptr<Rule> make_register_counts(const Desk& desk) {
    return std::make_unique<RegisterCounts>(desk);
}

} // namespace emu::check
