// Meaningless values in registers and memory: where they lie. What instructions do with them: value_flow.cpp.

#include "rules/analysis/values.hpp"

#include "machine/block.hpp"
#include "machine/cluster.hpp"

#include <algorithm>
#include <bit>

namespace emu::check {
namespace {

std::uint64_t number_of(const Warp& warp) { return warp.block().rank() * 32 + warp.index(); }

std::uint64_t local_key(const Warp& warp, unsigned lane, std::uint64_t word) {
    return (number_of(warp) * warp_size + lane) << 32 | word;
}

constexpr std::uint32_t mark_of(OriginId origin, unsigned bytes) { return origin << 4 | bytes; }
constexpr OriginId origin_in(std::uint32_t mark) { return mark >> 4; }

/// Calls `f(word, bytes)` for each word of [address, address + bytes), `bytes` one bit a byte.
template <class F>
void by_words(std::uint64_t address, std::uint32_t bytes, F&& f) {
    const std::uint64_t end = address + bytes;
    for (std::uint64_t at = address & ~std::uint64_t{3}; at < end; at += 4) {
        unsigned mask = 15;
        if (at < address)
            mask &= 15u << (address - at);
        if (at + 4 > end)
            mask &= 15u >> (at + 4 - end);
        f(at / 4, mask);
    }
}

/// `old` after `bytes` of its word were given the origin, or were written if that is 0.
std::uint32_t changed(std::uint32_t old, unsigned bytes, OriginId origin) {
    if (origin)
        return mark_of(origin, (old & 15) | bytes);
    const unsigned left = old & 15 & ~bytes;
    return left ? mark_of(origin_in(old), left) : 0;
}

} // namespace

OriginId Values::origin_of(std::uint32_t pc, unsigned kind) {
    OriginId& id = by_instruction_[std::uint64_t{pc} << 8 | kind];
    if (id == 0) {
        id = static_cast<OriginId>(origins_.size());
        origins_.push_back({pc, false});
    }
    return id;
}

void Values::use(OriginId origin, Use use, const Warp& warp, unsigned lane, std::uint32_t pc) {
    if (origin == 0 || origins_[origin].used)
        return;
    origins_[origin].used = true;
    listener_.on_use(origin, use, warp, lane, pc);
}

// -- registers

Values::WarpRows& Values::rows_of(const Warp& warp) {
    const std::size_t number = number_of(warp);
    if (warps_.size() <= number)
        warps_.resize(number + 1);
    return warps_[number];
}

Values::Tainted* Values::row(const Warp& warp, std::uint32_t place) {
    WarpRows& of = rows_of(warp);
    return of.tainted && place / 4 < of.rows.size() ? &of.rows[place / 4] : nullptr;
}

void Values::set(const Warp& warp, std::uint32_t place, LaneMask lanes, Tainted value,
                 const std::array<OriginId, warp_size>& by_lane) {
    WarpRows& of = rows_of(warp);
    if (of.rows.size() <= place / 4) {
        if (!(value.lanes & lanes))
            return;
        of.rows.resize(place / 4 + 64);
    }
    if (in_registers_ && value.lanes & lanes) {
        auto& origins = of.by_lane[place / 4];
        for_lanes(value.lanes & lanes, [&](unsigned lane) { origins[lane] = by_lane[lane]; });
    }
    Tainted& row = of.rows[place / 4];
    const bool before = row.lanes != 0;
    row.lanes = (row.lanes & ~lanes) | (value.lanes & lanes);
    if (value.lanes & lanes)
        row.origin = value.origin;
    const bool after = row.lanes != 0;
    of.tainted += unsigned{after} - unsigned{before};
    tainted_rows_ += unsigned{after} - unsigned{before};
}

// -- memory

void Values::start_block(unsigned rank) {
    if (rank < shared_.size())
        shared_[rank].clear();
}

void Values::mark(std::uint32_t address, std::uint32_t bytes, OriginId origin) {
    const unsigned rank = shared_rank(address);
    if (shared_.size() <= rank || shared_[rank].empty()) {
        if (!origin)
            return;
        shared_.resize(std::max<std::size_t>(shared_.size(), rank + 1));
        shared_[rank].resize((max_shared_per_block + shared_reserved) / 4);
        marked_ = true;
    }
    auto& words = shared_[rank];
    by_words(shared_offset(address), bytes, [&](std::uint64_t word, unsigned mask) {
        if (word < words.size())
            words[word] = changed(words[word], mask, origin);
    });
}

OriginId Values::marked(std::uint32_t address, std::uint32_t bytes) const {
    const unsigned rank = shared_rank(address);
    if (shared_.size() <= rank || shared_[rank].empty())
        return 0;
    const auto& words = shared_[rank];
    OriginId found = 0;
    by_words(shared_offset(address), bytes, [&](std::uint64_t word, unsigned mask) {
        if (word < words.size() && words[word] & mask)
            found = origin_in(words[word]);
    });
    return found;
}

void Values::copy(std::uint32_t from, std::uint32_t to, std::uint32_t bytes) {
    for (std::uint32_t i = 0; i < bytes; i += 4)
        mark(to + i, 4, marked(from + i, 4));
}

OriginId Values::marked_lane(const AccessEvent& event, unsigned lane, std::uint32_t offset,
                             std::uint32_t bytes) const {
    const Address address = event.addresses[lane] + offset;
    if (event.space == ptx::Space::shared)
        return marked(static_cast<std::uint32_t>(address), bytes);
    OriginId found = 0;
    if (!local_.empty())
        by_words(address, bytes, [&](std::uint64_t word, unsigned mask) {
            const auto known = local_.find(local_key(*event.warp, lane, word));
            if (known != local_.end() && known->second & mask)
                found = origin_in(known->second);
        });
    return found;
}

void Values::mark_lane(const AccessEvent& event, unsigned lane, std::uint32_t offset, std::uint32_t bytes,
                       OriginId origin) {
    const Address address = event.addresses[lane] + offset;
    if (event.space == ptx::Space::shared)
        return mark(static_cast<std::uint32_t>(address), bytes, origin);
    if (!origin && local_.empty())
        return;
    by_words(address, bytes, [&](std::uint64_t word, unsigned mask) {
        const std::uint64_t key = local_key(*event.warp, lane, word);
        const auto known = local_.find(key);
        const std::uint32_t now = changed(known == local_.end() ? 0 : known->second, mask, origin);
        if (now)
            local_[key] = now;
        else if (known != local_.end())
            local_.erase(known);
    });
    marked_ |= origin != 0;
}

void Values::access_lane(const AccessEvent& event, unsigned lane) {
    const bool mine = outgoing_.warp == event.warp && outgoing_.pc == event.pc;
    const auto elements = static_cast<std::uint32_t>(mine ? outgoing_.elements.size() : 0);
    const auto sent = [&](std::uint32_t e) -> OriginId {
        return mine && e < elements && outgoing_.elements[e].lanes >> lane & 1 ? outgoing_.elements[e].origin
                                                                               : 0;
    };
    const std::uint32_t count = std::max(elements, 1u);
    if (event.kind == AccessKind::write && mine && outgoing_.of_matrix)
        return store_of_matrix(event, lane);
    if (event.kind == AccessKind::write) {
        const std::uint32_t each = event.bytes / count;
        for (std::uint32_t e = 0; e < count; ++e)
            mark_lane(event, lane, e * each, each, sent(e));
        return;
    }
    for (std::uint32_t offset = 0; offset < event.bytes;) {
        const std::uint32_t bytes = std::min<std::uint32_t>(
            event.bytes - offset, 4 - static_cast<std::uint32_t>((event.addresses[lane] + offset) % 4));
        if (const OriginId origin = marked_lane(event, lane, offset, bytes))
            taint_register(*event.warp, event.pc, lane, offset, origin);
        offset += bytes;
    }
    if (event.kind != AccessKind::atomic)
        return;
    OriginId operand = 0;
    for (std::uint32_t e = 0; e < elements; ++e)
        operand = sent(e) ? sent(e) : operand;
    const bool replaces = event.warp->cluster().info().kernel->sources[event.pc]->has("exch");
    if (operand || replaces)
        mark_lane(event, lane, 0, event.bytes, operand);
}

void Values::access(const AccessEvent& event) {
    if (event.space != ptx::Space::shared && event.space != ptx::Space::local) {
        if (event.kind != AccessKind::read && outgoing_.warp == event.warp && outgoing_.pc == event.pc)
            for (const Tainted& each : outgoing_.elements)
                if (const LaneMask lanes = each.lanes & event.mask)
                    use(each.origin, Use::stored, *event.warp, static_cast<unsigned>(std::countr_zero(lanes)),
                        event.pc);
        return;
    }
    const bool sends = outgoing_.warp == event.warp && outgoing_.pc == event.pc;
    if (marked_ || sends)
        for_lanes(event.mask, [&](unsigned lane) { access_lane(event, lane); });
}

} // namespace emu::check
