#include "happens_before/grid_dependency.hpp"

#include "happens_before/footprint.hpp"
#include "machine/cluster.hpp"
#include "machine/device.hpp"

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

namespace emu::check {
namespace {

/// Pieces of a cluster before equal ones are looked for, and of a launch that waits at all late.
constexpr std::size_t most_loose = 1u << 12, most = 1u << 18;

/// What the clusters of a launch have done.
struct GridState {
    bool can_wait = false;
    std::atomic<bool> triggered = false, waited = false, waited_first = false;
    std::mutex mutex;
    bool too_many = false;
    std::vector<FootprintPiece> early; ///< `line` is the instruction.
    std::vector<bool> behind_trigger;  ///< By instruction.
};

bool uses_grid_control(const Kernel& kernel, std::string_view action) {
    return std::ranges::any_of(kernel.sources, [&](const ptx::Instruction* each) {
        return each && each->opcode == "griddepcontrol" && each->has(action);
    });
}

Touch touch_of(const AccessEvent& access, unsigned lane) {
    const bool strong = access.kind == AccessKind::atomic || access.semantics != Semantics::weak;
    if (access.kind == AccessKind::read)
        return strong ? Touch::strong_read : Touch::read;
    if (strong)
        return Touch::strong_write;
    return access.changing >> lane & 1 ? Touch::write : Touch::same_value;
}

class GridListener final : public ClusterListener {
  public:
    GridListener(Cluster& cluster, GridState& state)
        : cluster_(cluster), state_(state), is_dependent_(cluster.launch().grids().is_dependent()),
          triggered_(cluster.info().config.cluster.volume()), waited_(triggered_.size()),
          behind_trigger_(cluster.info().kernel->code.size()) {}

    void on_access(const AccessEvent& access) override {
        if (access.space != ptx::Space::global)
            return;
        if (access.kind == AccessKind::read && triggered_[access.warp->block().rank()])
            behind_trigger_[access.pc] = true;
        if (is_early())
            for_lanes(access.mask, [&](unsigned lane) {
                add(access.addresses[lane], access.bytes, touch_of(access, lane), access.pc);
            });
    }

    void on_async_issue(const AsyncOperation& operation) override {
        if (!is_early() || operation.kind == AsyncKind::prefetch)
            return;
        const bool reduces =
            operation.kind == AsyncKind::bulk_reduce || operation.kind == AsyncKind::tensor_reduce;
        for (const AsyncPiece& piece : operation.pieces)
            if (piece.global && (operation.reads_global || operation.writes_global))
                add(piece.global, piece.bytes,
                    !operation.writes_global ? Touch::read
                    : reduces                ? Touch::strong_write
                                             : Touch::write,
                    operation.pc);
    }
    void on_async_source_read(const AsyncOperation& operation) override {
        if (operation.reads_global && triggered_[operation.warp->block().rank()])
            behind_trigger_[operation.pc] = true;
    }

    void on_grid_trigger(Block& block) override {
        triggered_[block.rank()] = true;
        state_.triggered = true;
        note_trigger(block.rank());
    }
    void on_grid_wait(const WarpLanes& lanes) override {
        waited_[lanes.warp->block().rank()] = true;
        state_.waited = true;
        hand_over();
    }
    void on_block_exit(Block& block) override {
        if (!triggered_[block.rank()])
            note_trigger(block.rank());
    }

    void on_cluster_end() override {
        hand_over();
        const std::lock_guard lock(state_.mutex);
        state_.behind_trigger.resize(behind_trigger_.size());
        for (std::size_t pc = 0; pc < behind_trigger_.size(); ++pc)
            if (behind_trigger_[pc])
                state_.behind_trigger[pc] = true;
    }

  private:
    /// Nobody in the cluster has waited. The machine lets threads pass their wait only when nobody else in
    /// the cluster can go on, so whatever does not stand behind a wait comes before all of them.
    bool is_early() const { return is_dependent_ && !cluster_.has_waited_for_grids() && !too_many_; }

    void add(Address begin, std::uint64_t bytes, Touch touch, std::uint32_t pc) {
        if (!early_.empty() && early_.back().end == begin && early_.back().touch == touch &&
            early_.back().line == pc)
            early_.back().end += bytes;
        else
            early_.push_back({begin, begin + bytes, touch, pc});
        if (early_.size() > most_at_once_)
            join();
    }
    /// The block lets others begin.
    void note_trigger(unsigned rank) {
        if (waited_[rank])
            state_.waited_first = true;
    }
    /// What is early is complete. The launch may end before the cluster does.
    void hand_over() {
        join();
        const std::lock_guard lock(state_.mutex);
        state_.too_many |= too_many_ || state_.early.size() + early_.size() > most;
        if (!state_.too_many)
            state_.early.insert(state_.early.end(), early_.begin(), early_.end());
        early_.clear();
    }
    void join() {
        early_ = disjoint(std::move(early_));
        too_many_ |= early_.size() > most;
        most_at_once_ = 2 * early_.size() + most_loose;
    }

    Cluster& cluster_;
    GridState& state_;
    const bool is_dependent_;
    std::vector<bool> triggered_, waited_; ///< By rank of the block.
    std::vector<bool> behind_trigger_;
    bool too_many_ = false;
    std::vector<FootprintPiece> early_;
    std::size_t most_at_once_ = most_loose;
};

class GridObserver final : public Observer {
  public:
    void on_launch_begin(const LaunchInfo& info) override {
        auto state = std::make_unique<GridState>();
        state->can_wait = uses_grid_control(*info.kernel, "wait");
        if (!state->can_wait && !uses_grid_control(*info.kernel, "launch_dependents"))
            return;
        const std::lock_guard lock(mutex_);
        launches_[info.serial] = std::move(state);
    }
    std::unique_ptr<ClusterListener> listen(Cluster& cluster) override {
        GridState* const state = find(cluster.info());
        if (!state)
            return nullptr;
        memory_.store(&cluster.launch().device().memory(), std::memory_order_relaxed);
        return std::make_unique<GridListener>(cluster, *state);
    }
    std::shared_ptr<const GridFacts> grid_facts(const LaunchInfo& info) override {
        GridState* const state = find(info);
        const GlobalMemory* const memory = memory_.load(std::memory_order_relaxed);
        if (!state || !memory)
            return nullptr;
        auto facts = std::make_shared<GridFacts>();
        facts->triggered = state->triggered;
        facts->waited = state->waited;
        facts->waited_first = state->waited_first;
        if (state->can_wait && !state->too_many)
            facts->early = footprint_of(disjoint(std::move(state->early)), *info.kernel, *memory);
        for (std::uint32_t pc = 0; pc < state->behind_trigger.size(); ++pc)
            if (state->behind_trigger[pc])
                facts->behind_trigger.push_back(pc);
        return facts;
    }
    void on_launch_end(const LaunchInfo& info) override {
        const std::lock_guard lock(mutex_);
        launches_.erase(info.serial);
    }

  private:
    GridState* find(const LaunchInfo& info) {
        const std::lock_guard lock(mutex_);
        const auto found = launches_.find(info.serial);
        return found == launches_.end() ? nullptr : found->second.get();
    }

    std::mutex mutex_;
    std::map<std::uint64_t, std::unique_ptr<GridState>> launches_; ///< By serial number.
    std::atomic<const GlobalMemory*> memory_{nullptr};             ///< Once a cluster has run.
};

} // namespace

std::unique_ptr<Observer> make_grid_observer() { return std::make_unique<GridObserver>(); }

} // namespace emu::check
