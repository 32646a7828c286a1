#include "machine/async.hpp"

#include "hopper_emulator/finding_kinds.hpp"
#include "machine/async_state.hpp"

#include <algorithm>
#include <utility>

namespace emu {

std::uint64_t& committed(Warp& warp, unsigned lane, CompletionKind kind) {
    Warp::LaneGroups& groups = warp.groups[lane];
    return kind == CompletionKind::bulk_group    ? groups.bulk_committed
           : kind == CompletionKind::wgmma_group ? groups.wgmma_committed
                                                 : groups.cp_async_committed;
}

AsyncEngine::AsyncEngine(Cluster& cluster, CompletionOrder order, std::uint64_t seed)
    : state_(std::make_unique<State>(State{.cluster = cluster,
                                           .order = order,
                                           .random = std::mt19937_64(seed),
                                           .at_barriers = {},
                                           .threads = {},
                                           .active = {},
                                           .unobserved = {},
                                           .spare = {}})) {}

AsyncEngine::~AsyncEngine() = default;

std::unique_ptr<CopyTask> AsyncEngine::copy_task() {
    auto& spare = state_->spare;
    if (spare.empty())
        return std::make_unique<CopyTask>();
    auto task = std::move(spare.back());
    spare.pop_back();
    auto pieces = std::move(task->operation.pieces);
    pieces.clear();
    task->operation = AsyncOperation{};
    task->operation.pieces = std::move(pieces); // Keeps the storage.
    return task;
}

void AsyncEngine::issue(std::unique_ptr<AsyncTask> task) {
    State& s = *state_;
    AsyncOperation& operation = task->operation;
    operation.id = s.next_id++;
    ThreadQueues* thread = nullptr;
    const bool wgmma = operation.completion == CompletionKind::wgmma_group;
    if (operation.completion != CompletionKind::mbarrier && operation.completion != CompletionKind::none) {
        thread = &s.queues(*operation.warp, wgmma ? 0 : operation.lane);
        operation.group = committed(*operation.warp, operation.lane, operation.completion);
        GroupQueue& queue = thread->of(operation.completion);
        queue.last_id = operation.id;
        queue.last_group = operation.group;
        queue.last_pc = operation.pc;
    }
    s.cluster.emit(&ClusterListener::on_async_issue, std::as_const(operation));
    ++s.pending;
    operation.warp->wgmma_in_flight += wgmma;
    if (s.order == CompletionOrder::early || operation.completion == CompletionKind::none)
        return s.land_and_retire(std::move(task));
    if (!thread) {
        s.at_barriers.push_back(std::move(task));
        return;
    }
    if (!thread->listed)
        s.active.push_back(thread);
    thread->listed = true;
    thread->of(operation.completion).tasks.push_back(std::move(task));
}

void AsyncEngine::commit(Warp& warp, unsigned lane, CompletionKind kind) {
    const std::uint64_t group = committed(warp, lane, kind)++;
    state_->cluster.emit(&ClusterListener::on_async_commit, warp, lane, kind, group);
}

void AsyncEngine::wait(Warp& warp, unsigned lane, CompletionKind kind, std::uint64_t pending, bool read_only,
                       bool include_open, std::uint32_t pc) {
    State& s = *state_;
    if (include_open)
        commit(warp, lane, kind);
    const std::uint64_t groups = committed(warp, lane, kind);
    s.cluster.emit(&ClusterListener::on_async_wait, warp, lane, kind, pending, groups, pc);
    if (groups <= pending)
        return;
    const std::uint64_t limit = groups - pending;
    GroupQueue& queue = s.queues(warp, lane).of(kind);
    if (read_only)
        s.read_groups(queue, limit);
    else
        s.land_groups(queue, limit);
    queue.observed_read = std::max(queue.observed_read, limit);
    if (!read_only)
        queue.observed = std::max(queue.observed, limit);
    s.cluster.emit(&ClusterListener::on_async_group_observed, warp, lane, kind, limit - 1, read_only, pc);
}

void AsyncEngine::fence(Warp& warp, unsigned lane) {
    State& s = *state_;
    if (s.threads.empty())
        return;
    GroupQueue& queue = s.queues(warp, lane).bulk;
    if (queue.observed_read <= queue.observed)
        return;
    s.land_groups(queue, queue.observed_read);
    queue.observed = queue.observed_read;
}

bool AsyncEngine::hand_on(Warp& warp, std::uint32_t from, std::uint32_t into, LaneMask lanes) {
    const auto& tasks = state_->queues(warp, 0).wgmma.tasks;
    return std::any_of(tasks.rbegin(), tasks.rend(), [&](const TaskPointer& task) {
        return task->hand_on(warp.frame(), from, into, lanes);
    });
}

namespace {

/// The warps of a warp's warpgroup, itself among them.
template <class Visit>
void for_warpgroup(const Warp& warp, Visit visit) {
    const auto& warps = warp.block().warps();
    constexpr unsigned count = 4;
    const unsigned first = warp.index() / count * count;
    for (unsigned i = first; i < std::min<std::size_t>(first + count, warps.size()); ++i)
        visit(*warps[i]);
}

} // namespace

bool AsyncEngine::wait_for_products(Warp& warp, std::uint64_t pending, std::uint32_t pc) {
    constexpr CompletionKind kind = CompletionKind::wgmma_group;
    const std::uint64_t groups = committed(warp, 0, kind), limit = groups - std::min(groups, pending);
    bool is_late = false;
    for_warpgroup(warp, [&](Warp& each) { is_late |= !each.finished() && committed(each, 0, kind) < limit; });
    if (is_late)
        return false;
    wait(warp, 0, kind, pending, false, false, pc);
    if (limit == 0)
        return true;
    // The others' products may be written later, but have read what they multiply.
    const WarpLanes lanes{&warp, warp.present() & ~warp.exited(), pc};
    for_warpgroup(warp, [&](Warp& each) {
        if (committed(each, 0, kind) < limit)
            return;
        state_->read_groups(state_->queues(each, 0).wgmma, limit);
        state_->cluster.emit(&ClusterListener::on_products_read, lanes, std::as_const(each), limit - 1);
    });
    return true;
}

void AsyncEngine::warpgroup_changed(Warp& warp) {
    for_warpgroup(warp, [&](Warp& each) {
        const LaneMask lanes = &each == &warp ? 0 : each.waiting(Wait::warpgroup, 0);
        if (!lanes)
            return;
        const std::uint32_t pc = each.lane_pc(static_cast<unsigned>(std::countr_zero(lanes)));
        const Op& op = state_->cluster.info().kernel->code[pc];
        if (!wait_for_products(each, static_cast<std::uint64_t>(op.immediate), pc))
            return;
        each.release_after(lanes);
        state_->cluster.made_progress();
    });
}

void AsyncEngine::land_products(Warp& warp) {
    state_->land_groups(state_->queues(warp, 0).wgmma, ~std::uint64_t{0});
}

void AsyncEngine::arrive_after_cp_async(Warp& warp, unsigned lane, std::uint32_t barrier, bool noinc,
                                        std::uint32_t pc) {
    const Place place(warp, lane, pc);
    Mbarrier* object = find_barrier(place, barrier);
    if (!object)
        return;
    if (!noinc && ++object->pending > mbarrier_max_count)
        return place.report(Finding::arrival_count_mismatch, Fault::launch_failure, "mbarrier-pending-range");
    object->raised |= !noinc;
    auto task = std::make_unique<ArriveTask>();
    task->operation = make_operation(place, AsyncKind::cp_async_arrive, CompletionKind::mbarrier);
    task->operation.barrier = barrier;
    task->destination_rank = static_cast<std::int8_t>(shared_rank(barrier));
    issue(std::move(task));
}

bool AsyncEngine::land_one() {
    State& s = *state_;
    if (s.at_barriers.empty())
        return s.land_from_group();
    s.land_at_barrier(s.choose_at_barriers());
    return true;
}

void AsyncEngine::maybe_land() {
    State& s = *state_;
    if (s.order != CompletionOrder::random || s.pending == 0 || s.random() % 16 != 0)
        return;
    bool done = false;
    if (!s.at_barriers.empty() && s.random() % 2 == 0) {
        const std::size_t i = s.below(s.at_barriers.size());
        s.move_something(*s.at_barriers[i], done);
        if (done)
            s.land_at_barrier(i);
        return;
    }
    if (s.active.empty())
        return;
    ThreadQueues& thread = *s.active[s.below(s.active.size())];
    for (GroupQueue* queue : {&thread.bulk, &thread.cp_async, &thread.wgmma}) {
        if (queue->tasks.empty())
            continue;
        // Products of a warp end in order: they add to the same registers.
        const auto i = queue == &thread.wgmma ? 0 : static_cast<std::ptrdiff_t>(s.below(queue->tasks.size()));
        s.move_something(*queue->tasks[static_cast<std::size_t>(i)], done);
        if (!done)
            return;
        TaskPointer task = std::move(queue->tasks[static_cast<std::size_t>(i)]);
        queue->tasks.erase(queue->tasks.begin() + i);
        return s.land_and_retire(std::move(task));
    }
}

void AsyncEngine::barrier_observed(std::uint32_t barrier, std::uint64_t phase) {
    auto& list = state_->unobserved;
    for (std::size_t i = 0; i < list.size();) {
        if (list[i].barrier != barrier || list[i].phase > phase) {
            ++i;
            continue;
        }
        if (list[i].follows)
            list[i].follows->cp_async.observed_id =
                std::max(list[i].follows->cp_async.observed_id, list[i].id);
        list[i] = list.back();
        list.pop_back();
    }
}

bool AsyncEngine::uses_barrier(std::uint32_t barrier) const {
    return std::ranges::any_of(state_->at_barriers, [barrier](const TaskPointer& task) {
        return task->operation.barrier == barrier;
    });
}

void AsyncEngine::block_exited(Block& block) {
    State& s = *state_;
    if (s.cluster.stopped())
        return;
    // What is left after a silent check no longer touches this block: stores that have read their source.
    s.check_exit(block);
}

void AsyncEngine::finish() {
    State& s = *state_;
    while (!s.cluster.stopped() && land_one()) {
    }
}

std::size_t AsyncEngine::pending() const { return state_->pending; }

} // namespace emu
