#include "happens_before/hand_overs.hpp"

#include "machine/cluster.hpp"

#include <algorithm>

namespace emu::check {
namespace {

std::size_t number_of(const Warp& warp) { return warp.block().rank() * 32 + warp.index(); }

bool is_barrier(Step::Kind kind) {
    return kind == Step::Kind::block_barrier || kind == Step::Kind::mbarrier ||
           kind == Step::Kind::cp_async_arrival;
}

/// Arrivals of both kinds are arrivals at an mbarrier.
Step::Kind barrier_kind(Step::Kind kind) {
    return kind == Step::Kind::cp_async_arrival ? Step::Kind::mbarrier : kind;
}

} // namespace

const HandOvers::Steps* HandOvers::of(const Warp& warp) const {
    const std::size_t number = number_of(warp);
    return number < warps_.size() ? warps_[number].get() : nullptr;
}

void HandOvers::note(const WarpClock& warp, Step step) {
    const std::size_t number = number_of(*warp.warp);
    if (warps_.size() <= number)
        warps_.resize(number + 1);
    if (!warps_[number])
        warps_[number] = std::make_unique<Steps>();
    Steps& steps = *warps_[number];
    if (step.last == 0)
        step.first = step.last = warp.now;
    Step& before = steps.ring[(steps.count + kept - 1) % kept];
    // Lanes that take the step of one instruction one after the other.
    if (steps.count && before.pc == step.pc && before.last + 1 == step.first && before.kind == step.kind &&
        before.where == step.where && before.phase == step.phase && before.takes == step.takes &&
        before.repeated == step.repeated && !(before.lanes & step.lanes)) {
        before.last = step.last;
        before.lanes |= step.lanes;
        return;
    }
    if (is_barrier(step.kind))
        step.round = note_use(steps, step);
    steps.ring[steps.count++ % kept] = step;
}

std::uint32_t HandOvers::note_use(Steps& steps, const Step& step) {
    const Step::Kind kind = barrier_kind(step.kind);
    BarrierUse* mine = nullptr;
    for (BarrierUse& use : steps.uses)
        if (use.where == step.where && use.kind == kind)
            mine = &use;
        else if (step.takes)
            use.moved_on |= use.arrived;
    if (!mine)
        mine = &steps.uses.emplace_back(BarrierUse{kind, step.where});
    mine->waited |= step.takes;
    mine->arrived |= step.gives;
    return ++mine->rounds;
}

const Step* HandOvers::ended(const Warp& warp, unsigned lane, Epoch epoch) const {
    const Steps* const steps = of(warp);
    for (unsigned back = 0; steps && back < std::min(steps->count, kept); ++back) {
        const Step& step = steps->ring[(steps->count - 1 - back) % kept];
        if (step.first <= epoch && epoch <= step.last)
            return step.lanes >> lane & 1 ? &step : nullptr;
    }
    return nullptr;
}

const BarrierUse* HandOvers::use_of(const Warp& warp, Step::Kind kind, std::uint64_t where) const {
    const Steps* const steps = of(warp);
    if (!steps)
        return nullptr;
    const auto found = std::ranges::find_if(steps->uses, [&](const BarrierUse& use) {
        return use.kind == barrier_kind(kind) && use.where == where;
    });
    return found == steps->uses.end() ? nullptr : &*found;
}

bool HandOvers::have_roles(const Warp& a, const Warp& b) const {
    const auto waits_alone = [this](const Warp& waiter, const Warp& other, bool other_only_arrives) {
        const Steps* const steps = of(waiter);
        return steps && std::ranges::any_of(steps->uses, [&](const BarrierUse& use) {
                   if (!use.waited)
                       return false;
                   const BarrierUse* const its = use_of(other, use.kind, use.where);
                   return other_only_arrives ? its && its->arrived && !its->waited && its->moved_on
                                             : !its || !its->waited;
               });
    };
    return &a != &b && ((waits_alone(a, b, false) && waits_alone(b, a, false)) || waits_alone(a, b, true) ||
                        waits_alone(b, a, true));
}

unsigned HandOvers::mates(const Warp& warp) const {
    const Steps* const steps = of(warp);
    const auto has_left = [&](const Warp& other) { // and has never waited where this warp does
        return other.finished() && steps && std::ranges::none_of(steps->uses, [&](const BarrierUse& use) {
                   const BarrierUse* const its = use.waited ? use_of(other, use.kind, use.where) : nullptr;
                   return its && its->waited && use.where != 0;
               });
    };
    unsigned threads = 0;
    for (const auto& other : warp.block().warps())
        if (!have_roles(warp, *other) && !has_left(*other))
            threads += warp_size;
    const std::uint64_t all = warp.cluster().info().config.block.volume();
    return static_cast<unsigned>(std::min<std::uint64_t>(threads, all));
}

} // namespace emu::check
