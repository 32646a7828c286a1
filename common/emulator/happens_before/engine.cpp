// The engine's life, what barriers and fences order, and who wrote the same. (Mbarriers:
// engine_mbarrier.cpp.)

#include "happens_before/engine.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace emu::check {

Engine::Engine(Cluster& cluster, LaunchState& launch)
    : cluster_(cluster), launch_(launch), threads_(static_cast<std::uint32_t>(cluster.linear_index()),
                                                   cluster.info().config.cluster.volume() > 1, launch.sync),
      source_(launch.records), local_records_(launch.take_store()), local_source_(*local_records_),
      pages_(launch.shadow), operations_(1) {}

void Engine::add(std::unique_ptr<FactListener> listener) { listeners_.push_back(std::move(listener)); }

Engine::~Engine() {
    try {
        launch_.give_back(std::move(local_records_));
    } catch (const std::exception&) {
        // No memory left for the list: the store dies, and a later cluster makes a new one.
    }
}

void Engine::watch(FactListener& listener, Watch what) {
    auto& all = watchers_[static_cast<std::size_t>(what)];
    if (std::ranges::find(all, &listener) == all.end())
        all.push_back(&listener);
}

void Engine::tell_the_rest() { tell(&FactListener::tell_the_rest); }

void Engine::on_instruction(Warp& warp, std::uint32_t pc, LaneMask mask) {
    for (FactListener* const watcher : watchers(Watch::instructions))
        watcher->on_instruction(warp, pc, mask);
}

void Engine::on_skipped(Warp& warp, std::uint32_t pc) {
    for (FactListener* const watcher : watchers(Watch::instructions))
        watcher->on_skipped(warp, pc);
}

void Engine::on_block_start(Block& block) {
    threads_.add_block(block);
    if (shared_.size() <= block.rank())
        shared_.resize(block.rank() + 1);
    shared_[block.rank()].reset((block.shared().size() + 3) / 4);
    tell(&ClusterListener::on_block_start, block);
}

void Engine::on_block_exit(Block& block) { tell(&ClusterListener::on_block_exit, block); }
void Engine::on_thread_exit(const WarpLanes& lanes) { tell(&ClusterListener::on_thread_exit, lanes); }

bool Engine::on_mistake(const Mistake& mistake) {
    return std::ranges::any_of(listeners_, [&](const auto& each) { return each->on_mistake(mistake); });
}

void Engine::on_cluster_end() {
    tell(&ClusterListener::on_cluster_end);
    tell_the_rest();
}

// -- bar, barrier.cluster, bar.warp.sync

void Engine::on_barrier_arrive(BarrierKind kind, unsigned id, const WarpLanes& lanes, Semantics semantics) {
    tell(&ClusterListener::on_barrier_arrive, kind, id, lanes, semantics);
    if (kind == BarrierKind::warp)
        return; // Several meetings of one warp may be under way; their arrivals come with the completion.
    const unsigned rank = kind == BarrierKind::block ? lanes.warp->block().rank() : 0;
    Accumulator& arrived = barriers_[{kind, rank, id}].arrived;
    WarpClock& clock = threads_.of(*lanes.warp);
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
    Step step{.pc = lanes.pc, .where = id, .phase = barriers_[{kind, rank, id}].uses};
    step.kind = kind == BarrierKind::block ? Step::Kind::block_barrier : Step::Kind::cluster_barrier;
    step.gives = semantics != Semantics::relaxed;
    step.takes = kind == BarrierKind::block && !cluster_.info().kernel->sources[lanes.pc]->has("arrive");
    end_epoch(clock, lanes.mask, step);
}

void Engine::on_barrier_complete(BarrierKind kind, unsigned id, std::span<const WarpLanes> arrived,
                                 std::span<const WarpLanes> waiting) {
    tell(&ClusterListener::on_barrier_complete, kind, id, arrived, waiting);
    if (arrived.empty()) {
        // Lanes that came to barrier.cluster.wait after the phase had completed.
        if (kind == BarrierKind::cluster && cluster_barrier_) {
            note_cluster_wait(waiting);
            acquire(waiting, cluster_barrier_);
        }
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
            Step step{.kind = Step::Kind::warp_barrier, .pc = lanes.pc};
            step.gives = step.takes = true;
            end_epoch(threads_.of(*lanes.warp), lanes.mask, step);
        }
    } else {
        const unsigned rank = kind == BarrierKind::block ? arrived.front().warp->block().rank() : 0;
        BlockBarrierState& barrier = barriers_[{kind, rank, id}];
        all = std::exchange(barrier.arrived, {});
        ++barrier.uses;
        if (kind == BarrierKind::block) {
            if (barrier.uses == 1)
                barrier.agent = threads_.new_component(1);
            all.raise(order, barrier.agent, barrier.uses);
            note_passed_barrier(waiting);
        } else if (cluster_withheld_)
            cluster_withheld_->end_phase(threads_.space(), all);
    }
    const ClockRef clock = threads_.space().freeze(all);
    if (kind == BarrierKind::cluster) {
        cluster_barrier_ = clock;
        note_cluster_wait(waiting);
    }
    acquire(waiting, clock);
}

bool Engine::knows_last_use(unsigned id, const WarpLanes& lanes) {
    const auto found = barriers_.find({BarrierKind::block, lanes.warp->block().rank(), id});
    if (found == barriers_.end() || found->second.uses == 0)
        return true;
    const WarpClock& clock = threads_.of(*lanes.warp);
    for (LaneMask left = lanes.mask; left; left &= left - 1)
        if (clock.base[static_cast<unsigned>(std::countr_zero(left))]->clock.get(
                order, found->second.agent) >= found->second.uses)
            return true;
    return false;
}

void Engine::note_cluster_wait(std::span<const WarpLanes> waiting) {
    Step step{.kind = Step::Kind::cluster_barrier};
    step.takes = true;
    step.phase = barriers_[{BarrierKind::cluster, 0, 0}].uses - 1;
    for (const WarpLanes& lanes : waiting) {
        step.pc = lanes.pc;
        end_epoch(threads_.of(*lanes.warp), lanes.mask, step);
    }
}

void Engine::end_epoch(WarpClock& warp, LaneMask lanes, Step step) {
    step.lanes = lanes;
    hand_overs_.note(warp, step);
    threads_.advance(warp);
}

void Engine::note_passed_barrier(std::span<const WarpLanes> waiting) {
    for (const WarpLanes& lanes : waiting) {
        auto& passed = threads_.of(*lanes.warp).passed_barriers;
        const auto same = std::ranges::find(passed, lanes.pc, &WarpClock::PassedBarrier::pc);
        if (same == passed.end())
            passed.push_back({lanes.pc, lanes.mask});
        else
            same->lanes |= lanes.mask;
    }
}

void Engine::acquire(std::span<const WarpLanes> waiting, const ClockRef& clock) {
    for (const WarpLanes& lanes : waiting) {
        threads_.learn(lanes, clock);
        WarpClock& warp = threads_.of(*lanes.warp);
        if (warp.sync)
            for_lanes(lanes.mask, [&](unsigned lane) { threads_.settle(warp, lane); });
    }
}

// -- fences

void Engine::on_fence(const FenceEvent& event) {
    tell(&ClusterListener::on_fence, event);
    Step step{.kind = Step::Kind::fence, .pc = event.pc, .lanes = event.mask};
    step.by_proxy_fence = event.kind != FenceKind::membar;
    hand_overs_.note(threads_.of(*event.warp), step);
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
    case FenceKind::mbarrier_init:
        threads_.memory_fence(event);
        return;
    case FenceKind::proxy_tensormap:
        threads_.advance(threads_.of(*event.warp));
        return;
    case FenceKind::proxy_alias:
        return;
    }
}

void Engine::note_co_writers(std::uint32_t write, const Actor& actor) {
    auto& known = co_writers_[actor.word];
    std::erase_if(known, [write](const CoWriters& each) { return each.write != write; });
    const LaneMask lanes = actor.together ? actor.together : LaneMask{1} << actor.lane;
    const auto same_warp = std::ranges::find(known, actor.clock->first, &CoWriters::first);
    if (same_warp == known.end())
        known.push_back({write, actor.clock->first, lanes});
    else
        same_warp->lanes |= lanes;
}

bool Engine::wrote_it_too(std::uint32_t write, const Actor& actor) const {
    const auto known = co_writers_.find(actor.word);
    return known != co_writers_.end() && std::ranges::any_of(known->second, [&](const CoWriters& each) {
               return each.write == write && each.first == actor.clock->first &&
                      (each.lanes >> actor.lane & 1);
           });
}

} // namespace emu::check
