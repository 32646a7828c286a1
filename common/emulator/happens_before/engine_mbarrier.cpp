// What mbarriers order: initialised, arrived at, completed, observed.

#include "happens_before/engine.hpp"

#include <algorithm>
#include <atomic>

namespace emu::check {

void Engine::on_mbarrier_init(const MbarrierEvent& event) {
    tell(&ClusterListener::on_mbarrier_init, event);
    WarpClock& clock = threads_.of(*event.warp);
    BarrierState& barrier = mbarriers_[event.address];
    barrier = {};
    barrier.agent = threads_.new_component(1);
    barrier.completed = threads_.space().bottom();
    barrier.init_warp = event.warp;
    barrier.init_lane = event.lane;
    barrier.init_pc = event.pc;
    barrier.init_component = clock.first + event.lane;
    barrier.init_epoch = clock.now;
    if (threads_.several_blocks())
        barrier.across = std::make_unique<HandedAcross>(
            HandedAcross{.of_rank = std::vector<HandedAcross::Share>(cluster_.blocks().size()),
                         .of_cluster = {},
                         .of_copies = {}});
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

void Engine::on_mbarrier_inval(const MbarrierEvent& event) {
    tell(&ClusterListener::on_mbarrier_inval, event);
    if (const auto found = mbarriers_.find(event.address); found != mbarriers_.end())
        found->second.invalidated = true;
}

void Engine::on_mbarrier_arrive(const MbarrierEvent& event) {
    tell(&ClusterListener::on_mbarrier_arrive, event);
    const auto found = mbarriers_.find(event.address);
    if (found == mbarriers_.end())
        return;
    BarrierState& barrier = found->second;
    if (event.operation)
        return complete(event, barrier);
    if (!event.warp || event.count == 0)
        return;
    WarpClock& clock = threads_.of(*event.warp);
    if (event.semantics == Semantics::relaxed) {
        threads_.gather_fenced(barrier.arrived, clock, event.lane);
        withhold(barrier.withheld, clock, event.lane, event.pc);
    } else {
        threads_.gather(barrier.arrived, clock, event.lane);
    }
    if (barrier.across)
        arrive_across(barrier, clock, event);
    Step step{.kind = Step::Kind::mbarrier, .pc = event.pc, .where = event.address, .phase = event.phase};
    step.gives = event.semantics != Semantics::relaxed;
    end_epoch(clock, LaneMask{1} << event.lane, step);
}

void Engine::arrive_across(BarrierState& barrier, WarpClock& clock, const MbarrierEvent& event) {
    HandedAcross& across = *barrier.across;
    Accumulator& block = across.of_rank[event.warp->block().rank()].arrived;
    if (event.semantics == Semantics::relaxed)
        threads_.gather_fenced(block, clock, event.lane);
    else
        threads_.gather(block, clock, event.lane);
    // A fence of cluster scope lends its scope to the arrival behind it.
    if (event.semantics == Semantics::relaxed || event.scope == Scope::cta)
        threads_.gather_fenced(across.of_cluster.arrived, clock, event.lane, Scope::cluster);
    else
        threads_.gather(across.of_cluster.arrived, clock, event.lane);
}

/// An asynchronous operation has landed, and its complete_tx arrives.
void Engine::complete(const MbarrierEvent& event, BarrierState& barrier) {
    const auto live = live_.find(event.operation->id);
    if (live == live_.end())
        return;
    Operation& operation = operations_[live->second];
    operation.completed = true;
    std::erase(barrier.pending, live->second);
    // The completion is a release (PTX ISA 8.9.1), and what the issuing thread did before the copy came
    // before it.
    const Component issuer = threads_.of(*operation.warp).first + operation.lane;
    barrier.arrived.join(operation.clock);
    barrier.arrived.raise(order, issuer, operation.epoch);
    if (barrier.across) {
        Accumulator& copies = barrier.across->of_copies.arrived;
        copies.join(operation.clock);
        copies.raise(across_blocks, issuer, operation.epoch);
    }
    keep_clock(live->second);
    const auto end = [&](std::uint32_t record, bool shared) {
        if (record)
            std::atomic_ref(store(shared)[record].epoch)
                .store(static_cast<Epoch>(event.phase + 1), std::memory_order_relaxed);
    };
    end(operation.reads, operation.reads_shared);
    end(operation.writes, operation.writes_shared);
}

/// Who explains a conflict with it may want to know what its issuing thread knew.
void Engine::keep_clock(std::uint32_t operation) {
    std::uint32_t& slot = landed_[next_landed_++ % landed_.size()];
    operations_[slot].clock = {};
    slot = operation;
}

void Engine::on_mbarrier_phase(const MbarrierEvent& event) {
    tell(&ClusterListener::on_mbarrier_phase, event);
    const auto found = mbarriers_.find(event.address);
    if (found == mbarriers_.end())
        return;
    BarrierState& barrier = found->second;
    for (const std::uint32_t index : barrier.pending)
        operations_[index].surplus |= operations_[index].issued_in == event.phase;
    barrier.arrived.raise(order, barrier.agent, static_cast<Epoch>(event.phase + 1));
    if (barrier.withheld)
        barrier.withheld->end_phase(threads_.space(), barrier.arrived);
    if (barrier.across) {
        const auto freeze = [this](HandedAcross::Share& share) {
            share.completed = threads_.space().freeze(share.arrived);
        };
        std::ranges::for_each(barrier.across->of_rank, freeze);
        freeze(barrier.across->of_cluster);
        freeze(barrier.across->of_copies);
        barrier.arrived.forget(across_blocks);
    }
    barrier.completed = threads_.space().freeze(barrier.arrived);
}

void Engine::on_mbarrier_observed(const MbarrierEvent& event) {
    tell(&ClusterListener::on_mbarrier_observed, event);
    const auto found = mbarriers_.find(event.address);
    if (found == mbarriers_.end())
        return;
    WarpClock& clock = threads_.of(*event.warp);
    BarrierState& barrier = found->second;
    BarrierState::Passed& passed = pass(barrier, event);
    Step step{.kind = Step::Kind::mbarrier, .pc = event.pc, .where = event.address, .phase = event.phase};
    step.takes = true;
    step.repeated = passed.phases >= event.phase + 1;
    end_epoch(clock, LaneMask{1} << event.lane, step);
    if (passed.phases < event.phase + 1) {
        passed.phases = event.phase + 1;
        passed.epoch = clock.now;
    }
    if (event.semantics == Semantics::relaxed)
        passed.unseen = barrier.completed;
    else
        threads_.learn(clock, event.lane, barrier.completed);
    if (barrier.across && event.semantics != Semantics::relaxed)
        learn_across(barrier, clock, event);
}

void Engine::learn_across(const BarrierState& barrier, WarpClock& clock, const MbarrierEvent& event) {
    const HandedAcross& across = *barrier.across;
    threads_.learn(clock, event.lane, across.of_rank[event.warp->block().rank()].completed);
    threads_.learn(clock, event.lane, across.of_copies.completed);
    if (event.scope != Scope::cta)
        threads_.learn(clock, event.lane, across.of_cluster.completed);
}

void Engine::on_mbarrier_passed_fresh(const MbarrierEvent& event) {
    tell(&ClusterListener::on_mbarrier_passed_fresh, event);
    const auto found = mbarriers_.find(event.address);
    if (found == mbarriers_.end())
        return;
    pass(found->second, event);
    Step step{.kind = Step::Kind::mbarrier, .pc = event.pc, .where = event.address};
    step.takes = step.fresh = true;
    end_epoch(threads_.of(*event.warp), LaneMask{1} << event.lane, step);
}

BarrierState::Passed& Engine::pass(BarrierState& barrier, const MbarrierEvent& event) {
    const Component thread = threads_.of(*event.warp).first + event.lane;
    if (barrier.passed.size() <= thread)
        barrier.passed.resize(thread + warp_size);
    BarrierState::Passed& passed = barrier.passed[thread];
    passed.warp = event.warp;
    passed.lane = event.lane;
    passed.pc = event.pc;
    barrier.last_passed = thread;
    return passed;
}

void Engine::withhold(std::unique_ptr<Withheld>& withheld, WarpClock& clock, unsigned lane,
                      std::uint32_t pc) {
    if (!withheld) {
        withheld = std::make_unique<Withheld>();
        withheld->agent = threads_.new_component(1);
        withheld->clock = threads_.space().bottom();
    }
    threads_.gather(withheld->arriving, clock, lane);
    withheld->arrivals[clock.first + lane] = {clock.warp, lane, pc};
}

void Withheld::end_phase(ClockSpace& space, Accumulator& published) {
    if (arriving.empty())
        return;
    clock = space.join(clock, space.freeze(std::exchange(arriving, {})));
    published.raise(order, agent, ++phase);
}

/// Whether the thread comes behind mbarrier.init, as `part` of its clock knows it.
bool Engine::sees_init(const BarrierState& barrier, const WarpClock& clock, unsigned lane, Part part) const {
    Record init;
    init.cluster = threads_.cluster();
    init.epoch = barrier.init_epoch;
    return threads_.sees(clock, lane, init, barrier.init_component, part);
}

} // namespace emu::check
