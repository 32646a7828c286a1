#include "counters/flight.hpp"

#include "machine/block.hpp"
#include "machine/warp.hpp"

#include <algorithm>

namespace emu {
namespace {

constexpr std::uint32_t word = 4;

std::uint64_t bytes_of(const AsyncOperation& operation) {
    std::uint64_t bytes = 0;
    for (const AsyncPiece& piece : operation.pieces)
        bytes += piece.bytes;
    return bytes;
}

} // namespace

std::uint32_t Flight::warp_id(const Warp& warp) { return warp.block().rank() * warp_size + warp.index(); }

void Flight::on_issue(const AsyncOperation& operation) {
    if (operation.kind == AsyncKind::prefetch)
        return;
    const ThreadId id = thread_id(*operation.warp, operation.lane);
    Thread& thread = threads_[id];
    const Phase phase{operation.barrier, phases_[operation.barrier]};
    if (operation.kind == AsyncKind::cp_async_arrive) {
        // From now on that phase tells of the thread's copies.
        std::vector<Copy> copies;
        std::swap(copies, thread.pending);
        for (Copy& copy : copies) {
            if (copy.completion == CompletionKind::cp_async_group)
                copy.completion = CompletionKind::mbarrier, copy.phase = phase;
            attach(thread, id, copy);
        }
        return;
    }
    thread.issues = true;
    std::uint64_t others = 0; // of the same group or phase are one step of the program
    for (const Copy& copy : thread.pending)
        if (copy.completion != operation.completion ||
            (copy.completion == CompletionKind::mbarrier ? copy.phase != phase
                                                         : copy.group != operation.group))
            others += copy.bytes;
    sink_.count(operation.warp, operation.pc, Counter::bytes_in_flight_at_issues, others);
    const std::uint64_t bytes = bytes_of(operation);
    thread.bytes += bytes;
    thread.loading += operation.writes_shared ? bytes : 0;
    attach(thread, id,
           {bytes, operation.writes_shared, operation.completion, operation.group, phase,
            operation.completion == CompletionKind::cp_async_group});
    if (operation.writes_shared)
        for (const AsyncPiece& piece : operation.pieces)
            mark(piece.shared, piece.bytes, true);
}

void Flight::attach(Thread& thread, ThreadId id, Copy copy) {
    if (copy.completion == CompletionKind::mbarrier)
        records_[copy.phase].uninformed.insert(id);
    thread.pending.push_back(copy);
}

template <class Over>
void Flight::retire(Thread& thread, const Warp& warp, std::uint32_t pc, Over over) {
    const auto first = std::remove_if(thread.pending.begin(), thread.pending.end(), over);
    if (first == thread.pending.end())
        return;
    thread.pending.erase(first, thread.pending.end());
    thread.bytes = 0;
    thread.loading = 0;
    for (const Copy& copy : thread.pending) {
        thread.bytes += copy.bytes;
        thread.loading += copy.loads ? copy.bytes : 0;
    }
    sink_.count(&warp, pc, Counter::async_waits);
    sink_.count(&warp, pc, Counter::bytes_in_flight_at_waits, thread.bytes);
}

void Flight::on_group_observed(Warp& warp, unsigned lane, CompletionKind kind, std::uint64_t last_group,
                               std::uint32_t pc) {
    // A wait for groups also tells of copies for which an mbarrier was made to wait.
    const auto over = [&](const Copy& copy) {
        const bool of_kind =
            copy.completion == kind || (copy.in_group && kind == CompletionKind::cp_async_group);
        return of_kind && copy.group <= last_group;
    };
    const auto thread = threads_.find(thread_id(warp, lane));
    if (thread != threads_.end())
        retire(thread->second, warp, pc, over);
}

void Flight::on_init(const MbarrierEvent& event) { phases_[event.address] = 0; }

void Flight::on_arrive(const MbarrierEvent& event) {
    if (event.warp == nullptr || event.count == 0)
        return;
    for (auto& [phase, record] : records_)
        if (knows(record, *event.warp, LaneMask{1} << event.lane))
            record.carried.insert({event.address, event.phase});
}

void Flight::on_observed(const MbarrierEvent& event) {
    for (auto record = records_.begin(); record != records_.end(); ++record) {
        const auto told = [&](const Phase& phase) {
            return phase.first == event.address && phase.second <= event.phase;
        };
        if (told(record->first) || std::ranges::any_of(record->second.carried, told))
            learn(record, *event.warp, LaneMask{1} << event.lane, event.pc);
    }
    forget_informed();
}

void Flight::on_barrier(BarrierKind kind, std::span<const WarpLanes> arrived,
                        std::span<const WarpLanes> waiting) {
    for (auto record = records_.begin(); record != records_.end(); ++record) {
        bool somebody = std::ranges::any_of(
            arrived, [&](const WarpLanes& each) { return knows(record->second, *each.warp, each.mask); });
        if (kind == BarrierKind::cluster) {
            if (arrived.empty()) // they come late to what completed before
                somebody = record->second.cluster_knew;
            else
                record->second.cluster_knew = somebody;
        }
        if (somebody)
            for (const WarpLanes& each : waiting)
                learn(record, *each.warp, each.mask, each.pc);
    }
    forget_informed();
}

void Flight::on_shared_access(const AccessEvent& event) {
    for_lanes(event.mask, [&](unsigned lane) {
        const auto address = static_cast<std::uint32_t>(event.addresses[lane]);
        if (event.kind != AccessKind::read)
            return mark(address, event.bytes, false);
        const auto thread = threads_.find(thread_id(*event.warp, lane));
        const std::uint32_t rank = shared_rank(address);
        const std::uint32_t first = shared_offset(address) / word;
        if (thread == threads_.end() || !thread->second.issues || rank >= brought_.size() ||
            first >= brought_[rank].size() || !brought_[rank][first])
            return;
        sink_.count(event.warp, event.pc, Counter::async_uses);
        sink_.count(event.warp, event.pc, Counter::bytes_in_flight_at_uses, thread->second.bytes);
        sink_.count(event.warp, event.pc, Counter::bytes_loading_at_uses, thread->second.loading);
    });
}

void Flight::on_global_store(const AccessEvent& event) {
    for_lanes(event.mask, [&](unsigned lane) {
        if (const auto thread = threads_.find(thread_id(*event.warp, lane)); thread != threads_.end())
            sink_.count(event.warp, event.pc, Counter::bytes_loading_at_stores, thread->second.loading);
    });
}

bool Flight::knows(const Record& record, const Warp& warp, LaneMask lanes) const {
    const auto known = record.known.find(warp_id(warp));
    return known != record.known.end() && (known->second & lanes) != 0;
}

void Flight::learn(std::map<Phase, Record>::iterator record, Warp& warp, LaneMask lanes, std::uint32_t pc) {
    LaneMask& known = record->second.known[warp_id(warp)];
    const LaneMask news = lanes & ~known;
    known |= lanes;
    for_lanes(news, [&](unsigned lane) {
        const ThreadId id = thread_id(warp, lane);
        if (record->second.uninformed.erase(id) != 0)
            retire(threads_[id], warp, pc, [&](const Copy& copy) {
                return copy.completion == CompletionKind::mbarrier && copy.phase == record->first;
            });
    });
}

void Flight::forget_informed() {
    std::erase_if(records_, [](const auto& each) { return each.second.uninformed.empty(); });
}

void Flight::mark(std::uint32_t shared, std::uint32_t bytes, bool by_copy) {
    const std::uint32_t rank = shared_rank(shared);
    const std::uint32_t first = shared_offset(shared) / word;
    const std::uint32_t last = (shared_offset(shared) + bytes + word - 1) / word;
    if (rank >= brought_.size() || last > brought_[rank].size()) {
        if (!by_copy)
            return; // nothing there that a copy brought
        brought_.resize(std::max<std::size_t>(brought_.size(), rank + 1));
        brought_[rank].resize(std::max<std::size_t>(brought_[rank].size(), last));
    }
    std::fill(brought_[rank].begin() + first, brought_[rank].begin() + last, by_copy);
}

} // namespace emu
