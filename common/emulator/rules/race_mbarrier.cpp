// Edges and checks of mbarriers: initialised, overwritten, arrived at, observed.

#include "machine/reports.hpp"
#include "rules/race.hpp"

#include <algorithm>

namespace emu::check {

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
    if (barrier.overwritten.empty() ||
        !first_time(Finding::barrier_uninitialised, event.pc, barrier.overwritten_pc))
        return;
    const std::string name = "mbarrier " + shared_name(cluster_.info(), shared_offset(event.address));
    const std::string user =
        event.warp ? thread_name(*event.warp, event.lane) : std::string("an asynchronous copy");
    std::vector<SourceLine> lines{
        cluster_.source_line(barrier.overwritten_pc, "written by " + barrier.overwritten)};
    if (event.warp)
        lines.push_back(cluster_.source_line(event.pc, "used by " + user));
    publish(Finding::barrier_uninitialised,
            barrier.overwritten + " wrote ordinary data over " + name + ", which " + user +
                " uses after that. The object is destroyed; what the barrier does now is not defined.",
            "Only mbarrier instructions may touch the 8 bytes between mbarrier.init and mbarrier.inval. "
            "Check the index of the write: an array that lies before the barrier may have been overrun.",
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
/// first, and hardware does not.) libcu++'s tests make a second barrier in the place of the first while
/// others come from their last wait, so only an init in a loop is told.
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
    // The copies that make up an unrolled loop come from one place.
    const auto& sources = cluster_.info().kernel->sources;
    const std::uint32_t first = sources[barrier.init_pc]->location, second = sources[event.pc]->location;
    const auto in_loop = [&](const BarrierUse& use) {
        // A function that is called (code built with -G) may initialise one barrier after the other.
        if (barrier.init_pc == event.pc)
            return cluster_.info().kernel->function_of[event.pc] == 0;
        return first != 0 && first == second && sources[use.pc]->has("parity");
    };
    for (Component thread = 0; thread < barrier.uses.size(); ++thread) {
        const BarrierUse& use = barrier.uses[thread];
        if (!use.warp || !in_loop(use) || is_behind(thread, use.epoch))
            continue;
        if (!first_time(Finding::barrier_reinit_in_use, use.pc, event.pc))
            return;
        const std::string user = thread_name(*use.warp, thread - threads_.of(*use.warp).first);
        return publish(Finding::barrier_reinit_in_use,
                       initialiser + " initialises " + name +
                           " again, and nothing orders that behind its last use by " + user +
                           ": a thread that comes later finds another phase than it waits for.",
                       "Initialise an mbarrier once, before the loop; its phases follow each other by "
                       "themselves. If another count is needed: a __syncthreads() behind everybody's last "
                       "wait, mbarrier.inval, mbarrier.init by one thread, and a __syncthreads() again.",
                       {cluster_.source_line(use.pc, "used by " + user),
                        cluster_.source_line(event.pc, "initialised again by " + initialiser)});
    }
    if (is_behind(barrier.init_component, barrier.init_epoch) ||
        !first_time(Finding::barrier_reinit_in_use, barrier.init_pc, event.pc))
        return;
    const std::string other = thread_name(*barrier.init_warp, barrier.init_lane);
    publish(Finding::barrier_reinit_in_use,
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
        !first_time(Finding::arrival_count_mismatch, use.arrive_pc, event.pc))
        return;
    const std::string thread = thread_name(*event.warp, event.lane);
    const std::string ended = std::to_string(event.phase);
    publish(Finding::arrival_count_mismatch,
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
    if (event.scope == Scope::cluster && event.semantics != Semantics::relaxed)
        late_reads_.settle(*event.warp, LaneMask{1} << event.lane, threads_.of(*event.warp).now);
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

/// Whether the thread comes behind mbarrier.init, as `part` of its clock knows it.
bool Checker::sees_init(const BarrierState& barrier, const WarpClock& clock, unsigned lane, Part part) const {
    Record init;
    init.cluster = threads_.cluster();
    init.epoch = barrier.init_epoch;
    return threads_.sees(clock, lane, init, barrier.init_component, part);
}

void Checker::check_use_visible(const MbarrierEvent& event, const BarrierState& barrier) {
    if (barrier.published || sees_init(barrier, threads_.of(*event.warp), event.lane, order) ||
        !first_time(Finding::barrier_init_not_visible, barrier.init_pc, barrier.init_pc))
        return;
    cluster_.report(init_not_visible(barrier, event.address, *event.warp, event.lane, event.pc));
}

/// A copy reaches its mbarrier through the generic proxy (PTX ISA 9.2, cp.async.bulk), so all it needs is
/// that its issue comes behind the initialisation. Editions of the manuals before that fenced here; whoever
/// wants to follow them asks for it.
void Checker::check_init_visible(const AsyncOperation& operation, const WarpClock& clock) {
    const auto found = mbarriers_.find(operation.barrier);
    if (found == mbarriers_.end() || found->second.published)
        return;
    const BarrierState& barrier = found->second;
    if (!sees_init(barrier, clock, operation.lane, order)) {
        if (first_time(Finding::barrier_init_not_visible, barrier.init_pc, barrier.init_pc))
            cluster_.report(
                init_not_visible(barrier, operation.barrier, *operation.warp, operation.lane, operation.pc));
        return;
    }
    const bool generic = operation.kind == AsyncKind::st_async || operation.kind == AsyncKind::red_async;
    if (!strict_ || generic || barrier.init_fence ||
        sees_init(barrier, clock, operation.lane, shared_proxy) ||
        !first_time(Finding::barrier_init_unfenced, barrier.init_pc, barrier.init_pc))
        return;
    const std::string initialiser = thread_name(*barrier.init_warp, barrier.init_lane);
    note(
        Finding::barrier_init_unfenced,
        barrier_name(operation.barrier) +
            " is used by an asynchronous copy, and no fence.proxy.async lies between its initialisation and "
            "the copy. The manuals of today ask for none; those up to CUDA 13.0 did.",
        "Nothing, or, to follow the older manuals too: the initialising thread executes fence.proxy.async or "
        "fence.mbarrier_init.release.cluster.",
        {cluster_.source_line(barrier.init_pc, "initialised by " + initialiser),
         cluster_.source_line(operation.pc, "used by " + thread_name(*operation.warp, operation.lane))});
}

// -- in words

Diagnostic Checker::init_not_visible(const BarrierState& barrier, std::uint32_t address, Warp& warp,
                                     unsigned lane, std::uint32_t pc) const {
    const std::string user = thread_name(warp, lane);
    const bool remote = warp.block().rank() != shared_rank(address);
    return make(Finding::barrier_init_not_visible,
                barrier_name(address) + " is used by " + user +
                    ", and nothing orders its initialisation before that use: the thread may come first.",
                remote
                    ? "Put a cluster barrier (cluster.sync()) between mbarrier.init and the first use by "
                      "another block; if its arrive is .relaxed, the initialising thread executes "
                      "fence.mbarrier_init.release.cluster before it."
                    : "Put a __syncthreads() (inside a warp: __syncwarp(); in a cluster: a cluster barrier) "
                      "between mbarrier.init and the first use by another thread.",
                {cluster_.source_line(barrier.init_pc,
                                      "initialised by " + thread_name(*barrier.init_warp, barrier.init_lane)),
                 cluster_.source_line(pc, "used by " + user)});
}

} // namespace emu::check
