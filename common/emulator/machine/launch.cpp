#include "machine/launch.hpp"

#include "machine/cluster.hpp"
#include "machine/device.hpp"

#include <algorithm>
#include <chrono>
#include <deque>
#include <filesystem>
#include <iterator>
#include <latch>
#include <map>
#include <system_error>
#include <thread>

namespace emu {
namespace {

constexpr std::uint64_t budget =
    1u << 18; ///< Instructions of a cluster before its worker looks at the others.
constexpr std::uint64_t long_runner =
    16; ///< Budgets after which the worker also starts the next cluster: it may be awaited.
constexpr std::size_t max_findings = 10; ///< Distinct findings after which a launch stops.
constexpr auto nap = std::chrono::microseconds(50);
constexpr auto patience =
    std::chrono::seconds(3); ///< With other threads of the program; see host_may_help().

/// Kernels that poll may wait for a flag that another thread of the program sets. True when the process has
/// threads besides the launch's own.
bool host_may_help(unsigned own_threads) {
    std::error_code error;
    const std::filesystem::directory_iterator tasks("/proc/self/task", error);
    return !error && std::distance(begin(tasks), end(tasks)) > static_cast<std::ptrdiff_t>(own_threads);
}

} // namespace

/// Text of printf by block, and how much of it there may be.
struct Launch::Output {
    std::map<std::uint64_t, std::string> by_block;
    std::uint64_t bytes = 0;
};

Launch::Launch(Device& device, const LaunchInfo& info)
    : device_(device), info_(info), output_(std::make_unique<Output>()) {}

Launch::~Launch() = default;

const Settings& Launch::settings() const { return device_.settings(); }
std::span<const std::unique_ptr<Observer>> Launch::observers() const { return device_.observers(); }

LaunchResult Launch::run() {
    const std::uint64_t clusters = info_.config.grid.volume() / info_.config.cluster.volume();
    unsigned count =
        settings().threads ? settings().threads : std::max(1u, std::thread::hardware_concurrency());
    count = static_cast<unsigned>(std::min<std::uint64_t>(count, clusters));
    for (const auto& observer : observers())
        observer->on_launch_begin(info_);
    {
        std::latch begin(1);
        std::vector<std::jthread> helpers;
        try {
            for (unsigned i = 1; i < count; ++i)
                helpers.emplace_back([this, &begin] {
                    begin.wait();
                    work();
                });
        } catch (const std::system_error&) {
            // The host gives no more threads: as many as there are will do.
        }
        threads_ = static_cast<unsigned>(helpers.size()) + 1;
        workers_ = threads_;
        residency_ = residency(threads_);
        begin.count_down();
        work();
    }
    for (const auto& observer : observers())
        observer->on_launch_end(info_);
    flush_output();
    return {fault_, std::move(diagnostics_), instructions_.load()};
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
    const std::uint64_t i = next_cluster_.fetch_add(1);
    if (i >= shape.volume() || stopped())
        return nullptr;
    const auto x = static_cast<std::uint32_t>(i % shape.x);
    const auto y = static_cast<std::uint32_t>(i / shape.x % shape.y);
    const auto z = static_cast<std::uint32_t>(i / shape.x / shape.y);
    return std::make_unique<Cluster>(*this, i, Dim3{x * k.x, y * k.y, z * k.z});
}

void Launch::retire(Cluster& cluster) { instructions_ += cluster.instructions(); }

void Launch::work() {
    struct Resident {
        std::unique_ptr<Cluster> cluster;
        std::uint64_t budgets = 0;
        std::uint64_t seen_progress = 0;
        std::chrono::steady_clock::time_point moved = std::chrono::steady_clock::now();
    };
    std::deque<Resident> residents;
    bool more = true, marked_idle = false, start = true;
    std::size_t idle_streak = 0, idle_naps = 0;
    std::uint64_t seen_moves = 0;
    auto idle_since = std::chrono::steady_clock::now();
    const auto unmark = [&] {
        if (marked_idle) {
            ++moves_;
            --idle_workers_;
        }
        marked_idle = false;
        idle_streak = 0;
        idle_naps = 0;
    };
    while (!stopped()) {
        if (more && start && residents.size() < residency_) {
            if (auto next = start_next()) {
                residents.push_front({std::move(next)});
                unmark();
            } else {
                more = false;
            }
        }
        start = false;
        if (residents.empty()) {
            if (!more)
                break;
            start = true;
            continue;
        }
        Resident& resident = residents.front();
        const Cluster::State state = resident.cluster->run(budget);
        if (state == Cluster::State::finished) {
            retire(*resident.cluster);
            residents.pop_front();
            unmark();
            start = residents.empty();
            continue;
        }
        const auto now = std::chrono::steady_clock::now();
        if (resident.cluster->progress() != resident.seen_progress) {
            resident.seen_progress = resident.cluster->progress();
            resident.moved = now;
            unmark();
        } else if (state == Cluster::State::running &&
                   std::chrono::duration<double>(now - resident.moved).count() >
                       settings().watchdog_seconds) {
            report_endless_loop(*resident.cluster);
            break;
        }
        if (state == Cluster::State::idle) {
            start = true;
            ++idle_streak;
        } else {
            start = ++resident.budgets % long_runner == 0 || info_.config.cooperative;
        }
        if (residents.size() > 1) {
            residents.push_back(std::move(residents.front()));
            residents.pop_front();
        }
        if (idle_streak <= residents.size() || (more && residents.size() < residency_))
            continue;
        // All of this worker's clusters wait. Only a cluster of another worker could help.
        if (!marked_idle) {
            marked_idle = true;
            idle_since = now;
            ++idle_workers_;
        }
        // A deadlock needs that everybody waits while each cluster here looks again, more than once: what
        // another worker wrote before it began to wait may be what a cluster here waits for.
        if (const std::uint64_t moves = moves_; idle_workers_ < workers_ || moves != seen_moves) {
            seen_moves = moves;
            idle_naps = 0;
        }
        if (++idle_naps > 20 + 2 * residents.size()) {
            const auto polls = [](const Resident& each) {
                return std::ranges::any_of(each.cluster->warps(),
                                           [](const Warp* w) { return w->runnable() != 0; });
            };
            if (now - idle_since < patience && std::ranges::any_of(residents, polls) &&
                host_may_help(threads_)) {
                std::this_thread::sleep_for(20 * nap);
                continue;
            }
            Cluster* nobody = nullptr;
            Cluster* const mine = residents.front().cluster.get();
            if (deadlocked_.compare_exchange_strong(nobody, mine))
                mine->deadlock();
            break;
        }
        std::this_thread::sleep_for(nap);
    }
    for (Resident& resident : residents)
        retire(*resident.cluster);
    if (!marked_idle)
        --workers_;
    else {
        --idle_workers_;
        --workers_;
    }
}

void Launch::report_endless_loop(Cluster& cluster) {
    for (Warp* warp : cluster.warps()) {
        if (!warp->runnable())
            continue;
        const auto lane = static_cast<unsigned>(std::countr_zero(warp->runnable()));
        cluster.report("watchdog", Fault::timeout, *warp, warp->lane_pc(lane), lane,
                       "The kernel ran for " + std::to_string(static_cast<int>(settings().watchdog_seconds)) +
                           " seconds without writing memory, passing a barrier or ending a thread.",
                       "Look for a loop whose condition never becomes false.");
        return;
    }
}

void Launch::report(Diagnostic diagnostic, bool fatal) {
    const std::lock_guard lock(mutex_);
    diagnostic.kernel = info_.kernel->name;
    // A later finding about lines that an earlier one names is mostly its consequence: mend the first, then
    // look again.
    const auto names_line = [](const Diagnostic& d, const SourceLine& line) {
        return std::any_of(d.locations.begin(), d.locations.end(), [&](const SourceLine& other) {
            return other.line == line.line && other.file == line.file;
        });
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
    if (!consequence && std::none_of(diagnostics_.begin(), diagnostics_.end(), covers))
        diagnostics_.push_back(std::move(diagnostic));
    if (fatal || diagnostics_.size() >= max_findings)
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
