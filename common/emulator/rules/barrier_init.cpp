// mbarriers that are used before their initialisation is visible.

#include "findings/places.hpp"
#include "findings/words/accesses.hpp"
#include "hopper_emulator/finding_kinds.hpp"
#include "rules/rule.hpp"

#include <algorithm>
#include <unordered_map>

namespace emu::check {
namespace {

class BarrierInit final : public Rule {
  public:
    using Rule::Rule;
    void on_mbarrier_init(const MbarrierEvent& event) override { made_visible_[event.address] = {}; }
    void on_mbarrier_arrive(const MbarrierEvent& event) override {
        if (!event.operation && event.warp)
            check_use(event);
    }
    void on_mbarrier_observed(const MbarrierEvent& event) override { check_use(event); }
    void on_mbarrier_passed_fresh(const MbarrierEvent& event) override { check_use(event); }
    void on_async_issue(const AsyncOperation& operation) override;
    void on_fence(const FenceEvent& event) override;
    void on_barrier_arrive(BarrierKind kind, unsigned id, const WarpLanes& lanes,
                           Semantics semantics) override;
    void on_barrier_complete(BarrierKind kind, unsigned id, std::span<const WarpLanes> arrived,
                             std::span<const WarpLanes> waiting) override;

  private:
    /// What has been done for other blocks to see the initialisation.
    struct MadeVisible {
        Epoch fence = 0;        ///< Epoch of a fence.mbarrier_init by the same thread.
        bool released = false;  ///< That thread arrived, not relaxed, at a cluster barrier.
        bool published = false; ///< A cluster barrier followed that fence or is that one.
    };
    void check_use(const MbarrierEvent& event);
    bool arrived_relaxed(const BarrierState& barrier, const Warp& warp, unsigned lane) const;
    Diagnostic init_not_visible(const BarrierState& barrier, std::uint32_t address, Warp& warp, unsigned lane,
                                std::uint32_t pc) const;

    std::unordered_map<std::uint32_t, MadeVisible> made_visible_; ///< By address of the mbarrier.
};

void BarrierInit::check_use(const MbarrierEvent& event) {
    const auto found = mbarriers_.find(event.address);
    if (found == mbarriers_.end())
        return;
    const BarrierState& barrier = found->second;
    if (made_visible_[event.address].published ||
        engine_.sees_init(barrier, threads_.of(*event.warp), event.lane, order) ||
        !first_time(Finding::barrier_init_not_visible, barrier.init_pc, barrier.init_pc))
        return;
    publish(init_not_visible(barrier, event.address, *event.warp, event.lane, event.pc));
}

/// A copy reaches its mbarrier through the generic proxy (PTX ISA 9.2, cp.async.bulk), so all it needs is
/// that its issue comes behind the initialisation. Editions of the manuals before that fenced here; whoever
/// wants to follow them asks for it.
void BarrierInit::on_async_issue(const AsyncOperation& operation) {
    if (operation.completion != CompletionKind::mbarrier || operation.kind == AsyncKind::cp_async_arrive)
        return;
    const WarpClock& clock = threads_.of(*operation.warp);
    const auto found = mbarriers_.find(operation.barrier);
    if (found == mbarriers_.end() || made_visible_[operation.barrier].published)
        return;
    const BarrierState& barrier = found->second;
    if (!engine_.sees_init(barrier, clock, operation.lane, order)) {
        if (first_time(Finding::barrier_init_not_visible, barrier.init_pc, barrier.init_pc))
            publish(
                init_not_visible(barrier, operation.barrier, *operation.warp, operation.lane, operation.pc));
        return;
    }
    const bool generic = operation.kind == AsyncKind::st_async || operation.kind == AsyncKind::red_async;
    if (!wants_notes() || generic || made_visible_[operation.barrier].fence ||
        engine_.sees_init(barrier, clock, operation.lane, shared_proxy) ||
        !first_time(Finding::barrier_init_unfenced, barrier.init_pc, barrier.init_pc))
        return;
    const std::string initialiser = thread_name(*barrier.init_warp, barrier.init_lane);
    note(
        Finding::barrier_init_unfenced,
        barrier_name(cluster_, operation.barrier) +
            " is used by an asynchronous copy, and no fence.proxy.async lies between its initialisation and "
            "the copy. The manuals of today ask for none; those up to CUDA 13.0 did.",
        "Nothing, or, to follow the older manuals too: the initialising thread executes fence.proxy.async or "
        "fence.mbarrier_init.release.cluster.",
        {line(barrier.init_pc, "initialised by " + initialiser),
         line(operation.pc, "used by " + thread_name(*operation.warp, operation.lane))});
}

void BarrierInit::on_fence(const FenceEvent& event) {
    if (event.kind != FenceKind::mbarrier_init)
        return;
    for (const auto& [address, barrier] : mbarriers_)
        if (barrier.init_warp == event.warp && (event.mask >> barrier.init_lane & 1))
            made_visible_[address].fence = threads_.of(*event.warp).now;
}

void BarrierInit::on_barrier_arrive(BarrierKind kind, unsigned, const WarpLanes& lanes, Semantics semantics) {
    if (kind != BarrierKind::cluster || semantics == Semantics::relaxed)
        return;
    for (const auto& [address, barrier] : mbarriers_)
        if (barrier.init_warp == lanes.warp && (lanes.mask >> barrier.init_lane & 1))
            made_visible_[address].released = true;
}

/// fence.mbarrier_init.release.cluster, a cluster barrier's arrival (relaxed will do) and its wait make an
/// mbarrier usable by the whole cluster (PTX ISA 9.7.13.4). That fence is the lighter form of a release: an
/// arrival that releases will do without it.
void BarrierInit::on_barrier_complete(BarrierKind kind, unsigned, std::span<const WarpLanes> arrived,
                                      std::span<const WarpLanes>) {
    if (kind != BarrierKind::cluster)
        return;
    for (const auto& [address, barrier] : mbarriers_) {
        MadeVisible& made = made_visible_[address];
        if (made.fence || made.released)
            made.published |= std::ranges::any_of(arrived, [&barrier = barrier](const WarpLanes& lanes) {
                return lanes.warp == barrier.init_warp && (lanes.mask >> barrier.init_lane & 1);
            });
    }
}

/// The initialiser arrived at the cluster barrier, but with .relaxed.
bool BarrierInit::arrived_relaxed(const BarrierState& barrier, const Warp& warp, unsigned lane) const {
    const auto& withheld = engine_.cluster_withheld();
    if (!withheld || withheld->phase == 0 ||
        withheld->clock->clock.get(order, barrier.init_component) < barrier.init_epoch)
        return false;
    Record passed;
    passed.cluster = threads_.cluster();
    passed.epoch = withheld->phase;
    return threads_.sees(threads_.of(warp), lane, passed, withheld->agent);
}

Diagnostic BarrierInit::init_not_visible(const BarrierState& barrier, std::uint32_t address, Warp& warp,
                                         unsigned lane, std::uint32_t pc) const {
    const std::string user = thread_name(warp, lane);
    const std::string initialiser = thread_name(*barrier.init_warp, barrier.init_lane);
    Diagnostic finding = make(
        Finding::barrier_init_not_visible,
        barrier_name(cluster_, address) + " is used by " + user +
            ", and nothing orders its initialisation before that use: the thread may come first.",
        warp.block().rank() != shared_rank(address)
            ? "Put a cluster barrier (cluster.sync()) between mbarrier.init and the first use by another "
              "block."
            : "Put a __syncthreads() (inside a warp: __syncwarp(); in a cluster: a cluster barrier) between "
              "mbarrier.init and the first use by another thread.",
        {line(barrier.init_pc, "initialised by " + initialiser), line(pc, "used by " + user)});
    if (!arrived_relaxed(barrier, warp, lane))
        return finding;
    finding.message += " Both passed the cluster barrier, but " + initialiser +
                       " arrived there with .relaxed, which publishes nothing that it wrote.";
    finding.advice = "The initialising thread executes fence.mbarrier_init.release.cluster after "
                     "mbarrier.init and before that arrival, or arrives with .release.";
    const auto& arrivals = engine_.cluster_withheld()->arrivals;
    if (const auto own = arrivals.find(barrier.init_component); own != arrivals.end())
        finding.locations.push_back(line(own->second.pc, "relaxed arrival of " + initialiser));
    return finding;
}

} // namespace

std::unique_ptr<Rule> make_barrier_init(const Desk& desk) { return std::make_unique<BarrierInit>(desk); }

} // namespace emu::check
