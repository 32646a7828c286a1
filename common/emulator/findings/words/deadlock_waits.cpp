/// \file
/// The words for one wait of a deadlock: what is missing for it to end.

#include "findings/places.hpp"
#include "findings/words/deadlock.hpp"

namespace emu {
namespace {

/// "tx-count 2048 bytes (4096 expected, 2048 arrived)".
std::string describe_bytes(const Mbarrier& barrier) {
    const std::string count =
        "tx-count " + std::to_string(barrier.tx) + (barrier.tx == 1 ? " byte" : " bytes");
    if (barrier.expected_bytes == 0 && barrier.arrived_bytes == 0)
        return count;
    return count + " (" + std::to_string(barrier.expected_bytes) + " expected, " +
           std::to_string(barrier.arrived_bytes) + " arrived)";
}

/// What has happened at an mbarrier at which nobody has arrived in the phase under way. A wait lasts only if
/// it is for that phase; which parity would have been answered at once is told to a waiter out of step.
std::string describe_rest(const DeadlockFacts& facts, const WaitGroup& group, Cause root) {
    const Mbarrier& b = *group.barrier;
    const ThreadHistory& waiter = facts.history(group);
    const std::uint64_t next = facts.next_phase(group);
    const std::string last = std::to_string(b.phase - 1);
    if (b.phase == 0 && waiter.waits == 0)
        return std::string(". Nobody has arrived at it since its initialisation") +
               (root == Cause::fresh_barrier ? "; a wait for parity 1 would have returned at once" : "");
    if (b.phase == 0)
        return ". Nobody has arrived at it since its initialisation; the waiter has passed it with parity 1, "
               "as the phase before the first";
    if (b.phase == next)
        return ". Nobody has arrived in this phase: those who arrived in phase " + last +
               " have not arrived in phase " + std::to_string(b.phase);
    if ((b.phase - next) % 2 != 0 && root == Cause::parity)
        return ". Nobody has arrived in this phase, whose parity is " + std::to_string(b.phase & 1) +
               "; phase " + last + " has ended, and a wait for its parity, " + std::to_string(~b.phase & 1) +
               ", would have returned at once";
    return ". Nobody has arrived in this phase; " + count_of(b.phase - next, "phase") +
           " before it ended without a wait of this thread";
}

std::string at_mbarrier(const DeadlockFacts& facts, const WaitGroup& group, Cause root) {
    const Cluster& cluster = facts.cluster();
    std::string text = "at mbarrier " + shared_name(cluster.info(), shared_offset(group.tag));
    if (shared_rank(group.tag) != facts.block(group).rank())
        text += " of cluster block " + std::to_string(shared_rank(group.tag));
    text += initialised_at(facts.cluster(), group.tag);
    if (!group.barrier)
        return text;
    const Mbarrier& b = *group.barrier;
    text += ", phase " + std::to_string(b.phase) + ": " + std::to_string(b.pending) + " of " +
            count_of(b.expected, "arrival") + " missing, " + describe_bytes(b);
    if (b.at_rest() && b.expected_bytes == 0 && !b.raised)
        text += describe_rest(facts, group, root);
    return text;
}

std::string at_block_barrier(const DeadlockFacts& facts, const WaitGroup& group) {
    const BlockBarrier& b = facts.block_barrier(group);
    const Block& block = facts.block(group);
    const std::uint32_t expected = b.all_threads ? block.live_threads() : b.expected;
    std::string text = "at block barrier " + std::to_string(group.tag) + ": " + std::to_string(b.arrived) +
                       " of " + count_of(expected, "thread") + " have arrived";
    if (b.all_threads && block.live_threads() != block.thread_count())
        text += " (the block's others have ended)";
    return text;
}

std::string at_cluster_barrier(const DeadlockFacts& facts) {
    return "at the cluster barrier: " + std::to_string(facts.cluster().arrived_at_barrier()) + " of " +
           count_of(facts.alive().count(), "thread") + " of the cluster have arrived";
}

std::string at_warp_sync(const DeadlockFacts& facts, const WaitGroup& group) {
    const Warp& warp = facts.warp(group.warp);
    const LaneMask members = group.tag;
    const LaneMask missing =
        members & warp.present() & ~warp.exited() & ~warp.waiting(Wait::warp_sync, members);
    char mask[16];
    std::snprintf(mask, sizeof mask, "0x%08x", members);
    const std::string text = std::string("at a warp-synchronous instruction with mask ") + mask;
    if (!group.is_named())
        return text + ", which does not name the thread's own lane, " + std::to_string(group.lane);
    if (missing)
        return text + ", for " + count_of(static_cast<std::uint64_t>(std::popcount(missing)), "lane") +
               " of it that did not come, the first of them lane " +
               std::to_string(std::countr_zero(missing));
    return text + ", whose other lanes wait at another such instruction";
}

} // namespace

std::string describe_wait(const DeadlockFacts& facts, const WaitGroup& group, Cause root) {
    using For = WaitGroup::For;
    switch (group.what) {
    case For::mbarrier:
        return at_mbarrier(facts, group, root);
    case For::block_barrier:
        return at_block_barrier(facts, group);
    case For::cluster_barrier:
        return at_cluster_barrier(facts);
    case For::warp_sync:
        return at_warp_sync(facts, group);
    case For::grid:
        return "at the barrier of the grid (grid.sync()), which not all blocks have reached";
    case For::nothing:
        break;
    }
    return "polling without anything that could change";
}

std::string describe_threads(const DeadlockFacts& facts, const ThreadSet& threads) {
    const auto [warp, lane] = threads.first();
    const std::string first = thread_name(facts.warp(warp), lane);
    const std::uint64_t others = threads.count() - 1;
    return others ? first + " and " + std::to_string(others) + " more" : first;
}

} // namespace emu
