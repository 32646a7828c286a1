#pragma once
/// \file
/// Reads that meet a copy, of which it is not known yet whether the reader had handed the bytes over too
/// early, or has not waited for what the copy brings. What the reader does next tells.

#include "findings/words/hand_overs.hpp"
#include "hopper_emulator/findings.hpp"

#include <vector>

namespace emu::check {

/// A reader whose part of the bytes was handed over before it read, or who has not waited for the copy that
/// brings them.
struct EarlyReader {
    Diagnostic if_handed_over, if_not_waited;
    HandOverFault told;        ///< How it was handed over; `told.early` is the read.
    std::uint32_t barrier = 0; ///< At which the copy completes
    std::uint64_t phase = 0;   ///< in this phase.
    enum class Case : std::uint8_t { open, handed_over, not_waited } is = Case::open;

    bool is_open_for(const Warp* who, LaneMask lanes) const {
        return is == Case::open && who == told.early.warp && (lanes >> told.early.lane & 1);
    }
};

/// Those of one cluster. The events are those of ClusterListener.
class EarlyReaders {
  public:
    explicit EarlyReaders(const HandOverWords& words) : words_(words) {}

    /// `reader.told` has a step.
    void add(EarlyReader reader);
    void on_mbarrier_observed(const MbarrierEvent& event);
    void on_mbarrier_arrive(const MbarrierEvent& event);
    void on_barrier_arrive(BarrierKind kind, unsigned id, const WarpLanes& lanes);
    void on_thread_exit(const WarpLanes& lanes);
    /// The findings; nothing is left then. Who told it for a reader is known only at the end.
    std::vector<Diagnostic> decided();

  private:
    const HandOverWords& words_;
    std::vector<EarlyReader> readers_;
};

} // namespace emu::check
