#pragma once
/// \file
/// One worker's part of a launch: the clusters that it has started and that have not ended.

#include "machine/cluster.hpp"
#include "machine/launch.hpp"

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>

namespace emu {

/// Finds out that a cluster which writes nothing has come back to a state in which it was before: from there
/// on everything repeats itself, unless something outside changes what it reads (R. Brent, An improved Monte
/// Carlo factorization algorithm, 1980, section 2: one kept state, renewed after powers of two).
class RepeatedState {
  public:
    /// True if `state` is the one that is kept.
    bool meets(std::uint64_t state);
    /// It was met, and is met again whenever the circle should come back to it.
    bool found() const { return found_; }
    /// Questions since it was kept or met.
    std::uint64_t steps() const { return steps_; }
    void forget() { *this = {}; }

  private:
    std::uint64_t kept_ = 0;
    std::uint64_t steps_ = 0, limit_ = 1, length_ = 0;
    bool found_ = false;
};

/// turn() belongs to the worker; the rest may be asked by any.
class Launch::Share {
  public:
    explicit Share(Launch& launch) : launch_(launch) {}
    Turn turn();
    /// Nothing to do here, or all clusters wait and have looked since the last move. `all_started`: a worker
    /// that has not been here yet has missed nothing.
    bool is_waiting(std::uint64_t moves, bool all_started) const;
    /// Of one that waits: no cluster can go on by itself.
    bool is_settled(std::uint64_t moves) const;
    std::uint64_t stuck_cluster() const { return stuck_.load(); }
    std::uint64_t first_cluster() const { return first_.load(); }

  private:
    struct Resident {
        std::unique_ptr<Cluster> cluster;
        std::uint64_t budgets = 0;
        std::uint64_t progress = 0;     ///< When it last moved,
        std::uint64_t outside_uses = 0; ///< … how often it had used memory outside of itself,
        std::uint64_t instructions = 0; ///< … and executed so many instructions.
        RepeatedState state = {};
        std::uint64_t looks = 0; ///< In vain.
        bool circles = false;    ///< It was found to run in circles, and runs in short steps since.
        bool gives_way = false;  ///< Its threads wait or poll, and all gave way; else they run in circles.
    };
    enum class Step : std::uint8_t {
        finished,
        moved, ///< Something changed.
        runs,
        circles, ///< It has been found to run in circles, and is on its way round.
        waits,
    };
    Step step_without_progress(Resident& resident);
    Turn run_one();
    std::uint64_t left_for(const Cluster& cluster) const;
    std::uint64_t budget_of(const Resident& resident) const;
    Step step(Resident& resident);
    void finish_front();
    bool give_up();
    bool is_settled(const Resident& resident) const;
    bool rests_for_grids(const Cluster& cluster) const;
    void stir();
    Turn look();
    Turn leave();
    bool has_room() const;
    bool let_one_go();
    static bool only_helps_itself(const Resident& resident) {
        return resident.cluster->outside_uses() == resident.outside_uses && !resident.cluster->is_held() &&
               !resident.cluster->waits_for_grids();
    }

    Launch& launch_;
    std::deque<Resident> residents_;
    bool more_ = true;  ///< The launch may have clusters that nobody has started.
    bool start_ = true; ///< Start one with the next turn.
    std::uint64_t idle_streak_ = 0;
    std::uint64_t turns_ = 0;
    std::uint64_t looks_ = 0;      ///< Since `seen_moves_`, while all clusters waited.
    std::uint64_t seen_moves_ = 0; ///< Of the executor.
    enum class Phase : std::uint8_t { fresh, busy, idle, ended };
    std::atomic<Phase> phase_{Phase::fresh};
    std::atomic<std::uint64_t> waits_at_{no_cluster}; ///< Moves of the executor when enough looks were done.
    std::atomic<std::uint64_t> settled_at_{no_cluster};
    std::atomic<std::uint64_t> stuck_{no_cluster}, first_{no_cluster};
};

} // namespace emu
