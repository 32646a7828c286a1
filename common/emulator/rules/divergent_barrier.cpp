// Aligned barriers that the threads of a warp reach by different instructions, or not all of them.

#include "findings/places.hpp"
#include "hopper_emulator/finding_kinds.hpp"
#include "rules/rule.hpp"

#include <algorithm>
#include <bit>

namespace emu::check {
namespace {

class DivergentBarrier final : public Rule {
  public:
    using Rule::Rule;
    void on_barrier_complete(BarrierKind kind, unsigned, std::span<const WarpLanes> arrived,
                             std::span<const WarpLanes>) override {
        if (kind != BarrierKind::warp)
            check_divergence(arrived);
    }
    void on_thread_exit(const WarpLanes& lanes) override;

  private:
    void check_divergence(std::span<const WarpLanes> arrived);
    void tell_skipped_barrier(const WarpLanes& lanes, unsigned waiting, std::uint32_t went_on, bool in_loop);
};

void DivergentBarrier::check_divergence(std::span<const WarpLanes> arrived) {
    // bar and barrier….aligned: all threads of a warp must execute the same instruction (PTX ISA 9.7.13.1).
    const auto& sources = cluster_.info().kernel->sources;
    for (std::size_t i = 0; i < arrived.size(); ++i) {
        const ptx::Instruction& a = *sources[arrived[i].pc];
        if (a.opcode != "bar" && !a.has("aligned"))
            continue;
        for (std::size_t j = 0; j < i; ++j) {
            // A thread that arrives twice is not a part of its warp.
            if (arrived[j].warp != arrived[i].warp || arrived[j].pc == arrived[i].pc ||
                (arrived[j].mask & arrived[i].mask) != 0 ||
                !first_time(Finding::divergent_barrier, arrived[j].pc, arrived[i].pc))
                continue;
            const auto arrival = [&](const WarpLanes& lanes) {
                return line(lanes.pc,
                            count_of(static_cast<std::uint64_t>(std::popcount(lanes.mask)), "thread") +
                                " of the warp arrive here");
            };
            publish(Finding::divergent_barrier,
                    std::string("The threads of one warp arrive at a ") +
                        (a.has("cluster") ? "cluster" : "block") +
                        " barrier by different instructions. The barrier is 'aligned': all threads of a warp "
                        "must execute the same one.",
                    "Move the barrier after the if, where all threads meet again.",
                    {arrival(arrived[j]), arrival(arrived[i])});
        }
    }
}

/// Threads that end while others of their warp wait at an aligned barrier, though they did more than return
/// early: they went on past it, or have passed it before, in a loop.
void DivergentBarrier::on_thread_exit(const WarpLanes& lanes) {
    const Warp& warp = *lanes.warp;
    const LaneMask others = warp.present() & ~warp.exited();
    if (!others || cluster_.stopped())
        return;
    const auto& sources = cluster_.info().kernel->sources;
    for (LaneMask left = others; left; left &= left - 1) {
        const auto lane = static_cast<unsigned>(std::countr_zero(left));
        const Wait wait = warp.wait_of(lane);
        const std::uint32_t pc = warp.lane_pc(lane);
        if ((wait != Wait::block_barrier && wait != Wait::cluster_barrier) ||
            (sources[pc]->opcode != "bar" && !sources[pc]->has("aligned")))
            continue;
        const WarpClock& clock = threads_.of(warp);
        std::uint32_t went_on = 0;
        for (const WarpClock::Recent& each : clock.recent)
            if (each.pc != ~0u && each.epoch == clock.now)
                went_on = std::max(went_on, each.pc);
        const auto passed = std::ranges::find(clock.passed_barriers, pc, &WarpClock::PassedBarrier::pc);
        const bool in_loop = passed != clock.passed_barriers.end() && (passed->lanes & lanes.mask);
        if (went_on || in_loop)
            tell_skipped_barrier(lanes, lane, went_on, in_loop);
        return;
    }
}

void DivergentBarrier::tell_skipped_barrier(const WarpLanes& lanes, unsigned waiting, std::uint32_t went_on,
                                            bool in_loop) {
    const std::uint32_t pc = lanes.warp->lane_pc(waiting);
    if (!first_time(Finding::divergent_barrier, pc, pc))
        return;
    const std::string other = thread_name(*lanes.warp, waiting);
    const std::string ended = thread_name(*lanes.warp, static_cast<unsigned>(std::countr_zero(lanes.mask)));
    std::vector<SourceLine> lines{line(pc, "wait of " + other)};
    if (went_on)
        lines.push_back(line(went_on, "meanwhile " + ended));
    publish(Finding::divergent_barrier,
            other + " waits at a barrier that " + ended + ", a thread of its warp, " +
                (in_loop ? "passes less often: it left the loop earlier and ended."
                         : "does not reach: it went on and ended.") +
                " The barrier is 'aligned': all threads of a warp must execute it, equally often.",
            "Let all threads run through the branch or loop and guard the work, not the barrier: if (i < n) "
            "{ ... } __syncthreads();",
            std::move(lines), true);
}

} // namespace

std::unique_ptr<Rule> make_divergent_barrier(const Desk& desk) {
    return std::make_unique<DivergentBarrier>(desk);
}

} // namespace emu::check
