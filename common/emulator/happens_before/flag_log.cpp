#include "happens_before/flag_log.hpp"

#include <algorithm>

namespace emu::check {
namespace {

/// Halves of a 64-bit value are one flag, as for the edges between threads.
Address granule(Address a) { return a & ~Address{7}; }

} // namespace

void FlagLog::give(Address location, FlagGive give) {
    const std::lock_guard lock(mutex_);
    if (flags_.size() >= kept_flags && !flags_.contains(granule(location)))
        return;
    Flag& flag = flags_[granule(location)];
    give.when = ++now_;
    if (flag.gives.size() == kept_gives)
        flag.gives.pop_front();
    flag.gives.push_back(std::move(give));
    used_.store(true, std::memory_order_release);
}

void FlagLog::take(Address location, FlagEnd take) {
    const std::lock_guard lock(mutex_);
    const auto found = flags_.find(granule(location));
    if (found == flags_.end())
        return;
    auto& takes = found->second.takes;
    take.when = ++now_;
    const auto same =
        std::ranges::find_if(takes, [&](const FlagEnd& each) { return each.is_same_thread(take); });
    if (same != takes.end())
        *same = take;
    else if (takes.size() < kept_takes)
        takes.push_back(take);
}

} // namespace emu::check
