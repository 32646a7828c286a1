// mbarriers that are initialised again while somebody uses them, and arrivals that are one too many.

#include "findings/places.hpp"
#include "findings/words/accesses.hpp"
#include "findings/words/one_thread.hpp"
#include "hopper_emulator/finding_kinds.hpp"
#include "rules/rule.hpp"

#include <unordered_map>

namespace emu::check {
namespace {

class BarrierUses final : public Rule {
  public:
    using Rule::Rule;
    void on_mbarrier_init(const MbarrierEvent& event) override;
    void on_mbarrier_arrive(const MbarrierEvent& event) override;
    void on_mbarrier_observed(const MbarrierEvent& event) override;

  private:
    /// What a thread did last at an mbarrier.
    struct BarrierUse {
        Warp* warp = nullptr; ///< nullptr: nothing.
        std::uint32_t pc = 0;
        Epoch epoch = 0;
        bool arrived = false;    ///< It has arrived, lastly in phase `phase`
        std::uint64_t phase = 0; ///< with the instruction `arrive_pc`.
        std::uint32_t arrive_pc = 0;
    };
    using Uses = std::vector<BarrierUse>; ///< By thread component.

    BarrierUse& note_use(const MbarrierEvent& event);
    void check_init_again(const MbarrierEvent& event, const BarrierState& barrier, const Uses& uses);
    void check_late_arrival(const MbarrierEvent& event, const BarrierState& barrier, const BarrierUse& use);

    std::unordered_map<std::uint32_t, Uses> uses_; ///< By address of the mbarrier.
};

void BarrierUses::on_mbarrier_init(const MbarrierEvent& event) {
    const auto found = mbarriers_.find(event.address);
    Uses& uses = uses_[event.address];
    if (found != mbarriers_.end() && found->second.init_warp && !found->second.invalidated)
        check_init_again(event, found->second, uses);
    uses.clear();
}

void BarrierUses::on_mbarrier_arrive(const MbarrierEvent& event) {
    if (event.operation || !event.warp || !mbarriers_.contains(event.address))
        return;
    BarrierUse& use = note_use(event);
    if (event.count == 0)
        return;
    use.arrived = true;
    use.phase = event.phase;
    use.arrive_pc = event.pc;
}

void BarrierUses::on_mbarrier_observed(const MbarrierEvent& event) {
    const auto found = mbarriers_.find(event.address);
    if (found == mbarriers_.end())
        return;
    const BarrierUse& use = note_use(event);
    const auto* const passed = found->second.passed_by(threads_.of(*event.warp).first + event.lane);
    if (!passed || passed->phases < event.phase + 1)
        check_late_arrival(event, found->second, use);
}

BarrierUses::BarrierUse& BarrierUses::note_use(const MbarrierEvent& event) {
    Uses& uses = uses_[event.address];
    const WarpClock& clock = threads_.of(*event.warp);
    const Component thread = clock.first + event.lane;
    if (uses.size() <= thread)
        uses.resize(thread + warp_size);
    BarrierUse& use = uses[thread];
    use.warp = event.warp;
    use.pc = event.pc;
    use.epoch = clock.now;
    return use;
}

/// A barrier at rest may be initialised once more when everybody is done with it. (PTX wants mbarrier.inval
/// first, and hardware does not.) libcu++'s tests make a second barrier in the place of the first while
/// others come from their last wait, so only an init in a loop is told.
void BarrierUses::check_init_again(const MbarrierEvent& event, const BarrierState& barrier,
                                   const Uses& uses) {
    const WarpClock& clock = threads_.of(*event.warp);
    const std::string name = barrier_name(cluster_, event.address);
    const std::string initialiser = thread_name(*event.warp, event.lane);
    const auto is_behind = [&](Component thread, Epoch epoch) {
        Record before;
        before.cluster = threads_.cluster();
        before.epoch = epoch;
        return threads_.sees(clock, event.lane, before, thread);
    };
    // The copies that make up an unrolled loop come from one place.
    const auto& sources = cluster_.info().kernel->sources;
    const std::uint32_t first = sources[barrier.init_pc]->location, second = sources[event.pc]->location;
    const auto in_loop = [&](const BarrierUse& use) {
        // A function that is called (code built with -G) may initialise one barrier after the other.
        if (barrier.init_pc == event.pc)
            return cluster_.info().kernel->function_of[event.pc] == 0;
        return first != 0 && first == second && sources[use.pc]->has("parity");
    };
    for (Component thread = 0; thread < uses.size(); ++thread) {
        const BarrierUse& use = uses[thread];
        if (!use.warp || !in_loop(use) || is_behind(thread, use.epoch))
            continue;
        if (!first_time(Finding::barrier_reinit_in_use, use.pc, event.pc))
            return;
        const std::string user = thread_name(*use.warp, thread - threads_.of(*use.warp).first);
        return publish(
            Finding::barrier_reinit_in_use,
            initialiser + " initialises " + name + " again, and nothing orders that after its last use by " +
                user + ": a thread that comes later finds another phase than it waits for.",
            "Initialise an mbarrier once, before the loop; its phases follow each other by "
            "themselves. If another count is needed: a __syncthreads() after everybody's last "
            "wait, mbarrier.inval, mbarrier.init by one thread, and a __syncthreads() again.",
            {line(use.pc, "used by " + user), line(event.pc, "initialised again by " + initialiser)});
    }
    if (is_behind(barrier.init_component, barrier.init_epoch) ||
        !first_time(Finding::barrier_reinit_in_use, barrier.init_pc, event.pc))
        return;
    const std::string other = thread_name(*barrier.init_warp, barrier.init_lane);
    publish(Finding::barrier_reinit_in_use,
            other + " and " + initialiser + " both initialise " + name +
                ", and nothing orders one before the other. What the second one destroys is lost.",
            "One thread of the block initialises an mbarrier: " +
                one_thread_of(cluster_.info().config.block) + "; a barrier for all users follows.",
            {line(barrier.init_pc, "initialised by " + other),
             line(event.pc, "initialised again by " + initialiser)},
            true);
}

/// A thread whose arrival came after the phase that it waits for had ended: it was one too many for that
/// phase.
void BarrierUses::check_late_arrival(const MbarrierEvent& event, const BarrierState& barrier,
                                     const BarrierUse& use) {
    if (!use.arrived || use.phase != event.phase + 1 ||
        !first_time(Finding::arrival_count_mismatch, use.arrive_pc, event.pc))
        return;
    const std::string thread = thread_name(*event.warp, event.lane);
    const std::string ended = std::to_string(event.phase);
    publish(Finding::arrival_count_mismatch,
            thread + " waits for phase " + ended + " of " + barrier_name(cluster_, event.address) +
                ", which had ended before it arrived: others had made up the count, and its own arrival is "
                "counted in phase " +
                std::to_string(use.phase) + ".",
            "More threads arrive in a phase than the count given to mbarrier.init. Give init the number of "
            "threads that arrive, for instance blockDim.x.",
            {line(use.arrive_pc, "arrival of " + thread), line(event.pc, "wait of " + thread),
             line(barrier.init_pc, "initialised by " + thread_name(*barrier.init_warp, barrier.init_lane))});
}

} // namespace

std::unique_ptr<Rule> make_barrier_uses(const Desk& desk) { return std::make_unique<BarrierUses>(desk); }

} // namespace emu::check
