#include "machine/async.hpp"

#include "machine/async_tasks.hpp"
#include "machine/cluster.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace emu {

namespace {

using TaskPointer = std::unique_ptr<AsyncTask>;

/// Operations of one thread that complete in groups of one kind, oldest first.
struct GroupQueue {
    std::vector<TaskPointer> tasks;
    std::uint64_t observed = 0;      ///< Groups a wait_group has observed: those with a smaller index.
    std::uint64_t observed_read = 0; ///< The same, with wait_group.read.
    std::uint64_t observed_id = 0;   ///< cp.async with smaller ids were observed through an mbarrier.
    // The most recent operation. Both ways of observing cover all earlier operations too, so this one tells
    // whether everything was observed.
    std::uint64_t last_id = 0; ///< 0: there was none.
    std::uint64_t last_group = 0;
    std::uint32_t last_pc = 0;

    bool all_observed(CompletionKind kind) const {
        // A bulk store stops using shared memory once its source was read.
        const std::uint64_t groups = kind == CompletionKind::bulk_group ? observed_read : observed;
        return last_id == 0 || last_group < groups || last_id < observed_id;
    }
};

struct ThreadQueues {
    Warp* warp = nullptr;
    unsigned lane = 0;
    bool listed = false; ///< In State::active.
    GroupQueue cp_async;
    GroupQueue bulk;

    GroupQueue& of(CompletionKind kind) { return kind == CompletionKind::bulk_group ? bulk : cp_async; }
};

/// An operation that completed at an mbarrier in a phase nobody has observed yet.
struct Unobserved {
    std::uint32_t barrier;
    std::uint64_t phase;
    int source_rank, destination_rank;
    Warp* warp;
    unsigned lane;
    std::uint32_t pc;
    ThreadQueues* follows; ///< If it is cp.async.mbarrier.arrive: the thread whose cp.async it follows.
    std::uint64_t id;
};

Unobserved describe(const AsyncTask& task, std::uint64_t phase) {
    const AsyncOperation& operation = task.operation;
    return {operation.barrier, phase,        task.source_rank, task.destination_rank, operation.warp,
            operation.lane,    operation.pc, nullptr,          operation.id};
}

std::uint64_t& committed(Warp& warp, unsigned lane, CompletionKind kind) {
    Warp::LaneGroups& groups = warp.groups[lane];
    return kind == CompletionKind::bulk_group ? groups.bulk_committed : groups.cp_async_committed;
}

} // namespace

struct AsyncEngine::State {
    Cluster& cluster;
    CompletionOrder order;
    std::mt19937_64 random;
    std::uint64_t next_id = 1;
    std::size_t pending = 0;
    std::vector<TaskPointer> at_barriers;           ///< Complete at an mbarrier; oldest first.
    std::vector<std::vector<ThreadQueues>> threads; ///< By rank and thread.
    std::vector<ThreadQueues*> active;              ///< Threads that may have operations in their queues.
    std::vector<Unobserved> unobserved;
    std::vector<std::unique_ptr<CopyTask>> spare;

    ThreadQueues& queues(Warp& warp, unsigned lane);
    void read(AsyncTask& task);
    void complete(AsyncTask& task);
    void land(AsyncTask& task);
    void land_and_retire(TaskPointer task);
    void retire(TaskPointer task);
    void land_before(ThreadQueues& thread, std::uint64_t id);
    void land_groups(GroupQueue& queue, std::uint64_t limit);
    void read_groups(GroupQueue& queue, std::uint64_t limit);
    void order_group(std::vector<TaskPointer>::iterator first, std::vector<TaskPointer>::iterator last);
    void land_at_barrier(std::size_t index);
    std::size_t choose_at_barriers();
    bool somebody_waits(std::uint32_t barrier);
    bool land_from_group();
    void move_something(AsyncTask& task, bool& done);
    void report_exit(Block& block, Warp& warp, std::uint32_t pc, unsigned lane, bool reads);
    std::int64_t unexpected_bytes(std::uint32_t barrier);
    void report_unobserved(Block& block, const Unobserved& each);
    void check_exit(Block& block);

    std::size_t below(std::size_t limit) { return static_cast<std::size_t>(random() % limit); }
};

// -- the life of one operation

ThreadQueues& AsyncEngine::State::queues(Warp& warp, unsigned lane) {
    const Block& block = warp.block();
    if (threads.size() <= block.rank())
        threads.resize(std::max<std::size_t>(cluster.blocks().size(), block.rank() + 1));
    auto& of_block = threads[block.rank()];
    if (of_block.empty())
        of_block = std::vector<ThreadQueues>(block.thread_count());
    ThreadQueues& thread = of_block[warp.thread_of(lane)];
    thread.warp = &warp;
    thread.lane = lane;
    return thread;
}

void AsyncEngine::State::read(AsyncTask& task) {
    if (task.operation.source_done)
        return;
    task.read(cluster);
    task.operation.source_done = true;
    cluster.emit(&ClusterListener::on_async_source_read, std::as_const(task.operation));
}

/// The arrival or complete_tx at the mbarrier.
void AsyncEngine::State::complete(AsyncTask& task) {
    const AsyncOperation& operation = task.operation;
    const bool arrival = operation.kind == AsyncKind::cp_async_arrive;
    Mbarrier* barrier = find_barrier(Place(*operation.warp, operation.lane, operation.pc), operation.barrier);
    if (!barrier)
        return;
    MbarrierEvent event;
    event.lane = operation.lane;
    event.pc = operation.pc;
    event.address = operation.barrier;
    event.count = arrival ? 1 : 0;
    event.tx = -std::int64_t{operation.tx_bytes};
    event.scope = Scope::cluster;
    event.operation = &operation;
    unobserved.push_back(describe(task, barrier->phase));
    if (arrival)
        unobserved.back().follows = &queues(*operation.warp, operation.lane);
    cluster.mbarrier_update(*barrier, event);
}

void AsyncEngine::State::land(AsyncTask& task) {
    if (task.operation.kind == AsyncKind::cp_async_arrive)
        land_before(queues(*task.operation.warp, task.operation.lane), task.operation.id);
    read(task);
    task.write(cluster);
    task.operation.landed = true;
    cluster.emit(&ClusterListener::on_async_landed, std::as_const(task.operation));
    if (task.operation.completion == CompletionKind::mbarrier)
        complete(task);
    cluster.made_progress();
}

void AsyncEngine::State::retire(TaskPointer task) {
    cluster.emit(&ClusterListener::on_async_retired, std::as_const(task->operation));
    if (task->operation.kind != AsyncKind::cp_async)
        return;
    // Only CopyTask is issued with this kind.
    spare.emplace_back(static_cast<CopyTask*>(task.release()));
}

void AsyncEngine::State::land_and_retire(TaskPointer task) {
    --pending;
    land(*task);
    retire(std::move(task));
}

// -- groups

/// Puts a group's operations into the order in which they are to land.
void AsyncEngine::State::order_group(std::vector<TaskPointer>::iterator first,
                                     std::vector<TaskPointer>::iterator last) {
    if (order == CompletionOrder::random)
        std::shuffle(first, last, random);
    else
        std::reverse(first, last);
}

void AsyncEngine::State::land_groups(GroupQueue& queue, std::uint64_t limit) {
    auto first = queue.tasks.begin();
    const auto end = queue.tasks.end();
    while (first != end && (*first)->operation.group < limit) {
        const std::uint64_t group = (*first)->operation.group;
        const auto last =
            std::find_if(first, end, [group](const TaskPointer& t) { return t->operation.group != group; });
        order_group(first, last);
        for (; first != last; ++first)
            land_and_retire(std::move(*first));
    }
    queue.tasks.erase(queue.tasks.begin(), first);
}

void AsyncEngine::State::read_groups(GroupQueue& queue, std::uint64_t limit) {
    const auto last = std::find_if(queue.tasks.begin(), queue.tasks.end(),
                                   [limit](const TaskPointer& t) { return t->operation.group >= limit; });
    for (auto task = last; task != queue.tasks.begin();)
        read(**--task);
}

/// Lands the thread's cp.async with ids below `id`, the last issued first.
void AsyncEngine::State::land_before(ThreadQueues& thread, std::uint64_t id) {
    auto& tasks = thread.cp_async.tasks;
    const auto last = std::find_if(tasks.begin(), tasks.end(),
                                   [id](const TaskPointer& t) { return t->operation.id >= id; });
    order_group(tasks.begin(), last);
    for (auto task = tasks.begin(); task != last; ++task)
        land_and_retire(std::move(*task));
    tasks.erase(tasks.begin(), last);
}

// -- mbarriers

bool AsyncEngine::State::somebody_waits(std::uint32_t barrier) {
    Block* block = cluster.block(shared_rank(barrier));
    if (!block)
        return false;
    return std::ranges::any_of(block->warps(), [barrier](const std::unique_ptr<Warp>& warp) {
        return warp->waiting(Wait::mbarrier, barrier) != 0;
    });
}

/// The operation to land next: the last issued of those whose barrier somebody waits at, else the last
/// issued.
std::size_t AsyncEngine::State::choose_at_barriers() {
    if (order == CompletionOrder::random)
        return below(at_barriers.size());
    std::optional<std::uint32_t> lonely; // a barrier where nobody waits; neighbours in the list often share one
    for (std::size_t i = at_barriers.size(); i-- > 0;) {
        const std::uint32_t barrier = at_barriers[i]->operation.barrier;
        if (lonely == barrier)
            continue;
        if (somebody_waits(barrier))
            return i;
        lonely = barrier;
    }
    return at_barriers.size() - 1;
}

void AsyncEngine::State::land_at_barrier(std::size_t index) {
    TaskPointer task = std::move(at_barriers[index]);
    at_barriers.erase(at_barriers.begin() + static_cast<std::ptrdiff_t>(index));
    land_and_retire(std::move(task));
}

/// Lands an operation that nobody waits for, for a program that watches memory instead of waiting.
bool AsyncEngine::State::land_from_group() {
    while (!active.empty()) {
        ThreadQueues& thread = *active.back();
        for (GroupQueue* queue : {&thread.cp_async, &thread.bulk})
            if (!queue->tasks.empty()) {
                TaskPointer task = std::move(queue->tasks.back());
                queue->tasks.pop_back();
                land_and_retire(std::move(task));
                return true;
            }
        thread.listed = false;
        active.pop_back();
    }
    return false;
}

/// Random order: reads the source now and writes later, or does all that is left.
void AsyncEngine::State::move_something(AsyncTask& task, bool& done) {
    done = task.operation.source_done || random() % 2 == 0;
    if (!done)
        read(task);
}

// -- the end of a block

void AsyncEngine::State::report_exit(Block& block, Warp& warp, std::uint32_t pc, unsigned lane, bool reads) {
    cluster.report(
        "exited-with-copies-in-flight", Fault::launch_failure, warp, pc, lane,
        "All threads of the block with rank " + std::to_string(block.rank()) +
            " have exited, and nobody has waited for the end of this asynchronous operation, which " +
            (reads ? "reads" : "writes") + " the block's shared memory.",
        "Wait for it before the block ends: wait_group (for a bulk store at least wait_group.read) "
        "or the phase of the mbarrier.");
}

/// Bytes that complete at a barrier beyond those expected there, when every operation will have landed.
std::int64_t AsyncEngine::State::unexpected_bytes(std::uint32_t barrier) {
    const Mbarrier* object = cluster.mbarrier(barrier);
    if (!object)
        return 0;
    std::int64_t tx = object->tx;
    for (const TaskPointer& task : at_barriers)
        if (task->operation.barrier == barrier)
            tx -= task->operation.tx_bytes;
    return -tx;
}

/// An operation at a barrier that nobody has observed, at the exit of a block whose memory it uses.
void AsyncEngine::State::report_unobserved(Block& block, const Unobserved& each) {
    // Only when the barrier's own block ends can nobody expect the bytes any more.
    const std::int64_t bytes = shared_rank(each.barrier) == block.rank() ? unexpected_bytes(each.barrier) : 0;
    if (bytes <= 0)
        return report_exit(block, *each.warp, each.pc, each.lane,
                           each.destination_rank != static_cast<int>(block.rank()));
    cluster.report(
        "tx-count-mismatch", Fault::launch_failure, *each.warp, each.pc, each.lane,
        "Asynchronous copies complete " + std::to_string(bytes) + " bytes more at mbarrier " +
            shared_text(cluster, each.barrier) +
            " than were expected there: a phase could end before this one had landed.",
        "Expect all bytes of the phase: the sum of the sizes of its copies, a full box for each tensor "
        "copy.");
}

void AsyncEngine::State::check_exit(Block& block) {
    const int rank = static_cast<int>(block.rank());
    const auto uses_block = [rank](const auto& each) {
        return each.source_rank == rank || each.destination_rank == rank;
    };
    for (const TaskPointer& task : at_barriers)
        if (uses_block(*task))
            report_unobserved(block, describe(*task, 0));
    for (const Unobserved& each : unobserved)
        if (uses_block(each))
            report_unobserved(block, each);
    if (block.rank() >= threads.size())
        return;
    for (ThreadQueues& thread : threads[block.rank()])
        for (const CompletionKind kind : {CompletionKind::cp_async_group, CompletionKind::bulk_group})
            if (const GroupQueue& queue = thread.of(kind); !queue.all_observed(kind))
                report_exit(block, *thread.warp, queue.last_pc, thread.lane,
                            kind == CompletionKind::bulk_group);
}

// -- the interface

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
    if (operation.completion == CompletionKind::cp_async_group ||
        operation.completion == CompletionKind::bulk_group) {
        thread = &s.queues(*operation.warp, operation.lane);
        operation.group = committed(*operation.warp, operation.lane, operation.completion);
        GroupQueue& queue = thread->of(operation.completion);
        queue.last_id = operation.id;
        queue.last_group = operation.group;
        queue.last_pc = operation.pc;
    }
    s.cluster.emit(&ClusterListener::on_async_issue, std::as_const(operation));
    ++s.pending;
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

void AsyncEngine::arrive_after_cp_async(Warp& warp, unsigned lane, std::uint32_t barrier, bool noinc,
                                        std::uint32_t pc) {
    const Place place(warp, lane, pc);
    Mbarrier* object = find_barrier(place, barrier);
    if (!object)
        return;
    if (!noinc && ++object->pending > mbarrier_max_count)
        return place.report("arrival-count-mismatch", Fault::launch_failure,
                            "cp.async.mbarrier.arrive raised the pending arrivals above 2^20 - 1.",
                            "Use the .noinc form and count these arrivals in mbarrier.init.");
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
    for (GroupQueue* queue : {&thread.bulk, &thread.cp_async}) {
        if (queue->tasks.empty())
            continue;
        const auto i = static_cast<std::ptrdiff_t>(s.below(queue->tasks.size()));
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
