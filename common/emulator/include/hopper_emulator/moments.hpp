#pragma once
/// \file
/// Every event of a launch as numbers, for a viewer that shows the launch at any moment. Order, not time:
/// the moments of a cluster are numbered as they happened.

#include "hopper_emulator/findings.hpp"
#include "hopper_emulator/observer.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>

#pragma GCC visibility push(default)
namespace emu {

/// What a moment is. Each is a list of numbers: how many follow, its kind, the warp (rank of the block in its
/// cluster × 32 + index; -1 for what no thread does), the instruction, the lanes as bits, and what the line
/// here says. An address is one of the shared window: rank of the block << 24 | offset. `copy`: the number of
/// an asynchronous operation in its cluster, from 1; `n`: it and the n - 1 behind it.
enum class Moment : std::uint8_t {
    instruction,    ///< Of which nothing else is told.
    shared_access,  ///< AccessKind, bytes of a lane, wavefronts, the fewest it could take, then 1, the first
                    ///< lane's address and the step to the next's; or 0 and each lane's address.
    global_access,  ///< AccessKind, bytes of a lane, sectors, allocation, offset of the first lane in it.
    fence,          ///< FenceKind, Scope, of shared memory, of global memory.
    barrier_arrive, ///< BarrierKind, number of the barrier.
    barrier_complete,  ///< The same, rank of the block.
    mbarrier_init,     ///< Address, arrivals of a phase.
    mbarrier_inval,    ///< Address.
    mbarrier_arrive,   ///< Address, phase, arrivals, change of the bytes, copy or 0; then what is missing
                       ///< still: arrivals, bytes.
    mbarrier_phase,    ///< Address, phase that completed, arrivals of the next.
    mbarrier_observed, ///< Address, phase.
    mbarrier_fresh,    ///< Address: passed, because no phase has ended yet.
    issue,          ///< Copy, n, AsyncKind, CompletionKind, address of the mbarrier, bytes told there, group,
                    ///< bytes that move, through the async proxy, number of written pieces of shared memory,
                    ///< address and bytes of each, number of read ones, address and bytes of each.
    source_read,    ///< Copy, n.
    landed,         ///< Copy, n.
    commit,         ///< CompletionKind, group.
    group_wait,     ///< CompletionKind, newest groups that may go on.
    group_observed, ///< CompletionKind, last group, of which only the source is awaited.
    wait,           ///< Whether no lane of the warp can run; Wait, number or address of what they wait for.
    exit,           ///< Of these lanes.
    block_start,    ///< Rank.
    block_exit,     ///< Rank.
    deadlock,       ///< Nothing can go on.
};

/// Records a device's launches, the last of which it keeps. Attach it before the first launch.
class Moments final : public Observer {
  public:
    static constexpr std::size_t most_events = 1'000'000; ///< Of a launch, if nothing else is said.
    static constexpr std::uint64_t most_clusters = 256;   ///< Of a launch: the first ones.

    /// Behind so many events nothing is recorded any more.
    explicit Moments(std::size_t most = most_events);
    ~Moments() override;
    /// \name Of Observer
    /// @{
    void on_launch_begin(const LaunchInfo& info) override;
    std::unique_ptr<ClusterListener> listen(Cluster& cluster) override;
    void on_launch_end(const LaunchInfo& info) override;
    /// @}
    /// The recording, one object of JSON in one line, with the text of the source files that it names, and
    /// with the launch's findings, each with the moment at which it was made and those that it is about. ""
    /// if nothing was launched. Does not depend on the machine if the launch ran in one host thread.
    std::string json(std::span<const Diagnostic> findings) const;

    struct Recorded; ///< For the library itself.

  private:
    std::unique_ptr<Recorded> recorded_;
};

} // namespace emu
#pragma GCC visibility pop
