// Reads that a copy of the async proxy may overtake.

#include "findings/words/accesses.hpp"
#include "hopper_emulator/finding_kinds.hpp"
#include "rules/analysis/late_reads.hpp"
#include "rules/rule.hpp"

#include <algorithm>

namespace emu::check {
namespace {

class OvertakenReads final : public Rule {
  public:
    explicit OvertakenReads(const Desk& desk)
        : Rule(desk), loads_(launch_.shelf.get<LateReadSites>(
                          [this] { return std::make_shared<LateReadSites>(find_late_reads(kernel())); })) {
        if (loads_.any())
            for (const Watch each : {Watch::instructions, Watch::accesses, Watch::overwritten_reads})
                engine_.watch(*this, each);
    }
    void on_instruction(Warp& warp, std::uint32_t pc, LaneMask mask) override {
        if (loads_.matters(pc)) [[unlikely]]
            loads_.before_instruction(warp, pc, mask, threads_.of(warp).now);
    }
    void on_skipped(Warp& warp, std::uint32_t pc) override { on_instruction(warp, pc, 0); }
    void on_access(const AccessEvent& event) override {
        if (loads_.matters(event.pc) && event.space == ptx::Space::shared && event.kind == AccessKind::read)
            loads_.read(*event.warp, event.pc, event.mask, threads_.of(*event.warp).now);
    }
    void on_overwritten_read(const Meeting& meeting) override;

    // What waits for loads as well as for threads.
    void on_barrier_arrive(BarrierKind kind, unsigned, const WarpLanes& lanes, Semantics semantics) override {
        if (kind == BarrierKind::cluster && semantics != Semantics::relaxed)
            settle(lanes);
    }
    void on_mbarrier_arrive(const MbarrierEvent& event) override {
        if (event.warp && !event.operation && event.scope == Scope::cluster &&
            event.semantics != Semantics::relaxed && mbarriers_.contains(event.address))
            settle({event.warp, LaneMask{1} << event.lane, event.pc});
    }
    void on_fence(const FenceEvent& event) override {
        // An H200 shows that membar.cta does not wait for loads.
        if (event.kind == FenceKind::membar && event.scope != Scope::cta)
            settle({event.warp, event.mask, event.pc});
    }

  private:
    void settle(const WarpLanes& lanes) {
        loads_.settle(*lanes.warp, lanes.mask, threads_.of(*lanes.warp).now);
    }
    Diagnostic overtaken(const Record& read, Ref ref, unsigned k, unsigned n, const Actor& actor) const;
    void tell(Diagnostic finding, std::uint32_t copy_pc, std::uint32_t use_pc, const std::string& reader);

    LateReads loads_;
};

Diagnostic OvertakenReads::overtaken(const Record& read, Ref ref, unsigned k, unsigned n,
                                     const Actor& actor) const {
    const std::string reader = who(cluster_, read, ref, k);
    return make(
        Finding::read_overtaken,
        place(cluster_, actor, k, n) + ": read into a register by " + reader +
            ", then overwritten through the async proxy by a copy that " + who(cluster_, actor) +
            " issued. " + reader +
            " uses the value only after what lets the copy begin, and no fence.proxy.async lies between: "
            "the "
            "read may still be under way when the copy lands, and then it gets the new bytes.",
        "Each reading thread executes fence.proxy.async (cuda::ptx::fence_proxy_async) after its reads and "
        "before the barrier or arrival that lets the copy begin; or the issuing thread executes it after "
        "that and before the copy. A store before that point waits for its value on a GPU, though no rule of "
        "PTX "
        "says so; arithmetic alone may be moved after it by the compiler.",
        {line(read.pc, "read by " + reader),
         line(actor.record->pc, "copy issued by " + who(cluster_, actor))});
}

void OvertakenReads::tell(Diagnostic finding, std::uint32_t copy_pc, std::uint32_t use_pc,
                          const std::string& reader) {
    if (!first_time(Finding::read_overtaken, copy_pc, copy_pc)) // A tile is read by several instructions.
        return;
    finding.locations.push_back(line(use_pc, "value used by " + reader));
    publish(std::move(finding));
}

/// A copy of the async proxy overwrites what a thread has read, in the order that barriers make. That order
/// holds for the read only if its value had arrived: if it was used before, or a fence lies between.
void OvertakenReads::on_overwritten_read(const Meeting& meeting) {
    const auto& [read, ref, k, n, actor] = meeting;
    const Component reader = Threads::component_of(read, ref, k);
    if (read.is(Record::write) || read.is(Record::async) || read.cluster != threads_.cluster() ||
        threads_.sees(*actor.clock, actor.lane, read, reader, shared_proxy))
        return;
    LateReads::Load* const load = loads_.find(read.warp, read.pc, read.epoch);
    if (!load)
        return;
    const unsigned lane = lane_at(ref, read, k);
    const std::uint32_t copy_pc = actor.record->pc;
    const std::string name = who(cluster_, read, ref, k);
    if (findings_.was_told(Finding::read_overtaken, copy_pc, copy_pc))
        return;
    if (load->pending >> lane & 1) {
        if (std::ranges::any_of(load->waiting, [&](const auto& each) { return each.first == lane; }))
            return;
        // If it is never used, nothing is wrong.
        load->waiting.emplace_back(lane, [this, finding = overtaken(read, ref, k, n, actor), copy_pc, name](
                                             std::uint32_t use_pc) { tell(finding, copy_pc, use_pc, name); });
        return;
    }
    if (load->used[lane] == 0)
        return;
    Record use;
    use.cluster = read.cluster;
    use.epoch = load->used[lane];
    if (!threads_.sees(*actor.clock, actor.lane, use, reader))
        tell(overtaken(read, ref, k, n, actor), copy_pc, load->use_pc[lane], name);
}

} // namespace

std::unique_ptr<Rule> make_overtaken_reads(const Desk& desk) {
    return std::make_unique<OvertakenReads>(desk);
}

} // namespace emu::check
