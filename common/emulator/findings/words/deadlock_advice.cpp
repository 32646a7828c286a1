/// \file
/// What mends a deadlock, by its root.

#include "findings/places.hpp"
#include "findings/words/deadlock.hpp"

namespace emu {
namespace {

/// Whether the wait is one of cuda::pipeline, whose counts and arrivals have names of their own.
bool in_pipeline(const DeadlockFacts& facts, const WaitGroup& group) {
    return is_inlined_from(facts.kernel(), group.pc, "/cuda/pipeline");
}

/// Some have arrived in the phase under way: the wait may be meant for it, and others be missing there.
std::string if_meant_for_phase(const Mbarrier& b) {
    if (b.pending == b.expected)
        return {};
    return " If the wait is meant for phase " + std::to_string(b.phase) + ", its parity is right, and " +
           std::to_string(b.pending) + " of " + count_of(b.expected, "arrival") +
           (b.pending == 1 ? " is" : " are") +
           " missing there: let as many arrive in each phase as mbarrier.init was told (an announcement of "
           "bytes alone, expect_tx, is no arrival), or give it the number of those that do.";
}

std::string parity_advice(const Mbarrier& b) {
    return "A wait for parity " + std::to_string(b.phase & 1) + " lasts until phase " +
           std::to_string(b.phase) + " ends, and nobody is left to arrive in it. The thread has not waited " +
           "for phase " + std::to_string(b.phase - 1) + ", which has ended, so its parity must be " +
           std::to_string(~b.phase & 1) +
           ": phase n has parity n & 1, beginning with 0, and each thread flips its own parity once after "
           "each wait at the mbarrier (in a ring of stages once in each lap, through all tiles of work)." +
           if_meant_for_phase(b);
}

std::string release_advice(const DeadlockFacts& facts, const Root& root) {
    const WaitGroup& group = *root.group;
    if (in_pipeline(facts, group))
        return "The stage was never released: call consumer_release() after the last use of each stage that "
               "consumer_wait() has given.";
    const std::string phase = std::to_string(group.barrier->phase);
    const std::string who = describe_threads(facts, root.who);
    return "For " + barrier_name(facts, group) + " the release (arrive) of a round is missing: " + who +
           (group.barrier->phase ? " must arrive in phase " + phase + " too. " : " must arrive at it. ") +
           "Who has waited for a stage must arrive at its other mbarrier in every round, the last one of a "
           "tile included.";
}

std::string advice_for_count(const DeadlockFacts& facts, const Root& root) {
    const Mbarrier& b = *root.group->barrier;
    const std::string count = std::to_string(b.expected);
    if (in_pipeline(facts, *root.group))
        return root.cause == Cause::two_phases
                   ? "The number of producers given to make_pipeline must be that of the threads that call "
                     "producer_commit: " +
                         std::to_string(root.who.count()) + " came in a round, a stage expects " + count + "."
                   : "Every thread that the pipeline counts must call producer_acquire, producer_commit, "
                     "consumer_wait and consumer_release, also where it copies nothing itself: see that "
                     "every thread reaches the barrier.";
    if (root.cause == Cause::two_phases)
        return "The number of arrivals in each phase must equal the count given to mbarrier.init: it is " +
               count + ", and " + std::to_string(root.who.count()) + " arrive in a round.";
    if (root.cause == Cause::arrived_twice)
        return "The number of arrivals in each phase must equal the count given to mbarrier.init. Announce "
               "all bytes of the round with one arrive.expect_tx, or initialise the mbarrier with " +
               std::to_string(2 * b.expected) + ".";
    const std::string comes = std::to_string(root.number);
    return "First see whether others should arrive too, and let them. If " +
           (root.number == 1 ? "one thread arrives" : comes + " threads arrive") +
           " per phase, initialise the mbarrier with " + comes + ", not with " + count +
           ", so that the expected count equals the arrivals.";
}

/// Advice for causes at an mbarrier that concern the threads that arrive.
std::string advice_about_arrivals(const DeadlockFacts& facts, const Root& root) {
    const WaitGroup& group = *root.group;
    switch (root.cause) {
    case Cause::other_block:
        return "The waiters are in " + block_name(facts.block(group)) +
               ": arrive there, with mbarrier.arrive.release.cluster.shared::cluster at the address that "
               "mapa (cluster.map_shared_rank) gives for rank " +
               std::to_string(facts.block(group).rank()) + ".";
    case Cause::ran_ahead:
        return "Whoever arrives at " + barrier_name(facts, group) +
               " must first wait until those who read it have arrived: give them a second "
               "mbarrier at which they arrive after the read, and wait for that before each round but the "
               "first (with parity 1 in the first round).";
    case Cause::stale_wait:
        return "Check the parity of the wait of " + describe_threads(facts, root.who) +
               ". Phase n has parity n & 1, beginning with 0; the parity flips once in each lap "
               "round the stages, not in each round of the thread.";
    case Cause::ended_silently:
        return "Threads have ended without arriving. Let all threads that the count given to mbarrier.init "
               "includes arrive in every phase, also those without work, or let them arrive_and_drop "
               "(mbarrier.arrive_drop) at each such mbarrier before they return. A cuda::pipeline has no "
               "call for that: its threads stay.";
    case Cause::ended_counted:
        return "Let threads that leave arrive for the last time with arrive_and_drop (mbarrier.arrive_drop): "
               "it takes them out of the count of the phases that follow.";
    case Cause::party_ended:
        return "Those who wait and those who arrive must go through as many rounds: compare the conditions "
               "and numbers of their loops, also for tiles without work.";
    case Cause::release_missing:
        return release_advice(facts, root);
    default:
        return advice_for_count(facts, root);
    }
}

std::string advice_about_bytes(const Root& root) {
    const Mbarrier& b = *root.group->barrier;
    switch (root.cause) {
    case Cause::too_many_bytes:
        return "All arrivals have come, but copies brought " +
               count_of(static_cast<std::uint64_t>(-b.tx), "byte") +
               " more than expect_tx announced in this phase. Announce all the bytes that copies "
               "bring, in the phase in which they land.";
    case Cause::too_few_bytes:
        return "All arrivals have come, but expect_tx announced " +
               count_of(static_cast<std::uint64_t>(b.tx), "byte") +
               " more than copies bring in this phase. Announce exactly what they copy, or issue the "
               "copy that is missing.";
    case Cause::arrive_missing:
        return std::string(
                   "The bytes have been announced and have landed, but expect_tx is no arrival: use ") +
               "mbarrier.arrive.expect_tx, or arrive as well." +
               (b.expected > 1
                    ? " The phase waits for " + count_of(b.expected, "arrival") + ", and none has come."
                    : std::string());
    case Cause::arrivals_raised:
        return "cp.async.mbarrier.arrive without .noinc first raises the arrivals that the phase waits for "
               "by one, so its own arrival changes nothing. Use the .noinc form, which mbarrier.init counts, "
               "or let each thread arrive with mbarrier.arrive as well.";
    default:
        break;
    }
    const std::string text = "Copies brought " + count_of(static_cast<std::uint64_t>(-b.tx), "byte") +
                             " that nobody announced, and an arrival is missing: ";
    if (b.history.fed_from_elsewhere)
        return text + "in every block that the multicast reaches, a thread of its own must arrive at its own "
                      "mbarrier with mbarrier.arrive.expect_tx and the bytes that come there, whoever issues "
                      "the copy.";
    return text + "the thread that issues the copies must arrive with mbarrier.arrive.expect_tx "
                  "(barrier_arrive_tx) and their bytes.";
}

/// A barrier with a count for the threads of a group, if they are whole warps.
std::string advice_for_held(const DeadlockFacts& facts, const Root& root) {
    const WaitGroup& group = *root.group;
    if (group.what == WaitGroup::For::cluster_barrier)
        return "No thread may wait before a cluster barrier for what others do after it: move that "
               "wait "
               "after the barrier, or the arrival for which it waits before it.";
    const ThreadSet alive = facts.alive();
    bool whole = true;
    group.threads.each(
        [&](std::size_t warp, unsigned) { whole &= alive.of(warp) == group.threads.of(warp); });
    if (!whole)
        return "Every thread of the block must reach the same __syncthreads(): none may stand in a branch or "
               "loop that only some threads enter.";
    return "__syncthreads() is for all threads of the block. Let those who come here meet at a named barrier "
           "(bar.sync ID, " +
           std::to_string(root.number) + ") with an ID from 1 to 15 that no other group uses.";
}

std::string advice_about_barriers(const DeadlockFacts& facts, const Root& root) {
    switch (root.cause) {
    case Cause::lanes_elsewhere:
        return "All lanes of the mask must execute it: move it out of the branch or loop that only some of "
               "them take, or give it the mask of the lanes that take part, from __ballot_sync before the "
               "branch.";
    case Cause::barrier_cycle:
        return "The group whose turn comes second must bar.arrive before its first wait, at the barrier at "
               "which the other one waits; afterwards each arrives there after its own turn.";
    case Cause::held_at_barrier:
        return advice_for_held(facts, root);
    case Cause::too_few_threads:
    case Cause::named_barrier:
        return "The number of threads given to the barrier must be the number of threads that come to it "
               "(bar.sync and bar.arrive together), in whole warps of 32.";
    case Cause::grid_barrier:
        return "Every thread of every block must reach the same grid.sync(), equally often: none may stand "
               "in a branch that some blocks do not enter, and no block may return before.";
    case Cause::block_barrier:
        return "Every thread of the block must reach the same __syncthreads(): none may stand in a branch or "
               "loop that only some threads enter.";
    case Cause::cluster_barrier:
        return "Every thread of every block of the cluster must arrive at the cluster barrier, equally "
               "often: none may stand in a branch that some threads or blocks do not enter.";
    default:
        return "Every lane named in the mask must reach the same instruction, and no other lane. Inside a "
               "branch give the mask of the lanes that take it: __ballot_sync before the branch, or "
               "__activemask where it suffices.";
    }
}

std::string polling_advice(const DeadlockFacts& facts) {
    if (facts.cluster().launch().waiting_blocks())
        return "The loop waits for a value that no thread is left to write. A block may wait only for blocks "
               "that have started: if another block is to write it, let each block take its number from an "
               "atomic ticket (atomicAdd on a counter) in place of blockIdx, and wait for lower numbers "
               "only. "
               "Otherwise check who should write it, and that a lock is released.";
    return "The loop waits for a value that no thread is left to write. Check who should write it, that "
           "this thread runs beside and not before the waiting one, and that a lock is released.";
}

} // namespace

std::string advice_for(const DeadlockFacts& facts, const Root& root) {
    const WaitGroup& group = *root.group;
    switch (root.cause) {
    case Cause::too_many_bytes:
    case Cause::too_few_bytes:
    case Cause::expect_missing:
    case Cause::arrive_missing:
    case Cause::arrivals_raised:
        return advice_about_bytes(root);
    case Cause::parity:
        return parity_advice(*group.barrier);
    case Cause::fresh_barrier:
        if (facts.history(group).waits != 0)
            return "Somebody must arrive at the mbarrier: the arrive that lets its waiter go on is missing, "
                   "or stands after another wait that this one holds up.";
        return "Somebody must arrive at the mbarrier: the arrive (for a copy: arrive.expect_tx) is missing, "
               "or stands after this wait. A producer that waits until a stage is free begins with parity "
               "1, which a fresh barrier passes at once.";
    case Cause::phase_at_rest:
        return "The arrivals of phase " + std::to_string(group.barrier->phase) +
               " are missing: those who arrive there must do so in every round, as often as it is waited "
               "for.";
    case Cause::arrivals:
        return "Check that the expected count equals the arrivals, that the tx-count equals the bytes "
               "copied, that the parity changes with every phase, and that every thread reaches the barrier.";
    case Cause::polling:
        return polling_advice(facts);
    default:
        return root.cause < Cause::other_block || root.cause == Cause::held_at_barrier ||
                       root.cause > Cause::arrivals
                   ? advice_about_barriers(facts, root)
                   : advice_about_arrivals(facts, root);
    }
}

} // namespace emu
