#include "machine/share.hpp"

#include "machine/device.hpp"
#include "machine/executor.hpp"

#include <algorithm>

namespace emu {
namespace {

constexpr std::uint64_t budget =
    1u << 18;                            ///< Instructions of a cluster before its worker looks at the others.
constexpr std::uint64_t long_way = 4096; ///< Steps that a circle may have.
constexpr std::ptrdiff_t most_held_clusters =
    16; ///< Clusters of a worker that stand where they let other grids begin.
constexpr std::uint64_t short_budget = 1u << 12; ///< Of one that runs in circles.
constexpr std::uint64_t long_runner =
    16; ///< Budgets after which the worker also starts the next cluster: it may be awaited.
constexpr std::uint64_t long_wait = 1u << 17, short_wait = 1u << 10; ///< Looks; see is_settled().
constexpr std::uint64_t patience =
    32; ///< Turns with whole budgets after which the host no longer waits for the launch.

} // namespace

bool RepeatedState::meets(std::uint64_t state) {
    ++steps_;
    if (limit_ > 1 && state == kept_) {
        length_ = steps_;
        steps_ = 0;
        return found_ = true;
    }
    if (found_ && steps_ <= length_)
        return false; // On its way round.
    if (found_ || steps_ >= limit_) {
        found_ = false; // If it was, then something that it reads has changed.
        kept_ = state;
        limit_ *= 2;
        steps_ = 0;
    }
    return false;
}

bool Launch::Share::is_waiting(std::uint64_t moves, bool all_started) const {
    switch (phase_.load()) {
    case Phase::fresh:
        return all_started;
    case Phase::busy:
        return false;
    case Phase::idle:
        return waits_at_.load() == moves;
    case Phase::ended:
        return true;
    }
    return false;
}

bool Launch::Share::is_settled(std::uint64_t moves) const {
    return phase_.load() != Phase::idle || settled_at_.load() == moves;
}

/// Others end that, whatever its threads do until then.
bool Launch::Share::rests_for_grids(const Cluster& cluster) const {
    return cluster.is_held() || (cluster.waits_for_grids() && !launch_.grids().prerequisites_ended());
}

/// A wait may count: such a one is given up after very many looks only. One that reads a clock is given up
/// earlier: more than a minute of emulated time passes between two looks (Cluster::time_out_waits), so after
/// a thousand of them every time limit has run out, and what registers hold of clocks no longer tells two
/// states apart.
bool Launch::Share::is_settled(const Resident& resident) const {
    return rests_for_grids(*resident.cluster) || resident.state.found() ||
           resident.looks > std::max(long_wait / residents_.size(), short_wait);
}

/// The share's clusters are no longer all waiting: others that wait must look again.
void Launch::Share::stir() {
    idle_streak_ = 0;
    if (phase_.exchange(Phase::busy) == Phase::idle) {
        launch_.device().executor().note_move();
        launch_.stalled_ = false;
    }
}

void Launch::Share::finish_front() {
    launch_.instructions_ += residents_.front().cluster->instructions();
    residents_.pop_front();
    --launch_.live_clusters_;
}

Launch::Turn Launch::Share::leave() {
    while (!residents_.empty())
        finish_front();
    more_ = false;
    if (phase_.exchange(Phase::ended) != Phase::ended)
        launch_.device().executor().note_move(); // It may have left what another launch waits for.
    return Turn::ended;
}

/// Reports the deadlock or the endless loop that this launch was condemned for, if it is here.
bool Launch::Share::give_up() {
    const std::uint64_t condemned = launch_.condemned_.load();
    if (condemned == no_cluster)
        return false;
    for (Resident& each : residents_)
        if (each.cluster->linear_index() == condemned) {
            if (!each.gives_way)
                launch_.report_endless_loop(*each.cluster, false);
            else
                each.cluster->deadlock();
            return true;
        }
    return false;
}

/// Thread instructions that the launch may still execute, where their number has a limit.
std::uint64_t Launch::Share::left_for(const Cluster& cluster) const {
    const std::uint64_t most = launch_.settings().most_instructions;
    return most - std::min(most, launch_.instructions_ + cluster.instructions());
}

std::uint64_t Launch::Share::budget_of(const Resident& resident) const {
    if (resident.circles)
        return short_budget;
    if (launch_.settings().most_instructions == 0)
        return budget;
    // A cluster's budget is in quarters of a warp's instructions.
    return std::min(budget, left_for(*resident.cluster) / (4 * warp_size) + 1);
}

Launch::Share::Step Launch::Share::step(Resident& resident) {
    Cluster& cluster = *resident.cluster;
    const Cluster::State state = cluster.run(budget_of(resident));
    if (state == Cluster::State::finished)
        return Step::finished;
    if (launch_.settings().most_instructions != 0 && left_for(cluster) == 0)
        launch_.stop();
    if (cluster.progress() != resident.progress) {
        resident.progress = cluster.progress();
        resident.outside_uses = cluster.outside_uses();
        resident.instructions = cluster.instructions();
        resident.state.forget();
        resident.circles = false;
        resident.looks = 0;
        stir();
        return state == Cluster::State::idle ? Step::waits : Step::moved;
    }
    resident.gives_way = state == Cluster::State::idle;
    if (resident.gives_way && rests_for_grids(cluster))
        return Step::waits;
    if (!resident.gives_way)
        return step_without_progress(resident);
    ++resident.looks;
    const bool clocks_count = resident.looks <= short_wait;
    static_cast<void>(resident.state.meets(cluster.state_hash(clocks_count)));
    return Step::waits;
}

Launch::Share::Step Launch::Share::step_without_progress(Resident& resident) {
    Cluster& cluster = *resident.cluster;
    if (resident.state.meets(cluster.state_hash(true))) {
        if (resident.circles)
            return Step::waits;
        resident.circles = true; // Its states at the ends of short steps are others.
        resident.state.forget();
    }
    if (resident.circles && resident.state.steps() < long_way)
        return Step::circles;
    resident.circles = false; // Something it reads has changed, and it has left the circle.
    const std::uint64_t limit = launch_.settings().watchdog;
    if (limit && cluster.instructions() - resident.instructions > limit)
        launch_.report_endless_loop(cluster, true);
    stir();
    return Step::runs;
}

/// All clusters of this worker wait; this was one more look at one of them.
Launch::Turn Launch::Share::look() {
    Executor& executor = launch_.device().executor();
    if (phase_.exchange(Phase::idle) != Phase::idle)
        executor.note_move(); // What was done before the wait began may be what somebody waits for.
    const std::uint64_t moves = executor.moves();
    if (moves != seen_moves_) {
        seen_moves_ = moves;
        looks_ = 0;
    }
    const bool settled =
        std::ranges::all_of(residents_, [&](const Resident& each) { return is_settled(each); });
    // More than once for each: what another worker wrote before it began to wait may be awaited here.
    if (++looks_ > 20 + 2 * residents_.size()) {
        std::uint64_t stuck = no_cluster, first = no_cluster;
        for (const Resident& each : residents_) {
            first = std::min(first, each.cluster->linear_index());
            if (only_helps_itself(each))
                stuck = std::min(stuck, each.cluster->linear_index());
        }
        stuck_ = stuck;
        first_ = first;
        waits_at_ = moves;
        if (settled)
            settled_at_ = moves;
    }
    return settled ? Turn::idle : Turn::looks;
}

bool Launch::Share::has_room() const {
    if (residents_.size() >= launch_.residency_)
        return false;
    return !launch_.grids().has_held() || std::ranges::count_if(residents_, [](const Resident& each) {
                                              return each.cluster->is_held();
                                          }) < most_held_clusters;
}

/// Clusters have no room to start, since others stand where they let other grids begin: one of these goes on.
bool Launch::Share::let_one_go() {
    if (!launch_.grids().has_held() || launch_.waiting_blocks() == 0)
        return false;
    const auto first =
        std::ranges::find_if(residents_, [](const Resident& each) { return each.cluster->is_held(); });
    if (first == residents_.end())
        return false;
    first->cluster->let_go();
    std::iter_swap(first, residents_.begin());
    stir();
    return true;
}

Launch::Turn Launch::Share::turn() {
    Turn did = run_one();
    // While all wait, a turn is a look at each of them.
    for (std::size_t i = 1; i < residents_.size() && (did == Turn::idle || did == Turn::looks); ++i)
        did = run_one();
    return did;
}

Launch::Turn Launch::Share::run_one() {
    if (phase_.load() == Phase::ended)
        return Turn::ended;
    if (launch_.stopped() || give_up())
        return leave();
    start_ |= residents_.empty();
    if (more_ && start_ && has_room()) {
        stir(); // Before others can think that all clusters have started and wait.
        if (auto next = launch_.start_next())
            residents_.push_front({std::move(next)});
        else
            more_ = false;
    }
    start_ = false;
    if (residents_.empty())
        return leave();
    Resident& resident = residents_.front();
    const Step did = step(resident);
    if (launch_.grids().take_triggered())
        launch_.tell_triggered();
    if (did == Step::finished) {
        stir();
        finish_front();
        return launch_.stopped() ? leave() : Turn::moved;
    }
    if (did == Step::circles)
        return Turn::looks;
    if (did == Step::waits) {
        start_ = true;
        ++idle_streak_;
    } else {
        start_ = ++resident.budgets % long_runner == 0 || launch_.info_.config.cooperative;
        if (++turns_ % patience == 0)
            launch_.device().executor().tell_stalled(launch_);
    }
    std::rotate(residents_.begin(), residents_.begin() + 1, residents_.end());
    const bool can_start = more_ && has_room();
    if (idle_streak_ <= residents_.size() || can_start || (more_ && let_one_go()))
        return Turn::moved;
    return look();
}

} // namespace emu
