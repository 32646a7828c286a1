#include "machine/cluster.hpp"

#include "machine/deadlock.hpp"
#include "machine/device.hpp"
#include "machine/mistake.hpp"
#include "machine/shuffle.hpp"

#include <algorithm>
#include <utility>

namespace emu {
namespace {

constexpr std::uint64_t quantum = 4096;         ///< Instructions of one warp before the next gets its turn.
constexpr unsigned rounds_before_landing = 64;  ///< Rounds of mere spinning after which a copy lands.
constexpr unsigned rounds_before_deadlock = 64; ///< Rounds of time-outs without any change.

} // namespace

Cluster::Cluster(Launch& launch, std::uint64_t linear_index, Dim3 first_block)
    : launch_(launch), linear_index_(linear_index),
      async_(*this, launch.settings().order, launch.settings().seed + linear_index),
      random_(launch.settings().seed * 0x9e3779b97f4a7c15ull + linear_index),
      memory_(launch.device().memory()) {
    for (const auto& observer : launch.observers())
        if (auto listener = observer->listen(*this))
            listeners_.push_back(std::move(listener));
    const Dim3 shape = launch.info().config.cluster;
    unsigned rank = 0;
    for (std::uint32_t z = 0; z < shape.z; ++z)
        for (std::uint32_t y = 0; y < shape.y; ++y)
            for (std::uint32_t x = 0; x < shape.x; ++x)
                blocks_.push_back(std::make_unique<Block>(
                    *this, rank++, Dim3{first_block.x + x, first_block.y + y, first_block.z + z}));
    for (const auto& block : blocks_) {
        for (const auto& warp : block->warps())
            warps_.push_back(warp.get());
        emit(&ClusterListener::on_block_start, *block);
    }
}

// The last words of listeners speak of threads that are still there, and are heard by those that are still
// listening.
Cluster::~Cluster() {
    while (!listeners_.empty()) {
        const auto first = std::move(listeners_.front());
        listeners_.erase(listeners_.begin());
    }
}

const LaunchInfo& Cluster::info() const { return launch_.info(); }
bool Cluster::stopped() const { return launch_.stopped(); }

Cluster::State Cluster::run(std::uint64_t budget) {
    const bool random = launch_.settings().order == CompletionOrder::random;
    if (is_held())
        return State::idle;
    // Bounded waits come to their end and look again, though there is no hope from within.
    if (idle_rounds_ > rounds_before_deadlock)
        static_cast<void>(time_out_waits(false));
    for (std::uint64_t used = 0; used < budget;) {
        if (stopped())
            return State::finished;
        const std::uint64_t before = progress_;
        bool alive = false, ran = false, busy = false;
        if (random)
            shuffle(warps_.begin(), warps_.end(), random_);
        for (Warp* warp : warps_) {
            alive |= !warp->finished();
            if (!warp->runnable())
                continue;
            const std::uint64_t slice = random ? 1 + random_() % quantum : quantum;
            warp->run(slice);
            used += slice / 4;
            ran = true;
            busy |= !warp->yielded() && warp->runnable();
            if (random)
                async_.maybe_land();
            if (stopped())
                return State::finished;
            if (is_held())
                return State::idle;
        }
        if (!alive) {
            finish();
            return State::finished;
        }
        if (progress_ != before) {
            spinning_rounds_ = idle_rounds_ = 0;
            continue;
        }
        // Nothing moved. Pollers and spinners wait for a copy, for a time limit, or for another cluster.
        if (ran && busy && ++spinning_rounds_ < rounds_before_landing)
            continue;
        spinning_rounds_ = 0;
        if (async_.land_one() || pass_grid_wait())
            continue;
        if (ran && busy) {
            idle_rounds_ = 0;
            continue;
        }
        if (++idle_rounds_ > rounds_before_deadlock || !time_out_waits(ran))
            return State::idle;
    }
    return State::running;
}

bool Cluster::time_out_waits(bool others_poll) {
    // Emulated time passes only here: a bounded wait (try_wait_for) must come to its end.
    const std::uint64_t passed = std::uint64_t{1000} << std::min(idle_rounds_, 26u);
    launch_.pass_time(passed);
    idle_cycles_ += passed;
    bool any = false;
    for (Warp* warp : warps_) {
        LaneMask waiting = 0;
        for_lanes(warp->blocked(), [&](unsigned lane) {
            if (warp->wait_of(lane) == Wait::mbarrier)
                waiting |= 1u << lane;
        });
        any |= waiting != 0;
        warp->time_out(waiting);
    }
    return any || others_poll;
}

void Cluster::deadlock() {
    const DeadlockFacts facts(*this);
    const Deadlock deadlock{facts, find_root(facts)};
    emit(&ClusterListener::on_deadlock, deadlock);
    for (Warp* warp : warps_)
        warp->yield();
    launch_.report(deadlock);
}

void Cluster::finish() {
    if (finished_)
        return;
    finished_ = true;
    async_.finish();
    emit(&ClusterListener::on_cluster_end);
}

void Cluster::block_finished(Block& block) {
    async_.block_exited(block);
    emit(&ClusterListener::on_block_exit, block);
    trigger_dependents(block);
}

void Cluster::trigger_dependents(Block& block) {
    if (!block.trigger())
        return;
    if (!block.finished())
        emit(&ClusterListener::on_grid_trigger, block);
    launch_.grids().note_block();
    const auto ended = [](const auto& each) { return each->finished(); };
    const auto triggered = [](const auto& each) { return each->has_triggered(); };
    if (!launch_.grids().holds() || !std::ranges::all_of(blocks_, triggered) ||
        std::ranges::all_of(blocks_, ended))
        return;
    held_ = true;
    launch_.grids().note_held(1);
}

void Cluster::let_go() {
    if (std::exchange(held_, false))
        launch_.grids().note_held(-1);
}

bool Cluster::arrive_at_grid_wait(const WarpLanes& lanes) {
    if (!launch_.grids().is_dependent())
        return true;
    if (!waited_for_grids_) {
        grid_waiters_ += static_cast<std::uint32_t>(std::popcount(lanes.mask));
        return false;
    }
    emit(&ClusterListener::on_grid_wait, lanes);
    return true;
}

/// Threads wait until nobody else in the cluster can go on, even if the grids before have ended: what the
/// others do until then does not stand behind the wait, in no order of execution.
bool Cluster::pass_grid_wait() {
    if (grid_waiters_ == 0 || !launch_.grids().prerequisites_ended())
        return false;
    grid_waiters_ = 0;
    waited_for_grids_ = true;
    for (Warp* warp : warps_) {
        const LaneMask lanes = warp->waiting(Wait::grids, 0);
        if (!lanes)
            continue;
        emit(&ClusterListener::on_grid_wait, WarpLanes{warp, lanes, warp->pc()});
        warp->release_after(lanes);
    }
    made_progress();
    return true;
}

std::uint64_t Cluster::state_hash(bool with_clocks) const {
    std::uint64_t hash = 0;
    for (const Warp* warp : warps_)
        hash += warp->state_hash(with_clocks); // The order of the warps changes in random runs.
    return hash;
}

std::uint64_t Cluster::instructions() const {
    std::uint64_t sum = 0;
    for (const Warp* warp : warps_)
        sum += warp->instructions();
    return sum;
}

void Place::report(Finding finding, Fault fault, std::string_view kind, Facts facts) const {
    cluster().report(Mistake{finding, fault, kind, &warp, lane, pc, std::move(facts)});
}

void Cluster::report(const Mistake& mistake) {
    if (std::ranges::any_of(listeners_, [&](const auto& each) { return each->on_mistake(mistake); }))
        return;
    if (mistake.fatal)
        for (Warp* warp : warps_)
            warp->yield();
    emit(&ClusterListener::on_finding, mistake.finding, std::span(&mistake.pc, 1));
    launch_.report(mistake);
}

void Cluster::report(Diagnostic diagnostic, bool fatal) {
    if (fatal)
        for (Warp* warp : warps_)
            warp->yield();
    std::vector<std::uint32_t> pcs;
    for (const SourceLine& line : diagnostic.locations)
        pcs.push_back(line.pc);
    emit(&ClusterListener::on_finding, diagnostic.finding, std::span<const std::uint32_t>(pcs));
    launch_.report(std::move(diagnostic), fatal);
}

std::byte* Cluster::shared_bytes(std::uint32_t address, std::uint32_t bytes) {
    Block* owner = block(shared_rank(address));
    return owner ? owner->shared_bytes(shared_offset(address), bytes) : nullptr;
}

Cluster::Window Cluster::find_window(Address address) {
    if (windows_generation_ != memory_.generation()) {
        windows_.fill({});
        windows_generation_ = memory_.generation();
    }
    const auto found = memory_.find(address);
    if (!found)
        return {};
    const Window window{found->base, found->base + found->size, memory_.bytes(found->base)};
    windows_[next_window_++ % windows_.size()] = window;
    return window;
}

void Cluster::cluster_barrier_arrive(const WarpLanes& lanes, Semantics semantics) {
    for_lanes(lanes.mask, [&](unsigned lane) { lanes.warp->cluster_phase[lane] = cluster_phase_; });
    cluster_arrived_ += static_cast<std::uint32_t>(std::popcount(lanes.mask));
    cluster_arrivals_.push_back(lanes);
    if (listening())
        emit(&ClusterListener::on_barrier_arrive, ClusterListener::BarrierKind::cluster, 0u, lanes,
             semantics);
    made_progress();
    cluster_barrier_recheck();
}

bool Cluster::cluster_barrier_done(const Warp& warp, unsigned lane) const {
    return warp.cluster_phase[lane] < cluster_phase_;
}

void Cluster::cluster_barrier_recheck() {
    if (cluster_arrivals_.empty())
        return;
    // Threads that arrived and then exited were counted; threads that exited without arriving are not waited
    // for.
    std::uint32_t expected = 0;
    for (const Warp* warp : warps_)
        for_lanes(warp->present() & ~warp->exited(), [&](unsigned) { ++expected; });
    for (const WarpLanes& lanes : cluster_arrivals_)
        expected += static_cast<std::uint32_t>(std::popcount(lanes.mask & lanes.warp->exited()));
    if (cluster_arrived_ >= expected)
        complete_cluster_barrier();
}

void Cluster::complete_cluster_barrier() {
    const std::vector<WarpLanes> arrivals = std::move(cluster_arrivals_);
    cluster_arrivals_.clear();
    cluster_arrived_ = 0;
    const std::uint64_t phase = cluster_phase_++;
    std::vector<WarpLanes> waiting;
    for (Warp* warp : warps_) {
        const LaneMask lanes = warp->waiting(Wait::cluster_barrier, phase);
        // Lanes may wait at different instructions; one entry each keeps the line right.
        for_lanes(lanes, [&](unsigned lane) { waiting.push_back({warp, 1u << lane, warp->lane_pc(lane)}); });
    }
    if (listening())
        emit(&ClusterListener::on_barrier_complete, ClusterListener::BarrierKind::cluster, 0u,
             std::span<const WarpLanes>(arrivals), std::span<const WarpLanes>(waiting));
    for (const WarpLanes& lanes : waiting)
        lanes.warp->release_after(lanes.mask);
    made_progress();
}

} // namespace emu
