#include "happens_before/vector_clock.hpp"

#include <algorithm>

namespace emu::check {
namespace {

void join_part(std::vector<Epoch>& into, const std::vector<Epoch>& from) {
    if (into.size() < from.size())
        into.resize(from.size());
    Epoch* a = into.data();
    const Epoch* b = from.data();
    for (std::size_t i = 0, n = from.size(); i < n; ++i)
        a[i] = std::max(a[i], b[i]);
}

} // namespace

void Clock::raise(Part part, Component c, Epoch epoch) {
    auto& p = parts_[part];
    if (p.size() <= c)
        p.resize(c + 1);
    p[c] = std::max(p[c], epoch);
}

void Clock::join(const Clock& other) {
    for (unsigned p = 0; p < part_count; ++p)
        join_part(parts_[p], other.parts_[p]);
}

void Clock::fence(bool shared, bool global) {
    if (shared)
        join_part(parts_[shared_proxy], parts_[order]);
    if (global)
        join_part(parts_[global_proxy], parts_[order]);
}

void Clock::widen() { join_part(parts_[across_blocks], parts_[order]); }

bool Clock::includes(const Clock& other) const {
    for (unsigned p = 0; p < part_count; ++p) {
        const auto& mine = parts_[p];
        const auto& theirs = other.parts_[p];
        const std::size_t both = std::min(mine.size(), theirs.size());
        bool all = true;
        for (std::size_t i = 0; i < both; ++i)
            all &= mine[i] >= theirs[i];
        for (std::size_t i = both; i < theirs.size(); ++i)
            all &= theirs[i] == 0;
        if (!all)
            return false;
    }
    return true;
}

void Clock::clear() {
    for (auto& part : parts_)
        part.clear(); // Keeps the storage.
}

std::shared_ptr<const Foreign> join_foreign(const std::shared_ptr<const Foreign>& a,
                                            const std::shared_ptr<const Foreign>& b) {
    if (!b || a == b)
        return a;
    if (!a)
        return b;
    // Copied only when something is new; a cluster's later clocks mostly include its earlier ones.
    std::shared_ptr<Foreign> result;
    const auto change = [&](std::uint32_t cluster, std::shared_ptr<const Clock> clock) {
        if (!result)
            result = std::make_shared<Foreign>(*a);
        (*result)[cluster] = std::move(clock);
    };
    for (const auto& [cluster, clock] : *b) {
        const auto mine = a->find(cluster);
        if (mine == a->end() || (mine->second != clock && clock->includes(*mine->second))) {
            change(cluster, clock);
        } else if (mine->second != clock && !mine->second->includes(*clock)) {
            auto joined = std::make_shared<Clock>(*mine->second);
            joined->join(*clock);
            change(cluster, std::move(joined));
        }
    }
    return result ? result : a;
}

void ClockRef::recycle() { space_->recycle(clock_); }

void Accumulator::join(const ClockRef& other) {
    const SharedClock& o = *other;
    empty_ = false;
    if (std::find(includes_.begin(), includes_.end(), o.id) != includes_.end())
        return;
    clock_.join(o.clock);
    foreign_ = check::join_foreign(foreign_, o.foreign);
    fenced_foreign_ = check::join_foreign(fenced_foreign_, o.fenced_foreign);
    includes_[next_++ % includes_.size()] = o.id;
}

ClockSpace::ClockSpace() : bottom_(make(), this) {}

ClockSpace::~ClockSpace() {
    for (Memo& m : memos_)
        m.result = {};
    bottom_ = {};
}

SharedClock* ClockSpace::make() {
    if (free_.empty()) {
        all_.push_back(std::make_unique<SharedClock>());
        free_.push_back(all_.back().get());
    }
    SharedClock* clock = free_.back();
    free_.pop_back();
    clock->id = next_id_++;
    clock->includes = {};
    return clock;
}

void ClockSpace::recycle(SharedClock* clock) {
    clock->clock.clear();
    clock->foreign.reset();
    clock->fenced_foreign.reset();
    free_.push_back(clock);
}

ClockSpace::Memo& ClockSpace::memo(std::uint64_t a, std::uint64_t b) {
    return memos_[(a * 7 + b) % memos_.size()];
}

ClockRef ClockSpace::freeze(const Accumulator& accumulator) {
    SharedClock* clock = make();
    clock->clock = accumulator.clock_;
    clock->foreign = accumulator.foreign_;
    clock->fenced_foreign = accumulator.fenced_foreign_;
    clock->includes = accumulator.includes_;
    return {clock, this};
}

ClockRef ClockSpace::join(const ClockRef& a, const ClockRef& b) {
    if (a->knows(b->id) || b == bottom_)
        return a;
    if (b->knows(a->id) || a == bottom_)
        return b;
    Memo& m = memo(a->id, b->id);
    if (m.result && m.a == a->id && m.b == b->id)
        return m.result;
    ++computed_;
    SharedClock* clock = make();
    clock->clock = a->clock;
    clock->clock.join(b->clock);
    clock->foreign = join_foreign(a->foreign, b->foreign);
    clock->fenced_foreign = join_foreign(a->fenced_foreign, b->fenced_foreign);
    clock->includes = {a->id, b->id, a->includes[0], b->includes[0]};
    m.a = a->id;
    m.b = b->id;
    return m.result = ClockRef(clock, this);
}

ClockRef ClockSpace::fenced(const ClockRef& a, bool shared, bool global) {
    return completed(a, shared, global, false);
}

ClockRef ClockSpace::widened(const ClockRef& a) { return completed(a, false, false, true); }

ClockRef ClockSpace::completed(const ClockRef& a, bool shared, bool global, bool all_blocks) {
    const std::uint64_t operation = (shared ? 1u : 0u) + (global ? 2u : 0u) + (all_blocks ? 4u : 0u);
    Memo& m = memo(a->id, operation);
    if (m.result && m.a == a->id && m.b == operation)
        return m.result;
    ++computed_;
    SharedClock* clock = make();
    clock->clock = a->clock;
    clock->clock.fence(shared, global);
    if (all_blocks)
        clock->clock.widen();
    clock->foreign = a->foreign;
    clock->fenced_foreign = global ? a->foreign : a->fenced_foreign;
    clock->includes = {a->id, a->includes[0], a->includes[1], a->includes[2]};
    m.a = a->id;
    m.b = operation;
    return m.result = ClockRef(clock, this);
}

} // namespace emu::check
