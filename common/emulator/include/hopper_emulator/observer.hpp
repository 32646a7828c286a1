#pragma once
/// \file
/// What can be attached to a device: checks, counters, time lines, and listeners of your own.

#include "hopper_emulator/footprint.hpp"
#include "hopper_emulator/settings.hpp"

#include <memory>

namespace emu {
class Cluster;
class ClusterListener;
struct LaunchInfo;
} // namespace emu

#pragma GCC visibility push(default)
namespace emu {

/// Sees the launches of a device; Device::add_observer() attaches it. The library's own observers (Counters,
/// Trace, make_checks()) derive from it and see the machine's inside, which changes from version to version.
/// A program derives from Listener and attaches what listen_with() makes of it. Functions may be called by
/// several host threads.
class Observer {
  public:
    virtual ~Observer() = default;
    /// Before its first cluster.
    virtual void on_launch_begin(const LaunchInfo&) {}
    /// One for each cluster, which only the host thread of that cluster calls.
    virtual std::unique_ptr<ClusterListener> listen(Cluster&) = 0;
    /// All its clusters have ended.
    virtual void on_launch_end(const LaunchInfo&) {}
    /// Asked before on_launch_end() of a launch that wishes for it: what its blocks read and wrote.
    virtual std::shared_ptr<const Footprint> footprint(const LaunchInfo&) { return nullptr; }
    /// Asked before on_launch_end(): what it did with griddepcontrol.
    virtual std::shared_ptr<const GridFacts> grid_facts(const LaunchInfo&) { return nullptr; }
};

/// The checks: races, proxies, lost completions, barriers, values nobody wrote. They find what the catalogue
/// says beyond what the machine itself must refuse.
std::unique_ptr<Observer> make_checks(const CheckSettings& settings = {});

} // namespace emu
#pragma GCC visibility pop
