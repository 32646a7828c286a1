#include "happens_before/threads.hpp"

#include "machine/cluster.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace emu::check {
namespace {

/// Location of a strong access: 8-byte granules, so that halves of a 64-bit value meet.
Address granule(Address a) { return a & ~Address{7}; }

bool reads(const AccessEvent& e) { return e.kind != AccessKind::write; }
bool writes(const AccessEvent& e) { return e.kind != AccessKind::read; }
bool acquires(Semantics s) { return s == Semantics::acquire || s == Semantics::acq_rel; }
bool releases(Semantics s) { return s == Semantics::release || s == Semantics::acq_rel; }
/// A scope that reaches other clusters.
bool reaches_other_clusters(Scope s) { return s == Scope::gpu || s == Scope::sys; }
Scope narrower(Scope a, Scope b) { return std::min(a, b); }

/// The eight bytes of a location, as far as they belong to something.
std::uint64_t value_at(Cluster& cluster, Address location) {
    std::uint64_t value = 0;
    if (const std::byte* const all = cluster.global_bytes(location, 8))
        std::memcpy(&value, all, 8);
    else if (const std::byte* const low = cluster.global_bytes(location, 4))
        std::memcpy(&value, low, 4);
    return value;
}

} // namespace

Threads::Threads(std::uint32_t cluster, bool several_blocks, GlobalSync& global)
    : cluster_(cluster), several_blocks_(several_blocks), global_(global) {}
Threads::~Threads() = default;

void Threads::add_block(Block& block) {
    warps_.resize(std::max<std::size_t>(warps_.size(), (block.rank() + 1) * 32));
    for (const auto& warp : block.warps()) {
        auto clock = std::make_unique<WarpClock>();
        clock->warp = warp.get();
        clock->first = new_component(warp_size);
        clock->base.fill(space_.bottom());
        warps_[block.rank() * 32 + warp->index()] = std::move(clock);
    }
}

WarpStreams& Threads::streams(WarpClock& warp) {
    if (!warp.streams) {
        warp.streams = std::make_unique<WarpStreams>();
        for (auto& one : warp.streams->of)
            one.first = new_component(warp_size);
    }
    return *warp.streams;
}

bool Threads::sees(const WarpClock& viewer, unsigned lane, const Record& record, Component component,
                   Part part) const {
    // Relaxed, because an operation that completes at an mbarrier may get its epoch from another host thread.
    const Epoch epoch = std::atomic_ref(const_cast<Epoch&>(record.epoch)).load(std::memory_order_relaxed);
    if (record.is(Record::async) && epoch == 0)
        return false;
    if (record.cluster != cluster_) {
        if (record.epoch == 0) // RecordStore::forgotten
            return true;
        const auto knows = [&](const std::shared_ptr<const Foreign>& foreign, Part of) {
            if (!foreign)
                return false;
            const auto it = foreign->find(record.cluster);
            return it != foreign->end() && it->second->get(of, component) >= epoch;
        };
        const SharedClock& base = *viewer.base[lane];
        // A fence of the reading side covers what other clusters wrote and it knows of.
        return knows(base.foreign, part) || (part == global_proxy && knows(base.fenced_foreign, order));
    }
    if (viewer.base[lane]->clock.get(part, component) >= epoch)
        return true;
    const auto own = [&](Component first) { return component == first + lane; };
    if (own(viewer.first))
        return part == order || part == across_blocks ||
               (part == shared_proxy ? viewer.fenced_shared : viewer.fenced_global)[lane] >= epoch;
    if (viewer.streams)
        for (const WarpStreams::One& one : viewer.streams->of)
            if (own(one.first))
                return (part == order          ? one.seen
                        : part == shared_proxy ? one.fenced_shared
                                               : one.fenced_global)[lane] >= epoch;
    return false;
}

void Threads::raise_own(Accumulator& into, const WarpClock& warp, unsigned lane, Epoch epoch) const {
    into.raise(order, warp.first + lane, epoch);
    if (several_blocks_)
        into.raise(across_blocks, warp.first + lane, epoch);
    if (warp.fenced_shared[lane])
        into.raise(shared_proxy, warp.first + lane, warp.fenced_shared[lane]);
    if (warp.fenced_global[lane])
        into.raise(global_proxy, warp.first + lane, warp.fenced_global[lane]);
    if (!warp.streams)
        return;
    for (const WarpStreams::One& one : warp.streams->of) {
        if (!one.seen[lane])
            continue;
        into.raise(order, one.first + lane, one.seen[lane]);
        into.raise(shared_proxy, one.first + lane, one.fenced_shared[lane]);
        into.raise(global_proxy, one.first + lane, one.fenced_global[lane]);
    }
}

void Threads::gather(Accumulator& into, WarpClock& warp, unsigned lane) {
    into.join(warp.base[lane]);
    raise_own(into, warp, lane, warp.now);
}

void Threads::gather(Accumulator& into, const WarpLanes& lanes) {
    WarpClock& warp = of(*lanes.warp);
    for_lanes(lanes.mask, [&](unsigned lane) { gather(into, warp, lane); });
}

void Threads::gather_fenced(Accumulator& into, WarpClock& warp, unsigned lane, Scope scope) {
    if (!warp.sync || !(*warp.sync)[lane].release.epoch || (*warp.sync)[lane].release.scope < scope)
        return;
    const FenceRelease& release = (*warp.sync)[lane].release;
    into.join(release.clock);
    raise_own(into, warp, lane, release.epoch);
}

void Threads::advance(WarpClock& warp) { ++warp.now; }

void Threads::learn(const WarpLanes& lanes, const ClockRef& clock) {
    WarpClock& warp = of(*lanes.warp);
    for_lanes(lanes.mask, [&](unsigned lane) { learn(warp, lane, clock); });
}

void Threads::proxy_fence(const FenceEvent& event) {
    WarpClock& warp = of(*event.warp);
    for_lanes(event.mask, [&](unsigned lane) {
        warp.base[lane] = space_.fenced(warp.base[lane], event.covers_shared, event.covers_global);
        if (event.covers_shared)
            warp.fenced_shared[lane] = warp.now;
        if (event.covers_global)
            warp.fenced_global[lane] = warp.now;
        if (warp.streams)
            for (auto& one : warp.streams->of) {
                if (event.covers_shared)
                    one.fenced_shared[lane] = one.seen[lane];
                if (event.covers_global)
                    one.fenced_global[lane] = one.seen[lane];
            }
    });
    advance(warp);
}

void Threads::settle(WarpClock& warp, unsigned lane) {
    if (!warp.sync)
        return;
    LaneSync& sync = (*warp.sync)[lane];
    if (const std::shared_ptr<Accumulator> pending = std::move(sync.pending))
        learn(warp, lane, space_.freeze(*pending));
    // Each thread fences, all pass a barrier, one thread raises a flag: published code relies on this.
    if (sync.release.epoch)
        sync.release = {warp.base[lane], warp.now, sync.release.scope};
}

void Threads::memory_fence(const FenceEvent& event) {
    WarpClock& warp = of(*event.warp);
    if (!warp.sync)
        warp.sync = std::make_unique<std::array<LaneSync, warp_size>>();
    for_lanes(event.mask, [&](unsigned lane) {
        (*warp.sync)[lane].fenced = true;
        if (event.acquire) {
            settle(warp, lane);
            if (const auto read = std::move((*warp.sync)[lane].pending_of_release))
                learn(warp, lane, space_.freeze(*read));
        }
        if (several_blocks_ && event.scope != Scope::cta)
            warp.base[lane] = space_.widened(warp.base[lane]);
        if (event.release)
            (*warp.sync)[lane].release = {warp.base[lane], warp.now, event.scope};
    });
    advance(warp);
}

void Threads::release_at(WarpClock& warp, unsigned lane, Address location, const FenceRelease& what) {
    Location& here = locations_[location];
    here.clock.join(what.clock);
    raise_own(here.clock, warp, lane, what.epoch);
    here.frozen = {};
    if (!reaches_other_clusters(what.scope) || in_shared_window(location))
        return;
    Accumulator mine;
    mine.join(what.clock);
    raise_own(mine, warp, lane, what.epoch);
    global_.release(location, cluster_, mine.clock(), mine.foreign());
    anywhere_.clock.join(what.clock);
    raise_own(anywhere_.clock, warp, lane, what.epoch);
    anywhere_.frozen = {};
}

void Threads::acquire_at(Location& location, WarpClock& warp, unsigned lane, LaneSync& sync,
                         Accumulator& found) {
    if (!location.frozen)
        location.frozen = space_.freeze(location.clock);
    const std::uint64_t id = location.frozen->id;
    if (!warp.base[lane]->knows(id) && sync.seen_clock != id)
        found.join(location.frozen);
    sync.seen_clock = id;
}

/// What other clusters have published at the place, as far as the read took it.
std::shared_ptr<const Foreign> Threads::published_at(WarpClock& warp, unsigned lane, Address location,
                                                     Poll* poll) {
    // A fence between a write and a read may forbid to read what was there before (PTX ISA 8.9.3).
    if (!poll || (*warp.sync)[lane].fenced)
        return global_.acquire(location);
    const auto knows = [&](const Writer& writer) {
        Record write;
        write.cluster = writer.cluster;
        write.epoch = writer.epoch;
        return sees(warp, lane, write, writer.thread);
    };
    return global_.acquire(location, {cluster_, warp.first + lane, warp.now},
                           value_at(warp.warp->cluster(), location), *poll, knows);
}

void Threads::acquire_from(WarpClock& warp, unsigned lane, Address location, const AccessEvent& event,
                           Poll* poll) {
    const bool now = acquires(event.semantics);
    if (!warp.sync)
        warp.sync = std::make_unique<std::array<LaneSync, warp_size>>();
    LaneSync& sync = (*warp.sync)[lane];
    Accumulator found;
    const auto known = locations_.find(location);
    if (known != locations_.end())
        acquire_at(known->second, warp, lane, sync, found);
    if (reaches_other_clusters(event.scope) && !in_shared_window(location)) {
        auto foreign = published_at(warp, lane, location, poll);
        // Another kernel or the host wrote it. What this launch published may have gone through their hands,
        // which nobody here sees: all of it counts as known, so that nothing right is blamed.
        if (!foreign && known == locations_.end() && warp.warp->cluster().launch().has_company()) {
            acquire_at(anywhere_, warp, lane, sync, found);
            foreign = global_.acquire_all();
        }
        if (foreign && foreign != sync.seen_foreign) {
            found.join_foreign(foreign);
            sync.seen_foreign = std::move(foreign);
        }
    }
    if (now && sync.pending) // What a relaxed read of the same place saw before is acquired now.
        learn(warp, lane, space_.freeze(*std::exchange(sync.pending, nullptr)));
    if (found.empty() && !found.foreign())
        return;
    if (now) {
        learn(warp, lane, space_.freeze(found));
        return;
    }
    auto& pending = releases(event.semantics) ? sync.pending_of_release : sync.pending;
    if (!pending)
        pending = std::make_shared<Accumulator>();
    pending->join(space_.freeze(found));
}

/// For whoever waits for a value at this place later. `epoch`: whoever knows of it knows of the write.
void Threads::note_write(const WarpClock& warp, unsigned lane, Address location, const AccessEvent& event,
                         Epoch epoch) {
    if (in_shared_window(location))
        return;
    if (warp.sync)
        (*warp.sync)[lane].fenced = false;
    if (std::has_single_bit(event.mask))
        global_.note_write(location, {cluster_, warp.first + lane, epoch},
                           value_at(warp.warp->cluster(), location));
    else
        global_.note_writes(location);
}

bool Threads::strong_access(WarpClock& warp, unsigned lane, Address location, const AccessEvent& event,
                            Poll* poll) {
    location = granule(location);
    if (reads(event))
        acquire_from(warp, lane, location, event, poll);
    if (!writes(event))
        return false;
    const bool has_release = warp.sync && (*warp.sync)[lane].release.epoch != 0;
    Epoch known_by = warp.now;
    if (releases(event.semantics)) {
        release_at(warp, lane, location, {warp.base[lane], warp.now, event.scope});
    } else if (has_release) {
        FenceRelease release = (*warp.sync)[lane].release;
        release.scope = narrower(release.scope, event.scope);
        release_at(warp, lane, location, release);
        known_by = release.epoch;
    }
    note_write(warp, lane, location, event, known_by);
    return releases(event.semantics) || has_release;
}

void Threads::observe(WarpClock& warp, unsigned lane, Stream stream, Epoch epoch) {
    auto& seen = streams(warp).of[static_cast<unsigned>(stream)].seen[lane];
    seen = std::max(seen, epoch);
}

} // namespace emu::check
