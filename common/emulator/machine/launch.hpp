#pragma once
/// \file
/// A launch: a grid of blocks. The executor's host threads run it, beside other launches that are under way.

#include "hopper_emulator/grid_dependency.hpp"
#include "hopper_emulator/launch.hpp"
#include "hopper_emulator/settings.hpp"
#include "machine/async.hpp"
#include "machine/block.hpp"
#include "machine/events.hpp"
#include "machine/program.hpp"
#include "machine/reporter.hpp"

#include <array>
#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

namespace emu {

class Cluster;
class Device;

/// What listeners and reports know of a launch.
struct LaunchInfo {
    const Kernel* kernel = nullptr;
    LaunchConfig config;
    std::uint64_t serial = 0;      ///< Number of the launch in the process, from 1.
    std::uint32_t shared_size = 0; ///< Per block, reserved KiB included.
    Address parameters = 0;        ///< The parameter block, in global memory.
    Address grid_workspace = 0; ///< Cooperative launches: where cooperative groups count the grid's barrier.
    FootprintWish footprint = FootprintWish::none;
};

/// One grid, from its start to its end. Its clusters are divided among the executor's workers; a cluster
/// stays with the worker that started it. Handlers reach it through their cluster.
class Launch {
  public:
    Launch(Device& device, LaunchInfo info);
    /// Gives back the memory of parameters and workspace.
    ~Launch();
    Launch(const Launch&) = delete;
    Launch& operator=(const Launch&) = delete;

    Device& device() const { return device_; }
    const LaunchInfo& info() const { return info_; }
    const MachineSettings& settings() const;
    std::span<const std::unique_ptr<Observer>> observers() const;

    /// Hand on what is found.
    void report(const Mistake& mistake);
    void report(const Deadlock& deadlock);
    void report(Diagnostic diagnostic, bool fatal);
    /// The launch fails, with the error that is noted first.
    void note_fault(Fault fault);
    Fault fault() const { return fault_.load(std::memory_order_relaxed); }
    bool stopped() const { return stopped_.load(std::memory_order_relaxed); }
    /// Ends it where it stands, without a finding: the context is lost, or the process ends.
    void stop() { stopped_ = true; }
    /// Ends it because the emulator itself cannot go on.
    void fail(std::exception_ptr error);
    /// Orders what blocks on different host threads use to synchronise, for listeners; see in_order().
    std::mutex& order() { return order_; }
    /// The same for stores to one page of memory.
    std::mutex& order_near(std::uint64_t address) {
        return page_orders_[(address >> 12) % page_orders_.size()];
    }
    /// Output of printf: kept per block and written in block order, so that it does not depend on host
    /// threads.
    void print(std::uint64_t block, std::string text);
    /// Emulated nanoseconds, for %globaltimer. They pass when everybody waits, and with every reading.
    std::uint64_t time() { return time_.fetch_add(32, std::memory_order_relaxed); }
    void pass_time(std::uint64_t nanoseconds) { time_.fetch_add(nanoseconds, std::memory_order_relaxed); }

    /// The kernels behind and beside it, for the report of a deadlock. Set before the start, asked while
    /// nothing moves.
    std::function<std::vector<NearbyKernel>()> nearby;

    GridDependency& grids() { return grids_; }
    const GridDependency& grids() const { return grids_; }

    /// Blocks of which no thread is left, and blocks that have not started.
    std::uint64_t ended_blocks() const;
    std::uint64_t waiting_blocks() const;

    // -- for the executor
    void begin(unsigned workers);
    /// One worker's next step: runs one of its clusters for a while.
    enum class Turn : std::uint8_t {
        moved, ///< Something went on, or may still go on.
        looks, ///< All of this worker's clusters wait, though it may be that they only wait for long.
        idle,  ///< All of this worker's clusters wait, and will, unless something outside changes.
        ended, ///< This worker has nothing left to do here.
    };
    Turn turn(unsigned worker);
    /// No worker has clusters left, and none will start one. True for one caller: who ends the launch.
    bool claim_end();
    LaunchResult end();
    /// Every cluster waits, and has looked again since anything moved anywhere (`moves`).
    bool is_waiting(std::uint64_t moves) const;
    /// The same, and none of them can go on by itself: it came back to the same state, or has looked in vain
    /// for very long.
    bool is_quiet(std::uint64_t moves) const;
    /// The first cluster that only its own threads could help and that they do not help; none: no_cluster.
    std::uint64_t stuck_cluster() const;
    std::uint64_t first_cluster() const;
    /// Lets the cluster's worker report a deadlock there.
    void condemn(std::uint64_t cluster) { condemned_ = cluster; }
    /// It waits for something outside of itself, or has run for long: the host need not wait for its end.
    bool stalled() const { return stalled_.load(std::memory_order_acquire); }
    void set_stalled() { stalled_.store(true, std::memory_order_release); }
    /// All blocks have let other grids begin, or have ended. If some stand still there, the host goes on.
    void tell_triggered();
    /// Its clusters stand still for other grids alone: held back, or at griddepcontrol.wait.
    bool rests_for_grids() const {
        return grids_.has_held() || (grids_.is_dependent() && !grids_.prerequisites_ended());
    }
    /// Another launch or the host has acted beside it.
    bool has_company() const { return company_.load(std::memory_order_relaxed); }
    void note_company() { company_.store(true, std::memory_order_relaxed); }
    static constexpr std::uint64_t no_cluster = ~std::uint64_t{0};

  private:
    class Share;
    std::unique_ptr<Cluster> start_next();
    std::uint64_t clusters() const { return info_.config.grid.volume() / info_.config.cluster.volume(); }
    bool exhausted() const { return stopped() || next_cluster_.load() >= clusters(); }
    std::uint64_t residency(unsigned workers) const;
    void report_endless_loop(Cluster& cluster, bool counted);
    void flush_output();

    Device& device_;
    const LaunchInfo info_;
    std::atomic<bool> stopped_{false};
    std::atomic<bool> stalled_{false}, company_{false};
    std::atomic<bool> ended_{false};
    GridDependency grids_;
    std::atomic<std::uint64_t> next_cluster_{0};
    std::atomic<std::uint64_t> live_clusters_{0}; ///< Started, or about to be, and not yet gone.
    std::atomic<std::uint64_t> instructions_{0};
    std::atomic<std::uint64_t> time_{1'000'000'000};
    std::atomic<std::uint64_t> condemned_{no_cluster};
    std::vector<std::unique_ptr<Share>> shares_; ///< By worker.
    std::uint64_t residency_ = 1;                ///< Clusters a worker may hold at once.
    std::mutex mutex_;
    std::mutex order_;
    std::array<std::mutex, 64> page_orders_;         ///< By page, several pages sharing one.
    const std::unique_ptr<LaunchReporter> reporter_; ///< May be none.
    std::atomic<Fault> fault_{Fault::none};
    std::exception_ptr error_;
    struct Output;
    std::unique_ptr<Output> output_;
};

} // namespace emu
