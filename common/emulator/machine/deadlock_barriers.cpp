/// \file
/// Deadlocks whose root is a warp-synchronous instruction or a barrier of the block or cluster.

#include "machine/deadlock.hpp"

#include <algorithm>

namespace emu {
namespace {

using For = WaitGroup::For;

/// Lanes of the mask for which the group waits.
ThreadSet missing_lanes(const DeadlockFacts& facts, const WaitGroup& group) {
    const Warp& warp = facts.warp(group.warp);
    ThreadSet missing = facts.nobody();
    missing.add(group.warp, group.tag & warp.present() & ~warp.exited() & ~warp.met(group.lane));
    return missing;
}

/// Whether the group waits for one of `threads` and they cannot come before it has gone on.
bool waits_for(const DeadlockFacts& facts, const WaitGroup& group, const ThreadSet& threads) {
    switch (group.what) {
    case For::warp_sync:
        return missing_lanes(facts, group).meets(threads);
    case For::block_barrier:
    case For::cluster_barrier: {
        const bool named = group.what == For::block_barrier && !facts.block_barrier(group).all_threads;
        const ThreadSet awaited = group.what == For::block_barrier ? facts.awaited_at_barrier(group)
                                                                   : facts.alive() - group.threads;
        return awaited.meets(threads) || (named && awaited.empty());
    }
    case For::mbarrier: {
        if (!group.barrier || facts.history(group).waits == 0)
            return false; // Its own wait may be the mistake.
        const auto [enders, elsewhere] = facts.enders(group);
        if (!enders.empty())
            return enders.meets(threads);
        return (facts.alive() - group.threads).within(threads);
    }
    default:
        return false;
    }
}

/// Threads that arrived at a barrier with a count, in its own measure: a whole warp counts as 32.
std::uint64_t missing_at(const BlockBarrier& barrier) {
    return barrier.expected > barrier.arrived ? barrier.expected - barrier.arrived : 0;
}

bool is_named(const DeadlockFacts& facts, const WaitGroup& group) {
    return group.what == For::block_barrier && !facts.block_barrier(group).all_threads;
}

} // namespace

std::optional<Root> find_divided_lanes(const DeadlockFacts& facts) {
    std::optional<Root> found;
    for (const WaitGroup& group : facts.groups()) {
        if (group.what != For::warp_sync)
            continue;
        if (!group.is_named())
            return Root{Cause::warp_lanes, &group, facts.nobody(), 0};
        const ThreadSet missing = missing_lanes(facts, group);
        bool held = false;
        missing.each([&](std::size_t warp, unsigned lane) {
            held |= waits_for(facts, facts.group_of(warp, lane), group.threads);
        });
        // Of two that wait for each other the smaller one stands in a branch.
        if (held && (!found || group.threads.count() < found->group->threads.count()))
            found = Root{Cause::lanes_elsewhere, &group, missing, 0};
    }
    return found;
}

std::optional<Root> find_barrier_cycle(const DeadlockFacts& facts) {
    for (const WaitGroup& group : facts.groups())
        for (const WaitGroup& other : facts.groups()) {
            if (!is_named(facts, group) || !is_named(facts, other) || group.tag == other.tag ||
                &facts.block(group) != &facts.block(other))
                continue;
            const std::uint64_t here = group.threads.count(), there = other.threads.count();
            if (missing_at(facts.block_barrier(group)) <= there &&
                missing_at(facts.block_barrier(other)) <= here)
                return Root{Cause::barrier_cycle, &group, other.threads, other.tag};
        }
    return std::nullopt;
}

std::optional<Root> find_too_few_threads(const DeadlockFacts& facts) {
    for (const WaitGroup& group : facts.groups()) {
        if (!is_named(facts, group))
            continue;
        const BlockBarrier& barrier = facts.block_barrier(group);
        const ThreadSet left = (facts.block_of(group.warp) & facts.alive()) - facts.set_of(barrier.arrivals);
        std::uint64_t could_come = 0;
        for (std::size_t warp = 0; warp < facts.cluster().warps().size(); ++warp)
            could_come += left.of(warp) ? warp_size : 0;
        if (missing_at(barrier) > could_come)
            return Root{Cause::too_few_threads, &group, facts.awaited_at_barrier(group) & facts.ended(),
                        could_come};
    }
    return std::nullopt;
}

std::optional<Root> find_held_at_barrier(const DeadlockFacts& facts) {
    for (const WaitGroup& group : facts.groups()) {
        const bool whole_block = group.what == For::block_barrier && facts.block_barrier(group).all_threads;
        if (!whole_block && group.what != For::cluster_barrier)
            continue;
        const ThreadSet missing =
            whole_block ? facts.awaited_at_barrier(group) : facts.alive() - group.threads;
        bool all = !missing.empty();
        bool by_arrival = false;
        missing.each([&](std::size_t warp, unsigned lane) {
            const WaitGroup& theirs = facts.group_of(warp, lane);
            // Lanes may be held by a lane of their warp that is missing too.
            const bool follows =
                theirs.what == For::warp_sync && missing_lanes(facts, theirs).within(missing);
            all = all && (follows || waits_for(facts, theirs, group.threads));
            by_arrival |= theirs.what == For::mbarrier;
        });
        if (all && (!by_arrival || facts.arrival_follows(group.pc)))
            return Root{Cause::held_at_barrier, &group, missing, group.threads.count()};
    }
    return std::nullopt;
}

} // namespace emu
