// Edges: what the events of barriers, mbarriers and fences order.

#include "listeners/race.hpp"
#include "machine/reports.hpp"

#include <algorithm>

namespace emu::check {

Checker::Checker(Cluster& cluster, LaunchChecks& launch)
    : cluster_(cluster), launch_(launch),
      threads_(static_cast<std::uint32_t>(cluster.linear_index()), launch.sync), source_(launch.records),
      local_records_(launch.take_store()), local_source_(*local_records_), pages_(launch.shadow),
      operations_(1) {}

std::unique_ptr<RecordStore> LaunchChecks::take_store() {
    const std::lock_guard lock(mutex);
    if (spare.empty())
        return std::make_unique<RecordStore>();
    auto store = std::move(spare.back());
    spare.pop_back();
    return store;
}

void LaunchChecks::give_back(std::unique_ptr<RecordStore> store) {
    store->clear();
    const std::lock_guard lock(mutex);
    spare.push_back(std::move(store));
}

void Checker::on_block_start(Block& block) {
    threads_.add_block(block);
    if (shared_.size() <= block.rank())
        shared_.resize(block.rank() + 1);
    shared_[block.rank()].reset((block.shared().size() + 3) / 4);
}

// -- bar, barrier.cluster, bar.warp.sync

void Checker::on_barrier_arrive(BarrierKind kind, unsigned id, const WarpLanes& lanes, Semantics semantics) {
    if (kind == BarrierKind::warp)
        return; // Several meetings of one warp may be under way; their arrivals come with the completion.
    const unsigned rank = kind == BarrierKind::block ? lanes.warp->block().rank() : 0;
    Accumulator& arrived = barriers_[{kind, rank, id}];
    WarpClock& clock = threads_.of(*lanes.warp);
    if (kind == BarrierKind::cluster && semantics != Semantics::relaxed)
        for (auto& [address, barrier] : mbarriers_)
            barrier.released |= barrier.init_warp == lanes.warp && (lanes.mask >> barrier.init_lane & 1);
    for_lanes(lanes.mask, [&](unsigned lane) {
        if (semantics == Semantics::relaxed) {
            threads_.gather_fenced(arrived, clock, lane);
            if (kind == BarrierKind::cluster)
                withhold(cluster_withheld_, clock, lane, lanes.pc);
            return;
        }
        // One thread takes a ticket by a relaxed atomic and tells its block at a barrier: what the ticket's
        // predecessors published is then known to the whole block.
        if (clock.sync)
            threads_.settle(clock, lane);
        threads_.gather(arrived, clock, lane);
    });
    threads_.advance(clock);
}

void Checker::on_barrier_complete(BarrierKind kind, unsigned id, std::span<const WarpLanes> arrived,
                                  std::span<const WarpLanes> waiting) {
    if (arrived.empty()) {
        // Lanes that came to barrier.cluster.wait after the phase had completed.
        if (kind == BarrierKind::cluster && cluster_barrier_)
            acquire(waiting, cluster_barrier_);
        return;
    }
    Accumulator all;
    if (kind == BarrierKind::warp) {
        // Only bar.warp.sync orders memory; shuffles and votes do not (PTX ISA 9.7.9.5, 9.7.13.3).
        const ptx::Instruction& what = *cluster_.info().kernel->sources[arrived.front().pc];
        if (what.opcode != "bar" && what.opcode != "barrier")
            return;
        for (const WarpLanes& lanes : arrived) {
            threads_.gather(all, lanes);
            threads_.advance(threads_.of(*lanes.warp));
        }
    } else {
        const unsigned rank = kind == BarrierKind::block ? arrived.front().warp->block().rank() : 0;
        all = std::exchange(barriers_[{kind, rank, id}], {});
        if (kind == BarrierKind::block) {
            check_divergence(arrived);
            for (const WarpLanes& lanes : waiting) {
                auto& passed = threads_.of(*lanes.warp).passed_barriers;
                const auto same = std::ranges::find(passed, lanes.pc, &WarpClock::PassedBarrier::pc);
                if (same == passed.end())
                    passed.push_back({lanes.pc, lanes.mask});
                else
                    same->lanes |= lanes.mask;
            }
        } else
            publish_inits(arrived);
        if (kind == BarrierKind::cluster) {
            check_divergence(arrived);
            all_started_ = true;
            if (cluster_withheld_)
                cluster_withheld_->end_phase(threads_.space(), all);
        }
    }
    const ClockRef clock = threads_.space().freeze(all);
    if (kind == BarrierKind::cluster)
        cluster_barrier_ = clock;
    acquire(waiting, clock);
}

void Checker::acquire(std::span<const WarpLanes> waiting, const ClockRef& clock) {
    for (const WarpLanes& lanes : waiting) {
        threads_.learn(lanes, clock);
        WarpClock& warp = threads_.of(*lanes.warp);
        if (warp.sync)
            for_lanes(lanes.mask, [&](unsigned lane) { threads_.settle(warp, lane); });
    }
}

void Checker::publish_inits(std::span<const WarpLanes> arrived) {
    // fence.mbarrier_init.release.cluster, a cluster barrier's arrival (relaxed will do) and its wait make an
    // mbarrier usable by the whole cluster (PTX ISA 9.7.13.4). That fence is the lighter form of a release:
    // an arrival that releases will do without it.
    for (auto& [address, barrier] : mbarriers_)
        if (barrier.init_fence || barrier.released)
            barrier.published |= std::any_of(arrived.begin(), arrived.end(), [&](const WarpLanes& lanes) {
                return lanes.warp == barrier.init_warp && (lanes.mask >> barrier.init_lane & 1);
            });
}

void Checker::check_divergence(std::span<const WarpLanes> arrived) {
    // bar and barrier….aligned: all threads of a warp must execute the same instruction (PTX ISA 9.7.13.1).
    const auto& sources = cluster_.info().kernel->sources;
    for (std::size_t i = 0; i < arrived.size(); ++i) {
        const ptx::Instruction& a = *sources[arrived[i].pc];
        if (a.opcode != "bar" && !a.has("aligned"))
            continue;
        for (std::size_t j = 0; j < i; ++j) {
            if (arrived[j].warp != arrived[i].warp || arrived[j].pc == arrived[i].pc ||
                !first_time("divergent-barrier", arrived[j].pc, arrived[i].pc))
                continue;
            const auto line = [&](const WarpLanes& lanes) {
                return cluster_.source_line(lanes.pc, std::to_string(std::popcount(lanes.mask)) +
                                                          " threads of the warp arrive here");
            };
            publish("divergent-barrier",
                    std::string("The threads of one warp arrive at a ") +
                        (a.has("cluster") ? "cluster" : "block") +
                        " barrier by different instructions. The barrier is "
                        "'aligned': all threads of a warp must execute the same one.",
                    "Move the barrier behind the if, where all threads meet again.",
                    {line(arrived[j]), line(arrived[i])});
        }
    }
}

/// Threads that end while others of their warp wait at an aligned barrier, though they did more than return
/// early: they went on past it, or have passed it before, in a loop.
void Checker::on_thread_exit(const WarpLanes& lanes) {
    const Warp& warp = *lanes.warp;
    const LaneMask others = warp.present() & ~warp.exited();
    if (!others || cluster_.stopped())
        return;
    const auto& sources = cluster_.info().kernel->sources;
    for (LaneMask left = others; left; left &= left - 1) {
        const auto lane = static_cast<unsigned>(std::countr_zero(left));
        const Wait wait = warp.wait_of(lane);
        const std::uint32_t pc = warp.lane_pc(lane);
        if ((wait != Wait::block_barrier && wait != Wait::cluster_barrier) ||
            (sources[pc]->opcode != "bar" && !sources[pc]->has("aligned")))
            continue;
        const WarpClock& clock = threads_.of(warp);
        std::uint32_t went_on = 0;
        for (const WarpClock::Recent& each : clock.recent)
            if (each.pc != ~0u && each.epoch == clock.now)
                went_on = std::max(went_on, each.pc);
        const auto passed = std::ranges::find(clock.passed_barriers, pc, &WarpClock::PassedBarrier::pc);
        const bool in_loop = passed != clock.passed_barriers.end() && (passed->lanes & lanes.mask);
        if (went_on || in_loop)
            tell_skipped_barrier(lanes, lane, went_on, in_loop);
        return;
    }
}

void Checker::tell_skipped_barrier(const WarpLanes& lanes, unsigned waiting, std::uint32_t went_on,
                                   bool in_loop) {
    const std::uint32_t pc = lanes.warp->lane_pc(waiting);
    if (!first_time("divergent-barrier", pc, pc))
        return;
    const std::string other = thread_name(*lanes.warp, waiting);
    const std::string ended = thread_name(*lanes.warp, static_cast<unsigned>(std::countr_zero(lanes.mask)));
    std::vector<SourceLine> lines{cluster_.source_line(pc, "wait of " + other)};
    if (went_on)
        lines.push_back(cluster_.source_line(went_on, "meanwhile " + ended));
    publish("divergent-barrier",
            other + " waits at a barrier that " + ended + ", a thread of its warp, " +
                (in_loop ? "passes less often: it left the loop earlier and ended."
                         : "does not reach: it went on and ended.") +
                " The barrier is 'aligned': all threads of a warp must execute it, equally often.",
            "Let all threads run through the branch or loop and guard the work, not the barrier: "
            "if (i < n) { ... } __syncthreads();",
            std::move(lines), true);
}

// -- the end of blocks that others use

void Checker::note_remote_uses(const AccessEvent& event, const WarpClock&) {
    const unsigned own = event.warp->block().rank();
    for_lanes(event.mask, [&](unsigned lane) {
        if (const unsigned rank = shared_rank(static_cast<std::uint32_t>(event.addresses[lane])); rank != own)
            note_remote_use(*event.warp, lane, event.pc, rank);
    });
}

void Checker::note_remote_use(const Warp& warp, unsigned lane, std::uint32_t pc, unsigned rank) {
    if (remote_uses_.size() <= rank)
        remote_uses_.resize(cluster_.blocks().size());
    if (rank >= remote_uses_.size())
        return;
    const WarpClock& clock = threads_.of(warp);
    auto& uses = remote_uses_[rank];
    if (uses.size() <= clock.first + lane)
        uses.resize(clock.first + warp_size);
    uses[clock.first + lane] = {&warp, lane, pc, clock.now};
}

/// Whoever uses the shared memory of another block must have told it so before it ends.
void Checker::on_block_exit(Block& block) {
    if (block.rank() >= remote_uses_.size() || remote_uses_[block.rank()].empty() || cluster_.stopped())
        return;
    Accumulator known;
    for (const auto& warp : block.warps())
        threads_.gather(known, {warp.get(), warp->present(), 0});
    const auto knows = [&](Component thread, Epoch epoch) {
        if (known.clock().get(order, thread) >= epoch)
            return true;
        // A relaxed arrival publishes nothing, but it comes behind the access.
        return cluster_withheld_ && cluster_withheld_->phase != 0 &&
               cluster_withheld_->clock->clock.get(order, thread) >= epoch &&
               known.clock().get(order, cluster_withheld_->agent) >= cluster_withheld_->phase;
    };
    const auto& uses = remote_uses_[block.rank()];
    for (Component thread = 0; thread < uses.size(); ++thread) {
        const RemoteUse& use = uses[thread];
        if (!use.warp || knows(thread, use.epoch) || !first_time("remote-block-exited", use.pc, use.pc))
            continue;
        const std::string user = thread_name(*use.warp, use.lane);
        publish(
            "remote-block-exited",
            user + " uses the shared memory of cluster block " + std::to_string(block.rank()) +
                ", which has ended, and nothing made it wait for that use: in another run it ends before.",
            "Put a cluster barrier (cluster.sync(), barrier.cluster) behind the last access to the shared "
            "memory of another block, before any block ends.",
            {cluster_.source_line(use.pc, "by " + user)});
    }
}

// -- fences

void Checker::on_fence(const FenceEvent& event) {
    switch (event.kind) {
    case FenceKind::membar:
        if (event.scope == Scope::gpu || event.scope == Scope::sys) {
            // NVIDIA's own tests let bulk copies read global memory behind __threadfence() alone.
            FenceEvent global = event;
            global.covers_shared = false;
            global.covers_global = true;
            threads_.proxy_fence(global);
        }
        threads_.memory_fence(event);
        return;
    case FenceKind::proxy_async:
        threads_.proxy_fence(event);
        return;
    case FenceKind::proxy_async_acquire_release:
        threads_.proxy_fence(event);
        threads_.memory_fence(event);
        return;
    case FenceKind::mbarrier_init: {
        const WarpClock& clock = threads_.of(*event.warp);
        for (auto& [address, barrier] : mbarriers_)
            if (barrier.init_warp == event.warp && (event.mask >> barrier.init_lane & 1))
                barrier.init_fence = clock.now;
        threads_.memory_fence(event);
        return;
    }
    case FenceKind::proxy_tensormap:
        return note_tensor_map_fence(event);
    case FenceKind::proxy_alias:
        return;
    }
}

// -- mbarriers

void Checker::on_mbarrier_init(const MbarrierEvent& event) {
    WarpClock& clock = threads_.of(*event.warp);
    BarrierState& barrier = mbarriers_[event.address];
    if (barrier.init_warp && !barrier.invalidated)
        check_init_again(event, barrier);
    barrier = {};
    barrier.agent = threads_.new_component(1);
    barrier.completed = threads_.space().bottom();
    barrier.init_warp = event.warp;
    barrier.init_lane = event.lane;
    barrier.init_pc = event.pc;
    barrier.init_component = clock.first + event.lane;
    barrier.init_epoch = clock.now;
    barrier.init_knowledge = clock.base[event.lane];
    Actor actor;
    actor.clock = &clock;
    actor.lane = event.lane;
    actor.is_write = true;
    actor.shared = true;
    const std::uint32_t id =
        record_for(clock, event.pc, Record::by_lane | Record::write | Record::init | Record::local);
    actor.record = &store(true)[id];
    actor.ref = make_ref(id, event.lane);
    access_one(actor, event.address, 8);
}

void Checker::overwrite_mbarrier(const Actor& actor) {
    const auto address = static_cast<std::uint32_t>(actor.word) & ~7u;
    const auto found = mbarriers_.find(address);
    const Mbarrier* const object = cluster_.mbarrier(address);
    if (found == mbarriers_.end() || !object || object->invalidated || !found->second.overwritten.empty())
        return;
    found->second.overwritten = who(actor);
    found->second.overwritten_pc = actor.record->pc;
}

/// Memory of an mbarrier may serve something else when nobody uses the barrier any more. Told when somebody
/// does.
void Checker::check_overwritten(const MbarrierEvent& event, const BarrierState& barrier) {
    if (barrier.overwritten.empty() || !first_time("barrier-uninitialised", event.pc, barrier.overwritten_pc))
        return;
    const std::string name = "mbarrier " + shared_name(cluster_.info(), shared_offset(event.address));
    const std::string user =
        event.warp ? thread_name(*event.warp, event.lane) : std::string("an asynchronous copy");
    std::vector<SourceLine> lines{
        cluster_.source_line(barrier.overwritten_pc, "written by " + barrier.overwritten)};
    if (event.warp)
        lines.push_back(cluster_.source_line(event.pc, "used by " + user));
    publish(
        "barrier-uninitialised",
        barrier.overwritten + " wrote ordinary data over " + name + ", which " + user +
            " uses after that. The object is destroyed; what the barrier does now is not defined.",
        "Only mbarrier instructions may touch the 8 bytes between mbarrier.init and mbarrier.inval. Check "
        "the index of the write: an array that lies before the barrier may have been overrun.",
        std::move(lines));
}

void Checker::on_mbarrier_inval(const MbarrierEvent& event) {
    if (const auto found = mbarriers_.find(event.address); found != mbarriers_.end())
        found->second.invalidated = true;
}

Checker::BarrierUse& Checker::note_use(BarrierState& barrier, const MbarrierEvent& event) {
    const WarpClock& clock = threads_.of(*event.warp);
    const Component thread = clock.first + event.lane;
    if (barrier.uses.size() <= thread)
        barrier.uses.resize(thread + warp_size);
    BarrierUse& use = barrier.uses[thread];
    use.warp = event.warp;
    use.pc = event.pc;
    use.epoch = clock.now;
    return use;
}

/// A barrier at rest may be initialised once more when everybody is done with it. (PTX wants mbarrier.inval
/// first, and hardware does not.)
void Checker::check_init_again(const MbarrierEvent& event, const BarrierState& barrier) {
    const WarpClock& clock = threads_.of(*event.warp);
    const std::string name = barrier_name(event.address);
    const std::string initialiser = thread_name(*event.warp, event.lane);
    const auto is_behind = [&](Component thread, Epoch epoch) {
        Record before;
        before.cluster = threads_.cluster();
        before.epoch = epoch;
        return threads_.sees(clock, event.lane, before, thread);
    };
    for (Component thread = 0; thread < barrier.uses.size(); ++thread) {
        const BarrierUse& use = barrier.uses[thread];
        if (!use.warp || is_behind(thread, use.epoch))
            continue;
        if (!first_time("barrier-reinit-in-use", use.pc, event.pc))
            return;
        const std::string user = thread_name(*use.warp, thread - threads_.of(*use.warp).first);
        return publish(
            "barrier-reinit-in-use",
            initialiser + " initialises " + name + " again, and nothing orders that behind its last use by " +
                user + ": a thread that comes later finds another phase than it waits for.",
            "Initialise an mbarrier once, before the loop; its phases follow each other by themselves. "
            "If another count is needed: a __syncthreads() behind everybody's last wait, "
            "mbarrier.inval, mbarrier.init by one thread, and a __syncthreads() again.",
            {cluster_.source_line(use.pc, "used by " + user),
             cluster_.source_line(event.pc, "initialised again by " + initialiser)});
    }
    if (is_behind(barrier.init_component, barrier.init_epoch) ||
        !first_time("barrier-reinit-in-use", barrier.init_pc, event.pc))
        return;
    const std::string other = thread_name(*barrier.init_warp, barrier.init_lane);
    publish("barrier-reinit-in-use",
            other + " and " + initialiser + " both initialise " + name +
                ", and nothing orders one before the other. What the second one destroys is lost.",
            "One thread initialises an mbarrier: if (threadIdx.x == 0).",
            {cluster_.source_line(barrier.init_pc, "initialised by " + other),
             cluster_.source_line(event.pc, "initialised again by " + initialiser)},
            true);
}

/// A thread whose arrival came after the phase that it waits for had ended: it was one too many for that
/// phase.
void Checker::check_late_arrival(const MbarrierEvent& event, const BarrierState& barrier,
                                 const BarrierUse& use) {
    if (!use.arrived || use.phase != event.phase + 1 ||
        !first_time("arrival-count-mismatch", use.arrive_pc, event.pc))
        return;
    const std::string thread = thread_name(*event.warp, event.lane);
    const std::string ended = std::to_string(event.phase);
    publish("arrival-count-mismatch",
            thread + " waits for phase " + ended + " of " + barrier_name(event.address) +
                ", which had ended before it arrived: others had made up the count, and its own arrival is "
                "counted in phase " +
                std::to_string(use.phase) + ".",
            "More threads arrive in a phase than the count given to mbarrier.init. Give init the number of "
            "threads that arrive, for instance blockDim.x.",
            {cluster_.source_line(use.arrive_pc, "arrival of " + thread),
             cluster_.source_line(event.pc, "wait of " + thread),
             cluster_.source_line(barrier.init_pc,
                                  "initialised by " + thread_name(*barrier.init_warp, barrier.init_lane))});
}

void Checker::on_mbarrier_arrive(const MbarrierEvent& event) {
    const auto found = mbarriers_.find(event.address);
    if (found == mbarriers_.end())
        return;
    BarrierState& barrier = found->second;
    check_overwritten(event, barrier);
    if (event.operation) {
        const auto live = live_.find(event.operation->id);
        if (live == live_.end())
            return;
        Operation& operation = operations_[live->second];
        operation.completed = true;
        std::erase(barrier.pending, live->second);
        // The completion is a release (PTX ISA 8.9.1), and what the issuing thread did before the copy came
        // before it.
        barrier.arrived.join(operation.clock);
        operation.clock = {};
        barrier.arrived.raise(order, threads_.of(*operation.warp).first + operation.lane, operation.epoch);
        const auto complete = [&](std::uint32_t record, bool shared) {
            if (record)
                std::atomic_ref(store(shared)[record].epoch)
                    .store(static_cast<Epoch>(event.phase + 1), std::memory_order_relaxed);
        };
        complete(operation.reads, operation.reads_shared);
        complete(operation.writes, operation.writes_shared);
        return;
    }
    if (!event.warp)
        return;
    if (const unsigned rank = shared_rank(event.address); rank != event.warp->block().rank()) {
        check_started(*event.warp, event.lane, event.pc, rank);
        if (event.semantics != Semantics::relaxed)
            note_remote_use(*event.warp, event.lane, event.pc, rank);
    }
    check_use_visible(event, barrier);
    BarrierUse& use = note_use(barrier, event);
    if (event.tx > 0) {
        std::erase_if(held_, [&](const auto& each) {
            const Operation& copy = operations_[each.first];
            return copy.barrier == event.address && copy.issued_in == event.phase &&
                   copy.warp == event.warp && copy.lane == event.lane;
        });
        barrier.expect_pc = event.pc;
        barrier.expect_warp = event.warp;
        barrier.expect_lane = event.lane;
    }
    if (event.count == 0)
        return;
    use.arrived = true;
    use.phase = event.phase;
    use.arrive_pc = event.pc;
    WarpClock& clock = threads_.of(*event.warp);
    if (event.semantics == Semantics::relaxed) {
        threads_.gather_fenced(barrier.arrived, clock, event.lane);
        withhold(barrier.withheld, clock, event.lane, event.pc);
    } else {
        threads_.gather(barrier.arrived, clock, event.lane);
    }
    threads_.advance(clock);
}

void Checker::on_mbarrier_phase(const MbarrierEvent& event) {
    const auto found = mbarriers_.find(event.address);
    if (found == mbarriers_.end())
        return;
    BarrierState& barrier = found->second;
    std::vector<std::uint32_t> decided;
    for (const auto& [index, findings] : held_)
        if (operations_[index].barrier == event.address && operations_[index].issued_in <= event.phase)
            decided.push_back(index);
    std::ranges::for_each(decided, [this](std::uint32_t index) { publish_held(index); });
    for (const std::uint32_t index : barrier.pending)
        if (operations_[index].issued_in == event.phase && !operations_[index].reported)
            unfinished_phase(barrier, index, event.address, event.phase);
    barrier.arrived.raise(order, barrier.agent, static_cast<Epoch>(event.phase + 1));
    if (barrier.withheld)
        barrier.withheld->end_phase(threads_.space(), barrier.arrived);
    barrier.completed = threads_.space().freeze(barrier.arrived);
}

void Checker::on_mbarrier_observed(const MbarrierEvent& event) {
    const auto found = mbarriers_.find(event.address);
    if (found == mbarriers_.end())
        return;
    check_overwritten(event, found->second);
    check_use_visible(event, found->second);
    WarpClock& clock = threads_.of(*event.warp);
    BarrierState& barrier = found->second;
    Passed& passed = pass(barrier, event);
    const BarrierUse& use = note_use(barrier, event);
    if (passed.phases < event.phase + 1) {
        check_late_arrival(event, barrier, use);
        passed.phases = event.phase + 1;
        passed.epoch = clock.now;
    }
    if (event.semantics == Semantics::relaxed)
        passed.unseen = barrier.completed;
    else
        threads_.learn(clock, event.lane, barrier.completed);
}

void Checker::on_mbarrier_passed_fresh(const MbarrierEvent& event) {
    const auto found = mbarriers_.find(event.address);
    if (found == mbarriers_.end())
        return;
    check_overwritten(event, found->second);
    check_use_visible(event, found->second);
    pass(found->second, event);
}

Checker::Passed& Checker::pass(BarrierState& barrier, const MbarrierEvent& event) {
    const Component thread = threads_.of(*event.warp).first + event.lane;
    if (barrier.passed.size() <= thread)
        barrier.passed.resize(thread + warp_size);
    Passed& passed = barrier.passed[thread];
    passed.warp = event.warp;
    passed.lane = event.lane;
    passed.pc = event.pc;
    barrier.last_passed = thread;
    return passed;
}

void Checker::withhold(std::unique_ptr<Withheld>& withheld, WarpClock& clock, unsigned lane,
                       std::uint32_t pc) {
    if (!withheld) {
        withheld = std::make_unique<Withheld>();
        withheld->agent = threads_.new_component(1);
        withheld->clock = threads_.space().bottom();
    }
    threads_.gather(withheld->arriving, clock, lane);
    withheld->arrivals[clock.first + lane] = {clock.warp, lane, pc};
}

void Checker::Withheld::end_phase(ClockSpace& space, Accumulator& published) {
    if (arriving.empty())
        return;
    clock = space.join(clock, space.freeze(std::exchange(arriving, {})));
    published.raise(order, agent, ++phase);
}

void Checker::check_use_visible(const MbarrierEvent& event, const BarrierState& barrier) {
    if (barrier.published)
        return;
    Record init;
    init.cluster = threads_.cluster();
    init.epoch = barrier.init_epoch;
    const WarpClock& clock = threads_.of(*event.warp);
    if (threads_.sees(clock, event.lane, init, barrier.init_component) ||
        !first_time("barrier-init-not-visible", barrier.init_pc, barrier.init_pc))
        return;
    cluster_.report(init_not_visible(barrier, event.address, *event.warp, event.lane, event.pc, false));
}

void Checker::check_init_visible(const AsyncOperation& operation, std::uint32_t index,
                                 const WarpClock& clock) {
    const auto found = mbarriers_.find(operation.barrier);
    if (found == mbarriers_.end() || found->second.published)
        return;
    const BarrierState& barrier = found->second;
    // A thread that initialises, expects and issues in one go needs no fence on hardware, and published code
    // has none.
    if (operation.warp == barrier.init_warp && operation.lane == barrier.init_lane &&
        clock.base[operation.lane] == barrier.init_knowledge)
        return;
    Record init;
    init.cluster = threads_.cluster();
    init.epoch = barrier.init_epoch;
    // st.async works in the generic proxy and needs no proxy fence.
    const bool generic = operation.kind == AsyncKind::st_async;
    bool visible =
        threads_.sees(clock, operation.lane, init, barrier.init_component, generic ? order : shared_proxy);
    if (!visible && barrier.init_fence) {
        init.epoch = barrier.init_fence;
        visible = threads_.sees(clock, operation.lane, init, barrier.init_component);
    }
    if (!visible)
        hold(
            index,
            init_not_visible(barrier, operation.barrier, *operation.warp, operation.lane, operation.pc, true),
            barrier.init_pc);
}

} // namespace emu::check
