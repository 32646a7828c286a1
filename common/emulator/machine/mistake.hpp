#pragma once
/// \file
/// A mistake that the machine itself meets, as facts: which, where, and the numbers. The words for each kind
/// are in findings/words.

#include "hopper_emulator/findings.hpp"
#include "machine/fact.hpp"
#include "machine/fault.hpp"
#include "machine/warp.hpp"

#include <bit>
#include <cstdint>
#include <optional>
#include <string_view>

namespace emu {

/// A mistake at an instruction.
struct Mistake {
    Finding finding{};
    Fault fault = Fault::launch_failure;
    /// Which of the mistakes of that finding: kebab-case, unique, the key of its words.
    std::string_view kind;
    Warp* warp = nullptr; ///< The thread that made it, and the instruction.
    unsigned lane = 0;
    std::uint32_t pc = 0;
    Facts facts{};
    std::optional<std::uint32_t> other_pc{}; ///< A second instruction that belongs to it.
    bool fatal = true;                       ///< No thread survives it: the launch stops.
};

/// One lane at an instruction.
struct Place {
    Warp& warp;
    unsigned lane;
    std::uint32_t pc;

    Place(Warp& w, unsigned l, std::uint32_t at) : warp(w), lane(l), pc(at) {}
    /// Where the warp is now.
    Place(Warp& w, unsigned l) : Place(w, l, w.pc()) {}
    /// The first of some lanes, where the warp is now.
    static Place first(Warp& warp, LaneMask lanes) {
        return Place(warp, static_cast<unsigned>(std::countr_zero(lanes)));
    }
    Cluster& cluster() const { return warp.cluster(); }
    /// Reports an error that no thread survives.
    void report(Finding finding, Fault fault, std::string_view kind, Facts facts = {}) const;
};

} // namespace emu
