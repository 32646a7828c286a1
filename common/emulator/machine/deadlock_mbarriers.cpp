/// \file
/// Deadlocks whose root is an mbarrier: its bytes, its count, its phases, and who waits or arrives there.

#include "machine/deadlock.hpp"

#include <algorithm>

namespace emu {
namespace {

using For = WaitGroup::For;

/// The first group at an mbarrier for which `examine` returns a root.
template <class F>
std::optional<Root> first_at_mbarrier(const DeadlockFacts& facts, F examine) {
    for (const WaitGroup& group : facts.groups())
        if (group.what == For::mbarrier && group.barrier)
            if (std::optional<Root> root = examine(group, *group.barrier))
                return root;
    return std::nullopt;
}

/// Nobody has arrived in the phase under way, and no bytes are on their way.
bool is_quiet(const Mbarrier& b) { return b.at_rest() && b.expected_bytes == 0; }

std::optional<Cause> cause_of_bytes(const Mbarrier& b) {
    if (b.pending == 0)
        return b.tx < 0 ? Cause::too_many_bytes : Cause::too_few_bytes;
    if (b.tx < 0)
        return Cause::expect_missing;
    if (b.expected_bytes != 0 && b.tx == 0 && b.pending == b.expected)
        return Cause::arrive_missing;
    if (b.at_rest() && b.raised)
        return Cause::arrivals_raised;
    return std::nullopt;
}

/// Phases ended for which the group has not waited, an even number of them, so that its parity is right.
std::optional<Root> explain_phases_ahead(const DeadlockFacts& facts, const WaitGroup& group,
                                         const Mbarrier& b) {
    const std::uint64_t next = facts.next_phase(group), ahead = b.phase - next;
    const ThreadSet last = facts.arrived_in(b, b.phase - 1);
    ThreadSet all = last;
    for (std::uint64_t phase = next; phase + 1 < b.phase; ++phase)
        all = all | facts.arrived_in(b, phase);
    if (all.count() >= ahead * b.expected && all != last)
        return Root{Cause::two_phases, &group, all, ahead};
    if (last.empty())
        return std::nullopt;
    ThreadSet stale = facts.nobody();
    for (const auto& [offset, other] : facts.block(group).mbarriers())
        stale = stale | facts.who(other, [](const ThreadHistory& thread) { return thread.repeated != 0; });
    if (!stale.empty())
        return Root{Cause::stale_wait, &group, stale, ahead};
    const auto [warp, lane] = last.first();
    const ThreadHistory& arriver = b.history.of(warp, lane);
    const bool twice = ahead == 2 && !facts.same_place(arriver.arrive_pc, arriver.earlier_arrive_pc);
    return Root{twice ? Cause::arrived_twice : Cause::ran_ahead, &group, last, ahead};
}

/// Threads of the count that have ended, if it is plain which they are: those that follow the ones that came.
ThreadSet ended_of_count(const DeadlockFacts& facts, const WaitGroup& group, const Mbarrier& b) {
    const ThreadSet came = facts.arrived_in(b, b.phase);
    ThreadSet range = facts.nobody();
    if (came.empty())
        return range;
    const auto [warp, lane] = came.first();
    for (std::uint64_t i = lane; i < lane + std::uint64_t{b.expected}; ++i)
        if (const std::size_t number = warp + i / warp_size; number < facts.cluster().warps().size())
            range.add(number, LaneMask{1} << i % warp_size);
    const ThreadSet ended = range & facts.block_of(group.warp) & facts.ended();
    return ended.count() == b.pending ? ended : facts.nobody();
}

std::optional<Root> explain_part(const DeadlockFacts& facts, const WaitGroup& group, const Mbarrier& b) {
    if (b.pending == 0 || b.pending == b.expected)
        return std::nullopt;
    const ThreadSet came = facts.arrived_in(b, b.phase);
    const ThreadSet before = facts.enders(group).threads;
    if (before.meets(facts.ended()) && b.phase != 0)
        return Root{Cause::ended_counted, &group, before & facts.ended(), b.pending};
    // One that comes alone is likely to be meant to: then the count is too large.
    if (const ThreadSet silent = ended_of_count(facts, group, b); came.count() > 1 && !silent.empty())
        return Root{Cause::ended_silently, &group, silent, b.pending};
    // Threads that wait at this mbarrier without having arrived will not come
    // either, nor will those that are as far as one that came.
    ThreadSet past = group.threads | came;
    for (const WaitGroup& each : facts.groups())
        if (each.threads.meets(came))
            past = past | each.threads;
    const ThreadSet late = before & facts.alive();
    if (!late.empty() && late.within(past - group.threads))
        return Root{Cause::release_missing, &group, late, 0};
    if (!came.empty() && late.empty() && facts.alive().within(past))
        return Root{Cause::count_too_large, &group, came, b.expected - b.pending};
    return std::nullopt;
}

} // namespace

std::optional<Root> find_bytes(const DeadlockFacts& facts) {
    std::optional<Root> found;
    for (const WaitGroup& group : facts.groups()) {
        if (group.what != For::mbarrier || !group.barrier)
            continue;
        const std::optional<Cause> cause = cause_of_bytes(*group.barrier);
        if (cause && (!found || *cause < found->cause))
            found = Root{*cause, &group, facts.arrived_in(*group.barrier, group.barrier->phase), 0};
    }
    return found;
}

std::optional<Root> find_other_block(const DeadlockFacts& facts) {
    return first_at_mbarrier(facts, [&](const WaitGroup& group, const Mbarrier& b) -> std::optional<Root> {
        if (!is_quiet(b))
            return std::nullopt;
        for (const auto& block : facts.cluster().blocks()) {
            const Mbarrier* other = block->mbarriers().find(shared_offset(group.tag));
            if (!other || other == &b)
                continue;
            const bool waited = std::ranges::any_of(
                facts.groups(), [&](const WaitGroup& each) { return each.barrier == other; });
            const auto waits = [](const ThreadHistory& thread) { return thread.waits != 0; };
            const auto arrives = [](const ThreadHistory& thread) { return thread.arrivals != 0; };
            const ThreadSet came = facts.who(*other, arrives);
            if (!waited && !came.empty() && facts.who(*other, waits).empty())
                return Root{Cause::other_block, &group, came, block->rank()};
        }
        return std::nullopt;
    });
}

std::optional<Root> find_lost_step(const DeadlockFacts& facts) {
    return first_at_mbarrier(facts, [&](const WaitGroup& group, const Mbarrier& b) -> std::optional<Root> {
        const std::uint64_t next = facts.next_phase(group);
        if (b.phase == next)
            return std::nullopt;
        if ((b.phase - next) % 2 == 0)
            return explain_phases_ahead(facts, group, b);
        return Root{Cause::parity, &group, facts.nobody(), next};
    });
}

std::optional<Root> find_missing_part(const DeadlockFacts& facts) {
    return first_at_mbarrier(
        facts, [&](const WaitGroup& group, const Mbarrier& b) { return explain_part(facts, group, b); });
}

std::optional<Root> find_ended_party(const DeadlockFacts& facts) {
    return first_at_mbarrier(facts, [&](const WaitGroup& group, const Mbarrier& b) -> std::optional<Root> {
        const auto [enders, elsewhere] = facts.enders(group);
        if (!is_quiet(b) || enders.empty() || !enders.within(facts.ended()))
            return std::nullopt;
        return Root{Cause::party_ended, &group, enders, elsewhere};
    });
}

std::optional<Root> find_missing_release(const DeadlockFacts& facts) {
    std::optional<Root> found;
    std::int64_t most = 0;
    for (const WaitGroup& group : facts.groups()) {
        if (group.what != For::mbarrier || !group.barrier || !is_quiet(*group.barrier) ||
            facts.history(group).waits == 0)
            continue;
        ThreadSet enders = facts.enders(group).threads & facts.alive();
        if (enders.empty()) // They have not come yet, or the waiters are to release
                            // for themselves.
            enders = facts.alive() == group.threads ? group.threads : facts.alive() - group.threads;
        const auto [warp, lane] = enders.first();
        const std::int64_t lack = facts.waits_beyond_arrivals(warp, lane);
        if (lack > most) {
            most = lack;
            found = Root{Cause::release_missing, &group, enders, 0};
        }
    }
    return found;
}

} // namespace emu
