// Findings that are held back: what they mean is only clear later, at the latest when the cluster ends.

#include "machine/reports.hpp"
#include "rules/race.hpp"

#include <exception>

namespace emu::check {

void Checker::on_instruction(Warp& warp, std::uint32_t pc, LaneMask mask) {
    speculative_loads_.before_instruction(warp, pc, mask);
    if (!values_.empty()) [[unlikely]]
        values_.before_instruction(warp, pc, mask);
    if (late_reads_.matters(pc)) [[unlikely]]
        late_reads_.before_instruction(warp, pc, mask, threads_.of(warp).now);
}

void Checker::on_skipped(Warp& warp, std::uint32_t pc) {
    speculative_loads_.before_instruction(warp, pc, 0);
    if (!values_.empty()) [[unlikely]]
        values_.before_instruction(warp, pc, 0);
    if (late_reads_.matters(pc)) [[unlikely]]
        late_reads_.before_instruction(warp, pc, 0, threads_.of(warp).now);
}

void Checker::tell_the_rest() {
    // Told at the end, because a read that came too early is a race or a missing wait, which says more.
    for (Undecided& finding : undecided_)
        cluster_.report(std::move(finding.waited ? finding.if_waited : finding.if_not));
    undecided_.clear();
    for (auto& [index, diagnostic] : unfinished_)
        if (!operations_[index].reported)
            cluster_.report(std::move(diagnostic));
    unfinished_.clear();
    while (!held_.empty())
        publish_held(held_.begin()->first);
    for (auto& [pc, diagnostic] : not_started_)
        if (!raced_.contains(pc))
            cluster_.report(std::move(diagnostic));
    not_started_.clear();
    for (auto& [pc, diagnostic] : left_early_)
        if (!cluster_.stopped())
            cluster_.report(std::move(diagnostic));
    left_early_.clear();
    tell_used_values();
}

/// A launch that was stopped destroys its clusters without their end.
Checker::~Checker() {
    try {
        tell_the_rest();
        launch_.give_back(std::move(local_records_));
    } catch (const std::exception&) {
        // No memory left: what has been told stands, and the launch has failed.
    }
}

void Checker::on_cluster_end() { tell_the_rest(); }

/// cuda::memcpy_async and the older wrappers of libcu++ copy first and then let the same thread expect the
/// bytes, and never fence after init() or between uses of the memory; hardware runs them as meant. So what
/// would need such a fence waits until it is clear that the copy is not one of theirs.
void Checker::hold(std::uint32_t operation, Diagnostic diagnostic, std::uint32_t about) {
    held_[operation].push_back({std::move(diagnostic), about});
    if (operations_[operation].completion != CompletionKind::mbarrier)
        publish_held(operation);
}

void Checker::publish_held(std::uint32_t operation) {
    auto held = held_.extract(operation);
    if (held.empty())
        return;
    for (Held& each : held.mapped())
        if (first_time(each.diagnostic.finding, each.about, each.about))
            cluster_.report(std::move(each.diagnostic));
}

} // namespace emu::check
