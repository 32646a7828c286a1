/// \file
/// The waits of a warp's lanes and what ends them.

#include "machine/warp.hpp"

#include "machine/cluster.hpp"

namespace emu {

std::optional<std::vector<std::uint32_t>> Warp::calls_to(unsigned lane, std::uint32_t pc) const {
    const auto& function_of = cluster().info().kernel->function_of;
    const bool is_there = lane_pc_[lane] == pc || ((active_ >> lane & 1) && pc_ == pc);
    // A loop that polls in a function of its own has left the test behind for a moment.
    const bool polls = failed_test(lane).address && failed_test(lane).pc == pc &&
                       lane_pc_[lane] < function_of.size() && function_of[lane_pc_[lane]] == function_of[pc];
    if (!is_there && !polls)
        return std::nullopt;
    std::vector<std::uint32_t> calls;
    for (auto frame = returns_[lane].rbegin(); frame != returns_[lane].rend(); ++frame)
        calls.push_back(frame->pc - 1);
    return calls;
}

LaneMask Warp::waiting(Wait why, std::uint64_t tag) const {
    LaneMask result = 0;
    for_lanes(blocked_, [&](unsigned lane) {
        if (wait_[lane] == why && wait_tag_[lane] == tag)
            result |= 1u << lane;
    });
    return result;
}

void Warp::release_after(LaneMask mask) {
    for_lanes(mask, [&](unsigned lane) { ++lane_pc_[lane]; });
    release_again(mask);
}

void Warp::release_again(LaneMask mask) {
    for_lanes(mask, [&](unsigned lane) { wait_[lane] = Wait::none; });
    blocked_ &= ~mask;
}

void Warp::time_out(LaneMask mask) {
    timed_out_ |= mask;
    release_again(mask);
}

bool Warp::take_time_out(unsigned lane) {
    const bool was = timed_out_ >> lane & 1;
    timed_out_ &= ~(1u << lane);
    return was;
}

void Warp::wake(LaneMask mask) {
    woken_ |= mask;
    release_again(mask);
}

LaneMask Warp::woken(std::uint64_t tag) const {
    LaneMask result = 0;
    for_lanes(woken_, [&](unsigned lane) {
        if (wait_tag_[lane] == tag)
            result |= 1u << lane;
    });
    return result;
}

LaneMask Warp::take_grants(LaneMask mask) {
    const LaneMask passing = granted_ & mask;
    woken_ &= ~mask;
    granted_ &= ~mask;
    return passing;
}

LaneMask Warp::met(unsigned lane) const {
    for (const Meeting& each : meetings_)
        if (each.arrived >> lane & 1)
            return each.arrived;
    return 0;
}

} // namespace emu
