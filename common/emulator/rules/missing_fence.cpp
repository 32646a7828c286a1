// Written through the generic proxy, then read or overwritten through the async proxy, and no fence between.

#include "findings/words/accesses.hpp"
#include "hopper_emulator/finding_kinds.hpp"
#include "rules/rule.hpp"

#include <map>

namespace emu::check {
namespace {

class MissingFence final : public Rule {
  public:
    using Rule::Rule;
    void on_fence(const FenceEvent& event) override;
    void on_unfenced(const Meeting& meeting) override;
    void on_mbarrier_arrive(const MbarrierEvent& event) override;
    void on_mbarrier_phase(const MbarrierEvent& event) override;
    void tell_the_rest() override {
        while (!held_.empty())
            publish_held(held_.begin()->first);
    }

  private:
    /// A finding about an operation that depends on what its thread does next.
    struct Held {
        Diagnostic diagnostic;
        std::uint32_t about = 0; ///< Instruction it is told of once.
    };
    /// A thread's last fence.proxy.async.
    struct Fence {
        std::uint32_t pc = 0;
        Epoch epoch = 0;                     ///< Of the thread; 0: it executed none.
        std::uint32_t operations = 0;        ///< How many the cluster had issued.
        bool shared = false, global = false; ///< What it covers.
    };
    void explain_fence(Diagnostic& finding, const Meeting& meeting) const;
    void hold(std::uint32_t operation, Diagnostic diagnostic, std::uint32_t about);
    void publish_held(std::uint32_t operation);

    std::map<std::uint32_t, std::vector<Held>> held_; ///< By operation.
    std::vector<Fence> fences_;                       ///< By thread component.
};

void MissingFence::on_fence(const FenceEvent& event) {
    if (event.kind != FenceKind::proxy_async)
        return;
    const WarpClock& clock = threads_.of(*event.warp);
    if (fences_.size() < clock.first + warp_size)
        fences_.resize(clock.first + warp_size);
    for_lanes(event.mask, [&](unsigned lane) {
        fences_[clock.first + lane] = {event.pc, clock.now, static_cast<std::uint32_t>(operations_.size()),
                                       event.covers_shared, event.covers_global};
    });
}

/// The writer has fenced, but before it wrote, or before its cp.async had landed.
void MissingFence::explain_fence(Diagnostic& finding, const Meeting& meeting) const {
    const auto& [old, ref, k, n, actor] = meeting;
    const bool copied = old.is(Record::async);
    if (old.cluster != threads_.cluster() ||
        (copied && operations_[old.operation].kind != AsyncKind::cp_async))
        return;
    if (copied)
        finding.advice = "Each thread that copied executes fence.proxy.async after cp.async.wait_group (or "
                         "wait_all), that is when its copies have landed, and before the barrier; or the "
                         "issuing thread after the barrier and before the copy.";
    const Component writer =
        copied ? operations_[old.operation].issuer + lane_of(ref) : Threads::component_of(old, ref, k);
    if (writer >= fences_.size() || fences_[writer].epoch == 0)
        return;
    const Fence& fence = fences_[writer];
    if (actor.shared ? !fence.shared : !fence.global)
        return;
    const std::string thread = who(cluster_, old, ref, k);
    if (copied ? fence.operations <= old.operation : fence.epoch >= old.epoch)
        return;
    finding.message += copied ? " " + thread +
                                    " executed its fence before it waited for its copies: it "
                                    "covers what had landed by then only."
                              : " The fence of " + thread + " comes before that write.";
    finding.locations.push_back(line(fence.pc, "fence of " + thread));
}

void MissingFence::on_unfenced(const Meeting& meeting) {
    const auto& [old, ref, k, n, actor] = meeting;
    Operation& operation = operations_[actor.record->operation];
    if (operation.reported || !first_time(Finding::missing_proxy_fence, old.pc, actor.record->pc))
        return;
    // Generic write, then asynchronous read or write, needs the fence (PTX ISA 8.8, 9.7.13.4). A generic read
    // before an asynchronous write: race_overtaken.cpp.
    // Only a read in shared memory is sure to go wrong on hardware; the other cases are warnings.
    const bool warning = actor.is_write || !actor.shared;
    operation.reported = !warning;
    const std::string writer = who(cluster_, old, ref, k);
    const std::string what = name_of(operation.kind);
    Diagnostic finding = make(
        Finding::missing_proxy_fence,
        place(cluster_, actor, k, n) + ": written through the generic proxy by " + writer + ", then " +
            (actor.is_write ? "overwritten" : "read") + " through the async proxy by a " + what + " that " +
            who(cluster_, actor, k) + " issued. No fence.proxy.async lies between them, so the " + what +
            (actor.is_write ? " and the write may land in either order."
                            : " may see the bytes from before the write."),
        std::string("After the write and before the barrier, each writing thread must execute "
                    "fence.proxy.async (cuda::ptx::fence_proxy_async)") +
            (operation.kind == AsyncKind::wgmma
                 ? "."
                 : "; or the issuing thread after the barrier and before the copy."),
        {line(old.pc, "written by " + writer),
         line(actor.record->pc, what + " issued by " + who(cluster_, actor, k))},
        warning);
    explain_fence(finding, meeting);
    if (warning)
        hold(actor.record->operation, std::move(finding), old.pc);
    else
        publish(std::move(finding));
}

/// cuda::memcpy_async and the older wrappers of libcu++ copy first and then let the same thread expect the
/// bytes, and never fence after init() or between uses of the memory; hardware runs them as meant. So what
/// would need such a fence waits until it is clear that the copy is not one of theirs; then strict checks
/// note it.
void MissingFence::hold(std::uint32_t operation, Diagnostic diagnostic, std::uint32_t about) {
    held_[operation].push_back({std::move(diagnostic), about});
    if (operations_[operation].completion != CompletionKind::mbarrier)
        publish_held(operation);
}

void MissingFence::publish_held(std::uint32_t operation) {
    auto held = held_.extract(operation);
    if (held.empty())
        return;
    for (Held& each : held.mapped())
        if (first_time(each.diagnostic.finding, each.about, each.about))
            publish(std::move(each.diagnostic));
}

void MissingFence::on_mbarrier_arrive(const MbarrierEvent& event) {
    if (event.operation || !event.warp || event.tx <= 0)
        return;
    for (auto each = held_.begin(); each != held_.end();) {
        const Operation& copy = operations_[each->first];
        if (copy.barrier != event.address || copy.issued_in != event.phase || copy.warp != event.warp ||
            copy.lane != event.lane) {
            ++each;
            continue;
        }
        for (Held& held : each->second)
            if (wants_notes() && first_time(held.diagnostic.finding, held.about, held.about)) {
                held.diagnostic.note = true;
                publish(std::move(held.diagnostic));
            }
        each = held_.erase(each);
    }
}

void MissingFence::on_mbarrier_phase(const MbarrierEvent& event) {
    std::vector<std::uint32_t> decided;
    for (const auto& [index, findings] : held_)
        if (operations_[index].barrier == event.address && operations_[index].issued_in <= event.phase)
            decided.push_back(index);
    for (const std::uint32_t index : decided)
        publish_held(index);
}

} // namespace

std::unique_ptr<Rule> make_missing_fence(const Desk& desk) { return std::make_unique<MissingFence>(desk); }

} // namespace emu::check
