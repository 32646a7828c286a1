// mbarriers that are invalidated while threads may still wait at them.

#include "findings/lines.hpp"
#include "findings/places.hpp"
#include "findings/words/accesses.hpp"
#include "hopper_emulator/finding_kinds.hpp"
#include "rules/rule.hpp"

#include <unordered_map>

namespace emu::check {
namespace {

/// Notes of strict checks, for an H200 lets the others finish, and libcu++'s own tests count on it. The end
/// of a cuda::pipeline is not told: its last thread destroys the barriers, and lanes that leave together
/// count as one.
class DestroyedBarrier final : public Rule {
  public:
    using Rule::Rule;
    void on_mbarrier_init(const MbarrierEvent& event) override { destroyed_.erase(event.address); }
    void on_mbarrier_inval(const MbarrierEvent& event) override;
    void on_mbarrier_observed(const MbarrierEvent& event) override;

  private:
    struct By {
        Warp* warp = nullptr;
        unsigned lane = 0;
        std::uint32_t pc = 0;
    };
    void tell(std::uint32_t address, const By& destroyer, const Warp& warp, unsigned lane, std::uint32_t pc);

    std::unordered_map<std::uint32_t, By> destroyed_; ///< By address of the mbarrier.
};

void DestroyedBarrier::on_mbarrier_inval(const MbarrierEvent& event) {
    const auto found = mbarriers_.find(event.address);
    if (found == mbarriers_.end() || is_inlined_from(kernel(), event.pc, "/cuda/pipeline"))
        return;
    const By destroyer{event.warp, event.lane, event.pc};
    destroyed_[event.address] = destroyer;
    const WarpClock& clock = threads_.of(*event.warp);
    const auto& all = found->second.passed;
    for (Component thread = 0; thread < all.size(); ++thread) {
        const BarrierState::Passed* const passed = found->second.passed_by(thread);
        if (!passed || thread == clock.first + event.lane)
            continue;
        Record wait;
        wait.cluster = threads_.cluster();
        wait.epoch = passed->epoch;
        if (!threads_.sees(clock, event.lane, wait, thread))
            return tell(event.address, destroyer, *passed->warp, passed->lane, passed->pc);
    }
}

/// The wait of a thread ends behind the invalidation.
void DestroyedBarrier::on_mbarrier_observed(const MbarrierEvent& event) {
    const auto found = destroyed_.find(event.address);
    if (found != destroyed_.end())
        tell(event.address, found->second, *event.warp, event.lane, event.pc);
}

void DestroyedBarrier::tell(std::uint32_t address, const By& destroyer, const Warp& warp, unsigned lane,
                            std::uint32_t pc) {
    if (!wants_notes() || !first_time(Finding::barrier_reinit_in_use, destroyer.pc, destroyer.pc))
        return;
    const std::string by = thread_name(*destroyer.warp, destroyer.lane);
    const std::string user = thread_name(warp, lane);
    note(Finding::barrier_reinit_in_use,
         by + " invalidates " + barrier_name(cluster_, address) +
             " (mbarrier.inval; the destructor of cuda::barrier), and nothing orders that after the last "
             "wait "
             "of " +
             user + ": it is invalidated while other threads may still wait.",
         "Put a __syncthreads() between the last wait and the destructor (mbarrier.inval).",
         {line(pc, "wait of " + user), line(destroyer.pc, "invalidated by " + by)});
}

} // namespace

std::unique_ptr<Rule> make_destroyed_barrier(const Desk& desk) {
    return std::make_unique<DestroyedBarrier>(desk);
}

} // namespace emu::check
