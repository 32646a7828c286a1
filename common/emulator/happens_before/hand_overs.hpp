#pragma once
/// \file
/// Which steps a thread took that tell others what it has done, and which that tell it what others have done:
/// arrivals, waits, fences, flags. Two clocks say that nothing orders two accesses; these steps say which
/// hand-over was meant to.

#include "happens_before/threads.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace emu::check {

/// What ended an epoch of a warp: its accesses before have an epoch up to `last`, those behind a later one.
struct Step {
    enum class Kind : std::uint8_t {
        block_barrier, ///< `where` is its number.
        cluster_barrier,
        warp_barrier,
        mbarrier,         ///< `where` is its shared-window address.
        cp_async_arrival, ///< cp.async.mbarrier.arrive; the same.
        flag,             ///< A release; `where` is the address.
        issue,            ///< Of an asynchronous operation.
        fence,
    };
    Kind kind = Kind::fence;
    bool gives = false;          ///< Whoever waits for it knows what the thread did before.
    bool takes = false;          ///< The thread went on when others had given.
    bool repeated = false;       ///< A wait for a phase whose end the thread had seen already.
    bool fresh = false;          ///< A wait that passed a fresh mbarrier.
    bool by_proxy_fence = false; ///< A fence of the async proxy.
    std::uint32_t pc = 0;
    LaneMask lanes = 0;
    Epoch first = 0, last = 0; ///< The epochs that ended with it: one for each lane that came by itself.
    std::uint64_t where = 0;
    std::uint64_t phase = 0; ///< In which it arrived, or whose end it saw; of other barriers the how manieth.
    std::uint32_t round = 0; ///< Of a barrier: how often the warp has come to it, this time included.
};

/// How a warp uses a barrier.
struct BarrierUse {
    Step::Kind kind{};
    std::uint64_t where = 0;
    bool arrived = false, waited = false;
    bool moved_on = false;    ///< It has waited elsewhere since it arrived.
    std::uint32_t rounds = 0; ///< How often it has come there.
};

/// The last steps of each warp of a cluster.
class HandOvers {
  public:
    /// The warp takes a step now: `step.lanes` in its epoch `warp.now`.
    void note(const WarpClock& warp, Step step);

    /// The step of `lane` that ended epoch `epoch`; nullptr if it is forgotten or another lane's.
    const Step* ended(const Warp& warp, unsigned lane, Epoch epoch) const;
    /// The last step of the lane, before its accesses of epoch `before`, for which `wanted(step)`.
    template <class Wanted>
    const Step* last(const Warp& warp, unsigned lane, Epoch before, Wanted&& wanted) const {
        const Steps* const steps = of(warp);
        for (unsigned back = 0; steps && back < std::min(steps->count, kept); ++back) {
            const Step& step = steps->ring[(steps->count - 1 - back) % kept];
            if (step.first < before && (step.lanes >> lane & 1) && wanted(step))
                return &step;
        }
        return nullptr;
    }
    /// The last wait of the lane before its accesses of epoch `before`.
    const Step* last_wait(const Warp& warp, unsigned lane, Epoch before) const {
        return last(warp, lane, before, [](const Step& step) { return step.takes; });
    }

    /// How the warp has used a barrier; nullptr: not at all.
    const BarrierUse* use_of(const Warp& warp, Step::Kind kind, std::uint64_t where) const;
    /// The two warps of a block have different parts in the kernel: each waits for the other, or one only
    /// tells.
    bool have_roles(const Warp& a, const Warp& b) const;
    /// How many threads of the block wait at the same barriers as this warp, or may come there yet.
    unsigned mates(const Warp& warp) const;

  private:
    static constexpr unsigned kept = 64;
    struct Steps {
        std::array<Step, kept> ring;
        unsigned count = 0;
        std::vector<BarrierUse> uses;
    };
    const Steps* of(const Warp& warp) const;
    /// @return how often the warp has come to the step's barrier, now included
    static std::uint32_t note_use(Steps& steps, const Step& step);

    std::vector<std::unique_ptr<Steps>> warps_; ///< By rank * 32 + warp in the block.
};

} // namespace emu::check
