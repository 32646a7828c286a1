#pragma once
/// \file
/// Which asynchronous copies are under way, as the program knows it: from the issue until a wait that covers
/// the copy, or until a barrier tells the thread of such a wait. When a copy lands plays no part, so the
/// order that the emulator chooses does not either.

#include "counters/sink.hpp"
#include "machine/events.hpp"

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

namespace emu {

/// Follows one cluster. Each thread sees the copies that it issued itself.
class Flight {
  public:
    explicit Flight(CounterSink& sink) : sink_(sink) {}

    void on_issue(const AsyncOperation& operation);
    void on_group_observed(Warp& warp, unsigned lane, CompletionKind kind, std::uint64_t last_group,
                           std::uint32_t pc);
    void on_init(const MbarrierEvent& event);
    void on_arrive(const MbarrierEvent& event);
    void on_phase(const MbarrierEvent& event) { phases_[event.address] = event.phase + 1; }
    void on_observed(const MbarrierEvent& event);
    void on_barrier(BarrierKind kind, std::span<const WarpLanes> arrived, std::span<const WarpLanes> waiting);
    void on_shared_access(const AccessEvent& event);
    void on_global_store(const AccessEvent& event);

  private:
    using ThreadId = std::uint32_t;                        ///< Rank of the block, number in the block.
    using Phase = std::pair<std::uint32_t, std::uint64_t>; ///< Address of an mbarrier, number of the phase.

    struct Copy {
        std::uint64_t bytes = 0;
        bool loads = false; ///< Writes shared memory.
        CompletionKind completion = CompletionKind::none;
        std::uint64_t group = 0; ///< For a group.
        Phase phase{};           ///< For an mbarrier.
        bool in_group = false;   ///< It is in a group, whatever else tells of its end.
    };
    struct Thread {
        std::vector<Copy> pending;
        std::uint64_t bytes = 0;   ///< Of those.
        std::uint64_t loading = 0; ///< Of those that write shared memory.
        bool issues = false;       ///< Has issued a copy.
    };
    /// A phase that copies complete, and who knows that it is over.
    struct Record {
        std::unordered_map<std::uint32_t, LaneMask> known; ///< By warp.
        std::set<Phase> carried;                           ///< Phases at whose arrivals somebody knew.
        bool cluster_knew = false;     ///< So did somebody who arrived at the last barrier of the cluster.
        std::set<ThreadId> uninformed; ///< Threads with copies that do not.
    };

    static std::uint32_t warp_id(const Warp& warp);
    static ThreadId thread_id(const Warp& warp, unsigned lane) { return warp_id(warp) * warp_size + lane; }
    bool knows(const Record& record, const Warp& warp, LaneMask lanes) const;
    void learn(std::map<Phase, Record>::iterator record, Warp& warp, LaneMask lanes, std::uint32_t pc);
    void attach(Thread& thread, ThreadId id, Copy copy);
    void forget_informed();
    /// Takes the copies out for which `over` holds; counts the wait if there are any.
    template <class Over>
    void retire(Thread& thread, const Warp& warp, std::uint32_t pc, Over over);
    void mark(std::uint32_t shared, std::uint32_t bytes, bool by_copy);

    CounterSink& sink_;
    std::unordered_map<ThreadId, Thread> threads_;
    std::map<Phase, Record> records_;
    std::unordered_map<std::uint32_t, std::uint64_t> phases_; ///< In progress, by address of the mbarrier.
    std::vector<std::vector<bool>> brought_; ///< By rank and word of shared memory: a copy wrote it last.
};

} // namespace emu
