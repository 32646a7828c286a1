#include "machine/deadlock.hpp"

#include <algorithm>
#include <numeric>

namespace emu {

std::uint64_t ThreadSet::count() const {
    return std::accumulate(masks_.begin(), masks_.end(), std::uint64_t{0},
                           [](std::uint64_t sum, LaneMask mask) { return sum + std::popcount(mask); });
}

std::pair<std::size_t, unsigned> ThreadSet::first() const {
    const auto found = std::ranges::find_if(masks_, [](LaneMask mask) { return mask != 0; });
    return {static_cast<std::size_t>(found - masks_.begin()),
            static_cast<unsigned>(std::countr_zero(*found))};
}

DeadlockFacts::DeadlockFacts(Cluster& cluster)
    : cluster_(cluster), warps_(cluster.warps().size()), alive_(warps_.size()), ended_(warps_.size()) {
    for (Warp* warp : cluster.warps())
        warps_[warp_in_cluster(*warp)] = warp;
    for (std::size_t number = 0; number < warps_.size(); ++number) {
        ended_.add(number, warps_[number]->exited());
        alive_.add(number, warps_[number]->present() & ~warps_[number]->exited());
    }
    alive_.each([&](std::size_t warp, unsigned lane) {
        WaitGroup one = describe(warp, lane);
        const auto like = std::ranges::find_if(groups_, [&](const WaitGroup& g) {
            const bool alike = one.what != WaitGroup::For::warp_sync ||
                               (g.warp == one.warp && g.is_named() == one.is_named());
            return g.what == one.what && g.pc == one.pc && g.tag == one.tag && alike &&
                   &block(g) == &block(one);
        });
        if (like != groups_.end())
            like->threads.add(warp, LaneMask{1} << lane);
        else
            groups_.push_back(std::move(one));
    });
}

WaitGroup DeadlockFacts::describe(std::size_t number, unsigned lane) const {
    using For = WaitGroup::For;
    const Warp& warp = *warps_[number];
    WaitGroup g{For::nothing,
                warp.lane_pc(lane),
                static_cast<std::uint32_t>(warp.wait_tag(lane)),
                number,
                lane,
                nullptr,
                nobody()};
    g.threads.add(number, LaneMask{1} << lane);
    switch (warp.wait_of(lane)) {
    case Wait::block_barrier:
        g.what = For::block_barrier;
        return g;
    case Wait::cluster_barrier:
        g.what = For::cluster_barrier;
        g.tag = 0;
        return g;
    case Wait::warp_sync:
        g.what = For::warp_sync;
        return g;
    case Wait::mbarrier:
        g.what = For::mbarrier;
        break;
    default:
        g.tag = 0;
        if (const Warp::FailedTest test = warp.failed_test(lane); test.address) {
            g.what = For::mbarrier;
            g.pc = test.pc;
            g.tag = test.address;
        } else if (is_inlined_from(kernel(), g.pc, "/cooperative_groups/details/sync.h")) {
            g.what = For::grid;
        }
    }
    if (g.what == For::mbarrier)
        g.barrier = cluster_.mbarrier(g.tag);
    return g;
}

ThreadSet DeadlockFacts::set_of(std::span<const WarpLanes> lanes) const {
    ThreadSet set = nobody();
    for (const WarpLanes& each : lanes)
        set.add(warp_in_cluster(*each.warp), each.mask);
    return set;
}

ThreadSet DeadlockFacts::block_of(std::size_t warp) const {
    ThreadSet set = nobody();
    for (std::size_t number = 0; number < warps_.size(); ++number)
        if (&warps_[number]->block() == &warps_[warp]->block())
            set.add(number, warps_[number]->present());
    return set;
}

const WaitGroup& DeadlockFacts::group_of(std::size_t warp, unsigned lane) const {
    return *std::ranges::find_if(groups_, [&](const WaitGroup& g) { return g.threads.has(warp, lane); });
}

ThreadSet DeadlockFacts::awaited_at_barrier(const WaitGroup& group) const {
    const BlockBarrier& barrier = block_barrier(group);
    const ThreadSet here = set_of(barrier.arrivals);
    if (barrier.all_threads)
        return (block_of(group.warp) & alive_) - here;
    return set_of(block(group).last_arrivals(group.tag)) - here;
}

ThreadSet DeadlockFacts::who(const Mbarrier& barrier,
                             const std::function<bool(const ThreadHistory&)>& holds) const {
    ThreadSet set = nobody();
    for (const ThreadSet* all : {&alive_, &ended_})
        all->each([&](std::size_t warp, unsigned lane) {
            if (holds(barrier.history.of(warp, lane)))
                set.add(warp, LaneMask{1} << lane);
        });
    return set;
}

ThreadSet DeadlockFacts::arrived_in(const Mbarrier& barrier, std::uint64_t phase) const {
    return who(barrier, [&](const ThreadHistory& thread) { return thread.arrived == phase + 1; });
}

DeadlockFacts::Enders DeadlockFacts::enders(const WaitGroup& group) const {
    const auto ever = [&](const Mbarrier& b) {
        return who(b, [](const ThreadHistory& thread) { return thread.arrivals != 0; });
    };
    Enders found{ever(*group.barrier) - arrived_in(*group.barrier, group.barrier->phase), false};
    if (!ever(*group.barrier).empty())
        return found;
    for (const auto& [offset, other] : block(group).mbarriers()) {
        const ThreadHistory& waiter = other.history.of(group.warp, group.lane);
        if (&other == group.barrier || waiter.waits == 0 || !same_place(waiter.wait_pc, group.pc))
            continue;
        found.threads = found.threads | ever(other);
        found.elsewhere = true;
    }
    return found;
}

std::int64_t DeadlockFacts::waits_beyond_arrivals(std::size_t warp, unsigned lane) const {
    std::int64_t sum = 0;
    for (const auto& block : cluster_.blocks())
        for (const auto& [offset, barrier] : block->mbarriers()) {
            const ThreadHistory& thread = barrier.history.of(warp, lane);
            sum += std::int64_t{thread.waits} - thread.arrivals;
        }
    return sum;
}

bool DeadlockFacts::same_place(std::uint32_t a, std::uint32_t b) const {
    const auto& locations = kernel().program->module().locations;
    std::uint32_t x = kernel().sources[a]->location, y = kernel().sources[b]->location;
    if (a == b)
        return true;
    while (x != y) {
        if (x == 0 || y == 0 || x >= locations.size() || y >= locations.size())
            return false;
        const ptx::Location &p = locations[x], &q = locations[y];
        if (p.file != q.file || p.line != q.line)
            return false;
        x = p.inlined_at;
        y = q.inlined_at;
    }
    return kernel().sources[a]->location != 0; // Without lines all would be one place.
}

bool DeadlockFacts::copies_next(std::uint32_t pc) const {
    const auto& sources = kernel().sources;
    for (std::size_t at = pc + 1; at < sources.size() && sources[at]; ++at) {
        const ptx::Instruction& each = *sources[at];
        if (each.opcode == "cp" || (each.opcode == "mbarrier" && each.has("expect_tx")))
            return true;
        if (each.opcode == "mbarrier" && each.has("arrive"))
            return false;
    }
    return false;
}

bool DeadlockFacts::arrival_follows(std::uint32_t pc) const {
    std::vector<bool> seen(kernel().code.size());
    std::vector<std::uint32_t> open{pc + 1};
    while (!open.empty()) {
        const std::uint32_t at = open.back();
        open.pop_back();
        if (at >= seen.size() || seen[at] || !kernel().sources[at])
            continue;
        seen[at] = true;
        const ptx::Instruction& instruction = *kernel().sources[at];
        // What a function does, and where a table leads, is not followed: it may arrive.
        const bool arrives = (instruction.opcode == "mbarrier" || instruction.opcode == "cp") &&
                             (instruction.has("arrive") || instruction.has("arrive_drop"));
        if (arrives || instruction.opcode == "call" || instruction.opcode == "brx")
            return true;
        const bool always = instruction.guard < 0;
        if (instruction.opcode == "bra")
            open.push_back(kernel().code[at].target);
        if (!(always && (instruction.opcode == "bra" || instruction.opcode == "exit" ||
                         instruction.opcode == "ret" || instruction.opcode == "trap")))
            open.push_back(at + 1);
    }
    return false;
}

} // namespace emu
