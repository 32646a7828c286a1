#pragma once
/// \file
/// A time line of asynchronous operations and barrier phases in the format of Chrome's tracing (load it in
/// chrome://tracing or Perfetto). The emulator has no clock: the axis counts the warp instructions that the
/// cluster has executed, one "microsecond" each. The file says so.

#include "hopper_emulator/launch.hpp"
#include "hopper_emulator/observer.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#pragma GCC visibility push(default)
namespace emu {

/// Records the first clusters of each launch, up to a limit of events in all, and writes the file after each
/// launch. A file that cannot be written is told on stderr. The device destroys the observer: ask it before
/// Device::finish().
class Trace final : public Observer {
  public:
    static constexpr std::uint64_t traced_clusters = 8; ///< Per launch.
    static constexpr std::size_t max_events = 500'000;  ///< Per file.

    /// `file`: where the time line goes; "" keeps it for json().
    explicit Trace(std::string file) : file_(std::move(file)) {}
    /// \name Of Observer
    /// @{
    std::unique_ptr<ClusterListener> listen(Cluster& cluster) override;
    void on_launch_end(const LaunchInfo& info) override;
    /// @}
    /// Adds the events of a cluster of a launch; thread-safe.
    void add(std::uint64_t serial, std::uint64_t cluster, std::vector<std::string> events);
    /// The whole file's contents. Not to be asked while a launch runs.
    std::string json() const;

  private:
    std::string file_;
    std::mutex mutex_;
    using ByCluster = std::vector<std::pair<std::uint64_t, std::vector<std::string>>>;
    std::map<std::uint64_t, ByCluster> launches_; ///< Of the launches under way, by serial number.
    std::vector<std::string> events_;
    bool truncated_ = false;
};

} // namespace emu
#pragma GCC visibility pop
