#pragma once
/// \file
/// A deadlock as facts: who waits for what, who could end it, and which wait is the root of the others.

#include "machine/cluster.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace emu {

/// Threads of a cluster: a mask of lanes for each warp, by the warp's number in the cluster.
class ThreadSet {
  public:
    explicit ThreadSet(std::size_t warps = 0) : masks_(warps) {}
    void add(std::size_t warp, LaneMask lanes) { masks_[warp] |= lanes; }
    bool has(std::size_t warp, unsigned lane) const { return masks_[warp] >> lane & 1; }
    LaneMask of(std::size_t warp) const { return masks_[warp]; }
    bool empty() const { return count() == 0; }
    std::uint64_t count() const;
    bool meets(const ThreadSet& other) const { return !(*this & other).empty(); }
    bool within(const ThreadSet& other) const { return (*this - other).empty(); }
    /// Warp's number and lane of the first; the set must not be empty.
    std::pair<std::size_t, unsigned> first() const;
    /// Calls `f(warp, lane)` for each thread, in order.
    template <class F>
    void each(F&& f) const {
        for (std::size_t warp = 0; warp < masks_.size(); ++warp)
            for_lanes(masks_[warp], [&](unsigned lane) { f(warp, lane); });
    }
    friend bool operator==(const ThreadSet&, const ThreadSet&) = default;
    friend ThreadSet operator&(ThreadSet a, const ThreadSet& b) { return a.combine(b, std::bit_and<>{}); }
    friend ThreadSet operator|(ThreadSet a, const ThreadSet& b) { return a.combine(b, std::bit_or<>{}); }
    friend ThreadSet operator-(ThreadSet a, const ThreadSet& b) {
        return a.combine(b, [](LaneMask x, LaneMask y) { return x & ~y; });
    }

  private:
    template <class F>
    ThreadSet& combine(const ThreadSet& other, F f) {
        for (std::size_t warp = 0; warp < masks_.size(); ++warp)
            masks_[warp] = f(masks_[warp], other.masks_[warp]);
        return *this;
    }
    std::vector<LaneMask> masks_;
};

/// Threads that wait at the same instruction for the same thing.
struct WaitGroup {
    enum class For : std::uint8_t { mbarrier, block_barrier, cluster_barrier, warp_sync, grid, nothing };
    For what = For::nothing; ///< `nothing`: they poll memory.
    std::uint32_t pc = 0;
    std::uint32_t tag = 0; ///< Address of the mbarrier, number of the block barrier, mask of lanes.
    std::size_t warp = 0;  ///< The first thread.
    unsigned lane = 0;
    const Mbarrier* barrier = nullptr;
    ThreadSet threads;

    /// At a warp-synchronous instruction: the mask names the thread itself.
    bool is_named() const { return tag >> lane & 1; }
};

/// What is known when nothing in a cluster can go on.
class DeadlockFacts {
  public:
    explicit DeadlockFacts(Cluster& cluster);

    Cluster& cluster() const { return cluster_; }
    const Kernel& kernel() const { return *cluster_.info().kernel; }
    Warp& warp(std::size_t number) const { return *warps_[number]; }
    const std::vector<WaitGroup>& groups() const { return groups_; }
    const ThreadSet& alive() const { return alive_; }
    const ThreadSet& ended() const { return ended_; }
    ThreadSet nobody() const { return ThreadSet(warps_.size()); }
    ThreadSet set_of(std::span<const WarpLanes> lanes) const;
    /// The threads of a block.
    ThreadSet block_of(std::size_t warp) const;
    /// The group in which a living thread waits.
    const WaitGroup& group_of(std::size_t warp, unsigned lane) const;
    Block& block(const WaitGroup& group) const { return warp(group.warp).block(); }

    // -- block barriers
    const BlockBarrier& block_barrier(const WaitGroup& group) const {
        return block(group).barrier(group.tag);
    }
    /// Who holds it up, as far as that is known: for one of all threads those that have not arrived; for one
    /// with a count those that came the last time.
    ThreadSet awaited_at_barrier(const WaitGroup& group) const;

    // -- mbarriers
    /// What the group's first thread has done at the mbarrier.
    const ThreadHistory& history(const WaitGroup& group) const {
        return group.barrier->history.of(group.warp, group.lane);
    }
    /// The phase for which it should wait: behind the one for which it waited last, or that in which it
    /// arrived itself.
    std::uint64_t next_phase(const WaitGroup& group) const {
        const ThreadHistory& thread = history(group);
        return std::max(thread.waited, thread.arrived ? thread.arrived - 1 : 0);
    }
    ThreadSet who(const Mbarrier& barrier, const std::function<bool(const ThreadHistory&)>& holds) const;
    ThreadSet arrived_in(const Mbarrier& barrier, std::uint64_t phase) const;
    /// Who has ever arrived at the mbarrier and not yet in this phase; if nobody has, who arrived at others
    /// for which the group's first thread has waited at the same place.
    struct Enders {
        ThreadSet threads;
        bool elsewhere = false; ///< At others.
    };
    Enders enders(const WaitGroup& group) const;
    /// Of one thread, over all mbarriers: by how much its waits outnumber its arrivals.
    std::int64_t waits_beyond_arrivals(std::size_t warp, unsigned lane) const;

    // -- the program
    /// Two instructions of the same place in the source, through all inlined calls.
    bool same_place(std::uint32_t a, std::uint32_t b) const;
    /// Behind the instruction, in the order of the text, stands a copy or the announcement of one before any
    /// other arrival: a producer's wait.
    bool copies_next(std::uint32_t pc) const;
    /// Whether an arrival at an mbarrier can follow behind the instruction.
    bool arrival_follows(std::uint32_t pc) const;

  private:
    WaitGroup describe(std::size_t warp, unsigned lane) const;

    Cluster& cluster_;
    std::vector<Warp*> warps_; ///< By number.
    ThreadSet alive_, ended_;
    std::vector<WaitGroup> groups_;
};

/// Why nobody can go on.
enum class Cause : std::uint8_t {
    lanes_elsewhere, ///< A warp-synchronous instruction, for lanes that cannot come before it has ended.
    barrier_cycle,   ///< Block barriers with counts that wait for each other's threads.
    too_few_threads, ///< A block barrier with a count that is greater than what is left.
    too_many_bytes,  ///< All arrivals have come, and more bytes than were announced.
    too_few_bytes,
    expect_missing,  ///< Copies landed, and nobody arrived who would have announced their bytes.
    arrive_missing,  ///< Bytes were announced and landed, but by expect_tx alone.
    arrivals_raised, ///< Only arrivals of cp.async have come, each of which raised the count for itself.
    other_block,     ///< The arrivals went to the same variable of another block, where nobody waits.
    two_phases,      ///< The arrivals of one round ended two phases: the count is too small.
    arrived_twice,   ///< One thread did that, at two places.
    ran_ahead,       ///< Those who arrive ended phases without having waited for the waiters.
    stale_wait,      ///< They did so because a wait of theirs saw a phase that it had seen before.
    parity,          ///< The waiter is out of step with the phases.
    ended_silently,  ///< Threads that the count includes have ended without an arrival.
    ended_counted,   ///< Threads that arrived before have ended, and the count still includes them.
    count_too_large, ///< Nobody is left that could bring the missing arrivals.
    party_ended,     ///< Nobody has arrived, and those who used to have ended.
    held_at_barrier, ///< A barrier of all threads, for threads that wait for those which it holds.
    release_missing, ///< Nobody has arrived in a phase, though those who do so have waited more often.
    fresh_barrier,   ///< Nobody has arrived since the initialisation.
    phase_at_rest,   ///< Nobody has arrived in the phase that is waited for; earlier ones have ended.
    arrivals,
    named_barrier,
    polling,
    grid_barrier,
    block_barrier,
    cluster_barrier,
    warp_lanes,
};

/// The wait from which the others follow.
struct Root {
    Cause cause = Cause::polling;
    const WaitGroup* group = nullptr;
    ThreadSet who;            ///< Whom the cause is about.
    std::uint64_t number = 0; ///< Arrivals or phases, where the cause has some.
};

/// The causes, in groups of files. Each returns the first wait that it explains.
std::optional<Root> find_divided_lanes(const DeadlockFacts& facts);
std::optional<Root> find_barrier_cycle(const DeadlockFacts& facts);
std::optional<Root> find_too_few_threads(const DeadlockFacts& facts);
std::optional<Root> find_held_at_barrier(const DeadlockFacts& facts);
std::optional<Root> find_bytes(const DeadlockFacts& facts);
std::optional<Root> find_other_block(const DeadlockFacts& facts);
std::optional<Root> find_lost_step(const DeadlockFacts& facts);
std::optional<Root> find_missing_part(const DeadlockFacts& facts);
std::optional<Root> find_ended_party(const DeadlockFacts& facts);
std::optional<Root> find_missing_release(const DeadlockFacts& facts);

/// The root of all waits: that of the first rule which explains it, else the first plain one.
Root find_root(const DeadlockFacts& facts);

/// Nothing in a cluster can go on.
struct Deadlock {
    const DeadlockFacts& facts;
    Root root;
};

} // namespace emu
