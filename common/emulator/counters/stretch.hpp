#pragma once
/// \file
/// How much a thread does and loads between an arrival at a barrier, or the issue of a copy, and its wait.

#include "counters/sink.hpp"
#include "machine/events.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace emu {

struct Kernel;

/// Follows one cluster. Ends a stretch at the first attempt to wait, which does not depend on how often a
/// wait is repeated.
class Stretch {
  public:
    Stretch(CounterSink& sink, const Kernel& kernel);

    void on_instruction(Warp& warp, std::uint32_t pc, LaneMask lanes);
    void on_arrive(const Warp& warp, LaneMask lanes) { begin(of(warp).arrival, lanes); }
    void on_issue(const Warp& warp, LaneMask lanes) { begin(of(warp).issue, lanes); }
    void on_global_load(const AccessEvent& event);

  private:
    enum class Wait : std::uint8_t { none, mbarrier, group, cluster };
    /// Of the lanes of a warp that something has begun for: what they did since.
    struct Since {
        LaneMask lanes = 0;
        std::array<std::uint32_t, warp_size> instructions{};
        std::array<std::uint32_t, warp_size> loaded{}; ///< Bytes from global memory.
    };
    struct OfWarp {
        Since arrival, issue;
    };

    OfWarp& of(const Warp& warp);
    static void begin(Since& since, LaneMask lanes);
    void go_on(Since& since, bool ends, Counter counter, Warp& warp, std::uint32_t pc, LaneMask lanes);

    CounterSink& sink_;
    std::vector<Wait> waits_; ///< By instruction.
    std::vector<OfWarp> warps_;
};

} // namespace emu
