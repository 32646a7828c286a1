#include "counters/stretch.hpp"

#include "machine/block.hpp"
#include "machine/program.hpp"
#include "machine/warp.hpp"

namespace emu {

Stretch::Stretch(CounterSink& sink, const Kernel& kernel) : sink_(sink), waits_(kernel.code.size()) {
    for (std::size_t pc = 0; pc < waits_.size(); ++pc) {
        const ptx::Instruction* source = kernel.sources[pc];
        if (source == nullptr)
            continue;
        if (source->opcode == "mbarrier" && (source->has("test_wait") || source->has("try_wait")))
            waits_[pc] = Wait::mbarrier;
        else if (source->opcode == "cp" && (source->has("wait_group") || source->has("wait_all")))
            waits_[pc] = Wait::group;
        else if (source->opcode == "barrier" && source->has("cluster") && source->has("wait"))
            waits_[pc] = Wait::cluster;
    }
}

void Stretch::on_instruction(Warp& warp, std::uint32_t pc, LaneMask lanes) {
    OfWarp& warps = of(warp);
    const Wait wait = waits_[pc];
    const bool ends_arrival = wait == Wait::mbarrier || wait == Wait::cluster;
    if (const LaneMask here = ends_arrival ? warps.arrival.lanes & lanes : 0)
        for_lanes(here, [&](unsigned lane) {
            sink_.count(&warp, pc, Counter::bytes_loaded_arrival_to_wait, warps.arrival.loaded[lane]);
        });
    if (warps.arrival.lanes)
        go_on(warps.arrival, ends_arrival, Counter::instructions_arrival_to_wait, warp, pc, lanes);
    if (warps.issue.lanes)
        go_on(warps.issue, wait == Wait::mbarrier || wait == Wait::group, Counter::instructions_issue_to_wait,
              warp, pc, lanes);
}

void Stretch::on_global_load(const AccessEvent& event) {
    Since& since = of(*event.warp).arrival;
    for_lanes(since.lanes & event.mask, [&](unsigned lane) { since.loaded[lane] += event.bytes; });
}

Stretch::OfWarp& Stretch::of(const Warp& warp) {
    const std::size_t number = std::size_t{warp.block().rank()} * warp_size + warp.index();
    if (number >= warps_.size())
        warps_.resize(number + 1);
    return warps_[number];
}

void Stretch::begin(Since& since, LaneMask lanes) {
    since.lanes |= lanes;
    for_lanes(lanes, [&](unsigned lane) { since.instructions[lane] = since.loaded[lane] = 0; });
}

void Stretch::go_on(Since& since, bool ends, Counter counter, Warp& warp, std::uint32_t pc, LaneMask lanes) {
    const LaneMask here = since.lanes & lanes;
    for_lanes(here, [&](unsigned lane) {
        if (ends)
            sink_.count(&warp, pc, counter, since.instructions[lane]);
        else
            ++since.instructions[lane];
    });
    if (ends)
        since.lanes &= ~here;
}

} // namespace emu
