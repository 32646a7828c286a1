#pragma once
/// \file
/// Loads that a compiler executes for more threads than the program does: of `tid == 0 && flag == x` nvcc
/// makes a load by all threads, two comparisons, and an `and` of their results. A thread whose value is
/// thrown away there has not read; so what is wrong with such a read is told once the value is used.

#include "happens_before/vector_clock.hpp"
#include "machine/program.hpp"
#include "rules/analysis/values.hpp"

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <utility>
#include <vector>

namespace emu::check {

/// The instructions of a kernel that matter, from its text alone.
struct SpeculativeSites {
    enum Site : std::uint8_t {
        load = 1,  ///< A load whose value a selection or another predicate may hide.
        names = 2, ///< Names a register that may hold such a value, or what was made of it.
    };
    std::vector<std::uint8_t> at; ///< By program counter; empty if there are none.
};
SpeculativeSites find_speculative_loads(const Kernel& kernel);

/// What became of such loads in one cluster.
class SpeculativeLoads final : private UseListener {
  public:
    explicit SpeculativeLoads(const SpeculativeSites& sites) : sites_(sites) {}

    bool any() const { return !sites_.at.empty(); }
    bool is_site(std::uint32_t pc) const {
        return !sites_.at.empty() && sites_.at[pc] & SpeculativeSites::load;
    }
    /// To be called before each instruction, executed by the lanes of `mask` (none: its guard is false).
    void before_instruction(Warp& warp, std::uint32_t pc, LaneMask mask) {
        if (!sites_.at.empty() && sites_.at[pc] && !values_.empty()) [[unlikely]]
            values_.before_instruction(warp, pc, mask);
    }
    /// The load at `pc` reads memory; to be called while it executes.
    void read(Warp& warp, std::uint32_t pc, LaneMask lanes, Epoch now);
    /// Does `act` when the lane uses what it read at `pc` in this epoch. False, and nothing is kept, if it
    /// has used it, or if that is not known. `about`: what else is told of the same read; each is kept once.
    bool when_used(unsigned warp, std::uint32_t pc, Epoch epoch, unsigned lane, std::uint32_t about,
                   std::function<void()> act);

  private:
    /// The executions of a load by a warp in one epoch.
    struct Load {
        OriginId origin = 0;
        Epoch epoch = 0;
        LaneMask used = 0;
        struct Waiting {
            unsigned lane = 0;
            std::uint32_t about = 0;
            std::function<void()> act;
        };
        std::vector<Waiting> waiting;
    };
    static constexpr std::size_t kept = 64; ///< Epochs of one load by one warp.
    static constexpr std::size_t kept_joins = 4096;

    void on_use(OriginId, Use, const Warp&, unsigned, std::uint32_t) override {}
    void on_lane_uses(OriginId origin, unsigned lane) override;
    OriginId on_lane_joins(OriginId one, OriginId other, unsigned lane) override;

    const SpeculativeSites& sites_;
    Values values_{*this, Values::Follow::registers};
    OriginId last_origin_ = 0;
    std::map<std::pair<unsigned, std::uint32_t>, std::deque<Load>> loads_; ///< By number of the warp and pc.
    std::map<OriginId, std::pair<unsigned, std::uint32_t>> by_origin_;
    std::map<std::pair<OriginId, OriginId>, OriginId> joins_;  ///< Values made of two.
    std::map<OriginId, std::pair<OriginId, OriginId>> joined_; ///< … and what they were made of.
};

} // namespace emu::check
