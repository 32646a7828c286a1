#include "library/observers.hpp"
#include "counters/counters.hpp"
#include "findings/report.hpp"
#include "machine/device.hpp"
#include "recording/trace.hpp"
#include "rules/footprint.hpp"
#include "rules/race.hpp"

#include <atomic>
#include <map>
#include <mutex>

namespace emu {
namespace {

/// Happens-before checks. The shadow of a launch lives as long as the launch; launches that overlap have one
/// each, so that accesses of different launches are not compared.
class Checks final : public Observer {
  public:
    void on_launch_begin(const LaunchInfo& info) override {
        const std::lock_guard lock(mutex_);
        launches_[info.serial] = std::make_unique<check::LaunchChecks>(tensor_maps_);
    }
    std::unique_ptr<ClusterListener> listen(Cluster& cluster) override {
        memory_.store(&cluster.launch().device().memory(), std::memory_order_relaxed);
        return std::make_unique<check::Checker>(cluster, of(cluster.info()));
    }
    std::shared_ptr<const Footprint> footprint(const LaunchInfo& info) override {
        const GlobalMemory* const memory = memory_.load(std::memory_order_relaxed);
        const check::LaunchChecks& checks = of(info);
        return memory
                   ? check::footprint_of(checks.shadow, checks.records, *info.kernel, *memory, info.footprint)
                   : nullptr;
    }
    void on_launch_end(const LaunchInfo& info) override {
        const std::lock_guard lock(mutex_);
        const auto gone = launches_.extract(info.serial);
        if (GlobalMemory* const memory = memory_.load(std::memory_order_relaxed))
            gone.mapped()->note_written(*memory);
        if (launches_.empty()) // What kernels did side by side counts as done by one.
            tensor_maps_.end_launch();
    }

  private:
    check::LaunchChecks& of(const LaunchInfo& info) {
        const std::lock_guard lock(mutex_);
        return *launches_.at(info.serial);
    }

    check::TensorMapHistory tensor_maps_;
    std::mutex mutex_;
    std::map<std::uint64_t, std::unique_ptr<check::LaunchChecks>> launches_; ///< By serial number.
    std::atomic<GlobalMemory*> memory_{nullptr}; ///< Of the device, once a cluster has run.
};

} // namespace

std::unique_ptr<Observer> make_checks() { return std::make_unique<Checks>(); }

void add_default_observers(Device& device) {
    const Settings& settings = device.settings();
    if (settings.checks)
        device.add_observer(make_checks());
    if (!settings.counters_file.empty())
        device.add_observer(std::make_unique<Counters>(settings.counters_file));
    if (!settings.trace_file.empty())
        device.add_observer(std::make_unique<Trace>(settings.trace_file));
}

} // namespace emu
