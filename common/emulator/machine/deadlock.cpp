/// \file
/// What a deadlock looks like in words: who waits where, what is missing for each wait to end, and the
/// mistake that is most likely behind it.

#include "machine/reports.hpp"

#include <bit>
#include <map>
#include <tuple>

namespace emu {
namespace {

/// Why lanes cannot go on, as far as it tells what to mend. The first that occurs decides about the advice.
enum class Cause : std::uint8_t {
    too_many_bytes, ///< All arrivals have come, and more bytes than were announced.
    too_few_bytes,
    expect_missing,  ///< Copies landed, and nobody arrived who would have announced their bytes.
    arrive_missing,  ///< Bytes were announced and landed, but by expect_tx alone.
    arrivals_raised, ///< Only arrivals of cp.async have come, each of which raised the count for itself.
    fresh_barrier,   ///< Nobody has arrived since the initialisation.
    phase_at_rest,   ///< Nobody has arrived in the phase that is waited for; earlier ones have ended.
    arrivals,
    named_barrier,
    grid_barrier,
    block_barrier,
    cluster_barrier,
    warp_lanes,
    polling,
    count_,
};

/// A wait without the lanes, so that equal ones can be counted together.
struct WaitText {
    std::string text;
    std::uint32_t pc = 0;
    Cause cause = Cause::polling;
    Mbarrier barrier; ///< If it waits at an mbarrier.
};

/// "tx-count 2048 bytes (4096 expected, 2048 arrived)".
std::string describe_bytes(const Mbarrier& barrier) {
    const std::string count = "tx-count " + std::to_string(barrier.tx) + " bytes";
    if (barrier.expected_bytes == 0 && barrier.arrived_bytes == 0)
        return count;
    return count + " (" + std::to_string(barrier.expected_bytes) + " expected, " +
           std::to_string(barrier.arrived_bytes) + " arrived)";
}

Cause cause_of(const Mbarrier& b) {
    if (b.pending == 0)
        return b.tx < 0 ? Cause::too_many_bytes : Cause::too_few_bytes;
    if (b.tx < 0)
        return Cause::expect_missing;
    if (b.expected_bytes != 0 && b.tx == 0 && b.pending == b.expected)
        return Cause::arrive_missing;
    if (b.at_rest() && b.raised)
        return Cause::arrivals_raised;
    if (b.at_rest() && b.expected_bytes == 0)
        return b.phase == 0 ? Cause::fresh_barrier : Cause::phase_at_rest;
    return Cause::arrivals;
}

/// Which parity would have been answered at once: a wait lasts only if it is for the phase under way.
std::string other_parity(const Mbarrier& b) {
    const std::string other = std::to_string(~b.phase & 1);
    if (b.phase == 0)
        return ". Nobody has arrived at it since its initialisation; a wait for parity 1 would have returned "
               "at once";
    return ". Nobody has arrived in this phase, whose parity is " + std::to_string(b.phase & 1) + "; phase " +
           std::to_string(b.phase - 1) + " has ended, and a wait for its parity, " + other +
           ", would have returned at once";
}

WaitText at_mbarrier(Cluster& cluster, const Warp& warp, std::uint32_t address, std::uint32_t pc) {
    WaitText wait{
        "at mbarrier " + shared_name(cluster.info(), shared_offset(address)), pc, Cause::polling, {}};
    if (shared_rank(address) != warp.block().rank())
        wait.text += " of cluster block " + std::to_string(shared_rank(address));
    wait.text += initialised_at(cluster, address);
    const Mbarrier* b = cluster.mbarrier(address);
    if (!b)
        return wait;
    wait.text += ", phase " + std::to_string(b->phase) + ": " + std::to_string(b->pending) + " of " +
                 count_of(b->expected, "arrival") + " missing, " + describe_bytes(*b);
    wait.cause = cause_of(*b);
    wait.barrier = *b;
    if (wait.cause == Cause::fresh_barrier || wait.cause == Cause::phase_at_rest)
        wait.text += other_parity(*b);
    return wait;
}

WaitText at_block_barrier(const Warp& warp, unsigned lane) {
    const auto id = static_cast<unsigned>(warp.wait_tag(lane));
    const BlockBarrier& b = warp.block().barrier(id);
    const std::uint32_t expected = b.all_threads ? warp.block().live_threads() : b.expected;
    return {"at block barrier " + std::to_string(id) + ": " + std::to_string(b.arrived) + " of " +
                count_of(expected, "thread") + " have arrived",
            warp.lane_pc(lane),
            b.all_threads ? Cause::block_barrier : Cause::named_barrier,
            {}};
}

WaitText at_cluster_barrier(Cluster& cluster, const Warp& warp, unsigned lane) {
    std::uint32_t alive = 0;
    for (const auto& block : cluster.blocks())
        alive += block->live_threads();
    return {"at the cluster barrier: " + std::to_string(cluster.arrived_at_barrier()) + " of " +
                count_of(alive, "thread") + " of the cluster have arrived",
            warp.lane_pc(lane),
            Cause::cluster_barrier,
            {}};
}

WaitText at_warp_sync(const Warp& warp, unsigned lane) {
    const auto members = static_cast<LaneMask>(warp.wait_tag(lane));
    const LaneMask missing =
        members & warp.present() & ~warp.exited() & ~warp.waiting(Wait::warp_sync, members);
    char mask[16];
    std::snprintf(mask, sizeof mask, "0x%08x", members);
    std::string text = std::string("at a warp-synchronous instruction with mask ") + mask;
    if (!(members >> lane & 1))
        text += ", which does not name the thread's own lane, " + std::to_string(lane);
    else if (missing)
        text += ", for " + count_of(static_cast<std::uint64_t>(std::popcount(missing)), "lane") +
                " of it that did not come, the first of them lane " +
                std::to_string(std::countr_zero(missing));
    else
        text += ", whose other lanes wait at another such instruction";
    return {std::move(text), warp.lane_pc(lane), Cause::warp_lanes, {}};
}

WaitText describe_wait(Cluster& cluster, const Warp& warp, unsigned lane) {
    const std::uint32_t pc = warp.lane_pc(lane);
    switch (warp.wait_of(lane)) {
    case Wait::block_barrier:
        return at_block_barrier(warp, lane);
    case Wait::cluster_barrier:
        return at_cluster_barrier(cluster, warp, lane);
    case Wait::warp_sync:
        return at_warp_sync(warp, lane);
    case Wait::mbarrier:
        return at_mbarrier(cluster, warp, static_cast<std::uint32_t>(warp.wait_tag(lane)), pc);
    default:
        break;
    }
    if (const Warp::FailedTest test = warp.failed_test(lane); test.address)
        return at_mbarrier(cluster, warp, test.address, test.pc);
    if (is_inlined_from(*cluster.info().kernel, pc, "/cooperative_groups/details/sync.h"))
        return {"at the barrier of the grid (grid.sync()), which not all blocks have reached",
                pc,
                Cause::grid_barrier,
                {}};
    return {"polling without anything that could change", pc, Cause::polling, {}};
}

std::string advice_about_phase(const Mbarrier& b) {
    const std::string parity = std::to_string(b.phase & 1);
    return "A wait for parity " + parity + " lasts until phase " + std::to_string(b.phase) +
           " ends, and nobody is left to arrive in it. If the wait is for the phase that has ended, its "
           "parity must be " +
           std::to_string(~b.phase & 1) +
           ": phase n has parity n & 1, beginning with 0, and each thread flips its own parity once after "
           "each wait. If it is for the phase under way, the arrivals of that phase are missing.";
}

std::string advice_for(Cause cause, const Mbarrier& b) {
    switch (cause) {
    case Cause::too_many_bytes:
        return "All arrivals have come, but copies brought " + std::to_string(-b.tx) +
               " bytes more than expect_tx announced in this phase. Announce all the bytes that copies "
               "bring, in the phase in which they land.";
    case Cause::too_few_bytes:
        return "All arrivals have come, but expect_tx announced " + std::to_string(b.tx) +
               " bytes more than copies bring in this phase. Announce exactly what they copy, or issue the "
               "copy that is missing.";
    case Cause::expect_missing:
        return "Copies brought " + std::to_string(-b.tx) +
               " bytes that nobody announced, and an arrival is missing: the thread that issues the copies "
               "must arrive with mbarrier.arrive.expect_tx (barrier_arrive_tx) and their bytes.";
    case Cause::arrive_missing:
        return "The bytes have been announced and have landed, but expect_tx is no arrival: use "
               "mbarrier.arrive.expect_tx, or arrive as well.";
    case Cause::arrivals_raised:
        return "cp.async.mbarrier.arrive without .noinc first raises the arrivals that the phase waits for "
               "by one, so its own arrival changes nothing. Use the .noinc form, which mbarrier.init counts, "
               "or let each thread arrive with mbarrier.arrive as well.";
    case Cause::fresh_barrier:
        return "Somebody must arrive at the mbarrier: the arrive (for a copy: arrive.expect_tx) is missing, "
               "or stands behind this wait. A producer that waits until a stage is free begins with parity "
               "1, which a fresh barrier passes at once.";
    case Cause::phase_at_rest:
        return advice_about_phase(b);
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
    case Cause::warp_lanes:
        return "Every lane named in the mask must reach the same instruction, and no other lane. Inside a "
               "branch give the mask of the lanes that take it: __ballot_sync before the branch, or "
               "__activemask where it suffices.";
    case Cause::polling:
        return "The loop waits for a value that no thread is left to write. Check who should write it, that "
               "this thread runs beside and not before the waiting one, and that a lock is released.";
    default:
        return "Check that the expected count equals the arrivals, that the tx-count equals the bytes "
               "copied, that the parity changes with every phase, and that every thread reaches the barrier.";
    }
}

/// Lanes that wait for the same at the same instruction.
struct Group {
    std::uint64_t threads = 0;
    std::string first;
    SourceLine line; ///< Of the first thread, without its role.
};

/// One group for each instruction, chain of callers and text.
using GroupKey = std::tuple<std::uint32_t, std::vector<CallSite>, std::string>;

} // namespace

Diagnostic describe_deadlock(Cluster& cluster) {
    std::map<GroupKey, Group> groups;
    std::uint64_t exited = 0;
    Cause cause = Cause::count_;
    bool polling = false;
    Mbarrier barrier;
    for (Warp* warp : cluster.warps()) {
        exited += static_cast<std::uint64_t>(std::popcount(warp->exited()));
        for_lanes(warp->present() & ~warp->exited(), [&](unsigned lane) {
            const WaitText wait = describe_wait(cluster, *warp, lane);
            SourceLine line = source_line(*warp, lane, wait.pc, {});
            Group& g = groups[{wait.pc, line.callers, wait.text}];
            if (g.threads++ == 0)
                g = {1, thread_name(*warp, lane), std::move(line)};
            polling |= wait.cause == Cause::polling;
            if (wait.cause < cause) {
                cause = wait.cause;
                barrier = wait.barrier;
            }
        });
    }
    Diagnostic d;
    d.name = "deadlock";
    d.fault = Fault::timeout;
    d.message = "Every thread that is left waits, and nothing that is under way can end a wait.";
    for (auto& [key, g] : groups) {
        std::string who = g.first;
        if (g.threads > 1)
            who += " and " + std::to_string(g.threads - 1) + " more";
        d.message += "\n  " + who + ": " + std::get<std::string>(key) + ".";
        g.line.role = "wait of " + who;
        d.locations.push_back(std::move(g.line));
    }
    if (exited)
        d.message += "\n  " + count_of(exited, "thread") + " of this " +
                     (cluster.blocks().size() > 1 ? "cluster" : "block") + " already ended.";
    if (cluster.outside_uses() > 0 && polling) {
        const std::string around = cluster.launch().queued_behind();
        d.message += around;
        if (around.find("cannot begin before") != std::string::npos) {
            d.advice =
                "If one of the kernels behind it is to end the wait, launch that one first, or in another "
                "stream that is made with cudaStreamNonBlocking and waits for no event behind this kernel.";
            return d;
        }
    }
    // Others wait at __syncthreads() for the threads that poll.
    d.advice = advice_for(polling && cause == Cause::block_barrier ? Cause::polling : cause, barrier);
    if (exited && cause == Cause::arrivals)
        d.advice += " Threads that return early do not arrive: let them arrive_and_drop first, or give the "
                    "barrier the number of those that come.";
    return d;
}

} // namespace emu
