#include "cuda/order.hpp"

#include "cuda/state.hpp"
#include "cuda/timeline.hpp"

#include <algorithm>

namespace emu::cuda {
namespace {

/// Operations that are kept for comparison. A program that never waits for its streams loses the oldest.
constexpr std::size_t most_live = 1u << 14, most_pieces = 1u << 22;
/// A graph with more branches than this is not followed to its end.
constexpr std::size_t most_lines = 1u << 11;
/// Events of a line that are kept, for words about them.
constexpr std::size_t most_recorded = 256;

bool writes(Touch touch) { return touch == Touch::write || touch == Touch::strong_write; }

/// The host may wait in a loop for a copy of so little, and then reset it.
constexpr Address flag_bytes = 8;

/// Does it matter which of the two comes first? `earlier` did in this run.
bool disturbs(Touch earlier, Touch later) {
    if (later == Touch::free)
        return earlier != Touch::free;
    if (earlier == Touch::free || later == Touch::same_value)
        return false;
    if (earlier == Touch::strong_read || later == Touch::strong_read)
        return false; // Such a read expects that others write.
    if (earlier == Touch::strong_write && later == Touch::strong_write)
        return false;
    if (earlier == Touch::same_value)
        return writes(later);
    return writes(earlier) || writes(later);
}

/// One stored to tell others, and the other looked. Atomics of kernels that have no fence only count.
bool communicate(Touch earlier, Touch later, bool both_fence) {
    return (writes(earlier) && later == Touch::strong_read) ||
           (both_fence && earlier == Touch::strong_write && later == Touch::strong_write);
}

} // namespace

std::uint32_t OperationClock::at(std::uint64_t line) const {
    const auto found =
        std::ranges::lower_bound(entries_, line, {}, &std::pair<std::uint64_t, std::uint32_t>::first);
    return found != entries_.end() && found->first == line ? found->second : 0;
}

void OperationClock::raise(std::uint64_t line, std::uint32_t number) {
    const auto found =
        std::ranges::lower_bound(entries_, line, {}, &std::pair<std::uint64_t, std::uint32_t>::first);
    if (found != entries_.end() && found->first == line)
        found->second = std::max(found->second, number);
    else
        entries_.insert(found, {line, number});
}

void OperationClock::join(const OperationClock& other) {
    for (const auto& [line, number] : other.entries_)
        raise(line, number);
}

Order::Order(State& state) : state_(state), enabled_(state.settings().checks) {}

void Order::place(Task& task, const std::vector<TaskRef>& behind) {
    if (!enabled_)
        return;
    const std::lock_guard lock(mutex_);
    if (lines_.size() > most_lines)
        see(everything());
    open_guards(); // For what is going to run.
    OperationPlace& place = task.order;
    place.clock = host_;
    if (task.primary)
        place.known = host_;
    Line* line = nullptr;
    for (const TaskRef& each : behind) {
        if (!each)
            continue;
        if (each->order.line == 0) {
            task.facts.unsure = true;
            continue;
        }
        place.clock.join(each->order.clock);
        if (task.primary && each != task.primary)
            place.known.join(each->order.clock);
        const auto known = lines_.find(each->order.line);
        if (!line && each->stream == task.stream && known != lines_.end() &&
            known->second.tail == each->order.number) {
            place.line = known->first;
            line = &known->second;
        }
    }
    const bool in_graph = task.facts.graph != 0; // The graph as a whole has its place in the stream.
    if (task.legacy && !in_graph)
        place.clock.join(blocking_);
    place.clock.forget_if([&](std::uint64_t each) { return !lines_.contains(each); });
    if (!line) {
        place.line = ++last_line_;
        line = &lines_[place.line];
    }
    place.number = ++line->tail;
    place.clock.raise(place.line, place.number);
    if (task.facts.kind == OperationKind::record)
        line->recorded.push_back(place.number);
    if (line->recorded.size() > most_recorded)
        line->recorded.pop_front();
    if (task.blocking && !in_graph)
        blocking_.join(place.clock);
    ++line->pending;
    ++pending_;
}

bool Order::is_unsure(const OperationClock& clock) const {
    return std::ranges::any_of(lines_, [&](const auto& line) {
        return !line.second.unsure.empty() && line.second.unsure.front() <= clock.at(line.first);
    });
}

void Order::ended(Task& task) {
    if (!enabled_ || task.order.line == 0)
        return;
    const std::lock_guard lock(mutex_);
    Line& line = lines_.at(task.order.line);
    --line.pending;
    --pending_;
    bool unsure = task.facts.unsure;
    if (task.primary)
        find_unfinished(task);
    if (task.facts.footprint && !task.facts.footprint->pieces.empty()) {
        Operation operation{task.facts, task.order, {}};
        unsure |= compare(operation);
        unsure |= compare_programmatic(operation);
        drop_watches(*operation.facts.footprint);
        if (operation.facts.watched && !unsure) {
            watch(operation);
            guard(operation);
        }
        operation.facts.unsure = unsure;
        ++live_;
        pieces_ += operation.facts.footprint->pieces.size();
        line.live.push_back(std::move(operation));
        while (!line.live.empty() && (live_ > most_live || pieces_ > most_pieces))
            drop_oldest(line);
    }
    if (unsure)
        line.unsure.push_back(task.order.number);
    if (task.facts.tells_host || stores_for_host(task.facts))
        see(task.order.clock);
    else
        prune();
    close_guards();
}

Order::Relation Order::relate(const Footprint& earlier, const Footprint& later, const Matters& matters) {
    Relation result;
    const bool swapped = earlier.pieces.size() < later.pieces.size();
    const auto& few = swapped ? earlier.pieces : later.pieces;
    const auto& many = swapped ? later.pieces : earlier.pieces;
    for (const FootprintPiece& one : few) {
        auto other = std::ranges::upper_bound(many, one.begin, {}, &FootprintPiece::end);
        for (; other != many.end() && other->begin < one.end; ++other) {
            const FootprintPiece& first = swapped ? one : *other;
            const FootprintPiece& second = swapped ? *other : one;
            result.communicates |= communicate(first.touch, second.touch, earlier.fences && later.fences);
            if (!disturbs(first.touch, second.touch) || (matters && !matters(first, second)))
                continue;
            const Address begin = std::max(first.begin, second.begin), end = std::min(first.end, second.end);
            if (!result.clash.earlier)
                result.clash = {&first, &second, begin, end};
            else if (result.clash.end == begin) // Other instructions, but the same bytes on.
                result.clash.end = end;
        }
        if (result.communicates)
            break;
    }
    return result;
}

const Order::Operation* Order::find(const Unfinished& operation) const {
    const auto line = lines_.find(operation.line);
    if (line == lines_.end())
        return nullptr;
    const auto found = std::ranges::lower_bound(line->second.live, operation.number, {},
                                                [](const Operation& each) { return each.place.number; });
    return found != line->second.live.end() && found->place.number == operation.number ? &*found : nullptr;
}

/// True if the operation may be ordered with others by what it read.
bool Order::compare(const Operation& later) {
    std::vector<std::pair<const Operation*, Clash>> clashes;
    for (const auto& [number, line] : lines_) {
        const std::uint32_t known = later.place.clock.at(number);
        auto earlier =
            std::ranges::upper_bound(line.live, known, {}, [](const Operation& o) { return o.place.number; });
        for (; earlier != line.live.end(); ++earlier) {
            if (earlier->place.clock.at(later.place.line) >= later.place.number)
                continue;
            const Relation found = relate(*earlier->facts.footprint, *later.facts.footprint);
            if (found.communicates)
                return true;
            if (found.clash.earlier && !earlier->facts.unsure)
                clashes.emplace_back(&*earlier, found.clash);
        }
    }
    if (later.facts.unsure || is_unsure(later.place.clock))
        return false;
    for (const auto& [earlier, clash] : clashes)
        tell_race(*earlier, later, clash);
    return false;
}

/// A kernel that stores to the host's memory by atomics or volatile stores, or behind a fence, may tell the
/// host that it is done, and with it all before.
bool Order::stores_for_host(const OperationFacts& facts) const {
    if (!facts.footprint || facts.kind != OperationKind::kernel)
        return false;
    std::optional<Allocation> inside;
    return std::ranges::any_of(facts.footprint->pieces, [&](const FootprintPiece& piece) {
        if (piece.touch != Touch::strong_write && !(facts.footprint->fences && piece.touch == Touch::write))
            return false;
        if (!inside || piece.begin - inside->base >= inside->size)
            inside = state_.device().memory().find(piece.begin);
        return inside && is_host_visible(inside->kind);
    });
}

void Order::watch(Operation& operation) {
    const GlobalMemory& memory = state_.device().memory();
    for (const FootprintPiece& piece : operation.facts.footprint->pieces) {
        if (piece.touch == Touch::strong_read || piece.touch == Touch::strong_write)
            continue;
        if (operation.facts.kind == OperationKind::copy && piece.touch != Touch::read &&
            piece.end - piece.begin <= flag_bytes)
            continue;
        // Registered memory may be gone without a call that tells of it.
        const auto found = memory.find(piece.begin);
        if (found && (found->kind == Allocation::Kind::host || found->kind == Allocation::Kind::managed))
            operation.watches.emplace_back(piece.begin, piece.end, piece.touch != Touch::read);
    }
}

namespace {

/// Pages whose every allocated byte lies in begin … end-1.
std::pair<Address, Address> whole_pages(const Allocation& memory, Address begin, Address end) {
    constexpr Address page = HostGuard::page_bytes;
    const Address first = (begin + page - 1) / page * page;
    return {first, end == memory.base + memory.size ? (end + page - 1) / page * page : end / page * page};
}

} // namespace

/// Keeps the host away from what the operation writes. The oldest guard gives way.
void Order::guard(const Operation& operation) {
    const auto& pieces = operation.facts.footprint->pieces;
    const auto is_written = [](const FootprintPiece& piece) {
        return piece.touch == Touch::write || piece.touch == Touch::same_value;
    };
    for (std::size_t i = 0, next = 0; i < pieces.size(); i = next) {
        next = i + 1;
        if (!is_written(pieces[i]))
            continue;
        while (next < pieces.size() && is_written(pieces[next]) && pieces[next].begin == pieces[next - 1].end)
            ++next;
        const auto found = state_.device().memory().find(pieces[i].begin);
        if (!found || (found->kind != Allocation::Kind::host && found->kind != Allocation::Kind::managed))
            continue;
        if (operation.facts.kind == OperationKind::copy &&
            pieces[next - 1].end - pieces[i].begin <= flag_bytes)
            continue;
        const auto [begin, end] = whole_pages(*found, pieces[i].begin, pieces[next - 1].end);
        if (begin >= end)
            continue;
        HostGuard::set(next_guard_, begin, end);
        guarded_[next_guard_] = Guarded{operation.facts, operation.place.line, operation.place.number};
        next_guard_ = (next_guard_ + 1) % guarded_.size();
    }
}

/// Its pages are open.
void Order::drop_guard(std::size_t slot) {
    HostGuard::clear(slot);
    guarded_[slot].reset();
}

void Order::open_guards() {
    HostGuard::open();
    for (std::size_t slot = 0; slot < guarded_.size(); ++slot)
        if (guarded_[slot])
            if (const auto touched = HostGuard::touched(slot)) {
                tell_host_access(guarded_[slot]->facts, *touched);
                drop_guard(slot);
            }
}

/// While nothing runs, only the host itself can come there.
void Order::close_guards() {
    if (pending_ == 0 && std::ranges::any_of(guarded_, [](const auto& each) { return each.has_value(); }))
        HostGuard::close();
}

void Order::finish() {
    const std::lock_guard lock(mutex_);
    open_guards();
    for (std::size_t slot = 0; slot < guarded_.size(); ++slot)
        drop_guard(slot);
}

/// What the device itself changes is no change by the host.
void Order::drop_watches(const Footprint& footprint) {
    for (auto& [number, line] : lines_)
        for (Operation& each : line.live)
            std::erase_if(each.watches, [&](const HostWatch& watch) {
                return std::ranges::any_of(footprint.pieces, [&](const FootprintPiece& piece) {
                    return (writes(piece.touch) || piece.touch == Touch::free) &&
                           watch.overlaps(piece.begin, piece.end);
                });
            });
}

void Order::before_write(Address begin, Address end) {
    if (!enabled_)
        return;
    const std::lock_guard lock(mutex_);
    for (auto& [number, line] : lines_)
        for (Operation& each : line.live)
            if (std::ranges::any_of(each.watches,
                                    [&](const HostWatch& watch) { return watch.overlaps(begin, end); }))
                tell_changes(each);
}

void Order::tell_changes(Operation& operation) {
    for (const HostWatch& watch : operation.watches)
        if (const auto changed = watch.changed()) {
            tell_host_write(operation, watch, changed->first, changed->second);
            break;
        }
    operation.watches.clear();
}

OperationClock Order::everything() const {
    OperationClock all;
    for (const auto& [number, line] : lines_)
        if (line.pending == 0)
            all.raise(number, line.tail);
        else if (!line.live.empty())
            all.raise(number, line.live.back().place.number);
    return all;
}

/// The host knows this from now on.
void Order::see(const OperationClock& clock) {
    open_guards();
    for (std::size_t slot = 0; slot < guarded_.size(); ++slot)
        if (guarded_[slot] && guarded_[slot]->number <= clock.at(guarded_[slot]->line))
            drop_guard(slot);
    for (auto& [number, line] : lines_) {
        const std::uint32_t known = clock.at(number);
        for (Operation& each : line.live)
            if (each.place.number <= known && !each.watches.empty())
                tell_changes(each);
    }
    host_.join(clock);
    prune();
    close_guards();
}

void Order::host_saw(const std::vector<TaskRef>& tasks) {
    if (!enabled_)
        return;
    const std::lock_guard lock(mutex_);
    OperationClock clock;
    for (const TaskRef& each : tasks)
        if (each)
            clock.join(each->order.clock);
    see(clock);
}

void Order::host_saw_blocking() {
    if (!enabled_)
        return;
    const std::lock_guard lock(mutex_);
    see(blocking_);
}

void Order::host_saw_all() {
    if (!enabled_)
        return;
    const std::lock_guard lock(mutex_);
    see(everything());
}

void Order::host_frees(Address begin, Address end) {
    if (!enabled_)
        return;
    const std::lock_guard lock(mutex_);
    const Footprint freed{{{begin, end, Touch::free}}, {}, false};
    for (const auto& [number, line] : lines_)
        for (const Operation& user : line.live)
            if (user.place.number > host_.at(number) && !user.facts.unsure)
                if (const Relation found = relate(*user.facts.footprint, freed); found.clash.earlier)
                    tell_freed(
                        user, "cudaFree", "it does not wait, since the memory came from a pool",
                        "Wait for " + user.facts.what +
                            " before cudaFree (cudaStreamSynchronize), or use cudaFreeAsync in its stream.",
                        found.clash);
}

void Order::forget(Address begin, Address end) {
    if (!enabled_)
        return;
    const std::lock_guard lock(mutex_);
    open_guards();
    for (std::size_t slot = 0; slot < guarded_.size(); ++slot)
        if (guarded_[slot] && HostGuard::overlaps(slot, begin, end))
            drop_guard(slot);
    drop_watches({{{begin, end, Touch::free}}, {}, false});
    close_guards();
}

void Order::drop_oldest(Line& line) {
    for (std::size_t slot = 0; slot < guarded_.size(); ++slot)
        if (guarded_[slot] && guarded_[slot]->line == line.live.front().place.line &&
            guarded_[slot]->number == line.live.front().place.number)
            drop_guard(slot);
    --live_;
    pieces_ -= line.live.front().facts.footprint->pieces.size();
    line.live.pop_front();
}

/// Forgets what every later operation stands behind. What is under way may have been asked for before the
/// host knew of that.
void Order::prune() {
    if (pending_ > 0)
        return;
    for (auto line = lines_.begin(); line != lines_.end();) {
        const std::uint32_t known = host_.at(line->first);
        Line& each = line->second;
        while (!each.live.empty() && each.live.front().place.number <= known)
            drop_oldest(each);
        std::erase_if(each.unsure, [&](std::uint32_t number) { return number <= known; });
        std::erase_if(each.recorded, [&](std::uint32_t number) { return number <= known; });
        const bool unused = each.live.empty() && each.unsure.empty() && each.recorded.empty();
        line = unused ? lines_.erase(line) : std::next(line);
    }
    const auto gone = [&](std::uint64_t line) { return !lines_.contains(line); };
    host_.forget_if(gone);
    blocking_.forget_if(gone);
}

} // namespace emu::cuda
