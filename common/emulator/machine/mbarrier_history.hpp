#pragma once
/// \file
/// Who arrived at an mbarrier and who waited for it, as far as a deadlock report needs it: a few numbers for
/// each thread, whatever the number of phases.

#include "machine/program.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace emu {

class Warp;

/// What one thread has done at one mbarrier.
struct ThreadHistory {
    std::uint32_t waits = 0;    ///< Waits that returned true.
    std::uint32_t repeated = 0; ///< Those of them for a phase whose end the wait before had seen already.
    std::uint32_t arrivals = 0;
    /// The phase of the last wait that returned true, plus 1; 0 for the phase before the first, which parity
    /// 1 means on a fresh mbarrier. So it is the phase that the next wait should be for.
    std::uint32_t waited = 0;
    std::uint32_t arrived = 0; ///< The phase of the last arrival, plus 1; 0 for none.
    std::uint32_t wait_pc = 0;
    std::uint32_t arrive_pc = 0, earlier_arrive_pc = 0; ///< Of the last arrival and of the one before.
};

/// All threads' histories at one mbarrier.
class MbarrierHistory {
  public:
    /// A wait returned true; `ended` phases had ended.
    void note_wait(const Warp& warp, unsigned lane, std::uint32_t pc, std::uint64_t ended);
    void note_arrival(const Warp& warp, unsigned lane, std::uint32_t pc, std::uint64_t phase);
    /// The history of a lane of the warp with this number in its cluster, all zero if there is none.
    const ThreadHistory& of(std::size_t warp, unsigned lane) const;

    /// Bytes of an asynchronous operation were counted here: from another block, or by multicast.
    bool fed_from_elsewhere = false;

  private:
    using Lanes = std::array<ThreadHistory, warp_size>;
    ThreadHistory& at(const Warp& warp, unsigned lane);

    std::vector<std::unique_ptr<Lanes>> warps_;
};

/// A warp's number in its cluster.
std::size_t warp_in_cluster(const Warp& warp);

} // namespace emu
