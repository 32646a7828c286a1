// Generic accesses against the shadow memory.

#include "happens_before/engine.hpp"
#include "machine/device.hpp"

#include <algorithm>
#include <bit>

namespace emu::check {
namespace {

bool is_strong(const AccessEvent& e) {
    return e.kind == AccessKind::atomic || e.semantics != Semantics::weak;
}

unsigned flags_of(const AccessEvent& e) {
    unsigned flags = Record::by_lane;
    if (e.space == ptx::Space::shared)
        flags |= Record::local;
    if (e.kind != AccessKind::read)
        flags |= Record::write;
    if (e.kind == AccessKind::atomic)
        flags |= Record::update;
    if (e.noncoherent)
        flags |= Record::noncoherent;
    if (is_strong(e)) {
        flags |= Record::strong;
        if (e.semantics == Semantics::volatile_)
            flags |= Record::is_volatile;
        if (e.scope == Scope::cta && e.semantics != Semantics::volatile_)
            flags |= Record::narrow;
    }
    return flags;
}

/// Lanes that together cover one aligned word with consecutive bytes (or pairs of bytes), beginning at
/// `lane`.
bool covers_word(const AccessEvent& e, LaneMask lanes, unsigned lane) {
    const unsigned count = 4 / e.bytes;
    if (lane + count > warp_size || e.addresses[lane] % 4)
        return false;
    for (unsigned i = 1; i < count; ++i)
        if (!(lanes >> (lane + i) & 1) || e.addresses[lane + i] != e.addresses[lane] + i * e.bytes)
            return false;
    return true;
}

/// `lanes`, if there are several and all access the same place; else none.
LaneMask at_one_place(const AccessEvent& e, LaneMask lanes) {
    const auto first = static_cast<unsigned>(std::countr_zero(lanes));
    if (std::has_single_bit(lanes) || e.addresses[first] != e.addresses[31u - std::countl_zero(lanes)])
        return 0;
    LaneMask others = 0;
    for_lanes(lanes, [&](unsigned lane) { others |= e.addresses[lane] != e.addresses[first]; });
    return others ? 0 : lanes;
}

} // namespace

std::uint32_t Engine::record_for(WarpClock& warp, std::uint32_t pc, unsigned flags) {
    auto& recent = warp.recent[(pc + flags) % warp.recent.size()];
    if (recent.pc == pc && recent.flags == flags && recent.epoch == warp.now)
        return recent.record;
    Record r;
    r.cluster = threads_.cluster();
    r.pc = pc;
    r.component = warp.first;
    r.epoch = warp.now;
    r.warp = static_cast<std::uint16_t>(warp.warp->block().rank() * 32 + warp.warp->index());
    r.flags = static_cast<std::uint16_t>(flags);
    recent = {pc, flags, warp.now, add_record(r)};
    if (warps_at_.size() <= pc)
        warps_at_.resize(pc + 1);
    if (std::uint8_t& who = warps_at_[pc]; who != warp.warp->index() + 1)
        who = who == 0 ? static_cast<std::uint8_t>(warp.warp->index() + 1) : several_warps;
    return recent.record;
}

void Engine::on_access(const AccessEvent& event) {
    if (event.space == ptx::Space::shared || event.space == ptx::Space::global)
        check_access(event);
    for (FactListener* const watcher : watchers(Watch::results))
        [[unlikely]] watcher->after_access(event);
}

void Engine::check_access(const AccessEvent& event) {
    WarpClock& clock = threads_.of(*event.warp);
    if (event.clash[0] != event.clash[1]) [[unlikely]]
        tell(&FactListener::on_clash, event);
    for (FactListener* const watcher : watchers(Watch::accesses))
        watcher->on_access(event);
    const unsigned flags = flags_of(event);
    const Address base = event.space == ptx::Space::shared ? shared_window : 0;
    bool published = false;
    if (flags & Record::strong)
        published = synchronise(event, clock);
    if ((flags & Record::strong) && std::has_single_bit(event.mask))
        log_flag(event, clock, published);
    LaneMask changing = event.mask;
    if (event.kind == AccessKind::write)
        changing &= event.changes_value ? event.changing : 0;
    if (changing)
        access_lanes(event, clock, changing, flags);
    if (changing != event.mask)
        access_lanes(event, clock, event.mask & ~changing, flags | Record::same_value);
    if (event.overhanging) [[unlikely]]
        tell(&FactListener::on_overhang, event);
    if (published) {
        Step step{.kind = Step::Kind::flag, .pc = event.pc};
        step.gives = true;
        step.where = base + event.addresses[static_cast<unsigned>(std::countr_zero(event.mask))];
        end_epoch(clock, event.mask, step);
    }
}

FlagEnd Engine::flag_end(const AccessEvent& event, const WarpClock& clock) const {
    FlagEnd end;
    end.cluster = threads_.cluster();
    end.warp = static_cast<std::uint16_t>(clock.warp->block().rank() * 32 + clock.warp->index());
    end.lane = static_cast<unsigned>(std::countr_zero(event.mask));
    end.thread = clock.first + end.lane;
    end.epoch = clock.now;
    end.pc = event.pc;
    end.semantics = event.semantics;
    end.scope = event.semantics == Semantics::volatile_ ? Scope::sys : event.scope;
    return end;
}

/// The edges of a strong access; true if it published anything.
bool Engine::synchronise(const AccessEvent& event, WarpClock& clock) {
    const Address base = event.space == ptx::Space::shared ? shared_window : 0;
    const auto access = [&](unsigned lane, Poll* poll) {
        return threads_.strong_access(clock, lane, base + event.addresses[lane], event, poll);
    };
    const auto first = static_cast<unsigned>(std::countr_zero(event.mask));
    const bool may_poll = event.kind == AccessKind::read && event.space == ptx::Space::global &&
                          std::has_single_bit(event.mask) && launch_.flags.is_used();
    const PollSite* const site = may_poll ? poll_sites_.at(*cluster_.info().kernel, event.pc) : nullptr;
    if (site && event.bytes == site->loaded_bytes) {
        Poll poll;
        const Address skipped = event.addresses[first] % 8;
        poll.ends = [&](std::uint64_t value) { return site->ends(*event.warp, first, value >> 8 * skipped); };
        const bool published = access(first, &poll);
        if (poll.is_stale)
            launch_.flags.wait_was_stale(event.addresses[first], flag_end(event, clock));
        return published;
    }
    bool published = false;
    for_lanes(event.mask, [&](unsigned lane) { published |= access(lane, nullptr); });
    return published;
}

/// A strong access of a single thread may be that of a flag. Counters, which are neither released nor stored
/// to, are none.
void Engine::log_flag(const AccessEvent& event, WarpClock& clock, bool published) {
    const bool gives = published || event.kind == AccessKind::write;
    if (!gives && (event.kind == AccessKind::write || !launch_.flags.is_used()))
        return;
    const auto lane = static_cast<unsigned>(std::countr_zero(event.mask));
    FlagGive end;
    static_cast<FlagEnd&>(end) = flag_end(event, clock);
    end.ordered = published;
    const Address location = (event.space == ptx::Space::shared ? shared_window : 0) + event.addresses[lane];
    if (event.kind != AccessKind::write)
        launch_.flags.take(location, end);
    if (!gives)
        return;
    // What a fence before it covers is what it publishes.
    if (published && event.semantics != Semantics::release && event.semantics != Semantics::acq_rel)
        end.epoch = (*clock.sync)[lane].release.epoch;
    Accumulator known;
    threads_.gather(known, clock, lane);
    end.knew = std::make_shared<const Clock>(known.clock());
    launch_.flags.give(location, std::move(end));
}

void Engine::access_lanes(const AccessEvent& event, WarpClock& clock, LaneMask lanes, std::uint32_t flags) {
    Actor actor;
    actor.clock = &clock;
    actor.is_write = (flags & Record::write) != 0;
    actor.shared = event.space == ptx::Space::shared;
    if (event.kind == AccessKind::write && event.clash[0] == event.clash[1])
        actor.together = at_one_place(event, event.mask);
    if (!actor.shared && event.kind != AccessKind::write)
        actor.written = gaps_at(event.addresses[static_cast<unsigned>(std::countr_zero(lanes))]);
    const std::uint32_t whole = record_for(clock, event.pc, flags);
    actor.record = &store(actor.shared)[whole];
    const Record* const whole_record = actor.record;
    std::uint32_t packed = 0;
    GlobalShadow::Lock lock;
    for (LaneMask left = lanes; left;) {
        const auto lane = static_cast<unsigned>(std::countr_zero(left));
        left &= left - 1;
        actor.lane = lane;
        std::uint32_t id = whole;
        std::uint32_t bytes = event.overhanging >> lane & 1 ? event.inside[lane] : event.bytes;
        actor.record = whole_record;
        if (event.bytes < 4 && covers_word(event, lanes, lane)) {
            if (!packed)
                packed = record_for(clock, event.pc, flags | (bytes == 1 ? Record::bytes1 : Record::bytes2));
            id = packed;
            actor.record = &store(actor.shared)[packed];
            left &= ~(((1u << 4 / bytes) - 1) << lane);
            bytes = 4;
        }
        actor.ref = make_ref(id, lane);
        access_one(actor, event.addresses[lane], bytes, lock);
    }
}

template <class Visit>
void Engine::by_words(Address address, std::uint32_t bytes, Visit&& visit) {
    if (bytes == 4 && address % 4 == 0) [[likely]] // Compiled on its own, without what parts of words need.
        return visit(address, 15u);
    const Address end = address + bytes;
    for (Address word = address & ~Address{3}; word < end; word += 4) {
        unsigned mask = 15;
        if (word < address)
            mask &= 15u << (address - word);
        if (word + 4 > end)
            mask &= 15u >> (word + 4 - end);
        visit(word, mask);
    }
}

void Engine::access_one(Actor& actor, Address address, std::uint32_t bytes) {
    GlobalShadow::Lock lock;
    access_one(actor, address, bytes, lock);
}

void Engine::access_one(Actor& actor, Address address, std::uint32_t bytes, GlobalShadow::Lock& lock) {
    if (actor.shared) {
        const auto at = static_cast<std::uint32_t>(address);
        if (shared_offset(at) < shared_reserved)
            return; // Cooperative groups' own, zeroed by the system; they count on shuffles to order its use.
        Region& region = shared_[shared_rank(at)];
        by_words(address, bytes, [&](Address word, unsigned mask) {
            actor.word = word;
            const std::size_t index = shared_offset(static_cast<std::uint32_t>(word)) / 4;
            if (index < region.words())
                region.visit(index, mask,
                             [&](Cell& cell, unsigned k, unsigned n) { touch(region, cell, k, n, actor); });
        });
        return;
    }
    // A piece may cross pages.
    while (bytes) {
        const Address number = address >> GlobalShadow::page_bits;
        const auto here = static_cast<std::uint32_t>(
            std::min<Address>(bytes, ((number + 1) << GlobalShadow::page_bits) - address));
        GlobalShadow::Page& page = pages_.page(number);
        lock.hold(page);
        by_words(address, here, [&](Address word, unsigned mask) {
            actor.word = word;
            page.region.visit(
                word % GlobalShadow::page_bytes / 4, mask,
                [&](Cell& cell, unsigned k, unsigned n) { touch(page.region, cell, k, n, actor); });
        });
        address += here;
        bytes -= here;
    }
}

std::vector<Ref> Engine::writes_of(Address address, std::uint32_t bytes) {
    std::vector<Ref> refs;
    by_words(address, bytes, [&](Address word, unsigned mask) {
        GlobalShadow::Page& page = pages_.page(word >> GlobalShadow::page_bits);
        const GlobalShadow::Lock lock(page);
        page.region.visit(word % GlobalShadow::page_bytes / 4, mask, [&](Cell& cell, unsigned, unsigned) {
            if (cell.write && (refs.empty() || refs.back() != cell.write))
                refs.push_back(cell.write);
        });
    });
    return refs;
}

Ref Engine::written_below(std::uint32_t address, std::uint32_t limit, std::uint32_t& end) {
    Region& region = shared_[shared_rank(address)];
    Ref found = 0;
    for (std::uint32_t word = address & ~3u; word > limit && !found;) {
        word -= 4;
        if (shared_offset(word) / 4 < region.words())
            region.visit(shared_offset(word) / 4, 15,
                         [&](Cell& cell, unsigned, unsigned) { found = cell.write ? cell.write : found; });
        end = word + 4;
    }
    return found;
}

bool Engine::is_ordered(Ref old, const Record& r, unsigned k, unsigned n, const Actor& actor) const {
    constexpr unsigned packed = Record::bytes1 | Record::bytes2;
    const auto ask = [&] {
        return threads_.sees(*actor.clock, actor.lane, r, Threads::component_of(r, old, k));
    };
    if (actor.answers && !(r.flags & packed))
        return actor.answers->ordered(old, ask);
    if (!((r.flags | actor.record->flags) & packed)) [[likely]]
        return ask();
    for (unsigned i = k; i < k + n; ++i)
        if (!threads_.sees(*actor.clock, lane_at(actor.ref, *actor.record, i), r,
                           Threads::component_of(r, old, i)))
            return false;
    return true;
}

void Engine::touch(Region& region, Cell& cell, unsigned k, unsigned n, Actor& actor) {
    // What shared memory held before the first write is not known: no first write leaves it as it was.
    if (actor.shared && !cell.write && actor.record->is(Record::same_value)) [[unlikely]] {
        Actor changing = actor;
        const std::uint32_t id =
            record_for(*actor.clock, actor.record->pc, actor.record->flags & ~unsigned{Record::same_value});
        changing.record = &store(true)[id];
        changing.ref = make_ref(id, lane_of(actor.ref));
        return touch_write(region, cell, k, n, changing);
    }
    if (actor.is_write)
        touch_write(region, cell, k, n, actor);
    else
        touch_read(region, cell, k, n, actor);
}

void Engine::touch_read(Region& region, Cell& cell, unsigned k, unsigned n, Actor& actor) {
    if (cell.write) {
        const Record& w = record(cell.write, actor);
        if (!is_ordered(cell.write, w, k, n, actor))
            conflict(w, cell.write, k, n, actor);
        else if (actor.record->flags & (Record::async_proxy | Record::noncoherent)) [[unlikely]]
            check_path(w, cell.write, k, n, actor);
        else if (w.rank() != actor.record->rank()) [[unlikely]]
            check_scope(w, cell.write, k, n, actor);
    } else if (actor.shared) {
        tell(actor.record->is(Record::async) ? &FactListener::on_unwritten_copied
                                             : &FactListener::on_unwritten,
             k, n, actor);
    } else if (actor.written && !actor.written->contains(actor.word)) [[unlikely]] {
        tell(&FactListener::on_unwritten, k, n, actor);
    }
    if (cell.read == actor.ref)
        return;
    if (cell.read == 0) {
        cell.read = actor.ref;
        return;
    }
    const auto readers = [&](ReadPair before) { return with_reader(region, before, k, n, actor); };
    // (In global memory it depends on more than the readers who is kept.)
    const bool alike = actor.answers && actor.shared && n == 4;
    const ReadPair before = region.readers(cell);
    region.set_readers(cell, alike ? actor.answers->readers(before, actor.ref, readers) : readers(before));
}

/// Who is kept of `readers` and this one: those that are not ordered before it; asynchronous readers are
/// never dropped for others.
ReadPair Engine::with_reader(Region& region, ReadPair readers, unsigned k, unsigned n, const Actor& actor) {
    const auto gone = [&](Ref r) { return r == 0 || is_ordered(r, record(r, actor), k, n, actor); };
    if (gone(readers.first))
        readers.first = std::exchange(readers.second, 0);
    if (gone(readers.first))
        readers.first = 0;
    if (readers.second && gone(readers.second))
        readers.second = 0;
    if (!readers.first)
        readers.first = actor.ref;
    else if (!readers.second || !record(readers.second, actor).is(Record::async) ||
             actor.record->is(Record::async))
        readers.second = actor.ref;
    if (readers.second && !actor.shared && region.pair_count() > region.words() / 4)
        readers = {record(readers.first, actor).is(Record::async) || !(actor.word & 4) ? readers.first
                                                                                       : readers.second,
                   0};
    return readers;
}

/// An atomic access must not hide the same thread's ordinary write before it: within an epoch whoever sees
/// one sees the other, and other threads' atomics race with the ordinary write only.
bool Engine::keeps_weak_write(const Cell& cell, unsigned k, const Actor& actor) {
    if (cell.write == 0)
        return false;
    const Record& old = record(cell.write, actor);
    const Record& mine = *actor.record;
    return !old.is(Record::strong) && !old.is(Record::async) && !old.is(Record::init) &&
           old.cluster == mine.cluster && old.epoch == mine.epoch &&
           Threads::component_of(old, cell.write, k) == Threads::component_of(mine, actor.ref, k);
}

void Engine::touch_write(Region& region, Cell& cell, unsigned k, unsigned n, Actor& actor) {
    const bool same_value = actor.record->is(Record::same_value);
    bool ordered = true;
    if (!cell.write && actor.record->is(Record::update) &&
        (actor.shared || (actor.written && !actor.written->contains(actor.word))))
        tell(&FactListener::on_unwritten, k, n, actor);
    if (cell.write && record_of(cell.write) != record_of(actor.ref)) {
        // (Lanes of one instruction that write the same place are not told apart here.)
        const Record& w = record(cell.write, actor);
        ordered = is_ordered(cell.write, w, k, n, actor);
        if (w.is(Record::init) && !actor.record->is(Record::init)) [[unlikely]]
            tell(&FactListener::on_barrier_overwritten, actor);
        if (!ordered)
            conflict(w, cell.write, k, n, actor);
        else if (actor.record->is(Record::async_proxy) && !w.is(Record::async_proxy))
            check_visible(w, cell.write, k, n, actor);
    }
    if (cell.read) {
        actor.first_write = cell.write == 0;
        const ReadPair readers = region.readers(cell);
        for (const Ref r : {readers.first, readers.second})
            if (r && !is_ordered(r, record(r, actor), k, n, actor))
                conflict(record(r, actor), r, k, n, actor);
            else if (r && record(r, actor).rank() != actor.record->rank()) [[unlikely]]
                check_scope(record(r, actor), r, k, n, actor);
            else if (r && actor.shared && actor.record->is(Record::async_proxy))
                for (FactListener* const watcher : watchers(Watch::overwritten_reads))
                    watcher->on_overwritten_read({record(r, actor), r, k, n, actor});
    }
    // A write that changed nothing does not hide an earlier one that did.
    if (same_value && cell.write && !ordered)
        return note_co_writers(record_of(cell.write), actor);
    region.set_readers(cell, {});
    if (actor.record->is(Record::strong) && keeps_weak_write(cell, k, actor)) [[unlikely]]
        return;
    cell.write = actor.ref;
    if (actor.together)
        note_co_writers(record_of(actor.ref), actor);
}

void Engine::conflict(const Record& old, Ref ref, unsigned k, unsigned n, const Actor& actor) {
    // Lanes that copy a word byte by byte are one record, and one of them may be the other party too: the
    // finding is about the first byte that two threads used.
    for (; n > 1 && is_ordered(ref, old, k, 1, actor); ++k)
        --n;
    const Meeting meeting{old, ref, k, n, actor};
    for (const auto& listener : listeners_)
        if (listener->on_conflict(meeting))
            return;
}

void Engine::ask_next(const FactListener& listener, const Meeting& meeting) {
    auto next = std::ranges::find(listeners_, &listener, [](const auto& each) { return each.get(); });
    while (++next != listeners_.end())
        if ((*next)->on_conflict(meeting))
            return;
}

/// The two threads are of different blocks, and what orders them may reach one block only.
void Engine::check_scope(const Record& old, Ref ref, unsigned k, unsigned n, const Actor& actor) {
    const Record& mine = *actor.record;
    if (old.cluster == threads_.cluster() && old.epoch != 0 &&
        !((old.flags | mine.flags) & (Record::async | Record::init)) &&
        !(old.flags & mine.flags & Record::strong) &&
        !threads_.sees(*actor.clock, actor.lane, old, Threads::component_of(old, ref, k), across_blocks))
        tell(&FactListener::on_narrow_order, Meeting{old, ref, k, n, actor});
}

/// The read comes behind the write, but takes another path to memory.
void Engine::check_path(const Record& old, Ref ref, unsigned k, unsigned n, const Actor& actor) {
    if (actor.record->is(Record::noncoherent)) {
        if (!old.is(Record::same_value))
            tell(&FactListener::on_noncoherent_read, Meeting{old, ref, k, n, actor});
    } else if (!old.is(Record::async_proxy)) {
        check_visible(old, ref, k, n, actor);
    }
}

/// What was written through the generic proxy is used through the async proxy.
void Engine::check_visible(const Record& old, Ref ref, unsigned k, unsigned n, const Actor& actor) {
    if (old.is(Record::same_value) || old.epoch == 0)
        return;
    const auto ask = [&] {
        const Part part = actor.shared ? shared_proxy : global_proxy;
        return threads_.sees(*actor.clock, actor.lane, old, Threads::component_of(old, ref, k), part);
    };
    const bool packed = old.is(Record::bytes1) || old.is(Record::bytes2); // Its bytes are several threads'.
    if (!(actor.answers && !packed ? actor.answers->visible(ref, ask) : ask()))
        tell(&FactListener::on_unfenced, Meeting{old, ref, k, n, actor});
}

/// The allocation's record if some of its words had not been written before the launch.
const WrittenWords* Engine::gaps_at(Address address) {
    const Cluster::Window window = cluster_.window(address);
    if (window.base == 0)
        return nullptr;
    for (const Known& known : known_written_)
        if (known.base == window.base)
            return known.written && !known.written->all() ? known.written.get() : nullptr;
    known_written_[next_known_++ % known_written_.size()] = {
        window.base, cluster_.launch().device().memory().written_words(window.base)};
    return gaps_at(address);
}

} // namespace emu::check
