#pragma once
/// \file
/// The lanes of a warp: where each of them stands, and what it waits for.

#include "machine/program.hpp"

#include <array>
#include <bit>
#include <cstdint>
#include <memory>

namespace emu {

/// Why a lane does not run.
enum class Wait : std::uint8_t {
    none,
    exited,
    warp_sync,       ///< At a warp-synchronous instruction, for the other lanes of its mask.
    warpgroup,       ///< At wgmma.wait_group, for the other warps of the warpgroup.
    block_barrier,   ///< At bar/barrier.
    cluster_barrier, ///< At barrier.cluster.wait.
    grids,           ///< At griddepcontrol.wait.
    mbarrier, ///< At mbarrier.try_wait: woken when the phase completes, or by a time-out, and then executes
              ///< again.
};

/// Calls `f(lane)` for each lane of `mask`, lowest first.
template <class F>
void for_lanes(LaneMask mask, F&& f) {
    for (; mask; mask &= mask - 1)
        f(static_cast<unsigned>(std::countr_zero(mask)));
}

/// A part of Warp, which moves the lanes.
class Lanes {
  public:
    /// Lanes that exist: a block's last warp may be partial.
    LaneMask present() const { return present_; }
    LaneMask exited() const { return exited_; }
    LaneMask blocked() const { return blocked_; }
    LaneMask runnable() const { return present_ & ~exited_ & ~blocked_; }
    bool finished() const { return exited_ == present_; }
    std::uint32_t lane_pc(unsigned lane) const { return lane_pc_[lane]; } ///< Where a waiting lane stands.

    // -- waiting lanes, for whoever ends a wait
    Wait wait_of(unsigned lane) const { return wait_[lane]; }
    std::uint64_t wait_tag(unsigned lane) const { return wait_tag_[lane]; }
    std::uint64_t wait_phase(unsigned lane) const { return wait_phase_[lane]; }
    /// Lanes that wait for `why` with `tag`.
    LaneMask waiting(Wait why, std::uint64_t tag) const;
    /// Ends the wait; the lanes continue behind the instruction at which they waited.
    void release_after(LaneMask mask);
    /// Ends the wait; the lanes execute the instruction again.
    void release_again(LaneMask mask);
    /// Like release_again, and the instruction is told that its time limit passed.
    void time_out(LaneMask mask);
    /// True once for a lane whose wait ended by time-out.
    bool take_time_out(unsigned lane);
    /// Like release_again, because the phase completed for which the lanes waited at an mbarrier.
    void wake(LaneMask mask);
    /// Lanes that were woken by the mbarrier at `tag` and have not executed their wait again.
    LaneMask woken(std::uint64_t tag) const;
    /// The woken lanes have observed the phase: their wait succeeds whatever becomes of the mbarrier.
    void grant(LaneMask mask) { granted_ |= mask; }
    /// Lanes of `mask` execute their wait again. Returns those that may pass it at once.
    LaneMask take_grants(LaneMask mask);

    // -- polls
    /// A test of the mbarrier at `address` found that its phase has not ended; the lane may go on polling.
    void note_test(unsigned lane, std::uint32_t address, std::uint32_t pc);
    void forget_test(unsigned lane) {
        if (tests_)
            (*tests_)[lane] = {};
    }
    struct FailedTest {
        std::uint32_t address = 0; ///< Shared-window address, 0 for none.
        std::uint32_t pc = 0;
    };
    FailedTest failed_test(unsigned lane) const { return tests_ ? (*tests_)[lane] : FailedTest{}; }

  protected:
    explicit Lanes(LaneMask present) : present_(present) {}

    LaneMask present_;
    LaneMask exited_ = 0;
    LaneMask blocked_ = 0;
    LaneMask timed_out_ = 0;
    LaneMask woken_ = 0;
    LaneMask granted_ = 0;

    std::array<std::uint32_t, warp_size> lane_pc_{};
    std::array<std::uint32_t, warp_size> lane_frame_{};
    std::array<Wait, warp_size> wait_{};
    std::array<std::uint64_t, warp_size> wait_tag_{};
    std::array<std::uint64_t, warp_size> wait_phase_{};
    std::unique_ptr<std::array<FailedTest, warp_size>> tests_; ///< The last of each lane, if one failed.
};

} // namespace emu
