#include "counters/ahead.hpp"

#include "machine/block.hpp"
#include "machine/warp.hpp"

#include <algorithm>
#include <bit>

namespace emu {
namespace {

std::uint32_t warp_id(const Warp& warp) { return warp.block().rank() * warp_size + warp.index(); }

/// Each at least what `other` has.
void raise(std::map<std::uint32_t, std::uint64_t>& phases,
           const std::map<std::uint32_t, std::uint64_t>& other) {
    for (const auto& [barrier, count] : other)
        phases[barrier] = std::max(phases[barrier], count);
}

} // namespace

void Ahead::on_init(const MbarrierEvent& event) {
    carried_.erase(event.address);
    for (auto& [id, warp] : warps_) {
        warp.seen.erase(event.address);
        warp.answered.erase(event.address);
    }
}

void Ahead::on_arrive(const MbarrierEvent& event) {
    if (event.warp == nullptr || event.count == 0)
        return;
    OfWarp& warp = warps_[warp_id(*event.warp)];
    warp.barrier = event.address;
    warp.needed = event.phase + 1;
    auto& phases = carried_[event.address];
    // Nobody waits for what lies further back: one bit of parity could not mean it.
    while (!phases.empty() && phases.begin()->first + 1 < event.phase)
        phases.erase(phases.begin());
    raise(phases[event.phase], warp.seen);
}

void Ahead::on_observed(const MbarrierEvent& event) {
    OfWarp& warp = warps_[warp_id(*event.warp)];
    std::uint64_t& seen = warp.seen[event.address];
    seen = std::max(seen, event.phase + 1);
    auto& phases = carried_[event.address];
    if (const auto phase = phases.find(event.phase); phase != phases.end())
        raise(warp.answered, phase->second);
}

void Ahead::on_shared_store(const AccessEvent& event) {
    const auto found = warps_.find(warp_id(*event.warp));
    if (found == warps_.end() || found->second.needed == 0)
        return;
    OfWarp& warp = found->second;
    if (warp.answered[warp.barrier] < warp.needed)
        sink_.count(event.warp, event.pc, Counter::shared_stores_ahead,
                    static_cast<unsigned>(std::popcount(event.mask)));
}

} // namespace emu
