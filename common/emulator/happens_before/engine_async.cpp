// Asynchronous operations: each is an agent that starts at its issue and ends for whoever observes its
// completion.

#include "happens_before/engine.hpp"

namespace emu::check {
namespace {

/// Reductions are relaxed atomics (of gpu scope, red.async of cluster scope), element by element, so several
/// may be under way at one place.
bool is_reduction(AsyncKind kind) {
    return kind == AsyncKind::bulk_reduce || kind == AsyncKind::tensor_reduce || kind == AsyncKind::red_async;
}

/// Copies of one line, which the compiler made of a loop, are one wait of the program.
bool are_one_line(const Kernel& kernel, std::uint32_t one, std::uint32_t other) {
    const auto& locations = kernel.program->module().locations;
    std::uint32_t a = kernel.sources[one]->location, b = kernel.sources[other]->location;
    while (a != b && a < locations.size() && b < locations.size() && locations[a].file == locations[b].file &&
           locations[a].line == locations[b].line) {
        a = locations[a].inlined_at;
        b = locations[b].inlined_at;
    }
    return one == other || (a == b && kernel.sources[one]->location != 0);
}

} // namespace

std::uint32_t Engine::add_operation(const AsyncOperation& operation, WarpClock& clock) {
    Operation known;
    known.kind = operation.kind;
    known.completion = operation.completion;
    known.warp = operation.warp;
    known.lane = operation.lane;
    known.pc = operation.pc;
    known.barrier = operation.barrier;
    known.bytes = operation.tx_bytes;
    known.swizzle = operation.swizzle[0];
    if (operation.writes_shared && !operation.pieces.empty())
        known.into = operation.pieces.front().shared;
    known.reads_shared = operation.reads_shared;
    known.writes_shared = operation.writes_shared;
    if (operation.completion == CompletionKind::mbarrier)
        known.clock = clock.base[operation.lane];
    known.issuer = clock.first + (operation.kind == AsyncKind::cp_async ? 0 : operation.lane);
    known.epoch = clock.now;
    const auto index = static_cast<std::uint32_t>(operations_.size());
    Record r;
    r.cluster = threads_.cluster();
    r.pc = operation.pc;
    r.operation = index;
    r.warp = static_cast<std::uint16_t>(operation.warp->block().rank() * 32 + operation.warp->index());
    r.flags = Record::async;
    if (is_of_async_proxy(operation.kind))
        r.flags |= Record::async_proxy;
    const auto add = [&](Stream stream, bool shared, unsigned more) {
        Record mine = r;
        if (shared)
            mine.flags |= Record::local;
        mine.flags = static_cast<std::uint16_t>(mine.flags | more);
        if (operation.completion == CompletionKind::mbarrier) {
            mine.component = mbarriers_[operation.barrier].agent;
        } else {
            const auto& one = threads_.streams(clock).of[static_cast<unsigned>(stream)];
            mine.flags |= Record::by_lane;
            mine.component = one.first;
            mine.epoch = one.now;
        }
        return add_record(mine);
    };
    if (operation.reads_shared || operation.reads_global)
        known.reads = add(read_stream(operation.completion), known.reads_shared, 0);
    if (operation.writes_shared || operation.writes_global)
        known.writes = add(write_stream(operation.completion), known.writes_shared,
                           is_reduction(operation.kind) ? Record::write | Record::strong : Record::write);
    operations_.push_back(std::move(known));
    return index;
}

void Engine::touch_range(Actor& actor, Address address, std::uint32_t bytes, bool shared) {
    if (actor.shared != shared)
        answers_.begin();
    actor.shared = shared;
    const bool words = address % 4 == 0 && bytes % 4 == 0;
    if (!shared || actor.is_write || actor.padding || !words)
        return access_one(actor, address, bytes);
    const auto at = static_cast<std::uint32_t>(address);
    Region& region = shared_[shared_rank(at)];
    const std::size_t first = shared_offset(at) / 4;
    if (shared_offset(at) < shared_reserved || first + bytes / 4 > region.words())
        return access_one(actor, address, bytes);
    // Most words of a tile have one history.
    region.visit_alike(first, bytes / 4, [&](std::size_t word, Cell& cell, unsigned k, unsigned n) {
        actor.word = address + 4 * (word - first);
        const Ref write = cell.write;
        touch(region, cell, k, n, actor);
        return write && is_plain_read(write, k, n, actor);
    });
}

/// To read what that access has written is in order, and nothing more is to be asked.
bool Engine::is_plain_read(Ref write, unsigned k, unsigned n, const Actor& actor) {
    const Record& w = record(write, actor);
    const bool same_path = !actor.record->is(Record::async_proxy) || w.is(Record::async_proxy);
    return same_path && w.rank() == actor.record->rank() && is_ordered(write, w, k, n, actor);
}

void Engine::touch_pieces(const AsyncOperation& operation, const Operation& known, WarpClock& clock) {
    Actor actor;
    actor.clock = &clock;
    actor.lane = operation.lane;
    actor.answers = &answers_;
    answers_.begin();
    const auto become = [&](std::uint32_t record, bool is_write) {
        actor.is_write = is_write;
        actor.ref = make_ref(record, operation.lane);
        actor.record = &store(is_write ? known.writes_shared : known.reads_shared)[record];
    };
    for (const AsyncPiece& piece : operation.source_pieces) {
        become(known.reads, false);
        touch_range(actor, piece.shared, piece.bytes, true);
    }
    for (const AsyncPiece& piece : operation.pieces) {
        if (operation.reads_global && piece.global && known.reads) {
            become(known.reads, false);
            touch_range(actor, piece.global, piece.bytes, false);
        }
        const bool is_source = operation.source_pieces.empty() || operation.kind == AsyncKind::wgmma;
        if (operation.reads_shared && is_source && known.reads) {
            become(known.reads, false);
            const std::uint32_t data = piece.bytes - piece.padding;
            touch_range(actor, piece.shared, data, true);
            if (piece.padding) {
                actor.padding = true;
                touch_range(actor, piece.shared + data, piece.padding, true);
                actor.padding = false;
            }
        }
        if (operation.writes_shared && known.writes) {
            become(known.writes, true);
            touch_range(actor, piece.shared, piece.bytes, true);
        }
        if (operation.writes_global && piece.global && known.writes) {
            become(known.writes, true);
            touch_range(actor, piece.global, piece.bytes, false);
        }
    }
}

void Engine::issue_cp_async(const AsyncOperation& operation, WarpClock& clock) {
    // All cp.async of a warp at one instruction between two commits share one record.
    const Epoch now = threads_.streams(clock).of[static_cast<unsigned>(Stream::cp_async)].now;
    auto& recent = clock.recent_cp_async[operation.pc % clock.recent_cp_async.size()];
    if (recent.pc != operation.pc || recent.epoch != now || recent.record == 0 ||
        operations_[recent.record].epoch != clock.now)
        recent = {operation.pc, 0, now, add_operation(operation, clock)};
    touch_pieces(operation, operations_[recent.record], clock);
    tell(&FactListener::after_issue, operation);
}

void Engine::on_async_issue(const AsyncOperation& operation) {
    if (operation.completion == CompletionKind::none)
        return;
    tell(&ClusterListener::on_async_issue, operation);
    WarpClock& clock = threads_.of(*operation.warp);
    if (operation.kind == AsyncKind::cp_async_arrive) {
        // Its arrival publishes the cp.async the thread has issued so far (PTX ISA 9.7.13.15.13).
        Accumulator& arrived = mbarriers_[operation.barrier].arrived;
        WarpStreams::One& one = threads_.streams(clock).of[static_cast<unsigned>(Stream::cp_async)];
        threads_.gather(arrived, clock, operation.lane);
        arrived.raise(order, one.first + operation.lane, one.now++);
        Step step{.kind = Step::Kind::cp_async_arrival, .pc = operation.pc, .where = operation.barrier};
        step.gives = true;
        if (const Mbarrier* barrier = cluster_.mbarrier(operation.barrier))
            step.phase = barrier->phase;
        end_epoch(clock, LaneMask{1} << operation.lane, step);
        return;
    }
    if (operation.kind == AsyncKind::cp_async)
        return issue_cp_async(operation, clock);
    const std::uint32_t index = add_operation(operation, clock);
    if (operation.completion == CompletionKind::mbarrier) {
        live_[operation.id] = index;
        mbarriers_[operation.barrier].pending.push_back(index);
        if (const Mbarrier* barrier = cluster_.mbarrier(operation.barrier))
            operations_[index].issued_in = barrier->phase;
    }
    touch_pieces(operation, operations_[index], clock);
    tell(&FactListener::after_issue, operation);
    end_epoch(clock, LaneMask{1} << operation.lane, {.kind = Step::Kind::issue, .pc = operation.pc});
}

void Engine::on_async_retired(const AsyncOperation& operation) {
    tell(&ClusterListener::on_async_retired, operation);
    live_.erase(operation.id);
}

void Engine::on_async_commit(Warp& warp, unsigned lane, CompletionKind kind, std::uint64_t group) {
    tell(&ClusterListener::on_async_commit, warp, lane, kind, group);
    WarpStreams& streams = threads_.streams(threads_.of(warp));
    auto& one = streams.stream(read_stream(kind));
    streams.groups(kind).commits[lane].resize(group + 1, one.now);
    ++one.now;
    if (write_stream(kind) != read_stream(kind))
        ++streams.stream(write_stream(kind)).now;
}

void Engine::on_async_wait(Warp& warp, unsigned lane, CompletionKind kind, std::uint64_t pending,
                           std::uint64_t groups, std::uint32_t pc) {
    tell(&ClusterListener::on_async_wait, warp, lane, kind, pending, groups, pc);
    WarpStreams& streams = threads_.streams(threads_.of(warp));
    auto& waits = streams.groups(kind).waits;
    const WarpStreams::Wait& before = waits[lane];
    const bool no_news = before.any && before.pending == pending && before.groups == groups &&
                         are_one_line(*cluster_.info().kernel, before.pc, pc);
    waits[lane] = {true,    pc,     static_cast<std::uint32_t>(operations_.size()),
                   pending, groups, threads_.of(warp).now,
                   no_news};
}

void Engine::on_async_group_observed(Warp& warp, unsigned lane, CompletionKind kind, std::uint64_t last_group,
                                     bool read_only, std::uint32_t pc) {
    tell(&ClusterListener::on_async_group_observed, warp, lane, kind, last_group, read_only, pc);
    WarpClock& clock = threads_.of(warp);
    WarpStreams& streams = threads_.streams(clock);
    const auto& groups = streams.groups(kind).commits[lane];
    if (last_group >= groups.size())
        return;
    const Epoch epoch = groups[last_group];
    threads_.observe(clock, lane, read_stream(kind), epoch);
    if (!read_only)
        threads_.observe(clock, lane, write_stream(kind), epoch);
}

void Engine::on_products_read(const WarpLanes& lanes, const Warp& other, std::uint64_t last_group) {
    tell(&ClusterListener::on_products_read, lanes, other, last_group);
    const WarpStreams& streams = threads_.streams(threads_.of(other));
    const auto& commits = streams.wgmma.commits[0];
    if (last_group >= commits.size())
        return;
    Accumulator seen;
    seen.raise(order, streams.stream(Stream::wgmma).first, commits[last_group]);
    threads_.learn(lanes, threads_.space().freeze(seen));
}

void Engine::on_tensor_map_access(Warp& warp, unsigned lane, std::uint32_t pc, Address map, AccessKind kind) {
    tell(&ClusterListener::on_tensor_map_access, warp, lane, pc, map, kind);
    constexpr std::uint32_t map_bytes = 128;
    WarpClock& clock = threads_.of(warp);
    Actor actor;
    actor.clock = &clock;
    actor.lane = lane;
    actor.is_write = kind == AccessKind::write;
    actor.shared = in_shared_window(map);
    unsigned flags = Record::by_lane;
    if (actor.is_write)
        flags |= Record::write;
    if (actor.shared)
        flags |= Record::local;
    const std::uint32_t id = record_for(clock, pc, flags);
    actor.record = &store(actor.shared)[id];
    actor.ref = make_ref(id, lane);
    const Address base = actor.shared ? shared_window : 0;
    access_one(actor, map - base, map_bytes);
}

} // namespace emu::check
