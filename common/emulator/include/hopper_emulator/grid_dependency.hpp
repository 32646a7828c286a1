#pragma once
/// \file
/// What griddepcontrol is about (PTX ISA 9.7.13.13): the grids before whose end a launch may begin, and those
/// that may begin before its own end. For whoever orders launches as the streams of CUDA do; a program that
/// calls Device::launch() needs nothing of it.

#include <atomic>
#include <cstdint>
#include <functional>

#pragma GCC visibility push(default)
namespace emu {

/// Of one launch. Thread-safe, but for what is set before the start.
class GridDependency {
  public:
    /// `blocks`: of the grid.
    explicit GridDependency(std::uint64_t blocks) : untriggered_(blocks) {}

    // -- before the start
    /// It may begin before others have ended; `ended`: they have all the same. Launches of one `chain` run
    /// beside each other for no other reason.
    void depend(bool ended) {
        dependent_ = true;
        prerequisites_ended_ = ended;
    }
    std::uint64_t chain = 0; ///< 0: none.
    /// Its blocks stop where they let others begin, until let_go(): so that those begin as early as they may.
    void hold_back() { holds_ = true; }
    /// Called by a worker when every block has let others begin, or has ended.
    std::function<void()> on_triggered;

    // -- the grids before it
    /// depend() was called.
    bool is_dependent() const { return dependent_; }
    /// What it depends on has ended.
    bool prerequisites_ended() const { return prerequisites_ended_.load(std::memory_order_acquire); }
    /// What it depends on ends now.
    void end_prerequisites() { prerequisites_ended_.store(true, std::memory_order_release); }

    // -- the grids behind it
    /// One more block lets others begin, or has ended.
    void note_block() { --untriggered_; }
    /// All blocks have been noted.
    bool has_triggered() const { return untriggered_.load() == 0; }
    /// True for one caller, when all blocks have been noted.
    bool take_triggered() { return has_triggered() && !told_.exchange(true); }
    /// Its blocks stop where they let others begin.
    bool holds() const { return holds_.load(std::memory_order_relaxed); }
    /// Clusters that stand still because of that.
    void note_held(int change) { held_ += change; }
    /// There are such clusters.
    bool has_held() const { return holds() && held_.load() > 0; }
    /// Its blocks stop no longer.
    void let_go() { holds_ = false; }

  private:
    bool dependent_ = false;
    std::atomic<bool> prerequisites_ended_{true};
    std::atomic<std::uint64_t> untriggered_;
    std::atomic<bool> told_{false}, holds_{false};
    std::atomic<int> held_{0};
};

} // namespace emu
#pragma GCC visibility pop
