// Two uses of one barrier of the block that nothing orders: an arrival for the second may count in the first.

#include "findings/lines.hpp"
#include "findings/places.hpp"
#include "hopper_emulator/finding_kinds.hpp"
#include "rules/rule.hpp"

#include <algorithm>
#include <bit>

namespace emu::check {
namespace {

class BarrierOverlap final : public Rule {
  public:
    using Rule::Rule;
    void on_barrier_arrive(BarrierKind kind, unsigned id, const WarpLanes& lanes, Semantics) override;

  private:
    void tell_twice(unsigned id, const WarpLanes& first, const WarpLanes& lanes);
    void tell_two_groups(unsigned id, std::span<const WarpLanes> last, const WarpLanes& lanes);
};

unsigned first_lane(const WarpLanes& lanes) { return static_cast<unsigned>(std::countr_zero(lanes.mask)); }
std::string thread_in(const WarpLanes& lanes) { return thread_name(*lanes.warp, first_lane(lanes)); }

bool have_one_thread(const WarpLanes& a, const WarpLanes& b) {
    return a.warp == b.warp && (a.mask & b.mask) != 0;
}

/// An aligned barrier has a warp's threads arrive together, so what one of its lanes knows holds for all.
void BarrierOverlap::on_barrier_arrive(BarrierKind kind, unsigned id, const WarpLanes& lanes, Semantics) {
    if (kind != BarrierKind::block || cluster_.stopped())
        return;
    const Block& block = lanes.warp->block();
    const auto& now = block.barrier(id).arrivals; // The arrival that is told is the last of them.
    const auto same = [&](const WarpLanes& other) { return have_one_thread(other, lanes); };
    if (const auto twice = std::find_if(now.begin(), now.end() - 1, same); twice != now.end() - 1)
        return tell_twice(id, *twice, lanes);
    if (engine_.knows_last_use(id, lanes))
        return;
    const auto last = block.last_arrivals(id);
    if (const auto before = std::ranges::find_if(last, same); before != last.end())
        tell_twice(id, *before, lanes);
    else
        tell_two_groups(id, last, lanes);
}

void BarrierOverlap::tell_twice(unsigned id, const WarpLanes& first, const WarpLanes& lanes) {
    if (!first_time(Finding::barrier_overlap, id, id))
        return;
    const std::string thread = thread_in(lanes), barrier = "barrier " + std::to_string(id);
    std::vector<SourceLine> lines{line(first.pc, "arrival of " + thread)};
    lines.push_back(source_line(*lanes.warp, first_lane(lanes), lanes.pc, "its next arrival"));
    publish(Finding::barrier_overlap,
            thread + " arrived at " + barrier +
                " twice, and nothing tells it that the barrier was completed in between: both arrivals may "
                "count in one use, and whoever waits there goes on too early.",
            "Before a thread arrives again it must know that those who meet it there have come: let it wait "
            "(bar.sync) at a second barrier, at which they arrive after their work, in every round but the "
            "first.",
            std::move(lines));
}

void BarrierOverlap::tell_two_groups(unsigned id, std::span<const WarpLanes> last, const WarpLanes& lanes) {
    if (last.empty() || !first_time(Finding::barrier_overlap, id, id))
        return;
    findings_.note_shared_barrier();
    const std::string thread = thread_in(lanes), other = thread_in(last.front());
    unsigned count = 0;
    for (const WarpLanes& each : last)
        count += static_cast<unsigned>(std::popcount(each.mask));
    const std::string number = std::to_string(id), threads = std::to_string(count);
    std::vector<SourceLine> lines{line(last.front().pc, "arrival of " + other)};
    lines.push_back(source_line(*lanes.warp, first_lane(lanes), lanes.pc, "arrival of " + thread));
    publish(
        Finding::barrier_overlap,
        "Block barrier " + number + " can be completed by threads of two groups: " + threads +
            " threads, among them " + other + ", met there, " + thread +
            " comes there without them, and nothing orders the two uses. Warps of one group may "
            "complete the other's barrier.",
        "If they are groups that meet apart, give each a barrier number of its own (bar.sync 1 + group, " +
            threads + "; numbers 1 to 15). If all of them are to meet, give the barrier the number of all.",
        std::move(lines));
}

} // namespace

std::unique_ptr<Rule> make_barrier_overlap(const Desk& desk) {
    return std::make_unique<BarrierOverlap>(desk);
}

} // namespace emu::check
