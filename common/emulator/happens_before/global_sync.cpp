#include "happens_before/global_sync.hpp"

#include <algorithm>

namespace emu::check {

void GlobalSync::release(Address location, std::uint32_t cluster, const Clock& clock, const Clocks& foreign) {
    auto mine = std::make_shared<Foreign>();
    (*mine)[cluster] = std::make_shared<const Clock>(clock);
    used_.store(true, std::memory_order_release);
    const std::lock_guard lock(mutex_);
    Clocks& here = locations_[location].clocks;
    here = join_foreign(join_foreign(here, foreign), mine);
    all_.reset();
}

GlobalSync::Clocks GlobalSync::acquire_all() const {
    if (!used_.load(std::memory_order_acquire))
        return nullptr;
    const std::lock_guard lock(mutex_);
    if (!all_)
        for (const auto& [location, published] : locations_)
            all_ = join_foreign(all_, published.clocks);
    return all_;
}

GlobalSync::Clocks GlobalSync::acquire(Address location) const {
    if (!used_.load(std::memory_order_acquire))
        return nullptr;
    const std::lock_guard lock(mutex_);
    const auto it = locations_.find(location);
    return it == locations_.end() ? nullptr : it->second.clocks;
}

// -- the values of a place

void GlobalSync::push(Location& location, Held held) {
    location.history.push_back(std::move(held));
    if (location.history.size() > kept) {
        location.history.pop_front();
        ++location.dropped;
    }
}

void GlobalSync::note_write(Address location, const Writer& writer, std::uint64_t before) {
    if (!used_.load(std::memory_order_acquire))
        return;
    const std::lock_guard lock(mutex_);
    const auto it = locations_.find(location);
    if (it == locations_.end() || locations_.size() > kept_locations)
        return;
    Location& here = it->second;
    if (here.history.empty() && here.dropped == 0)
        push(here, {});
    if (!here.history.empty())
        here.history.back().value = before;
    push(here, {writer, 0, here.clocks});
}

void GlobalSync::note_writes(Address location) {
    if (!used_.load(std::memory_order_acquire))
        return;
    const std::lock_guard lock(mutex_);
    const auto it = locations_.find(location);
    if (it == locations_.end())
        return;
    Location& here = it->second;
    here.dropped += here.history.size() + 1; // Nobody asks for the values in between.
    here.history.clear();
}

GlobalSync::Clocks GlobalSync::acquire(Address location, const Writer& reader, std::uint64_t now, Poll& poll,
                                       const std::function<bool(const Writer&)>& knows) {
    if (!used_.load(std::memory_order_acquire))
        return nullptr;
    const std::lock_guard lock(mutex_);
    const auto it = locations_.find(location);
    if (it == locations_.end())
        return nullptr;
    Location& here = it->second;
    auto& history = here.history;
    if (history.empty())
        return here.clocks;
    history.back().value = now;
    Position& position = here.readers[{reader.cluster, reader.thread}];
    const std::uint64_t newest = here.dropped + history.size() - 1;
    const auto at = [&](std::uint64_t number) -> Held& { return history[number - here.dropped]; };
    if (!poll.ends(now)) {
        position.read = newest;
        return here.clocks;
    }
    // Nobody reads what was overwritten before something that he knows of, nor an older value than before.
    std::uint64_t chosen = std::max(position.read, here.dropped);
    for (std::uint64_t number = newest; number > chosen; --number)
        if (at(number).writer.epoch != 0 && knows(at(number).writer))
            chosen = number;
    while (chosen < newest && !poll.ends(at(chosen).value))
        ++chosen;
    poll.is_stale =
        position.has_passed && position.passed >= here.dropped && poll.ends(at(position.passed).value);
    position = {chosen, chosen, true};
    return chosen == newest ? here.clocks : at(chosen).clocks;
}

} // namespace emu::check
