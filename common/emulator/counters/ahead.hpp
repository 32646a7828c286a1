#pragma once
/// \file
/// Whether a warp goes on before it knows that what it handed over was used: the program's own order of
/// arrivals and waits says so, whatever order the emulator runs warps in.

#include "counters/sink.hpp"
#include "machine/events.hpp"

#include <cstdint>
#include <map>
#include <unordered_map>

namespace emu {

/// Follows one cluster. A warp hands over by an arrival at an mbarrier. It is answered when it has waited for
/// a phase of an mbarrier at which a warp arrived that had waited for the phase of the first arrival.
class Ahead {
  public:
    explicit Ahead(CounterSink& sink) : sink_(sink) {}

    void on_init(const MbarrierEvent& event);
    void on_arrive(const MbarrierEvent& event);
    void on_observed(const MbarrierEvent& event);
    void on_shared_store(const AccessEvent& event);

  private:
    /// By address of the mbarrier: how many of its phases are over for somebody.
    using Phases = std::map<std::uint32_t, std::uint64_t>;

    struct OfWarp {
        std::uint32_t barrier = 0; ///< Of the last arrival.
        std::uint64_t needed = 0;  ///< Phases of it that have to be answered; 0 before any arrival.
        Phases seen;               ///< Waited for.
        Phases answered;
    };

    CounterSink& sink_;
    std::unordered_map<std::uint32_t, OfWarp> warps_; ///< By rank of the block and number in it.
    /// By mbarrier and number of the phase: what those who arrived in it had waited for.
    std::map<std::uint32_t, std::map<std::uint64_t, Phases>> carried_;
};

} // namespace emu
