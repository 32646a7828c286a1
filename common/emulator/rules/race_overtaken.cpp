// Reads that a copy of the async proxy may overtake.

#include "rules/race.hpp"

#include <algorithm>

namespace emu::check {

Diagnostic Checker::overtaken(const Record& read, Ref ref, unsigned k, unsigned n, const Actor& actor) const {
    const std::string reader = who(read, ref, k);
    return make(
        Finding::read_overtaken,
        place(actor, k, n) + ": read into a register by " + reader +
            ", then overwritten through the async proxy by a copy that " + who(actor) + " issued. " + reader +
            " uses the value only behind what lets the copy begin, and no fence.proxy.async lies between: "
            "the "
            "read may still be under way when the copy lands, and then it gets the new bytes.",
        "Each reading thread executes fence.proxy.async (cuda::ptx::fence_proxy_async) behind its reads and "
        "before the barrier or arrival that lets the copy begin; or the issuing thread executes it behind "
        "that and before the copy. A value that was stored before that point has been waited for; arithmetic "
        "alone may be moved behind it by the compiler.",
        {cluster_.source_line(read.pc, "read by " + reader),
         cluster_.source_line(actor.record->pc, "copy issued by " + who(actor))});
}

void Checker::tell_overtaken(Diagnostic finding, std::uint32_t copy_pc, std::uint32_t use_pc,
                             const std::string& reader) {
    if (!first_time(Finding::read_overtaken, copy_pc, copy_pc)) // A tile is read by several instructions.
        return;
    finding.locations.push_back(cluster_.source_line(use_pc, "value used by " + reader));
    cluster_.report(std::move(finding));
}

/// A copy of the async proxy overwrites what a thread has read, in the order that barriers make. That order
/// holds for the read only if its value had arrived: if it was used before, or a fence lies between.
void Checker::check_late_read(const Record& read, Ref ref, unsigned k, unsigned n, const Actor& actor) {
    const Component reader = Threads::component_of(read, ref, k);
    if (read.is(Record::write) || read.is(Record::async) || read.cluster != threads_.cluster() ||
        threads_.sees(*actor.clock, actor.lane, read, reader, shared_proxy))
        return;
    LateReads::Load* const load = late_reads_.find(read.warp, read.pc, read.epoch);
    if (!load)
        return;
    const unsigned lane = lane_at(ref, read, k);
    const std::uint32_t copy_pc = actor.record->pc;
    const std::string name = who(read, ref, k);
    if (told_.contains({Finding::read_overtaken, copy_pc, copy_pc}))
        return;
    if (load->pending >> lane & 1) {
        if (std::ranges::any_of(load->waiting, [&](const auto& each) { return each.first == lane; }))
            return;
        // If it is never used, nothing is wrong.
        load->waiting.emplace_back(
            lane, [this, finding = overtaken(read, ref, k, n, actor), copy_pc, name](std::uint32_t use_pc) {
                tell_overtaken(finding, copy_pc, use_pc, name);
            });
        return;
    }
    if (load->used[lane] == 0)
        return;
    Record use;
    use.cluster = read.cluster;
    use.epoch = load->used[lane];
    if (!threads_.sees(*actor.clock, actor.lane, use, reader))
        tell_overtaken(overtaken(read, ref, k, n, actor), copy_pc, load->use_pc[lane], name);
}

} // namespace emu::check
