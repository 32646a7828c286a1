#include "machine/executor.hpp"

#include <algorithm>
#include <future>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace emu {
namespace {

#if defined(__EMSCRIPTEN__) && !defined(__EMSCRIPTEN_PTHREADS__)
constexpr bool host_has_threads = false;
#else
constexpr bool host_has_threads = true;
#endif
constexpr std::uint64_t turn_of_younger = 16; ///< So many turns of older launches, then one of a younger one.
/// A launch is held back no longer than this while the host is busy or sleeps: it may look into memory for
/// the end. That the process does not get to run, on a busy machine, is no reason.
constexpr std::clock_t longest_busy_hold = CLOCKS_PER_SEC / 10;
constexpr auto longest_hold = std::chrono::seconds(2);
constexpr std::ptrdiff_t most_held_launches = 4; ///< Launches; of a longer chain the oldest goes on.
constexpr auto shortest_nap = std::chrono::microseconds(50), longest_nap = std::chrono::microseconds(1000);

} // namespace

Executor::Executor(unsigned threads)
    : most_(threads ? threads : std::max(1u, std::thread::hardware_concurrency())) {}

Executor::~Executor() { shut_down(); }

unsigned Executor::need_workers(std::uint64_t wanted) {
    if constexpr (!host_has_threads)
        return 1;
    try {
        while (workers_.size() < std::min<std::uint64_t>(wanted, most_))
            workers_.emplace_back([this, self = static_cast<unsigned>(workers_.size())] { work(self); });
    } catch (const std::system_error&) {
        if (workers_.empty())
            throw;
        // The host gives no more threads: as many as there are will do.
    }
    return static_cast<unsigned>(workers_.size());
}

void Executor::start(std::shared_ptr<Launch> launch, OnEnd on_end) {
    std::unique_lock lock(mutex_);
    const LaunchConfig& config = launch->info().config;
    launch->begin(need_workers(config.grid.volume() / config.cluster.volume() + running_.size()));
    if (stopping_)
        launch->stop();
    note_company(*launch);
    running_.push_back({std::move(launch), std::move(on_end)});
    asked_ = false;
    held_since_.reset();
    ++version_;
    note_move();
    changed_.notify_all();
    if constexpr (!host_has_threads) {
        lock.unlock();
        work_alone();
    }
}

/// On a host without threads the caller of start() is the worker, until nothing is left to do.
void Executor::work_alone() {
    if (std::exchange(alone_, true))
        return; // Started by the end of another launch, which whoever runs that one sees.
    std::uint64_t turns = 0;
    while (!running_.empty()) {
        const std::vector<Running> known = running_;
        const Pass did = pass(0, known, turns);
        if (did == Pass::looks || did == Pass::idle)
            settle();
    }
    alone_ = false;
}

/// Launches that run beside each other only because one may begin before the other ends keep no company:
/// what each of them may know of the other is known.
void Executor::note_company(Launch& fresh) {
    for (const Running& each : running_)
        if (fresh.grids().chain == 0 || each.launch->grids().chain != fresh.grids().chain) {
            each.launch->note_company();
            fresh.note_company();
        }
}

LaunchResult Executor::run(std::shared_ptr<Launch> launch) {
    {
        const std::lock_guard lock(mutex_);
        if (stopping_)
            throw std::logic_error("a launch after the device has finished");
    }
    std::promise<LaunchResult> promise;
    auto result = promise.get_future();
    start(std::move(launch), [&](LaunchResult ended) { promise.set_value(std::move(ended)); });
    const HostThreads::As waiting(HostThreads::Role::waiting, host_threads_);
    LaunchResult ended = result.get();
    if (ended.error)
        std::rethrow_exception(ended.error);
    return ended;
}

void Executor::stop_launches() {
    const std::lock_guard lock(mutex_);
    for (const Running& each : running_)
        each.launch->stop();
}

void Executor::shut_down() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
        for (const Running& each : running_)
            each.launch->stop();
        changed_.notify_all();
    }
    for (std::thread& each : workers_)
        each.join();
    workers_.clear();
}

void Executor::work(unsigned self) {
    const HostThreads::As worker(HostThreads::Role::passive, host_threads_);
    std::vector<Running> known;
    std::uint64_t version = 0, turns = 0;
    auto nap = shortest_nap;
    while (true) {
        if (version != version_.load(std::memory_order_acquire)) {
            const std::lock_guard lock(mutex_);
            known = running_;
            version = version_;
        }
        switch (pass(self, known, turns)) {
        case Pass::moved:
            nap = shortest_nap;
            break;
        case Pass::looks:
            settle();
            break;
        case Pass::idle:
            settle();
            std::this_thread::sleep_for(nap);
            nap = std::min(nap + nap / 64, longest_nap);
            break;
        case Pass::nothing:
            known.clear(); // Whoever ended lives on for nobody's sake.
            std::unique_lock lock(mutex_);
            changed_.wait(lock, [&] { return version != version_ || (stopping_ && running_.empty()); });
            if (version == version_)
                return;
        }
    }
}

Launch::Turn Executor::turn(unsigned self, Launch& launch) {
    try {
        return launch.turn(self);
    } catch (...) {
        launch.fail(std::current_exception());
        return Launch::Turn::moved; // The next turn ends what is left.
    }
}

Executor::Pass Executor::pass(unsigned self, const std::vector<Running>& known, std::uint64_t& turns) {
    bool moved = false, looks = false, idle = false;
    for (const Running& each : known) {
        const Launch::Turn did = turn(self, *each.launch);
        if (did == Launch::Turn::moved) {
            moved = true;
            if (++turns % turn_of_younger != 0)
                break;
        } else if (did == Launch::Turn::looks) {
            looks = true;
        } else if (did == Launch::Turn::idle) {
            idle = true;
        } else if (each.launch->claim_end()) {
            finish(each);
            moved = true;
        }
    }
    return moved ? Pass::moved : looks ? Pass::looks : idle ? Pass::idle : Pass::nothing;
}

void Executor::finish(const Running& running) {
    LaunchResult result = running.launch->end();
    {
        const std::lock_guard lock(mutex_);
        ++ending_;
        std::erase_if(running_, [&](const Running& each) { return each.launch == running.launch; });
        ++version_;
        if (result.fault != Fault::none || result.error)
            stop_beside(*running.launch);
    }
    if (running.on_end)
        running.on_end(std::move(result));
    const std::lock_guard lock(mutex_);
    --ending_;
    note_move();
    changed_.notify_all();
}

/// The context is lost, and with it all that runs in it; but for a launch that this one should have waited
/// for: how it goes on may tell the cause.
void Executor::stop_beside(const Launch& faulty) {
    for (const Running& each : running_) {
        GridDependency& grids = each.launch->grids();
        if (grids.chain != 0 && grids.chain == faulty.grids().chain &&
            each.launch->info().serial < faulty.info().serial)
            grids.let_go();
        else
            each.launch->stop();
    }
}

void Executor::tell_stalled(Launch& launch) {
    launch.set_stalled();
    launch.note_company();
    if (on_stall)
        on_stall();
}

void Executor::tell_held(Launch& launch) {
    launch.set_stalled();
    {
        const std::lock_guard lock(mutex_);
        const auto is_held = [](const Running& each) { return each.launch->grids().has_held(); };
        if (std::ranges::count_if(running_, is_held) > most_held_launches)
            let_go(*std::ranges::find_if(running_, is_held)->launch);
    }
    if (on_stall)
        on_stall();
}

/// The older ones end as late as they may.
Launch* Executor::youngest_held() const {
    const auto held = std::find_if(running_.rbegin(), running_.rend(),
                                   [](const Running& each) { return each.launch->grids().has_held(); });
    return held == running_.rend() ? nullptr : held->launch.get();
}

/// Nothing else can go on.
bool Executor::may_go(const Launch* held) {
    if (!held)
        return false;
    const Since now;
    if (!held_since_)
        held_since_ = now;
    return !host_has_threads || ends_wanted_ > 0 || asked_ ||
           now.used - held_since_->used > longest_busy_hold || now.time - held_since_->time > longest_hold;
}

void Executor::let_go(Launch& held) {
    held.grids().let_go();
    held_since_.reset();
    note_move();
}

/// Called by a worker all of whose clusters wait. Finds out which launches have come to a stop, and which of
/// them nothing can help.
void Executor::settle() {
    std::vector<Launch*> stalled;
    {
        const std::lock_guard lock(mutex_);
        if (ending_ > 0 || stopping_)
            return;
        const std::uint64_t moves = moves_;
        const bool quiet = settle_launches(moves, stalled);
        const bool all_wait = stalled.empty() && std::ranges::all_of(running_, [&](const Running& each) {
                                  return each.launch->is_waiting(moves);
                              });
        if (Launch* const held = youngest_held(); all_wait && may_go(held))
            let_go(*held);
        else if (quiet)
            settle_standstill(moves);
    }
    if (!stalled.empty() && on_stall)
        on_stall();
}

/// True if every launch waits for something outside of itself.
bool Executor::settle_launches(std::uint64_t moves, std::vector<Launch*>& stalled) {
    bool all = true;
    for (const Running& each : running_) {
        Launch& launch = *each.launch;
        if (!launch.is_waiting(moves)) {
            all = false;
            continue;
        }
        const std::uint64_t stuck = launch.stuck_cluster();
        if (stuck == Launch::no_cluster && !launch.stalled()) {
            launch.set_stalled();
            if (!launch.rests_for_grids())
                launch.note_company(); // The host goes on meanwhile.
            stalled.push_back(&launch);
        }
        if (launch.grids().has_held() && !launch.grids().has_triggered()) {
            let_go(launch); // Others of its blocks wait for those, and nobody can begin yet.
            all = false;
            continue;
        }
        if (!launch.is_quiet(moves)) {
            all = false;
        } else if (stuck != Launch::no_cluster) {
            launch.condemn(stuck); // Whatever others do: nobody reaches the barriers of this cluster.
            all = false;
        }
    }
    return all;
}

/// Every launch waits for memory that something else must write. That may be a thread of the host, or a
/// kernel that it still launches. Nobody can help when no thread of the host acts, now and after everybody
/// has looked once more, nor has run in between.
void Executor::settle_standstill(std::uint64_t moves) {
    std::optional<std::string> threads = host_threads_.standstill();
    if (threads && standstill_ && standstill_->moves == moves && standstill_->threads == *threads) {
        if (Launch* const held = youngest_held())
            return let_go(*held);
        Launch& oldest = *running_.front().launch;
        oldest.condemn(oldest.first_cluster());
        return;
    }
    note_move();
    standstill_.reset();
    if (threads)
        standstill_ = Standstill{std::move(*threads), moves_};
}

} // namespace emu
