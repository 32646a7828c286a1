/// \file
/// From the machine's events to the public ones: who did it becomes a value, what was done passes unchanged.

#include "findings/lines.hpp"
#include "hopper_emulator/events.hpp"
#include "machine/cluster.hpp"

#include <utility>

namespace emu {
namespace {

EventPlace place_of(const Warp& warp, std::uint32_t pc, LaneMask lanes) {
    const Block& block = warp.block();
    return {block.index(), block.rank(), warp.index(), lanes, pc};
}
EventPlace place_of(const WarpLanes& lanes) { return place_of(*lanes.warp, lanes.pc, lanes.mask); }
EventPlace place_of(const MbarrierEvent& event) {
    return event.warp ? place_of(*event.warp, event.pc, LaneMask{1} << event.lane) : EventPlace{};
}
std::vector<EventPlace> places_of(std::span<const WarpLanes> all) {
    std::vector<EventPlace> places;
    for (const WarpLanes& each : all)
        places.push_back(place_of(each));
    return places;
}

class ClusterAdapter final : public ClusterListener {
  public:
    explicit ClusterAdapter(std::unique_ptr<ClusterEvents> to) : to_(std::move(to)) {}

    void on_instruction(Warp& warp, std::uint32_t pc, LaneMask lanes) override {
        to_->on_instruction(place_of(warp, pc, lanes));
    }
    void on_access(const AccessEvent& e) override { to_->on_access(place_of(*e.warp, e.pc, e.mask), e); }
    void on_fence(const FenceEvent& e) override { to_->on_fence(place_of(*e.warp, e.pc, e.mask), e); }
    void on_barrier_arrive(BarrierKind kind, unsigned id, const WarpLanes& lanes, Semantics) override {
        to_->on_barrier_arrive(kind, id, place_of(lanes));
    }
    void on_barrier_complete(BarrierKind kind, unsigned id, std::span<const WarpLanes> arrived,
                             std::span<const WarpLanes> waiting) override {
        to_->on_barrier_complete(kind, id, places_of(arrived), places_of(waiting));
    }
    void on_mbarrier_init(const MbarrierEvent& e) override { to_->on_mbarrier_init(place_of(e), e); }
    void on_mbarrier_inval(const MbarrierEvent& e) override { to_->on_mbarrier_inval(place_of(e), e); }
    void on_mbarrier_arrive(const MbarrierEvent& e) override {
        to_->on_mbarrier_arrive(place_of(e), e, e.operation ? e.operation->id : 0);
    }
    void on_mbarrier_phase(const MbarrierEvent& e) override { to_->on_mbarrier_phase(place_of(e), e); }
    void on_mbarrier_observed(const MbarrierEvent& e) override { to_->on_mbarrier_observed(place_of(e), e); }
    void on_mbarrier_passed_fresh(const MbarrierEvent& e) override {
        to_->on_mbarrier_passed_fresh(place_of(e), e);
    }
    void on_async_issue(const AsyncOperation& o) override {
        to_->on_copy_issued(place_of(*o.warp, o.pc, LaneMask{1} << o.lane), o);
    }
    void on_async_source_read(const AsyncOperation& o) override { to_->on_copy_source_read(o); }
    void on_async_landed(const AsyncOperation& o) override { to_->on_copy_landed(o); }
    void on_async_retired(const AsyncOperation& o) override { to_->on_copy_retired(o); }
    void on_async_commit(Warp& warp, unsigned lane, CompletionKind kind, std::uint64_t group) override {
        to_->on_group_committed(place_of(warp, warp.pc(), LaneMask{1} << lane), kind, group);
    }
    void on_async_group_observed(Warp& warp, unsigned lane, CompletionKind kind, std::uint64_t last,
                                 bool read_only, std::uint32_t pc) override {
        to_->on_group_observed(place_of(warp, pc, LaneMask{1} << lane), kind, last, read_only);
    }
    void on_grid_wait(const WarpLanes& lanes) override { to_->on_grid_wait(place_of(lanes)); }
    void on_grid_trigger(Block& block) override { to_->on_grid_trigger(block.index(), block.rank()); }
    void on_deadlock(const Deadlock&) override { to_->on_deadlock(); }
    void on_thread_exit(const WarpLanes& lanes) override { to_->on_thread_exit(place_of(lanes)); }
    void on_block_start(Block& block) override { to_->on_block_start(block.index(), block.rank()); }
    void on_block_exit(Block& block) override { to_->on_block_exit(block.index(), block.rank()); }
    void on_cluster_end() override { to_->on_cluster_end(); }

  private:
    std::unique_ptr<ClusterEvents> to_;
};

class Adapter final : public Observer {
  public:
    explicit Adapter(std::shared_ptr<Listener> to) : to_(std::move(to)) {}
    void on_launch_begin(const LaunchInfo& info) override { to_->on_launch_begin(LaunchFacts(info)); }
    std::unique_ptr<ClusterListener> listen(Cluster& cluster) override {
        auto events = to_->on_cluster_begin(LaunchFacts(cluster.info()), cluster.linear_index());
        return events ? std::make_unique<ClusterAdapter>(std::move(events)) : nullptr;
    }
    void on_launch_end(const LaunchInfo& info) override { to_->on_launch_end(LaunchFacts(info)); }

  private:
    std::shared_ptr<Listener> to_;
};

} // namespace

std::string_view LaunchFacts::kernel() const { return info_.kernel->name; }
const LaunchConfig& LaunchFacts::config() const { return info_.config; }
std::uint64_t LaunchFacts::serial() const { return info_.serial; }
std::uint32_t LaunchFacts::shared_bytes() const { return info_.shared_size; }
std::uint32_t LaunchFacts::instruction_count() const {
    return static_cast<std::uint32_t>(info_.kernel->sources.size());
}

std::string LaunchFacts::instruction(std::uint32_t pc) const {
    const ptx::Instruction& instruction = *info_.kernel->sources.at(pc);
    std::string text(instruction.opcode);
    for (const std::string_view modifier : instruction.modifiers)
        text.append(".").append(modifier);
    return text;
}

SourceLine LaunchFacts::line(std::uint32_t pc) const {
    static_cast<void>(info_.kernel->sources.at(pc)); // Throws std::out_of_range.
    return source_line(*info_.kernel, pc, {});
}

std::unique_ptr<Observer> listen_with(std::shared_ptr<Listener> listener) {
    return std::make_unique<Adapter>(std::move(listener));
}

} // namespace emu
