#pragma once
/// \file
/// What the asynchronous engine keeps, for its two source files only.

#include "machine/async_tasks.hpp"
#include "machine/cluster.hpp"

#include <random>
#include <vector>

namespace emu {

using TaskPointer = std::unique_ptr<AsyncTask>;

/// Operations of one thread that complete in groups of one kind, oldest first.
struct GroupQueue {
    std::vector<TaskPointer> tasks;
    std::uint64_t observed = 0;      ///< Groups a wait_group has observed: those with a smaller index.
    std::uint64_t observed_read = 0; ///< The same, with wait_group.read.
    std::uint64_t observed_id = 0;   ///< cp.async with smaller ids were observed through an mbarrier.
    // The most recent operation. Both ways of observing cover all earlier operations too, so this one tells
    // whether everything was observed.
    std::uint64_t last_id = 0; ///< 0: there was none.
    std::uint64_t last_group = 0;
    std::uint32_t last_pc = 0;

    bool all_observed(CompletionKind kind) const {
        // A bulk store stops using shared memory once its source was read.
        const std::uint64_t groups = kind == CompletionKind::bulk_group ? observed_read : observed;
        return last_id == 0 || last_group < groups || last_id < observed_id;
    }
};

/// How many groups of a kind a thread has committed.
std::uint64_t& committed(Warp& warp, unsigned lane, CompletionKind kind);

struct ThreadQueues {
    Warp* warp = nullptr;
    unsigned lane = 0;
    bool listed = false; ///< In State::active.
    GroupQueue cp_async;
    GroupQueue bulk;
    GroupQueue wgmma; ///< Of a warp: its lane 0 has them.

    GroupQueue& of(CompletionKind kind) {
        return kind == CompletionKind::bulk_group    ? bulk
               : kind == CompletionKind::wgmma_group ? wgmma
                                                     : cp_async;
    }
};

/// An operation that completed at an mbarrier in a phase nobody has observed yet.
struct Unobserved {
    std::uint32_t barrier;
    std::uint64_t phase;
    int source_rank, destination_rank;
    Warp* warp;
    unsigned lane;
    std::uint32_t pc;
    ThreadQueues* follows; ///< If it is cp.async.mbarrier.arrive: the thread whose cp.async it follows.
    std::uint64_t id;
};

struct AsyncEngine::State {
    Cluster& cluster;
    CompletionOrder order;
    std::mt19937_64 random;
    std::uint64_t next_id = 1;
    std::size_t pending = 0;
    std::vector<TaskPointer> at_barriers;           ///< Complete at an mbarrier; oldest first.
    std::vector<std::vector<ThreadQueues>> threads; ///< By rank and thread.
    std::vector<ThreadQueues*> active;              ///< Threads that may have operations in their queues.
    std::vector<Unobserved> unobserved;
    std::vector<std::unique_ptr<CopyTask>> spare;

    ThreadQueues& queues(Warp& warp, unsigned lane);
    void read(AsyncTask& task);
    void complete(AsyncTask& task);
    void land(AsyncTask& task);
    void land_and_retire(TaskPointer task);
    void retire(TaskPointer task);
    void land_before(ThreadQueues& thread, std::uint64_t id);
    void land_groups(GroupQueue& queue, std::uint64_t limit);
    void read_groups(GroupQueue& queue, std::uint64_t limit);
    void order_group(std::vector<TaskPointer>::iterator first, std::vector<TaskPointer>::iterator last);
    void land_at_barrier(std::size_t index);
    std::size_t choose_at_barriers();
    bool somebody_waits(std::uint32_t barrier);
    bool land_from_group();
    void move_something(AsyncTask& task, bool& done);
    void report_exit(Block& block, Warp& warp, std::uint32_t pc, unsigned lane, bool reads);
    void report_group(Block& block, ThreadQueues& thread, CompletionKind kind);
    std::int64_t unexpected_bytes(std::uint32_t barrier);
    void report_unobserved(Block& block, const Unobserved& each);
    void check_exit(Block& block);

    std::size_t below(std::size_t limit) { return static_cast<std::size_t>(random() % limit); }
};

} // namespace emu
