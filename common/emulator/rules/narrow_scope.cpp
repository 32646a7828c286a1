// Data of another block of the cluster, handed over at an mbarrier by an arrival or a wait of block scope.

#include "findings/lines.hpp"
#include "findings/places.hpp"
#include "findings/words/accesses.hpp"
#include "hopper_emulator/finding_kinds.hpp"
#include "rules/rule.hpp"

#include <unordered_map>

namespace emu::check {
namespace {

class NarrowScope final : public Rule {
  public:
    using Rule::Rule;
    void on_mbarrier_init(const MbarrierEvent& event) override { uses_.erase(event.address); }
    void on_mbarrier_arrive(const MbarrierEvent& event) override;
    void on_mbarrier_observed(const MbarrierEvent& event) override;
    void on_narrow_order(const Meeting& meeting) override;

  private:
    /// What a thread did last at an mbarrier.
    struct Use {
        const Warp* warp = nullptr; ///< nullptr: nothing.
        unsigned lane = 0;
        std::uint32_t pc = 0;
        Scope scope = Scope::cta;
        Epoch epoch = 0;
        std::string name() const { return thread_name(*warp, lane); }
    };
    /// By thread component.
    struct Uses {
        std::vector<Use> arrivals, waits;
    };
    void note(std::vector<Use>& uses, const MbarrierEvent& event);
    const Use* arrival_behind(const Uses& uses, const Meeting& meeting) const;
    const Use* wait_of(const Uses& uses, const Meeting& meeting) const;
    void explain(Diagnostic& finding, const Meeting& meeting, const std::string& writer) const;

    std::unordered_map<std::uint32_t, Uses> uses_; ///< By address of the mbarrier.
};

void NarrowScope::note(std::vector<Use>& uses, const MbarrierEvent& event) {
    const WarpClock& clock = threads_.of(*event.warp);
    const Component thread = clock.first + event.lane;
    if (uses.size() <= thread)
        uses.resize(thread + warp_size);
    uses[thread] = {event.warp, event.lane, event.pc, event.scope, clock.now};
}

void NarrowScope::on_mbarrier_arrive(const MbarrierEvent& event) {
    if (threads_.several_blocks() && event.warp && !event.operation && event.count != 0)
        note(uses_[event.address].arrivals, event);
}

void NarrowScope::on_mbarrier_observed(const MbarrierEvent& event) {
    if (threads_.several_blocks())
        note(uses_[event.address].waits, event);
}

/// The arrival that told of the earlier access: the thread's own, or that of another thread of its block.
const NarrowScope::Use* NarrowScope::arrival_behind(const Uses& uses, const Meeting& meeting) const {
    const Record& old = meeting.old;
    const Component own = Threads::component_of(old, meeting.ref, meeting.k);
    if (own < uses.arrivals.size() && uses.arrivals[own].warp && uses.arrivals[own].epoch >= old.epoch)
        return &uses.arrivals[own];
    for (const Use& each : uses.arrivals)
        if (each.warp && each.warp->block().rank() == old.rank())
            return &each;
    return nullptr;
}

/// The wait of the thread itself, or of one of its block.
const NarrowScope::Use* NarrowScope::wait_of(const Uses& uses, const Meeting& meeting) const {
    const Component own = meeting.actor.clock->first + meeting.actor.lane;
    if (own < uses.waits.size() && uses.waits[own].warp)
        return &uses.waits[own];
    for (const Use& each : uses.waits)
        if (each.warp && each.warp->block().rank() == meeting.actor.record->rank())
            return &each;
    return nullptr;
}

/// CUTLASS hands stages back by arrivals of block scope: what comes behind those is a copy or a write, never
/// a read of what the other block has written. So only a read is a finding.
void NarrowScope::on_narrow_order(const Meeting& meeting) {
    const auto& [old, ref, k, n, actor] = meeting;
    const bool reads = old.is(Record::write) && !actor.is_write;
    if ((!reads && !wants_notes()) || !first_time(Finding::race_shared, old.pc, actor.record->pc))
        return;
    const std::string first = who(cluster_, old, ref, k), second = who(cluster_, actor, k);
    const std::string message =
        reads ? place(cluster_, actor, k, n) + ": " + second + " reads what " + first +
                    ", of another block, wrote, and what orders the two is of block scope."
              : place(cluster_, actor, k, n) + ": " + second + " writes over what " + first +
                    ", of another block, has used, and what orders the two is of block scope.";
    Diagnostic finding =
        make(actor.shared ? Finding::race_shared : Finding::race_global, message,
             "Hand over between blocks with .cluster scope: mbarrier.arrive with .release.cluster, "
             "mbarrier.try_wait with .acquire.cluster.",
             {line(old.pc, verb(old) + " " + first),
              line_of(cluster_, actor, verb(*actor.record) + " " + second)});
    explain(finding, meeting, first);
    if (reads)
        return publish(std::move(finding));
    finding.fault = Fault::none;
    finding.note = true;
    publish(std::move(finding));
}

void NarrowScope::explain(Diagnostic& finding, const Meeting& meeting, const std::string& writer) const {
    const Component thread = Threads::component_of(meeting.old, meeting.ref, meeting.k);
    for (const auto& [address, uses] : uses_) {
        const auto barrier = mbarriers_.find(address);
        if (barrier == mbarriers_.end() || !barrier->second.across ||
            barrier->second.completed->clock.get(order, thread) < meeting.old.epoch)
            continue;
        const Use* const wait = wait_of(uses, meeting);
        if (!wait)
            continue;
        std::string advice;
        const auto add = [&](const std::string& sentence, const std::string& remedy, SourceLine where) {
            finding.message += " " + sentence;
            advice += (advice.empty() ? "Use " : ", and ") + remedy;
            finding.locations.push_back(std::move(where));
        };
        const ClockRef& of_cluster = barrier->second.across->of_cluster.completed;
        if (of_cluster->clock.get(across_blocks, thread) < meeting.old.epoch)
            if (const Use* const arrival = arrival_behind(uses, meeting))
                add(arrival->name() + " arrived with .release at .cta scope (the default) at " +
                        barrier_name(cluster_, address) +
                        ", which releases to threads of its own block only.",
                    "mbarrier.arrive with .release.cluster (mbarrier.arrive.release.cluster.shared::cluster)",
                    line(arrival->pc, "arrival of " + arrival->name()));
        if (wait->scope == Scope::cta)
            add(wait->name() + " waited with .acquire at .cta scope (the default) at " +
                    barrier_name(cluster_, address) + ": it acquires in the scope of its block only, and " +
                    writer + " is of another.",
                "mbarrier.try_wait with .acquire.cluster (with cuda::ptx: sem_acquire, scope_cluster)",
                line(wait->pc, "wait of " + wait->name()));
        if (!advice.empty())
            finding.advice = advice + ".";
        return;
    }
}

} // namespace

std::unique_ptr<Rule> make_narrow_scope(const Desk& desk) { return std::make_unique<NarrowScope>(desk); }

} // namespace emu::check
