#include "listeners/observers.hpp"
#include "listeners/counters.hpp"
#include "listeners/race.hpp"
#include "listeners/report.hpp"
#include "listeners/trace.hpp"
#include "machine/device.hpp"

#include <atomic>

namespace emu {
namespace {

/// Happens-before checks. The shadow of a launch lives as long as the launch.
class Checks final : public Observer {
  public:
    void on_launch_begin(const LaunchInfo&) override {
        launch_ = std::make_unique<check::LaunchChecks>(tensor_maps_);
    }
    std::unique_ptr<ClusterListener> listen(Cluster& cluster) override {
        memory_.store(&cluster.launch().device().memory(), std::memory_order_relaxed);
        return std::make_unique<check::Checker>(cluster, *launch_);
    }
    void on_launch_end(const LaunchInfo&) override {
        if (GlobalMemory* const memory = memory_.load(std::memory_order_relaxed))
            launch_->note_written(*memory);
        launch_.reset();
        tensor_maps_.end_launch();
    }

  private:
    check::TensorMapHistory tensor_maps_;
    std::unique_ptr<check::LaunchChecks> launch_;
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
