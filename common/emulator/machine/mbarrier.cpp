#include "machine/mbarrier.hpp"

#include "hopper_emulator/finding_kinds.hpp"
#include "machine/cluster.hpp"
#include "machine/mistake.hpp"

#include <cstdlib>
#include <optional>

namespace emu {

Mbarrier& MbarrierTable::create(std::uint32_t offset) { return objects_[offset] = Mbarrier{}; }

namespace {

/// The thread to blame for an update: the one that executed it, or that issued the operation.
Place place_of(const MbarrierEvent& event) {
    const AsyncOperation* operation = event.operation;
    if (event.warp)
        return Place(*event.warp, event.lane, event.pc);
    return Place(*operation->warp, operation->lane, operation->pc);
}

/// Another thread that has arrived in this phase by the same instruction.
std::optional<Thread> companion(const Mbarrier& barrier, const Place& place) {
    for (Warp* const warp : place.cluster().warps())
        for (unsigned lane = 0; lane < warp_size; ++lane) {
            const ThreadHistory& history = barrier.history.of(warp_in_cluster(*warp), lane);
            if (history.arrived == barrier.phase + 1 && history.arrive_pc == place.pc)
                return Thread{warp, lane};
        }
    return std::nullopt;
}

bool check_arrivals(const Mbarrier& barrier, const MbarrierEvent& event) {
    if (event.count <= barrier.pending)
        return true;
    const Place place = place_of(event);
    const ThreadHistory& own = barrier.history.of(warp_in_cluster(place.warp), place.lane);
    const bool has_arrived = own.arrived == barrier.phase + 1;
    const std::optional<Thread> other = has_arrived ? std::nullopt : companion(barrier, place);
    // At the same place it comes a round too early.
    const bool elsewhere = has_arrived && own.arrive_pc != place.pc;
    Mistake mistake{Finding::arrival_count_mismatch,
                    Fault::launch_failure,
                    elsewhere    ? "mbarrier-arrived-already"
                    : other      ? "mbarrier-arrivals-of-one-line"
                    : barrier.tx ? "mbarrier-only-bytes-missing"
                                 : "mbarrier-too-many-arrivals",
                    &place.warp,
                    place.lane,
                    place.pc,
                    {{"count", event.count},
                     {"barrier", SharedPlace{event.address}},
                     {"phase", barrier.phase},
                     {"pending", barrier.pending},
                     {"tx", barrier.tx},
                     {"other", other.value_or(Thread{&place.warp, place.lane})}}};
    if (elsewhere)
        mistake.other_pc = own.arrive_pc;
    place.cluster().report(mistake);
    return false;
}

bool check_tx(const Mbarrier& barrier, const MbarrierEvent& event) {
    constexpr std::int64_t limit = mbarrier_max_count;
    const std::int64_t tx = barrier.tx + event.tx;
    if (event.tx <= limit && tx >= -limit && tx <= limit)
        return true;
    place_of(event).report(Finding::tx_count_mismatch, Fault::launch_failure, "mbarrier-tx-range",
                           {{"barrier", SharedPlace{event.address}}, {"tx", tx}, {"change", event.tx}});
    return false;
}

/// What a deadlock report is to know of the update.
void remember(Mbarrier& barrier, const MbarrierEvent& event) {
    const Place place = place_of(event);
    // Without .noinc an arrival of cp.async only takes back what it has added to the count.
    const bool counts = !event.operation || event.operation->kind != AsyncKind::cp_async_arrive ||
                        place.cluster().info().kernel->sources[place.pc]->has("noinc");
    if (event.count != 0 && counts)
        barrier.history.note_arrival(place.warp, place.lane, place.pc, barrier.phase);
    if (const AsyncOperation* operation = event.operation; operation && event.tx < 0)
        barrier.history.fed_from_elsewhere |=
            operation->multicast != 0 || place.warp.block().rank() != shared_rank(event.address);
}

} // namespace

Mbarrier* Cluster::mbarrier(std::uint32_t shared_address) {
    Block* owner = block(shared_rank(shared_address));
    return owner ? owner->mbarriers().find(shared_offset(shared_address)) : nullptr;
}

void Cluster::mbarrier_update(Mbarrier& barrier, MbarrierEvent event) {
    if (!check_arrivals(barrier, event) || !check_tx(barrier, event))
        return;
    event.phase = barrier.phase;
    emit(&ClusterListener::on_mbarrier_arrive, event);
    remember(barrier, event);
    barrier.pending -= event.count;
    barrier.tx += event.tx;
    (event.tx > 0 ? barrier.expected_bytes : barrier.arrived_bytes) += std::abs(event.tx);
    made_progress();
    const bool changed = event.count != 0 || event.tx != 0;
    if (!changed || !barrier.complete())
        return;
    emit(&ClusterListener::on_mbarrier_phase, event);
    ++barrier.phase;
    barrier.pending = barrier.expected;
    barrier.expected_bytes = barrier.arrived_bytes = 0;
    barrier.raised = false;
    // Only threads of the barrier's own block can wait for it (PTX ISA 9.7.13.15.16).
    for (const auto& warp : block(shared_rank(event.address))->warps())
        if (const LaneMask lanes = warp->waiting(Wait::mbarrier, event.address))
            warp->wake(lanes);
}

} // namespace emu
