// Written through the generic proxy, then read or overwritten through the async proxy, and no fence between.

#include "findings/words/accesses.hpp"
#include "rules/rule.hpp"

#include <map>

namespace emu::check {
namespace {

class MissingFence final : public Rule {
  public:
    using Rule::Rule;
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
    void hold(std::uint32_t operation, Diagnostic diagnostic, std::uint32_t about);
    void publish_held(std::uint32_t operation);

    std::map<std::uint32_t, std::vector<Held>> held_; ///< By operation.
};

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
        "After the write and before the barrier, each writing thread must execute fence.proxy.async "
        "(cuda::ptx::fence_proxy_async); or the issuing thread after the barrier and before the copy.",
        {line(old.pc, "written by " + writer),
         line(actor.record->pc, what + " issued by " + who(cluster_, actor, k))},
        warning);
    if (warning)
        hold(actor.record->operation, std::move(finding), old.pc);
    else
        publish(std::move(finding));
}

/// cuda::memcpy_async and the older wrappers of libcu++ copy first and then let the same thread expect the
/// bytes, and never fence after init() or between uses of the memory; hardware runs them as meant. So what
/// would need such a fence waits until it is clear that the copy is not one of theirs.
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
    std::erase_if(held_, [&](const auto& each) {
        const Operation& copy = operations_[each.first];
        return copy.barrier == event.address && copy.issued_in == event.phase && copy.warp == event.warp &&
               copy.lane == event.lane;
    });
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
