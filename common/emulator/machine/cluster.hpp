#pragma once
/// \file
/// The blocks that run together on one host thread: a cluster, or a single block when the launch has none.

#include "machine/async.hpp"
#include "machine/block.hpp"
#include "machine/launch.hpp"

#include <array>
#include <random>
#include <span>
#include <vector>

namespace emu {

class Cluster {
  public:
    Cluster(Launch& launch, std::uint64_t linear_index, Dim3 first_block);
    ~Cluster();

    enum class State : std::uint8_t {
        running, ///< The budget ran out.
        idle,    ///< Nothing moved in a whole round: only another cluster could help.
        finished,
    };
    /// Runs warps in turn for about `budget` warp instructions.
    State run(std::uint64_t budget);

    Launch& launch() const { return launch_; }
    const LaunchInfo& info() const;
    std::uint64_t linear_index() const { return linear_index_; }
    std::vector<std::unique_ptr<Block>>& blocks() { return blocks_; }
    std::size_t block_count() const { return blocks_.size(); }
    Block* block(unsigned rank) const { return rank < blocks_.size() ? blocks_[rank].get() : nullptr; }
    AsyncEngine& async() { return async_; }
    std::span<const std::unique_ptr<ClusterListener>> listeners() const { return listeners_; }
    bool listening() const { return !listeners_.empty(); }

    /// Sends an event to every listener: `cluster.emit(&ClusterListener::on_access, event)`.
    template <class... Params, class... Args>
    void emit(void (ClusterListener::*event)(Params...), Args&&... args) {
        for (const auto& listener : listeners_)
            (listener.get()->*event)(args...);
    }

    /// Something changed that may end a wait: a store, an arrival, a landed copy, an exit.
    void made_progress() { ++progress_; }

    /// Hands on a mistake; one that no thread survives stops the launch.
    void report(const Mistake& mistake);
    /// Hands on a finding that a listener has put into words.
    void report(Diagnostic diagnostic, bool fatal = false);

    /// Host address of `bytes` at a shared-window address of any block of the cluster, or nullptr.
    std::byte* shared_bytes(std::uint32_t address, std::uint32_t bytes);
    const GlobalMemory& memory() const { return memory_; }
    /// Host address of global memory if [address, address + bytes) lies in one allocation, else nullptr.
    std::byte* global_bytes(Address address, std::uint64_t bytes) {
        const Window w = window(address);
        return w.contains(address, bytes) ? w.at(address) : nullptr;
    }
    /// A range of addresses that belong to one allocation.
    struct Window {
        Address base = 0, end = 0;
        std::byte* first = nullptr; ///< Where its bytes begin.
        std::byte* at(Address a) const { return first + (a - base); }
        bool contains(Address a, std::uint64_t bytes) const {
            return a >= base && a < end && bytes <= end - a;
        }
    };
    /// The allocation that contains `address`; an empty window if there is none. Remembers the last few.
    Window window(Address address) {
        if (windows_generation_ == memory_.generation()) [[likely]]
            for (const Window& w : windows_)
                if (address - w.base < w.end - w.base)
                    return w;
        return find_window(address);
    }

    // -- mbarriers of any block of the cluster
    Mbarrier* mbarrier(std::uint32_t shared_address);
    /// Changes pending arrivals and tx-count, completes the phase if both reach zero and wakes who waits.
    /// `warp` is null for the arrival of an asynchronous operation. Emits the events.
    void mbarrier_update(Mbarrier& barrier, MbarrierEvent event);

    // -- barrier.cluster
    void cluster_barrier_arrive(const WarpLanes& lanes, Semantics semantics);
    /// Blocks the lanes until the phase they arrived at completes. True if it has completed already.
    bool cluster_barrier_done(const Warp& warp, unsigned lane) const;
    void cluster_barrier_recheck(); ///< After a thread exited.

    // -- griddepcontrol
    /// The block lets the grids behind this one begin.
    void trigger_dependents(Block& block);
    /// All its blocks have, and stand still there for a while (GridDependency::hold_back).
    bool is_held() const { return held_ && launch_.grids().holds(); }
    void let_go();
    /// Lanes come to griddepcontrol.wait. True if they need not wait (any more).
    bool arrive_at_grid_wait(const WarpLanes& lanes);
    bool waits_for_grids() const { return grid_waiters_ > 0; }
    /// A thread has passed griddepcontrol.wait.
    bool has_waited_for_grids() const { return waited_for_grids_; }

    bool stopped() const;

    /// Nothing in the launch can go on: tells who waits for what, and stops.
    void deadlock();
    /// All threads of a block exited.
    void block_finished(Block& block);
    /// Thread instructions executed so far.
    std::uint64_t instructions() const;
    std::uint64_t progress() const { return progress_; }
    /// How often it has used memory that others may write: all but its registers and shared memory.
    std::uint64_t outside_uses() const { return outside_uses_; }
    void note_outside_use() { ++outside_uses_; }
    /// Stands for the registers and places of all threads, with or without what registers hold of clocks.
    std::uint64_t state_hash(bool with_clocks) const;
    /// Clock cycles that passed while everybody waited, for %clock.
    std::uint64_t idle_cycles() const { return idle_cycles_; }
    /// Threads that have arrived at the cluster barrier in the phase that is under way.
    std::uint32_t arrived_at_barrier() const { return cluster_arrived_; }
    /// How many phases of the cluster barrier have ended.
    std::uint64_t ended_barriers() const { return cluster_phase_; }
    std::span<Warp* const> warps() const { return warps_; }

  private:
    bool time_out_waits(bool others_poll);
    bool pass_grid_wait();
    void finish();
    void complete_cluster_barrier();
    Window find_window(Address address);

    Launch& launch_;
    std::uint64_t linear_index_;
    std::vector<std::unique_ptr<ClusterListener>> listeners_;
    std::vector<std::unique_ptr<Block>> blocks_;
    AsyncEngine async_;
    std::mt19937_64 random_;
    std::uint64_t progress_ = 0;
    std::uint64_t outside_uses_ = 0;
    std::uint64_t idle_cycles_ = 0;
    std::vector<Warp*> warps_;
    unsigned spinning_rounds_ = 0;
    unsigned idle_rounds_ = 0;
    bool finished_ = false;
    bool held_ = false, waited_for_grids_ = false;
    std::uint32_t grid_waiters_ = 0; ///< Lanes.

    std::uint64_t cluster_phase_ = 0;
    std::uint32_t cluster_arrived_ = 0;
    std::vector<WarpLanes> cluster_arrivals_;

    GlobalMemory& memory_;
    std::array<Window, 4> windows_{};
    std::size_t next_window_ = 0;
    std::uint64_t windows_generation_ = 0;
};

} // namespace emu
