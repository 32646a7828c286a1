/// \file
/// The life of asynchronous operations: in what order they read, land and complete, and what is wrong when a
/// block ends before somebody waited for them.

#include "hopper_emulator/finding_kinds.hpp"
#include "machine/async_state.hpp"
#include "machine/shuffle.hpp"

#include <algorithm>
#include <utility>

namespace emu {

namespace {

Unobserved describe(const AsyncTask& task, std::uint64_t phase) {
    const AsyncOperation& operation = task.operation;
    return {operation.barrier, phase,        task.source_rank, task.destination_rank, operation.warp,
            operation.lane,    operation.pc, nullptr,          operation.id};
}

} // namespace

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
    Mbarrier* barrier = find_barrier(Place(*operation.warp, operation.lane, operation.pc), operation.barrier,
                                     Invalid::ending);
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
    // No progress by itself: an endless loop beside many pending copies would look alive for minutes.
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
    task->operation.warp->wgmma_in_flight -= task->operation.completion == CompletionKind::wgmma_group;
    retire(std::move(task));
}

// -- groups

/// Puts a group's operations into the order in which they are to land.
void AsyncEngine::State::order_group(std::vector<TaskPointer>::iterator first,
                                     std::vector<TaskPointer>::iterator last) {
    if (order == CompletionOrder::random)
        shuffle(first, last, random);
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
        if ((*first)->operation.completion != CompletionKind::wgmma_group)
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
    std::optional<std::uint32_t>
        lonely; // a barrier where nobody waits; neighbours in the list often share one
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
        for (GroupQueue* queue : {&thread.cp_async, &thread.bulk, &thread.wgmma})
            if (!queue->tasks.empty()) {
                const auto next = queue == &thread.wgmma ? queue->tasks.begin() : queue->tasks.end() - 1;
                TaskPointer task = std::move(*next);
                queue->tasks.erase(next);
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
    Place(warp, lane, pc)
        .report(Finding::exited_with_copies_in_flight, Fault::launch_failure,
                reads ? "copy-outlives-block-it-reads" : "copy-outlives-block-it-writes",
                {{"block", BlockIndex{block.index()}}});
}

void AsyncEngine::State::report_group(Block& block, ThreadQueues& thread, CompletionKind kind) {
    const GroupQueue& queue = thread.of(kind);
    const Place place(*thread.warp, thread.lane, queue.last_pc);
    const bool is_committed = queue.last_group < committed(*thread.warp, thread.lane, kind);
    if (kind == CompletionKind::wgmma_group)
        return place.report(Finding::exited_with_copies_in_flight, Fault::launch_failure,
                            is_committed ? "wgmma-outlives-warp" : "wgmma-uncommitted");
    const bool bulk = kind == CompletionKind::bulk_group;
    if (is_committed)
        return report_exit(block, *thread.warp, queue.last_pc, thread.lane, bulk);
    place.report(Finding::exited_with_copies_in_flight, Fault::launch_failure, "copy-uncommitted",
                 {{"block", BlockIndex{block.index()}},
                  {"uses", std::string(bulk ? "reads" : "writes")},
                  {"commit", std::string(bulk ? "cp.async.bulk.commit_group" : "cp.async.commit_group")}});
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
    Place(*each.warp, each.lane, each.pc)
        .report(Finding::tx_count_mismatch, Fault::launch_failure, "mbarrier-unexpected-bytes",
                {{"bytes", bytes}, {"barrier", SharedPlace{each.barrier}}});
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
        for (const CompletionKind kind :
             {CompletionKind::cp_async_group, CompletionKind::bulk_group, CompletionKind::wgmma_group})
            if (const GroupQueue& queue = thread.of(kind); !queue.all_observed(kind))
                report_group(block, thread, kind);
}

} // namespace emu
