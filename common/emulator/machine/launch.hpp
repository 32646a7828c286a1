#pragma once
/// \file
/// A launch: a grid of blocks that runs to its end on the host's cores.

#include "machine/async.hpp"
#include "machine/block.hpp"
#include "machine/diagnostic.hpp"
#include "machine/events.hpp"
#include "machine/program.hpp"

#include <atomic>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

namespace emu {

class Cluster;
class Device;

/// Shape of a launch.
struct LaunchConfig {
    Dim3 grid;
    Dim3 block;
    Dim3 cluster;                     ///< {1,1,1}: none.
    std::uint32_t dynamic_shared = 0; ///< Bytes.
    bool cooperative = false;
    bool cluster_launch = false; ///< Launched as a cluster, be it of one block.
    /// Some instructions exist only in a cluster launch (%is_explicit_cluster).
    bool explicit_cluster() const { return cluster_launch || cluster.volume() > 1; }
    friend bool operator==(const LaunchConfig&, const LaunchConfig&) = default;
};

/// What listeners and reports know of a launch.
struct LaunchInfo {
    const Kernel* kernel = nullptr;
    LaunchConfig config;
    std::uint64_t serial = 0;      ///< Number of the launch in the process, from 1.
    std::uint32_t shared_size = 0; ///< Per block, reserved KiB included.
    Address parameters = 0;        ///< The parameter block, in global memory.
    Address grid_workspace = 0; ///< Cooperative launches: where cooperative groups count the grid's barrier.
};

/// Settings of the machine, usually from the environment.
struct Settings {
    CompletionOrder order = CompletionOrder::late;
    std::uint64_t seed = 1;
    bool checks = true;
    bool strict = false;  ///< Checks also give notes: what hardware runs as meant and a manual forbids.
    unsigned threads = 0; ///< Host threads; 0: one per core.
    double watchdog_seconds = 20; ///< A cluster that makes no progress for so long is reported.
    bool leaks = false;           ///< EMULATOR_LEAKS: tell at the end what was never freed.
    std::string report_file;      ///< EMULATOR_REPORT
    std::string counters_file;    ///< EMULATOR_COUNTERS
    std::string trace_file;       ///< EMULATOR_TRACE
    static Settings from_environment();
};

/// Outcome of a launch.
struct LaunchResult {
    Fault fault = Fault::none;
    std::vector<Diagnostic> diagnostics;
    std::uint64_t instructions = 0; ///< Thread instructions executed.
};

/// Runs one grid. Internal to Device::launch; handlers reach it through their cluster.
class Launch {
  public:
    Launch(Device& device, const LaunchInfo& info);
    ~Launch();
    LaunchResult run();

    Device& device() const { return device_; }
    const LaunchInfo& info() const { return info_; }
    const Settings& settings() const;
    std::span<const std::unique_ptr<Observer>> observers() const;

    /// Records a finding (once per name and pair of lines). `fatal` stops the launch.
    void report(Diagnostic diagnostic, bool fatal);
    bool stopped() const { return stopped_.load(std::memory_order_relaxed); }
    /// Orders what blocks on different host threads use to synchronise, for listeners; see in_order().
    std::mutex& order() { return order_; }
    /// Output of printf: kept per block and written in block order, so that it does not depend on host
    /// threads.
    void print(std::uint64_t block, std::string text);
    /// Emulated nanoseconds, for %globaltimer. They pass when everybody waits, and with every reading.
    std::uint64_t time() { return time_.fetch_add(32, std::memory_order_relaxed); }
    void pass_time(std::uint64_t nanoseconds) { time_.fetch_add(nanoseconds, std::memory_order_relaxed); }

  private:
    void work();
    std::unique_ptr<Cluster> start_next();
    void retire(Cluster& cluster);
    std::uint64_t residency(unsigned workers) const;
    void report_endless_loop(Cluster& cluster);
    void flush_output();

    Device& device_;
    const LaunchInfo& info_;
    std::atomic<bool> stopped_{false};
    std::atomic<std::uint64_t> next_cluster_{0};
    std::atomic<std::uint64_t> instructions_{0};
    std::atomic<std::uint64_t> time_{1'000'000'000};
    std::atomic<unsigned> workers_{0};      ///< That still have clusters.
    unsigned threads_ = 1;                  ///< Of the host, with the one that called.
    std::atomic<std::uint64_t> moves_{0};   ///< How often a worker that had been idle found something to do.
    std::atomic<unsigned> idle_workers_{0}; ///< Of these, those whose clusters all wait.
    std::atomic<Cluster*> deadlocked_{nullptr}; ///< Chosen to tell about a deadlock of the whole launch.
    std::uint64_t residency_ = 1;               ///< Clusters a worker may hold at once.
    std::mutex mutex_;
    std::mutex order_;
    std::vector<Diagnostic> diagnostics_;
    Fault fault_ = Fault::none;
    struct Output;
    std::unique_ptr<Output> output_;
};

} // namespace emu
