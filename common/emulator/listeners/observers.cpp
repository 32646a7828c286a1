#include "listeners/observers.hpp"
#include "listeners/counters.hpp"
#include "listeners/race.hpp"
#include "listeners/report.hpp"
#include "listeners/trace.hpp"

namespace emu {
namespace {

/// Happens-before checks. The shadow of a launch lives as long as the launch.
class Checks final : public Observer {
  public:
    void on_launch_begin(const LaunchInfo&) override {
        launch_ = std::make_unique<check::LaunchChecks>(tensor_maps_);
    }
    std::unique_ptr<ClusterListener> listen(Cluster& cluster) override {
        return std::make_unique<check::Checker>(cluster, *launch_);
    }
    void on_launch_end(const LaunchInfo&) override {
        launch_.reset();
        tensor_maps_.end_launch();
    }

  private:
    check::TensorMapHistory tensor_maps_;
    std::unique_ptr<check::LaunchChecks> launch_;
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
