#include "hopper_emulator/observer.hpp"

#include "happens_before/footprint.hpp"
#include "machine/device.hpp"
#include "rules/rule.hpp"

#include <atomic>
#include <exception>
#include <map>
#include <mutex>

namespace emu {
namespace check {

/// The engine of one cluster and its rules.
class Checker final : public Engine {
  public:
    Checker(Cluster& cluster, LaunchState& launch, const CheckSettings& settings) : Engine(cluster, launch) {
        for (auto& rule : make_rules({*this, findings_, settings}))
            add(std::move(rule));
    }
    /// A launch that was stopped destroys its clusters without their end.
    ~Checker() override {
        try {
            tell_the_rest();
        } catch (const std::exception&) {
            // No memory left: what has been told stands, and the launch has failed.
        }
    }

  private:
    Findings findings_;
};

} // namespace check

namespace {

/// Happens-before checks. The shadow of a launch lives as long as the launch; launches that overlap have one
/// each, so that accesses of different launches are not compared.
class Checks final : public Observer {
  public:
    explicit Checks(const CheckSettings& settings) : settings_(settings) {}
    void on_launch_begin(const LaunchInfo& info) override {
        const std::lock_guard lock(mutex_);
        launches_[info.serial] = std::make_unique<check::LaunchState>(device_);
    }
    std::unique_ptr<ClusterListener> listen(Cluster& cluster) override {
        memory_.store(&cluster.launch().device().memory(), std::memory_order_relaxed);
        return std::make_unique<check::Checker>(cluster, of(cluster.info()), settings_);
    }
    std::shared_ptr<const Footprint> footprint(const LaunchInfo& info) override {
        const GlobalMemory* const memory = memory_.load(std::memory_order_relaxed);
        const check::LaunchState& checks = of(info);
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
            device_.end_launches();
    }

  private:
    check::LaunchState& of(const LaunchInfo& info) {
        const std::lock_guard lock(mutex_);
        return *launches_.at(info.serial);
    }

    const CheckSettings settings_;
    check::DeviceState device_;
    std::mutex mutex_;
    std::map<std::uint64_t, std::unique_ptr<check::LaunchState>> launches_; ///< By serial number.
    std::atomic<GlobalMemory*> memory_{nullptr}; ///< Of the device, once a cluster has run.
};

} // namespace

std::unique_ptr<Observer> make_checks(const CheckSettings& settings) {
    return std::make_unique<Checks>(settings);
}

} // namespace emu
