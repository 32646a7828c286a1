#include "machine/mbarrier.hpp"

#include "machine/cluster.hpp"
#include "machine/instructions/async_operands.hpp"

#include <cstdlib>

namespace emu {

namespace {

/// The thread to blame for an update: the one that executed it, or that issued the operation.
Place place_of(const MbarrierEvent& event) {
    const AsyncOperation* operation = event.operation;
    if (event.warp)
        return Place(*event.warp, event.lane, event.pc);
    return Place(*operation->warp, operation->lane, operation->pc);
}

bool check_arrivals(const Mbarrier& barrier, const MbarrierEvent& event) {
    if (event.count <= barrier.pending)
        return true;
    place_of(event).report(Finding::arrival_count_mismatch, Fault::launch_failure,
                           "An arrival of " + std::to_string(event.count) + " at mbarrier " +
                               shared_text(place_of(event).cluster(), event.address) + ", whose phase " +
                               std::to_string(barrier.phase) + " expects only " +
                               std::to_string(barrier.pending) + " more arrival(s)" +
                               (barrier.tx ? " and " + std::to_string(barrier.tx) + " bytes." : "."),
                           "The number of arrivals in each phase must equal the count given to "
                           "mbarrier.init. Who arrives again must "
                           "have waited for the end of the phase before: check that there is such a wait, "
                           "and that its parity changes "
                           "with every phase.");
    return false;
}

bool check_tx(const Mbarrier& barrier, const MbarrierEvent& event) {
    constexpr std::int64_t limit = mbarrier_max_count;
    const std::int64_t tx = barrier.tx + event.tx;
    if (event.tx <= limit && tx >= -limit && tx <= limit)
        return true;
    place_of(event).report(
        Finding::tx_count_mismatch, Fault::launch_failure,
        "The tx-count of mbarrier " + shared_text(place_of(event).cluster(), event.address) +
            " would become " + std::to_string(tx) + " (change " + std::to_string(event.tx) +
            "); it must stay within +/-(2^20 - 1).",
        "Expect at most 1048575 bytes per phase; use several barriers or phases for more.");
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
