#include "rules/analysis/early_readers.hpp"

#include <utility>

namespace emu::check {

void EarlyReaders::add(EarlyReader reader) {
    if (words_.tells_again(reader.told.early, *reader.told.step))
        reader.is = EarlyReader::Case::not_waited;
    readers_.push_back(std::move(reader));
}

void EarlyReaders::on_mbarrier_observed(const MbarrierEvent& event) {
    for (EarlyReader& each : readers_)
        if (each.is_open_for(event.warp, LaneMask{1} << event.lane) && event.address == each.barrier &&
            event.phase >= each.phase)
            each.is = EarlyReader::Case::handed_over;
}

/// Who hands the bytes over once more without having waited for them does not wait in this round.
void EarlyReaders::on_mbarrier_arrive(const MbarrierEvent& event) {
    for (EarlyReader& each : readers_)
        if (event.count != 0 && event.address == each.told.step->where &&
            each.told.step->kind == Step::Kind::mbarrier &&
            each.is_open_for(event.warp, event.warp ? LaneMask{1} << event.lane : 0))
            each.is = EarlyReader::Case::not_waited;
}

void EarlyReaders::on_barrier_arrive(BarrierKind kind, unsigned id, const WarpLanes& lanes) {
    for (EarlyReader& each : readers_)
        if (kind == BarrierKind::block && each.told.step->kind == Step::Kind::block_barrier &&
            id == each.told.step->where && each.is_open_for(lanes.warp, lanes.mask))
            each.is = EarlyReader::Case::not_waited;
}

void EarlyReaders::on_thread_exit(const WarpLanes& lanes) {
    for (EarlyReader& each : readers_)
        if (each.is_open_for(lanes.warp, lanes.mask))
            each.is = EarlyReader::Case::not_waited;
}

std::vector<Diagnostic> EarlyReaders::decided() {
    std::vector<Diagnostic> all;
    for (EarlyReader& each : std::exchange(readers_, {})) {
        if (each.is == EarlyReader::Case::not_waited) {
            all.push_back(std::move(each.if_not_waited));
            continue;
        }
        const bool by_itself = each.told.teller == HandOverFault::Teller::itself;
        (by_itself ? each.told.hint : words_.told_by_other(each.told)).extend(each.if_handed_over);
        all.push_back(std::move(each.if_handed_over));
    }
    return all;
}

} // namespace emu::check
