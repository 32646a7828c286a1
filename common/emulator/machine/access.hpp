#pragma once
/// \file
/// Addresses of one warp instruction: computed, checked against allocation, alignment and space, and turned
/// into host pointers.

#include "machine/decoder.hpp"
#include "machine/warp.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <mutex>

namespace emu {

/// What memory instructions know beyond their rows.
struct AccessExtra : OpExtra {
    DecodeContext::AddressParts address;
    std::vector<Row> rows; ///< Elements of a vector access, or the sources of an atomic.
    ptx::Space space = ptx::Space::generic;
    AccessKind kind = AccessKind::read;
    Semantics semantics = Semantics::weak;
    Scope scope = Scope::cta;
    bool noncoherent = false;    ///< ld.global.nc: through the read-only path.
    bool own_block_only = false; ///< `.shared::cta` and plain `.shared`: another block's memory is an error.
    bool one_by_one = false;     ///< Each element is an access of its own: Warp::accessed_element.
    unsigned copies = 1; ///< Of what is loaded: all elements come so often, one series after the other.
};

/// Host pointers of an access.
struct Pointers {
    std::array<std::byte*, warp_size> at;
    ptx::Space space =
        ptx::Space::global;   ///< Resolved space; of the first lane when a generic access mixes them.
    LaneMask overhanging = 0; ///< See AccessEvent.
    std::array<std::uint8_t, warp_size> inside;
};

/// Reads semantics and scope from the modifiers (PTX ISA 8.4, 8.5).
void decode_semantics(DecodeContext& context, AccessExtra& access);

/// The space of an access. The name of a shared or local variable stands for its place there, also where the
/// instruction names no space (ptxas takes `ld.u32 r, [tile];`).
ptx::Space space_of(DecodeContext& context, const ptx::Operand& address);

/// Writes the lanes' addresses into warp.addresses, in the space of the instruction.
void compute_addresses(Warp& warp, const DecodeContext::AddressParts& parts, LaneMask mask);

/// Computes and checks the addresses of `bytes` per lane. On an error reports it, stops the launch and
/// returns false.
bool resolve(Warp& warp, const AccessExtra& access, LaneMask mask, unsigned bytes, Pointers& pointers);

/// While listeners watch, two kinds of accesses to memory that blocks on other host threads share hold a lock
/// from their event to their effect. One that may synchronise blocks (anything but a weak one): listeners see
/// such accesses in the order in which they happen. And a weak store: of two that write the same value to one
/// place, one finds it there, whoever comes first (AccessEvent::changing).
std::unique_lock<std::mutex> in_order(Warp& warp, const AccessExtra& access, LaneMask mask);

/// Stands for a strong access that changed nothing, for Warp::note_poll().
template <class T>
std::uint64_t poll_of(const Warp& warp, LaneMask mask, const T* values) {
    const auto lane = static_cast<unsigned>(std::countr_zero(mask));
    std::uint64_t value = 0;
    std::memcpy(&value, values + lane, std::min(sizeof(T), sizeof value));
    return (warp.addresses[lane] * 31 + warp.pc()) * 31 + value + 1;
}

/// Two lanes, or twice the same; see AccessEvent::clash.
using Clash = std::array<std::uint8_t, 2>;

/// Tells listeners, one event per space when a generic access mixes them. `changing`, `clash`: see
/// AccessEvent.
void emit_access(Warp& warp, const Op& op, const AccessExtra& access, const Pointers& pointers, LaneMask mask,
                 unsigned bytes, LaneMask changing = all_lanes, Clash clash = {});

/// Two lanes that write different values to one address. `value(lane)`: what a lane writes, `bytes` of it.
template <class Value>
Clash find_clash(const Pointers& pointers, LaneMask mask, unsigned bytes, Value value) {
    std::array<std::uint8_t, warp_size> lanes{};
    unsigned count = 0;
    bool ascending = true;
    for_lanes(mask, [&](unsigned lane) {
        ascending &= count == 0 || pointers.at[lane] > pointers.at[lanes[count - 1]];
        lanes[count++] = static_cast<std::uint8_t>(lane);
    });
    if (ascending)
        return {};
    std::stable_sort(lanes.begin(), lanes.begin() + count,
                     [&](unsigned a, unsigned b) { return pointers.at[a] < pointers.at[b]; });
    for (unsigned i = 1; i < count; ++i)
        if (pointers.at[lanes[i - 1]] == pointers.at[lanes[i]] &&
            std::memcmp(value(lanes[i - 1]), value(lanes[i]), bytes) != 0)
            return {lanes[i - 1], lanes[i]};
    return {};
}

} // namespace emu
