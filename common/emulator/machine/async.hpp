#pragma once
/// \file
/// The asynchronous engine of a cluster: operations that were issued and whose bytes have not moved yet. By
/// default they move as late as the rules allow.

#include "hopper_emulator/settings.hpp"
#include "machine/events.hpp"

#include <cstdint>
#include <deque>
#include <memory>
#include <random>
#include <vector>

namespace emu {

/// An operation with its effect. Subclasses know how to move the bytes; the engine knows when.
class AsyncTask {
  public:
    virtual ~AsyncTask() = default;
    AsyncOperation operation;
    /// Reads the source into a private buffer. Called once, before write().
    virtual void read(Cluster& cluster) = 0;
    /// Writes the destination. Called once.
    virtual void write(Cluster& cluster) = 0;
    /// A register that it writes later is copied now: `from` and `into` are offsets in the frame. True if it
    /// is one of its registers, and it will write the copy too.
    virtual bool hand_on(std::uint32_t /*frame*/, std::uint32_t /*from*/, std::uint32_t /*into*/, LaneMask) {
        return false;
    }
    /// Rank of the block whose shared memory is read, or written; -1 for none. Known also when nobody listens
    /// and `operation` therefore has no pieces.
    std::int8_t source_rank = -1;
    std::int8_t destination_rank = -1;
};

class CopyTask;

class AsyncEngine {
  public:
    AsyncEngine(Cluster& cluster, CompletionOrder order, std::uint64_t seed);
    ~AsyncEngine();

    /// Takes an operation; assigns its id and group. In `early` order it lands at once.
    void issue(std::unique_ptr<AsyncTask> task);

    /// cp.async.commit_group / cp.async.bulk.commit_group of one thread.
    void commit(Warp& warp, unsigned lane, CompletionKind kind);
    /// Lands what a wait_group must see: all but the `pending` most recent committed groups of this thread.
    /// With `read_only` only the sources are read. For cp.async.wait_all: pending 0 and the open group too
    /// (`include_open`).
    void wait(Warp& warp, unsigned lane, CompletionKind kind, std::uint64_t pending, bool read_only,
              bool include_open, std::uint32_t pc);
    /// A fence of gpu or system scope: bulk stores of this thread whose wait_group.read it has passed land.
    /// The PTX ISA does not promise it, but hardware does it, and NVIDIA's own tests read the results in the
    /// same block behind such a fence.
    void fence(Warp& warp, unsigned lane);
    /// cp.async.mbarrier.arrive[.noinc]: an arrival at `barrier` that follows all cp.async this thread issued
    /// so far.
    void arrive_after_cp_async(Warp& warp, unsigned lane, std::uint32_t barrier, bool noinc,
                               std::uint32_t pc);

    /// Lanes copy a register whose value a wgmma in flight has yet to write. (The compiler copies
    /// accumulators from round to round, and the assembler takes both names for one register.) False if there
    /// is none.
    bool hand_on(Warp& warp, std::uint32_t from, std::uint32_t into, LaneMask lanes);
    /// wgmma.wait_group of a warp. A wgmma is one operation of its warpgroup: all four warps must have
    /// committed it before one of them sees it complete. False if another warp has not: the warp must wait,
    /// and is let go on by the commit that it lacks.
    bool wait_for_products(Warp& warp, std::uint64_t pending, std::uint32_t pc);
    /// Something changed in the warpgroup: a commit, or a warp has ended. Lets warps go on that wait for it.
    void warpgroup_changed(Warp& warp);
    /// Lands the wgmma of a warp: it leaves the function whose registers they write.
    void land_products(Warp& warp);

    /// Called when no warp of the cluster can go on: lands one operation whose completion may end a wait, in
    /// the configured order. False if there is none.
    bool land_one();
    /// Called between instructions in `random` order: lands an operation now and then.
    void maybe_land();

    /// A block's threads have all exited: its shared memory dies. Reports operations that use it and whose
    /// end nobody has waited for, in whatever order they landed.
    void block_exited(Block& block);
    /// The cluster ended: everything else lands.
    void finish();

    /// An empty task for a cp.async, reused when there is one: a copy of a whole tile by cp.async issues
    /// thousands of them.
    std::unique_ptr<CopyTask> copy_task();
    /// A lane saw phase `phase` of the mbarrier at `barrier` complete: the operations counted there are
    /// observed.
    void barrier_observed(std::uint32_t barrier, std::uint64_t phase);
    /// True when an operation that has not landed will complete at the mbarrier at `barrier`.
    bool uses_barrier(std::uint32_t barrier) const;

    std::size_t pending() const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

} // namespace emu
