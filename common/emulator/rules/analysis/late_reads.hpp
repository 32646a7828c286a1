#pragma once
/// \file
/// Loads from shared memory whose value is first used behind a barrier. A barrier waits for threads, not for
/// their loads: on hardware such a load may still be under way when the thread passes it, and a copy of the
/// async proxy into the same bytes does not queue behind it. Where the value is used before, the thread had
/// to wait for it.

#include "happens_before/vector_clock.hpp"
#include "hopper_emulator/findings.hpp"
#include "machine/warp.hpp"

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace emu::check {

/// The instructions of a kernel that matter, from its text alone.
struct LateReadSites {
    enum Site : std::uint8_t {
        load = 1,  ///< A load from which a path leads past something that may order it to a use.
        names = 2, ///< Names a register that such a load fills, or a copy of one.
    };
    std::vector<std::uint8_t> at; ///< By program counter; empty if there are none.
};

/// Kernels that never let the async proxy write to shared memory have no such sites.
LateReadSites find_late_reads(const Kernel& kernel);

/// What became of such loads in one cluster.
class LateReads {
  public:
    explicit LateReads(const LateReadSites& sites) : sites_(sites) {}

    bool any() const { return !sites_.at.empty(); }
    bool matters(std::uint32_t pc) const { return any() && sites_.at[pc] != 0; }

    /// One execution of a load by a warp.
    struct Load {
        Epoch epoch = 0;
        LaneMask pending = 0;                ///< Not used so far.
        std::array<Epoch, warp_size> used{}; ///< When the value was first used, 0: not used, or in `epoch`.
        std::array<std::uint32_t, warp_size> use_pc{};
        /// What to do when a lane uses its value after all.
        std::vector<std::pair<unsigned, std::function<void(std::uint32_t pc)>>> waiting;
    };

    /// To be called before each instruction that matters.
    void before_instruction(Warp& warp, std::uint32_t pc, LaneMask mask, Epoch now);
    /// The load at `pc` reads shared memory; to be called while it executes.
    void read(Warp& warp, std::uint32_t pc, LaneMask lanes, Epoch now);
    /// A fence waits for the loads of these lanes.
    void settle(Warp& warp, LaneMask lanes, Epoch now);
    /// The load that the warp of this number (rank * 32 + index) made at `pc` in this epoch, or nullptr.
    Load* find(unsigned warp, std::uint32_t pc, Epoch epoch);

  private:
    struct Holder {
        std::uint32_t place = 0; ///< Of the register's row among the warp's frames.
        LaneMask lanes = 0;
        std::shared_ptr<Load> load;
    };
    struct Look;
    static constexpr std::size_t kept = 64; ///< Executions of one load by one warp.

    const LateReadSites& sites_;
    std::vector<std::vector<Holder>> holders_; ///< By number of the warp.
    std::map<std::pair<unsigned, std::uint32_t>, std::deque<std::shared_ptr<Load>>> loads_;
};

} // namespace emu::check
