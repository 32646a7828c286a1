#include "machine/launch.hpp"

#include "machine/cluster.hpp"
#include "machine/device.hpp"
#include "machine/executor.hpp"
#include "machine/share.hpp"

#include <algorithm>
#include <map>

namespace emu {
namespace {

constexpr std::ptrdiff_t max_findings =
    10; ///< Distinct errors after which a launch stops; of warnings, what is told.

std::vector<std::uint32_t> instructions_of(const Diagnostic& d) {
    std::vector<std::uint32_t> all;
    for (const SourceLine& line : d.locations)
        all.push_back(line.pc);
    std::ranges::sort(all);
    return all;
}

/// A role without the numbers of threads, blocks and places.
std::string without_numbers(std::string role) {
    std::erase_if(role, [](char c) { return c >= '0' && c <= '9'; });
    return role;
}

/// The same name, and the same happened at the same lines, called in the same way.
bool is_alike(const Diagnostic& a, const Diagnostic& b) {
    return !a.locations.empty() && a.finding == b.finding && a.fault == b.fault && a.note == b.note &&
           std::ranges::equal(a.locations, b.locations, [](const SourceLine& one, const SourceLine& other) {
               return one.is_same_place(other) && without_numbers(one.role) == without_numbers(other.role);
           });
}

} // namespace

/// Text of printf by block, and how much of it there may be.
struct Launch::Output {
    std::map<std::uint64_t, std::string> by_block;
    std::uint64_t bytes = 0;
};

Launch::Launch(Device& device, LaunchInfo info)
    : device_(device), info_(std::move(info)), grids_(info_.config.grid.volume()),
      output_(std::make_unique<Output>()) {}

Launch::~Launch() {
    if (info_.grid_workspace)
        device_.memory().release(info_.grid_workspace);
    if (info_.parameters)
        device_.memory().release(info_.parameters);
}

const Settings& Launch::settings() const { return device_.settings(); }
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
    for (const auto& observer : observers()) {
        if (info_.footprint != FootprintWish::none)
            if (auto footprint = observer->footprint(info_))
                result.footprint = std::move(footprint);
        if (auto grids = observer->grid_facts(info_))
            result.grids = std::move(grids);
        observer->on_launch_end(info_);
    }
    flush_output();
    result.fault = fault_;
    result.diagnostics = std::move(diagnostics_);
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
    for (Warp* warp : cluster.warps()) {
        if (!warp->runnable())
            continue;
        const auto lane = static_cast<unsigned>(std::countr_zero(warp->runnable()));
        cluster.report(Finding::watchdog, Fault::timeout, *warp, warp->lane_pc(lane), lane,
                       counted ? "The block executed " + std::to_string(settings().watchdog) +
                                     " instructions without writing memory, passing a barrier or ending a "
                                     "thread."
                               : "The loop comes back to the same state again and again: no register changes "
                                 "for good, nothing is written, and nothing is read that something else "
                                 "could write.",
                       "Look for a loop whose condition never becomes false.");
        return;
    }
}

/// The same finding as one that was told, in another block or in another copy of the lines.
bool Launch::count_copy(const Diagnostic& diagnostic) {
    const auto told =
        std::ranges::find_if(diagnostics_, [&](const Diagnostic& d) { return is_alike(d, diagnostic); });
    if (told == diagnostics_.end())
        return false;
    // Another block finds it at the same instructions, which says nothing new.
    if (told_of_[static_cast<std::size_t>(told - diagnostics_.begin())]
            .insert(instructions_of(diagnostic))
            .second)
        ++told->more;
    return true;
}

void Launch::report(Diagnostic diagnostic, bool fatal) {
    const std::lock_guard lock(mutex_);
    diagnostic.kernel = info_.kernel->name;
    diagnostic.lines_of_ptx =
        !diagnostic.locations.empty() && info_.kernel->program->module().locations.size() <= 1;
    // A later finding about lines that an earlier one names is mostly its consequence: mend the first, then
    // look again.
    const auto names_line = [](const Diagnostic& d, const SourceLine& line) {
        return std::any_of(d.locations.begin(), d.locations.end(),
                           [&](const SourceLine& other) { return other.is_same_place(line); });
    };
    const auto covers = [&](const Diagnostic& d) {
        const bool weighs_as_much = d.fault != Fault::none || diagnostic.fault == Fault::none;
        return weighs_as_much && !diagnostic.locations.empty() &&
               std::all_of(diagnostic.locations.begin(), diagnostic.locations.end(),
                           [&](const SourceLine& line) { return names_line(d, line); });
    };
    // So is what ends a launch in which an error was found: a deadlock, a block that leaves copies behind.
    const bool consequence = fatal && fault_ != Fault::none;
    if (fault_ == Fault::none)
        fault_ = diagnostic.fault;
    const bool is_error = diagnostic.fault != Fault::none;
    const auto known = std::count_if(diagnostics_.begin(), diagnostics_.end(), [&](const Diagnostic& d) {
        return (d.fault != Fault::none) == is_error;
    });
    const bool too_many = !is_error && known >= max_findings;
    const bool is_new = !consequence && !count_copy(diagnostic) && !too_many &&
                        std::none_of(diagnostics_.begin(), diagnostics_.end(), covers);
    if (is_new) {
        told_of_.push_back({instructions_of(diagnostic)});
        diagnostics_.push_back(std::move(diagnostic));
    }
    if (fatal || (is_error && known + (is_new ? 1 : 0) >= max_findings))
        stopped_ = true;
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
