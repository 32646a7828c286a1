// Edges: what the events of barriers and fences order. (Those of mbarriers: race_mbarrier.cpp.)

#include "machine/device.hpp"
#include "machine/reports.hpp"
#include "rules/race.hpp"

#include <algorithm>

namespace emu::check {

Checker::Checker(Cluster& cluster, LaunchChecks& launch)
    : cluster_(cluster), strict_(cluster.launch().device().settings().strict), launch_(launch),
      threads_(static_cast<std::uint32_t>(cluster.linear_index()), launch.sync), source_(launch.records),
      local_records_(launch.take_store()), local_source_(*local_records_), pages_(launch.shadow),
      operations_(1), late_reads_(launch.late_reads(*cluster.info().kernel)),
      speculative_loads_(launch.speculative_loads(*cluster.info().kernel)) {}

std::unique_ptr<RecordStore> LaunchChecks::take_store() {
    const std::lock_guard lock(mutex);
    if (spare.empty())
        return std::make_unique<RecordStore>();
    auto store = std::move(spare.back());
    spare.pop_back();
    return store;
}

const LateReadSites& LaunchChecks::late_reads(const Kernel& kernel) {
    std::call_once(searched_, [&] { late_reads_ = find_late_reads(kernel); });
    return late_reads_;
}

const SpeculativeSites& LaunchChecks::speculative_loads(const Kernel& kernel) {
    std::call_once(searched_speculative_, [&] { speculative_ = find_speculative_loads(kernel); });
    return speculative_;
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
    values_.start_block(block.rank());
}

// -- bar, barrier.cluster, bar.warp.sync

void Checker::on_barrier_arrive(BarrierKind kind, unsigned id, const WarpLanes& lanes, Semantics semantics) {
    if (kind == BarrierKind::warp)
        return; // Several meetings of one warp may be under way; their arrivals come with the completion.
    const unsigned rank = kind == BarrierKind::block ? lanes.warp->block().rank() : 0;
    Accumulator& arrived = barriers_[{kind, rank, id}];
    WarpClock& clock = threads_.of(*lanes.warp);
    if (kind == BarrierKind::cluster && semantics != Semantics::relaxed)
        late_reads_.settle(*lanes.warp, lanes.mask, clock.now);
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
                !first_time(Finding::divergent_barrier, arrived[j].pc, arrived[i].pc))
                continue;
            const auto line = [&](const WarpLanes& lanes) {
                return cluster_.source_line(lanes.pc, std::to_string(std::popcount(lanes.mask)) +
                                                          " threads of the warp arrive here");
            };
            publish(Finding::divergent_barrier,
                    std::string("The threads of one warp arrive at a ") +
                        (a.has("cluster") ? "cluster" : "block") +
                        " barrier by different instructions. The barrier is 'aligned': all threads of a warp "
                        "must execute the same one.",
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
    if (!first_time(Finding::divergent_barrier, pc, pc))
        return;
    const std::string other = thread_name(*lanes.warp, waiting);
    const std::string ended = thread_name(*lanes.warp, static_cast<unsigned>(std::countr_zero(lanes.mask)));
    std::vector<SourceLine> lines{cluster_.source_line(pc, "wait of " + other)};
    if (went_on)
        lines.push_back(cluster_.source_line(went_on, "meanwhile " + ended));
    publish(Finding::divergent_barrier,
            other + " waits at a barrier that " + ended + ", a thread of its warp, " +
                (in_loop ? "passes less often: it left the loop earlier and ended."
                         : "does not reach: it went on and ended.") +
                " The barrier is 'aligned': all threads of a warp must execute it, equally often.",
            "Let all threads run through the branch or loop and guard the work, not the barrier: if (i < n) "
            "{ ... } __syncthreads();",
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
        if (!use.warp || knows(thread, use.epoch) ||
            !first_time(Finding::remote_block_exited, use.pc, use.pc))
            continue;
        const std::string user = thread_name(*use.warp, use.lane);
        left_early_[use.pc] = make(
            Finding::remote_block_exited,
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
        if (event.scope != Scope::cta) // An H200 shows that membar.cta does not wait for loads.
            late_reads_.settle(*event.warp, event.mask, threads_.of(*event.warp).now);
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

} // namespace emu::check
