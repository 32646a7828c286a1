#include "machine/launch.hpp"

#include "hopper_emulator/finding_kinds.hpp"
#include "machine/cluster.hpp"
#include "machine/device.hpp"
#include "machine/executor.hpp"
#include "machine/mistake.hpp"
#include "machine/share.hpp"

#include <algorithm>
#include <map>

namespace emu {
/// Text of printf by block, and how much of it there may be.
struct Launch::Output {
    std::map<std::uint64_t, std::string> by_block;
    std::uint64_t bytes = 0;
};

Launch::Launch(Device& device, LaunchInfo info)
    : device_(device), info_(std::move(info)), grids_(info_.config.grid.volume()),
      reporter_(device.begin_report(*this)), output_(std::make_unique<Output>()) {}

Launch::~Launch() {
    if (info_.grid_workspace)
        device_.memory().release(info_.grid_workspace);
    if (info_.parameters)
        device_.memory().release(info_.parameters);
}

const MachineSettings& Launch::settings() const { return device_.settings(); }
std::span<const std::unique_ptr<Observer>> Launch::observers() const { return device_.observers(); }

void Launch::begin(unsigned workers) {
    for (unsigned i = 0; i < workers; ++i)
        shares_.push_back(std::make_unique<Share>(*this));
    residency_ = residency(static_cast<unsigned>(std::min<std::uint64_t>(workers, clusters())));
    for (const auto& observer : observers())
        observer->on_launch_begin(info_);
}

Launch::Turn Launch::turn(unsigned worker) {
    return worker < shares_.size() ? shares_[worker]->turn() : Turn::ended; // It came later than the launch.
}

bool Launch::claim_end() { return exhausted() && live_clusters_ == 0 && !ended_.exchange(true); }

LaunchResult Launch::end() {
    LaunchResult result;
    result.stopped = stopped();
    for (const auto& observer : observers()) {
        try {
            if (info_.footprint != FootprintWish::none)
                if (auto footprint = observer->footprint(info_))
                    result.footprint = std::move(footprint);
            if (auto grids = observer->grid_facts(info_))
                result.grids = std::move(grids);
            observer->on_launch_end(info_);
        } catch (...) {
            fail(std::current_exception());
        }
    }
    flush_output();
    result.fault = fault_;
    if (reporter_)
        result.diagnostics = reporter_->take();
    result.instructions = instructions_.load();
    result.error = error_;
    return result;
}

bool Launch::is_waiting(std::uint64_t moves) const {
    if (live_clusters_ == 0)
        return false; // It is about to end.
    const bool all_started = exhausted();
    return std::ranges::all_of(shares_,
                               [&](const auto& share) { return share->is_waiting(moves, all_started); });
}

bool Launch::is_quiet(std::uint64_t moves) const {
    return is_waiting(moves) &&
           std::ranges::all_of(shares_, [&](const auto& share) { return share->is_settled(moves); });
}

void Launch::tell_triggered() {
    if (grids_.on_triggered)
        grids_.on_triggered();
    if (grids_.has_held())
        device_.executor().tell_held(*this);
}

std::uint64_t Launch::stuck_cluster() const {
    std::uint64_t first = no_cluster;
    for (const auto& share : shares_)
        first = std::min(first, share->stuck_cluster());
    return first;
}

std::uint64_t Launch::first_cluster() const {
    std::uint64_t first = no_cluster;
    for (const auto& share : shares_)
        first = std::min(first, share->first_cluster());
    return first;
}

std::uint64_t Launch::residency(unsigned workers) const {
    // What the hardware could hold at once (CUDA programming guide, compute capability 9.0), shared among the
    // workers.
    using N = DeviceNumbers;
    const std::uint64_t threads = (info_.config.block.volume() + 31) / 32 * 32;
    std::uint64_t per_sm = std::min<std::uint64_t>(N::max_blocks_per_multiprocessor,
                                                   N::max_threads_per_multiprocessor / threads);
    if (info_.shared_size)
        per_sm = std::min<std::uint64_t>(per_sm, N::shared_per_multiprocessor / info_.shared_size);
    const std::uint64_t clusters =
        std::max<std::uint64_t>(1, per_sm) * N::multiprocessors / info_.config.cluster.volume();
    return std::max<std::uint64_t>(1, clusters / workers);
}

std::unique_ptr<Cluster> Launch::start_next() {
    const Dim3 k = info_.config.cluster;
    const Dim3 shape{info_.config.grid.x / k.x, info_.config.grid.y / k.y, info_.config.grid.z / k.z};
    ++live_clusters_; // Before the number is taken, so that nobody thinks that all have gone.
    const std::uint64_t i = stopped() ? no_cluster : next_cluster_.fetch_add(1);
    if (i >= shape.volume()) {
        --live_clusters_;
        return nullptr;
    }
    const auto x = static_cast<std::uint32_t>(i % shape.x);
    const auto y = static_cast<std::uint32_t>(i / shape.x % shape.y);
    const auto z = static_cast<std::uint32_t>(i / shape.x / shape.y);
    try {
        return std::make_unique<Cluster>(*this, i, Dim3{x * k.x, y * k.y, z * k.z});
    } catch (...) {
        --live_clusters_;
        throw;
    }
}

std::uint64_t Launch::ended_blocks() const {
    const std::uint64_t started = std::min(next_cluster_.load(), clusters());
    return (started - std::min(started, live_clusters_.load())) * info_.config.cluster.volume();
}

std::uint64_t Launch::waiting_blocks() const {
    return (clusters() - std::min(next_cluster_.load(), clusters())) * info_.config.cluster.volume();
}

void Launch::fail(std::exception_ptr error) {
    const std::lock_guard lock(mutex_);
    if (!error_)
        error_ = std::move(error);
    stop();
}

void Launch::report_endless_loop(Cluster& cluster, bool counted) {
    const auto looping =
        std::ranges::find_if(cluster.warps(), [](Warp* warp) { return warp->runnable() != 0; });
    if (looping == cluster.warps().end())
        return;
    Warp& warp = **looping;
    const auto lane = static_cast<unsigned>(std::countr_zero(warp.runnable()));
    const Place place(warp, lane, warp.lane_pc(lane));
    if (counted)
        place.report(Finding::watchdog, Fault::timeout, "loop-counted",
                     {{"instructions", settings().watchdog}});
    else
        place.report(Finding::watchdog, Fault::timeout, "loop-same-state");
}

void Launch::report(const Mistake& mistake) {
    if (reporter_)
        return reporter_->report(mistake);
    note_fault(mistake.fault);
    if (mistake.fatal)
        stop();
}

void Launch::report(const Deadlock& deadlock) {
    if (reporter_)
        return reporter_->report(deadlock);
    note_fault(Fault::timeout);
    stop();
}

void Launch::report(Diagnostic diagnostic, bool fatal) {
    if (reporter_)
        return reporter_->report(std::move(diagnostic), fatal);
    note_fault(diagnostic.fault);
    if (fatal)
        stop();
}

void Launch::note_fault(Fault fault) {
    Fault none = Fault::none;
    fault_.compare_exchange_strong(none, fault);
}

void Launch::print(std::uint64_t block, std::string text) {
    constexpr std::uint64_t limit = 64u << 20;
    const std::lock_guard lock(mutex_);
    if (output_->bytes + text.size() > limit)
        return;
    output_->bytes += text.size();
    output_->by_block[block] += text;
}

void Launch::flush_output() {
    for (const auto& [block, text] : output_->by_block)
        std::fwrite(text.data(), 1, text.size(), device_.output());
    std::fflush(device_.output());
}

} // namespace emu
