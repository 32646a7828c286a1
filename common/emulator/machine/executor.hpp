#pragma once
/// \file
/// The host threads on which all launches that are under way run side by side.

#include "hopper_emulator/host_threads.hpp"
#include "machine/launch.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <ctime>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace emu {

/// Workers take turns at the clusters of the launches. The oldest launch comes first; a younger one gets a
/// turn when the older ones wait or have nothing left for the worker, and now and then when they run for
/// long: so launches that need nothing from each other run one after the other, and those that do need each
/// other all come to their end, even on one core.
class Executor {
  public:
    /// `threads`: at most so many workers; 0: one per core of the host.
    explicit Executor(unsigned threads);
    ~Executor();
    Executor(const Executor&) = delete;
    Executor& operator=(const Executor&) = delete;

    /// Starts a launch. `on_end` is called by a worker; on a host without threads, that is the caller, and
    /// the launch has ended when this returns.
    using OnEnd = std::function<void(LaunchResult)>;
    void start(std::shared_ptr<Launch> launch, OnEnd on_end);
    /// Starts a launch and waits for its end. Throws what the launch threw, and std::logic_error after
    /// shut_down().
    LaunchResult run(std::shared_ptr<Launch> launch);
    /// Stops all launches. Their ends are still told.
    void stop_launches();
    /// Stops all launches and ends the workers. Nothing may be started any more.
    void shut_down();

    /// How many wait for the end of launches (Device::EndsWanted).
    std::atomic<unsigned>& ends_wanted() { return ends_wanted_; }
    /// Somebody has asked whether launches have ended, and may do so until they have.
    void note_question() { asked_ = true; }

    HostThreads& host_threads() { return host_threads_; }
    /// Called, by a worker, when a launch has stalled; set before the first start.
    std::function<void()> on_stall;

    // -- for launches
    /// Something went on that somebody else may wait for: who waits must look again.
    void note_move() { ++moves_; }
    std::uint64_t moves() const { return moves_.load(); }
    void tell_stalled(Launch& launch);
    void tell_held(Launch& launch);

  private:
    struct Running {
        std::shared_ptr<Launch> launch;
        OnEnd on_end;
    };
    enum class Pass : std::uint8_t { moved, looks, idle, nothing };
    void work(unsigned self);
    void work_alone();
    Pass pass(unsigned self, const std::vector<Running>& known, std::uint64_t& turns);
    Launch::Turn turn(unsigned self, Launch& launch);
    void finish(const Running& running);
    void settle();
    void note_company(Launch& fresh);
    void stop_beside(const Launch& faulty);
    Launch* youngest_held() const;
    bool may_go(const Launch* held);
    void let_go(Launch& held);
    bool settle_launches(std::uint64_t moves, std::vector<Launch*>& stalled);
    void settle_standstill(std::uint64_t moves);
    unsigned need_workers(std::uint64_t wanted);

    const unsigned most_;
    HostThreads host_threads_;
    std::atomic<std::uint64_t> moves_{0};
    std::atomic<std::uint64_t> version_{1}; ///< Of `running_`.
    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<Running> running_; ///< Oldest first.
    unsigned ending_ = 0;          ///< Launches whose end is being told; that may start others.
    bool stopping_ = false;
    bool alone_ = false; ///< work_alone() is under way.
    /// Everything stood still at that number of moves; see settle_standstill().
    struct Standstill {
        std::string threads;
        std::uint64_t moves = 0;
    };
    std::optional<Standstill> standstill_;
    std::atomic<unsigned> ends_wanted_{0};
    std::atomic<bool> asked_{false};
    /// Since when nothing but a launch that is held back can go on.
    struct Since {
        std::chrono::steady_clock::time_point time = std::chrono::steady_clock::now();
        std::clock_t used = std::clock(); ///< Time that the process has run.
    };
    std::optional<Since> held_since_;
    std::vector<std::thread> workers_;
};

} // namespace emu
