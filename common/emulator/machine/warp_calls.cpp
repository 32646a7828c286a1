/// \file
/// Calls and returns of a warp's lanes, and the frames of the functions they are in.

#include "hopper_emulator/finding_kinds.hpp"
#include "machine/cluster.hpp"
#include "machine/mistake.hpp"
#include "machine/warp.hpp"

#include <algorithm>

namespace emu {
namespace {

constexpr std::uint32_t frame_limit = 64u << 20;

constexpr std::uint32_t end_of_frame(std::uint32_t frame, const DecodedFunction& function) {
    return frame +
           (std::max(function.frame_bytes, 1u) + 63) / 64 * 64; // Never empty, so that a place is one frame.
}

} // namespace

std::uint32_t Warp::next_frame(const DecodedFunction& caller, const DecodedFunction& callee) const {
    std::uint32_t frame = end_of_frame(frame_, caller);
    // Rows of different functions lie differently, so lanes that are in both at once would meet in each
    // other's columns.
    const auto in_the_way = [&](const LiveFrame& each) {
        const bool same = each.begin == frame && each.function == &callee;
        return !same && each.begin < end_of_frame(frame, callee) && each.end > frame;
    };
    for (auto other = live_frames_.begin(); other != live_frames_.end();) {
        other = std::ranges::find_if(live_frames_, in_the_way);
        if (other != live_frames_.end())
            frame = other->end;
    }
    return frame;
}

void Warp::leave_frame(std::uint32_t frame, LaneMask lanes) {
    const auto left = std::ranges::find(live_frames_, frame, &LiveFrame::begin);
    if (left != live_frames_.end() && (left->lanes &= ~lanes) == 0)
        live_frames_.erase(left);
}

Flow Warp::call(LaneMask mask, const DecodedFunction& caller, const DecodedFunction& callee) {
    const std::uint32_t frame = next_frame(caller, callee);
    if (frame + callee.frame_bytes > frame_limit) {
        Place::first(*this, mask).report(Finding::stack_overflow, Fault::illegal_address, "stack-calls");
        return exit_lanes(mask);
    }
    if (frames_.size() < frame + callee.frame_bytes)
        frames_.resize(frame + callee.frame_bytes);
    bases_[0] = frames_.data() + frame_;
    LaneMask overflow = 0;
    for_lanes(active_, [&](unsigned lane) {
        if (!(mask >> lane & 1)) {
            lane_pc_[lane] = pc_ + 1;
            return;
        }
        const std::uint32_t base = (local_top_[lane] + 15) / 16 * 16;
        if (base + callee.local_bytes > local_limit) {
            overflow |= 1u << lane;
            return;
        }
        returns_[lane].push_back({pc_ + 1, frame_, local_base_[lane], local_top_[lane]});
        lane_pc_[lane] = callee.first;
        lane_frame_[lane] = frame;
        local_base_[lane] = base;
        local_top_[lane] = base + callee.local_bytes;
        reserve_local(local_top_[lane]);
    });
    if (const LaneMask entered = mask & ~overflow) {
        const auto joined = std::ranges::find(live_frames_, frame, &LiveFrame::begin);
        if (joined != live_frames_.end())
            joined->lanes |= entered;
        else
            live_frames_.push_back({frame, end_of_frame(frame, callee), &callee, entered});
    }
    if (overflow) {
        Place::first(*this, overflow).report(Finding::stack_overflow, Fault::illegal_address, "stack-local");
        for_lanes(overflow, [&](unsigned lane) { wait_[lane] = Wait::exited; });
        exited_ |= overflow;
        block_.thread_exited({this, overflow, pc_});
    }
    return Flow::reselect;
}

Flow Warp::ret(LaneMask mask) {
    LaneMask ending = 0;
    if (wgmma_in_flight && frame_ != 0)
        cluster().async().land_products(*this);
    leave_frame(frame_, mask);
    for_lanes(active_, [&](unsigned lane) {
        if (!(mask >> lane & 1)) {
            lane_pc_[lane] = pc_ + 1;
        } else if (returns_[lane].empty()) {
            ending |= 1u << lane;
        } else {
            const Return back = returns_[lane].back();
            returns_[lane].pop_back();
            lane_pc_[lane] = back.pc;
            lane_frame_[lane] = back.frame;
            local_base_[lane] = back.local_base;
            local_top_[lane] = back.local_top;
        }
    });
    if (ending) {
        const LaneMask rest = active_ & ~ending;
        std::array<std::uint32_t, warp_size> keep = lane_pc_;
        exit_lanes(ending);
        for_lanes(rest, [&](unsigned lane) { lane_pc_[lane] = keep[lane]; });
    }
    return Flow::reselect;
}

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

} // namespace emu
