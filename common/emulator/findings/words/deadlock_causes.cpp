/// \file
/// The words for the root of a deadlock.

#include "findings/lines.hpp"
#include "findings/places.hpp"
#include "findings/words/deadlock.hpp"

namespace emu {

std::string block_name(const Block& block) {
    const Dim3 i = block.index();
    return "block (" + std::to_string(i.x) + "," + std::to_string(i.y) + "," + std::to_string(i.z) + ")";
}

std::string barrier_name(const DeadlockFacts& facts, const WaitGroup& group) {
    return shared_name(facts.cluster().info(), shared_offset(group.tag));
}

namespace {

std::string line_of(const DeadlockFacts& facts, std::uint32_t pc) {
    const SourceLine line = source_line(facts.cluster(), pc);
    return (line.file == "PTX" ? "PTX line " : "line ") + std::to_string(line.line);
}

/// What the message says of a root among the arrivals at an mbarrier, besides the list of waits.
std::string describe_arrivals(const DeadlockFacts& facts, const Root& root) {
    const WaitGroup& group = *root.group;
    const std::string who = root.who.empty() ? "" : describe_threads(facts, root.who);
    switch (root.cause) {
    case Cause::two_phases:
        return count_of(root.who.count(), "arrival") + " at " + barrier_name(facts, group) + " ended " +
               (root.number == 2 ? "two" : std::to_string(root.number)) + " phases, of " +
               count_of(group.barrier->expected, "arrival") + " each, while the waiter waited for one.";
    case Cause::arrived_twice:
        return who + " arrived twice at " + barrier_name(facts, group) +
               " in one round and so ended two phases, of " + count_of(group.barrier->expected, "arrival") +
               " each.";
    case Cause::stale_wait:
        return barrier_name(facts, group) + ": " + count_of(root.number, "phase") +
               " ended that the waiter had not waited for; " + who +
               " went on without a wait: it returned at once for a phase that an earlier one had seen.";
    case Cause::ran_ahead:
        return barrier_name(facts, group) + ": " + count_of(root.number, "phase") +
               " ended that nobody had waited for; " + who + " arrived in each of them.";
    case Cause::ended_silently:
        return "The " + count_of(root.number, "missing arrival") + " should come from " + who +
               ": they have ended without arriving.";
    case Cause::ended_counted:
        return who + " arrived in phases before this one and have ended; the count still includes them.";
    case Cause::count_too_large:
        return "Only " + count_of(root.number, "arrival") + (root.number == 1 ? " comes" : " come") + " to " +
               barrier_name(facts, group) + " in a phase, from " + who +
               (facts.alive().within(root.who)
                    ? "."
                    : ", and the others that are left wait there, or have passed that place.");
    case Cause::party_ended:
        return who + ", who arrived at " + (root.number ? "the other mbarriers of the ring" : "it before") +
               ", has ended.";
    default:
        return "";
    }
}

} // namespace

std::string describe_cause(const DeadlockFacts& facts, const Root& root) {
    const WaitGroup& group = *root.group;
    const auto who = [&] { return describe_threads(facts, root.who); };
    switch (root.cause) {
    case Cause::lanes_elsewhere:
        return "Of the lanes that the mask names only " + describe_threads(facts, group.threads) +
               " came to " + line_of(facts, group.pc) + "; " + who() +
               " cannot come, for they wait for these.";
    case Cause::barrier_cycle:
        return "Each of the two barriers waits for the half that is at the other one: barrier " +
               std::to_string(group.tag) + " for " + who() + ", who wait at barrier " +
               std::to_string(root.number) + " for those at barrier " + std::to_string(group.tag) + ".";
    case Cause::too_few_threads:
        return root.who.empty() ? ""
                                : "Those who came to barrier " + std::to_string(group.tag) +
                                      " the last time and are missing now have ended: " + who() + ".";
    case Cause::other_block: {
        const Block& other = *facts.cluster().blocks()[root.number];
        return count_of(root.who.count(), "arrival") + " came to " + barrier_name(facts, group) + " of " +
               block_name(other) + ", where nobody waits, and none to that of " +
               block_name(facts.block(group)) + ".";
    }
    case Cause::held_at_barrier:
        return who() + " never reaches the barrier of " + line_of(facts, group.pc) +
               ": what it waits for is to come from threads that are held there.";
    case Cause::grid_barrier: {
        const std::uint64_t ended = facts.cluster().launch().ended_blocks();
        return ended ? count_of(ended, "block") + " of the grid already ended." : "";
    }
    case Cause::polling:
        return facts.cluster().launch().waiting_blocks() ? "Some blocks of the grid have not started, and "
                                                           "cannot while those that wait fill the GPU."
                                                         : "";
    default:
        return describe_arrivals(facts, root);
    }
}

} // namespace emu
