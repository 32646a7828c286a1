// Findings that are held back: what they mean is only clear later, at the latest when the cluster ends.

#include "listeners/catalogue.hpp"
#include "listeners/race.hpp"
#include "machine/reports.hpp"

namespace emu::check {

void Checker::on_instruction(Warp& warp, std::uint32_t pc, LaneMask mask) {
    if (!unwritten_.empty()) [[unlikely]]
        unwritten_.before_instruction(warp, pc, mask, [this](std::uint32_t load) { use_unwritten(load); });
}

void Checker::on_skipped(Warp& warp, std::uint32_t pc) {
    if (!unwritten_.empty()) [[unlikely]]
        unwritten_.before_instruction(warp, pc, 0, [this](std::uint32_t load) { use_unwritten(load); });
}

void Checker::use_unwritten(std::uint32_t load) {
    if (const auto found = uninitialised_.find(load); found != uninitialised_.end())
        found->second.used = true;
}

void Checker::uninitialised(unsigned k, unsigned n, const Actor& actor) {
    const std::uint32_t pc = actor.record->pc;
    if (cluster_.stopped())
        return;
    if (actor.is_write && cluster_.info().kernel->sources[pc]->has("exch"))
        return; // atomicExch may give a variable its first value.
    const auto known = uninitialised_.find(pc);
    if (known != uninitialised_.end() && known->second.used)
        return;
    if (!actor.is_write) {
        Warp& warp = *actor.clock->warp;
        const auto base = static_cast<std::uint32_t>(warp.addresses[actor.lane]);
        unwritten_.load(warp, pc, actor.lane,
                        static_cast<std::int64_t>(actor.word + k) - static_cast<std::int64_t>(base));
    }
    if (known != uninitialised_.end()) {
        known->second.used |= actor.is_write;
        return;
    }
    Diagnostic d;
    d.name = "uninitialised-shared";
    d.message = who(actor) + " reads " + place(actor, k, n) + ", which no thread has written.";
    d.advice = "Shared memory starts with arbitrary contents. Write it first, and put a barrier between the "
               "write and the read.";
    d.locations.push_back(cluster_.source_line(actor.record->pc, "read by " + who(actor)));
    uninitialised_[pc] = {std::move(d), actor.is_write}; // An atomic update uses what it reads.
}

/// A copy to global memory spreads bytes that nobody has written.
void Checker::uninitialised_source(unsigned k, unsigned n, const Actor& actor) {
    const Operation& copy = operations_[actor.record->operation];
    const std::uint32_t pc = actor.record->pc;
    if (actor.padding || copy.completion != CompletionKind::bulk_group || cluster_.stopped() ||
        uninitialised_.contains(pc))
        return;
    Diagnostic d;
    d.name = "uninitialised-shared";
    d.fault = Fault::none;
    d.message = "The copy to global memory that " + who(actor) + " issues takes " + place(actor, k, n) +
                ", which no thread has written.";
    d.advice = "Write the whole tile before it is stored, with zeros where there is no data, or store only "
               "the part that has been written.";
    d.locations.push_back(cluster_.source_line(pc, "copy issued by " + who(actor)));
    uninitialised_[pc] = {std::move(d), true};
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
    for (auto& [pc, finding] : uninitialised_)
        if (finding.used && !raced_.contains(pc))
            cluster_.report(std::move(finding.diagnostic));
    uninitialised_.clear();
}

Checker::~Checker() {
    tell_the_rest();
    launch_.give_back(std::move(local_records_));
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
        if (first_time(find_in_catalogue(each.diagnostic.name)->name.data(), each.about, each.about))
            cluster_.report(std::move(each.diagnostic));
}

} // namespace emu::check
