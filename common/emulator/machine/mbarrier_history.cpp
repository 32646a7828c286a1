#include "machine/mbarrier_history.hpp"

#include "machine/block.hpp"

namespace emu {

std::size_t warp_in_cluster(const Warp& warp) {
    return warp.block().rank() * warp.block().warps().size() + warp.index();
}

ThreadHistory& MbarrierHistory::at(const Warp& warp, unsigned lane) {
    const std::size_t number = warp_in_cluster(warp);
    if (warps_.size() <= number)
        warps_.resize(number + 1);
    if (!warps_[number])
        warps_[number] = std::make_unique<Lanes>();
    return (*warps_[number])[lane];
}

const ThreadHistory& MbarrierHistory::of(std::size_t warp, unsigned lane) const {
    static constexpr ThreadHistory none{};
    return warp < warps_.size() && warps_[warp] ? (*warps_[warp])[lane] : none;
}

void MbarrierHistory::note_wait(const Warp& warp, unsigned lane, std::uint32_t pc, std::uint64_t ended) {
    ThreadHistory& thread = at(warp, lane);
    const auto now = static_cast<std::uint32_t>(ended);
    thread.repeated += thread.waits != 0 && thread.waited == now;
    ++thread.waits;
    thread.waited = now;
    thread.wait_pc = pc;
}

void MbarrierHistory::note_arrival(const Warp& warp, unsigned lane, std::uint32_t pc, std::uint64_t phase) {
    ThreadHistory& thread = at(warp, lane);
    ++thread.arrivals;
    thread.arrived = static_cast<std::uint32_t>(phase) + 1;
    thread.earlier_arrive_pc = thread.arrivals == 1 ? pc : thread.arrive_pc;
    thread.arrive_pc = pc;
}

} // namespace emu
