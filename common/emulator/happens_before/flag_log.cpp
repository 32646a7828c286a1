#include "happens_before/flag_log.hpp"

#include <algorithm>

namespace emu::check {
namespace {

/// Halves of a 64-bit value are one flag, as for the edges between threads.
Address word_of(Address a) { return a & ~Address{7}; }

} // namespace

void FlagLog::give(Address location, FlagGive give) {
    const std::lock_guard lock(mutex_);
    if (flags_.size() >= kept_flags && !flags_.contains(word_of(location)))
        return;
    Flag& flag = flags_[word_of(location)];
    give.when = ++now_;
    if (flag.gives.size() == kept_gives)
        flag.gives.pop_front();
    flag.gives.push_back(std::move(give));
    used_.store(true, std::memory_order_release);
}

void FlagLog::take(Address location, FlagEnd take) {
    const std::lock_guard lock(mutex_);
    const auto found = flags_.find(word_of(location));
    if (found == flags_.end())
        return;
    take.when = ++now_;
    keep(found->second.takes, take);
}

void FlagLog::wait_was_stale(Address location, FlagEnd wait) {
    const std::lock_guard lock(mutex_);
    const auto found = flags_.find(word_of(location));
    if (found == flags_.end())
        return;
    wait.when = ++now_;
    keep(found->second.stale, wait);
}

void FlagLog::keep(std::vector<FlagEnd>& ends, FlagEnd end) {
    const auto same =
        std::ranges::find_if(ends, [&](const FlagEnd& each) { return each.is_same_thread(end); });
    if (same != ends.end())
        *same = end;
    else if (ends.size() < kept_takes)
        ends.push_back(end);
}

} // namespace emu::check
