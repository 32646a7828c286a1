/// \file
/// Which wait of a deadlock is the root of the others.

#include "machine/deadlock.hpp"

#include <array>

namespace emu {
namespace {

/// The root where no rule finds a better one: the first wait in the order of Cause.
Root find_plain_cause(const DeadlockFacts& facts) {
    using For = WaitGroup::For;
    std::optional<Root> found;
    for (const WaitGroup& group : facts.groups()) {
        Cause cause = Cause::polling;
        switch (group.what) {
        case For::mbarrier:
            if (const Mbarrier* b = group.barrier; b && b->at_rest() && b->expected_bytes == 0)
                cause = b->phase == 0 ? Cause::fresh_barrier : Cause::phase_at_rest;
            else if (b)
                cause = Cause::arrivals;
            break;
        case For::block_barrier:
            cause = facts.block_barrier(group).all_threads ? Cause::block_barrier : Cause::named_barrier;
            break;
        case For::cluster_barrier:
            cause = Cause::cluster_barrier;
            break;
        case For::warp_sync:
            cause = Cause::warp_lanes;
            break;
        case For::grid:
            cause = Cause::grid_barrier;
            break;
        case For::nothing:
            break;
        }
        const bool producer = cause == Cause::fresh_barrier && found && found->cause == cause &&
                              facts.copies_next(group.pc) && !facts.copies_next(found->group->pc);
        if (!found || cause < found->cause || producer)
            found = Root{cause, &group, facts.nobody(), 0};
    }
    return *found;
}

} // namespace

/// The rules, those first that no other mistake can bring about.
Root find_root(const DeadlockFacts& facts) {
    static constexpr std::array rules = {
        find_divided_lanes,   find_barrier_cycle,   find_too_few_threads, find_bytes,
        find_other_block,     find_lost_step,       find_missing_part,    find_ended_party,
        find_held_at_barrier, find_missing_release,
    };
    for (const auto& rule : rules)
        if (std::optional<Root> root = rule(facts))
            return *root;
    return find_plain_cause(facts);
}

} // namespace emu
