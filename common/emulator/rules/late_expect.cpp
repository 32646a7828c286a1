// Bytes that a thread announces to an mbarrier after its own arrival: the phase may have ended by then.

#include "findings/lines.hpp"
#include "findings/places.hpp"
#include "findings/words/accesses.hpp"
#include "hopper_emulator/finding_kinds.hpp"
#include "rules/rule.hpp"

#include <map>
#include <set>
#include <utility>

namespace emu::check {
namespace {

class LateExpect final : public Rule {
  public:
    using Rule::Rule;
    void on_mbarrier_init(const MbarrierEvent& event) override { uses_.erase(event.address); }
    void on_mbarrier_arrive(const MbarrierEvent& event) override;
    void on_mbarrier_phase(const MbarrierEvent& event) override;
    void after_issue(const AsyncOperation& operation) override;

  private:
    struct Arrival {
        bool any = false;
        std::uint64_t phase = 0;
        std::uint32_t pc = 0;
    };
    /// An announcement behind the thread's own arrival in the same phase, while no arrival has come behind
    /// it.
    struct Late {
        Component thread = 0;
        Epoch epoch = 0;
        MbarrierEvent expect;
        std::uint32_t arrive_pc = 0;
    };
    struct Uses {
        std::vector<Arrival> last; ///< By thread.
        std::vector<Late> late;
    };
    void expect(const MbarrierEvent& event, const BarrierState& barrier);
    void tell(const Late& late, const BarrierState& barrier);

    std::map<std::uint32_t, Uses> uses_; ///< By address of the mbarrier.
    std::set<std::pair<std::uint32_t, Component>> told_;
};

void LateExpect::on_mbarrier_arrive(const MbarrierEvent& event) {
    const auto barrier = mbarriers_.find(event.address);
    if (event.operation || !event.warp || barrier == mbarriers_.end())
        return;
    if (event.count == 0)
        return expect(event, barrier->second);
    const WarpClock& clock = threads_.of(*event.warp);
    const Component thread = clock.first + event.lane;
    Uses& uses = uses_[event.address];
    if (uses.last.size() <= thread)
        uses.last.resize(thread + warp_size);
    uses.last[thread] = {true, event.phase, event.pc};
    // The phase cannot end before this arrival: what the thread knows of was announced in time.
    std::erase_if(uses.late, [&](const Late& late) {
        Record then;
        then.cluster = threads_.cluster();
        then.epoch = late.epoch;
        return late.thread == thread || threads_.sees(clock, event.lane, then, late.thread);
    });
}

void LateExpect::expect(const MbarrierEvent& event, const BarrierState& barrier) {
    const WarpClock& clock = threads_.of(*event.warp);
    const Component thread = clock.first + event.lane;
    Uses& uses = uses_[event.address];
    if (event.tx <= 0 || thread >= uses.last.size() || !uses.last[thread].any)
        return;
    const Arrival& arrival = uses.last[thread];
    const Late late{thread, clock.now, event, arrival.pc};
    Record end;
    end.cluster = threads_.cluster();
    end.epoch = static_cast<Epoch>(arrival.phase + 1);
    if (arrival.phase == event.phase)
        uses.late.push_back(late);
    else if (!threads_.sees(clock, event.lane, end, barrier.agent))
        tell(late, barrier);
}

void LateExpect::on_mbarrier_phase(const MbarrierEvent& event) {
    const auto uses = uses_.find(event.address);
    if (uses == uses_.end() || uses->second.late.empty())
        return;
    for (const Late& late : std::exchange(uses->second.late, {}))
        tell(late, mbarriers_.at(event.address));
}

void LateExpect::tell(const Late& late, const BarrierState& barrier) {
    told_.insert({late.expect.address, late.thread});
    for (const std::uint32_t index : barrier.pending) // What follows from it is not told too.
        operations_[index].reported |= operations_[index].issuer == late.thread;
    if (!first_time(Finding::tx_count_mismatch, late.arrive_pc, late.expect.pc))
        return;
    const MbarrierEvent& expect = late.expect;
    const std::string thread = thread_name(*expect.warp, expect.lane);
    publish(
        Finding::tx_count_mismatch,
        thread + " had arrived before it announced " +
            count_of(static_cast<std::uint64_t>(expect.tx), "byte") + " at " +
            barrier_name(cluster_, expect.address) +
            ": where its arrival is the last one the phase ends without these bytes, and they count in the "
            "next.",
        "The thread that copies announces the bytes by expect_tx before its own arrival, or does both in one "
        "(mbarrier.arrive.expect_tx), and issues the copy after that.",
        {line(late.arrive_pc, "arrival of " + thread), line(expect.pc, "announced by " + thread)});
}

void LateExpect::after_issue(const AsyncOperation& operation) {
    if (told_.empty() || operation.completion != CompletionKind::mbarrier || operations_.empty())
        return;
    Operation& known = operations_.back();
    known.reported |= told_.contains({known.barrier, known.issuer});
}

} // namespace

std::unique_ptr<Rule> make_late_expect(const Desk& desk) { return std::make_unique<LateExpect>(desk); }

} // namespace emu::check
