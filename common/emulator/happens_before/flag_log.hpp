#pragma once
/// \file
/// Flags in memory: who set them, who read them, as far as single threads did. A launch has one log, for
/// flags speak to blocks of other clusters.

#include "happens_before/vector_clock.hpp"
#include "hopper_emulator/address.hpp"
#include "machine/events.hpp"

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace emu::check {

/// A thread of the launch, and a moment of it.
struct FlagEnd {
    std::uint32_t cluster = 0;
    std::uint16_t warp = 0; ///< rank in the cluster * 32 + warp in the block
    unsigned lane = 0;
    Component thread = 0;
    Epoch epoch = 0;
    std::uint32_t pc = 0;
    bool ordered = false; ///< A release, or an acquire; fences count.
    Semantics semantics = Semantics::weak;
    Scope scope = Scope::sys;
    std::uint64_t when = 0; ///< Counts what the log was told.

    std::uint16_t block() const { return warp / 32; }
    bool is_same_thread(const FlagEnd& other) const {
        return cluster == other.cluster && thread == other.thread;
    }
    bool is_same_block(const FlagEnd& other) const {
        return cluster == other.cluster && block() == other.block();
    }
};

struct FlagGive : FlagEnd {
    std::shared_ptr<const Clock> knew; ///< What the thread knew of its own cluster.
};

/// May be used by several host threads.
class FlagLog {
  public:
    struct Flag {
        std::deque<FlagGive> gives; ///< The last ones, oldest first.
        std::vector<FlagEnd> takes; ///< The last of each thread.
        std::vector<FlagEnd> stale; ///< The last wait of a thread that ended with a value of an earlier wait.
    };

    void give(Address location, FlagGive give);
    /// Reads of places that nobody has given anything at are not kept.
    void take(Address location, FlagEnd take);
    /// The wait ended, or may have, with a value that had been there since before an earlier wait.
    void wait_was_stale(Address location, FlagEnd wait);
    bool is_used() const { return used_.load(std::memory_order_acquire); }

    template <class Visit>
    void each(Visit&& visit) const {
        if (!is_used())
            return;
        const std::lock_guard lock(mutex_);
        for (const auto& [location, flag] : flags_)
            visit(location, flag);
    }

  private:
    /// Puts it in place of the same thread's.
    static void keep(std::vector<FlagEnd>& ends, FlagEnd end);
    static constexpr std::size_t kept_gives = 8, kept_takes = 64, kept_flags = 4096;

    std::atomic<bool> used_{false};
    mutable std::mutex mutex_;
    std::unordered_map<Address, Flag> flags_;
    std::uint64_t now_ = 0;
};

} // namespace emu::check
