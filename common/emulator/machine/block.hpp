#pragma once
/// \file
/// A block (CTA): its warps, its shared memory, its numbered barriers and its mbarriers.

#include "hopper_emulator/dim3.hpp"
#include "machine/mbarrier.hpp"
#include "machine/warp.hpp"

#include <array>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace emu {

/// Op::flags of a bar.red: what its waiting lanes receive.
enum class BarrierReduction : std::uint8_t { none, popc, all, any };

/// One of the 16 barriers of `bar`/`barrier` (PTX ISA 9.7.13.1).
struct BlockBarrier {
    bool all_threads = false;   ///< Expects every thread of the block that has not exited.
    std::uint32_t expected = 0; ///< Threads, when not all.
    std::uint32_t arrived =
        0; ///< Threads; a whole warp counts as 32 even if the block's last warp is partial.
    std::uint32_t predicate_count = 0; ///< For bar.red.popc/and/or.
    std::uint32_t participants = 0;    ///< Threads that gave a predicate.
    std::vector<WarpLanes> arrivals;   ///< Everybody who arrived (sync and arrive).
    std::vector<WarpLanes> waiting;    ///< Those who wait (sync, red).
};

class Block {
  public:
    Block(Cluster& cluster, unsigned rank, Dim3 index);

    Cluster& cluster() const { return cluster_; }
    unsigned rank() const { return rank_; } ///< In the cluster.
    Dim3 index() const { return index_; }   ///< blockIdx.
    std::uint64_t linear_index() const;     ///< In the grid, x fastest.
    std::uint32_t thread_count() const { return thread_count_; }

    /// Shared memory. Offsets count from the start of the block's window, the reserved KiB included.
    std::span<std::byte> shared() { return {shared_.data(), shared_size_}; }
    /// The address in the shared window at which offset 0 of this block lies.
    std::uint32_t shared_base() const { return rank_ << shared_rank_shift; }
    /// Bytes at `offset`, or nullptr when not all of them lie in the block's shared memory.
    std::byte* shared_bytes(std::uint32_t offset, std::uint32_t bytes) {
        if (offset < shared_reserved_for_groups || std::uint64_t{offset} + bytes > shared_size_)
            return nullptr;
        return shared_.data() + offset;
    }
    /// The same for bytes that begin in the block's shared memory and end in its granule of 128 bytes, which
    /// the hardware lets through.
    std::byte* shared_granule(std::uint32_t offset, std::uint32_t bytes) {
        if (offset < shared_reserved_for_groups || offset >= shared_size_ ||
            std::uint64_t{offset} + bytes > shared_.size())
            return nullptr;
        return shared_.data() + offset;
    }

    std::vector<std::unique_ptr<Warp>>& warps() { return warps_; }
    bool finished() const { return live_threads_ == 0; }
    std::uint32_t live_threads() const { return live_threads_; }
    void thread_exited(const WarpLanes& lanes);

    /// `bar`/`barrier`: the lanes arrive at barrier `id` expecting `threads` (0: all threads of the block).
    /// Lanes that wait are blocked. When the barrier completes, waiting lanes get `op`'s result written
    /// (bar.red) and continue.
    Flow arrive(unsigned id, std::uint32_t threads, const WarpLanes& lanes, bool wait, LaneMask predicate);
    const BlockBarrier& barrier(unsigned id) const { return barriers_[id]; }
    /// Who arrived at barrier `id` when it ended the last time; nobody if it never has.
    std::span<const WarpLanes> last_arrivals(unsigned id) const { return last_arrivals_[id]; }

    /// How many barriers (bar, barrier) have ended.
    std::uint64_t ended_barriers() const { return ended_barriers_; }

    MbarrierTable& mbarriers() { return mbarriers_; }

    /// A thread has executed griddepcontrol.launch_dependents, or all have ended.
    bool has_triggered() const { return triggered_; }
    /// False if it had already.
    bool trigger() { return !std::exchange(triggered_, true); }

  private:
    bool is_complete(const BlockBarrier& barrier) const;
    void complete(unsigned id);

    Cluster& cluster_;
    unsigned rank_;
    Dim3 index_;
    std::uint32_t thread_count_;
    std::uint32_t live_threads_;
    std::uint32_t shared_size_;
    std::vector<std::byte> shared_; ///< Whole granules.
    std::vector<std::unique_ptr<Warp>> warps_;
    std::array<BlockBarrier, 16> barriers_;
    std::array<std::vector<WarpLanes>, 16> last_arrivals_; ///< Of each.
    std::uint64_t ended_barriers_ = 0;
    bool triggered_ = false;
    MbarrierTable mbarriers_;
};

} // namespace emu
