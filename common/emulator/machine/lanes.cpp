#include "machine/lanes.hpp"

namespace emu {

LaneMask Lanes::waiting(Wait why, std::uint64_t tag) const {
    LaneMask result = 0;
    for_lanes(blocked_, [&](unsigned lane) {
        if (wait_[lane] == why && wait_tag_[lane] == tag)
            result |= 1u << lane;
    });
    return result;
}

void Lanes::release_after(LaneMask mask) {
    for_lanes(mask, [&](unsigned lane) { ++lane_pc_[lane]; });
    release_again(mask);
}

void Lanes::release_again(LaneMask mask) {
    for_lanes(mask, [&](unsigned lane) { wait_[lane] = Wait::none; });
    blocked_ &= ~mask;
}

void Lanes::time_out(LaneMask mask) {
    timed_out_ |= mask;
    release_again(mask);
}

bool Lanes::take_time_out(unsigned lane) {
    const bool was = timed_out_ >> lane & 1;
    timed_out_ &= ~(1u << lane);
    return was;
}

void Lanes::wake(LaneMask mask) {
    woken_ |= mask;
    release_again(mask);
}

LaneMask Lanes::woken(std::uint64_t tag) const {
    LaneMask result = 0;
    for_lanes(woken_, [&](unsigned lane) {
        if (wait_tag_[lane] == tag)
            result |= 1u << lane;
    });
    return result;
}

void Lanes::note_test(unsigned lane, std::uint32_t address, std::uint32_t pc) {
    if (!tests_)
        tests_ = std::make_unique<std::array<FailedTest, warp_size>>();
    (*tests_)[lane] = {address, pc};
}

LaneMask Lanes::take_grants(LaneMask mask) {
    const LaneMask passing = granted_ & mask;
    woken_ &= ~mask;
    granted_ &= ~mask;
    return passing;
}

} // namespace emu
