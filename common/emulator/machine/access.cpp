#include "machine/access.hpp"

#include "hopper_emulator/finding_kinds.hpp"
#include "machine/cluster.hpp"
#include "machine/device.hpp"
#include "machine/mistake.hpp"

namespace emu {
namespace {

using ptx::Space;

/// The space an address of a generic access points into, and the address inside that space.
Space classify(Address& address) {
    if (in_shared_window(address)) {
        address -= shared_window;
        return Space::shared;
    }
    if (in_local_window(address)) {
        address -= local_window;
        return Space::local;
    }
    return Space::global;
}

void report_misaligned(Warp& warp, const AccessExtra& access, unsigned lane, unsigned bytes) {
    Place(warp, lane)
        .report(Finding::misaligned, Fault::misaligned_address, "access-misaligned",
                {{"does", access.kind}, {"bytes", bytes}, {"address", Hexadecimal{warp.addresses[lane]}}});
}

/// An access of shared memory that is not there, or not for this instruction.
void report_outside_shared(const Place& place, const AccessExtra& access, Address address, unsigned bytes) {
    const Cluster& cluster = place.cluster();
    const auto a = static_cast<std::uint32_t>(address);
    const std::uint32_t rank = shared_rank(a);
    const Block* owner = place.cluster().block(rank);
    const bool own_only = access.own_block_only && access.space == Space::shared;
    if (!owner || address > 0xffffffffu)
        return place.report(Finding::rank_out_of_range,
                            own_only ? Fault::illegal_instruction : fault_of_rank(rank),
                            "access-no-such-block",
                            {{"does", access.kind}, {"rank", rank}, {"blocks", cluster.block_count()}});
    const bool foreign = owner != &place.warp.block();
    if (own_only && foreign)
        return place.report(Finding::rank_out_of_range, Fault::illegal_instruction, "access-not-own-block",
                            {{"does", access.kind}, {"rank", rank}});
    if (owner->finished())
        return place.report(Finding::remote_block_exited, Fault::launch_failure, "access-block-ended",
                            {{"does", access.kind}, {"rank", rank}});
    place.report(Finding::out_of_bounds, foreign ? Fault::launch_failure : Fault::illegal_address,
                 "access-outside-shared",
                 {{"does", access.kind},
                  {"bytes", bytes},
                  {"offset", std::int64_t{shared_offset(a)} - shared_reserved},
                  {"size", cluster.info().shared_size - shared_reserved},
                  {"place", SharedOffset{shared_offset(a)}}});
}

void report_outside(Warp& warp, const AccessExtra& access, Space space, unsigned lane, unsigned bytes) {
    const Place place(warp, lane);
    const Address address = warp.addresses[lane];
    if (space == Space::shared)
        return report_outside_shared(place, access, address, bytes);
    if (space == Space::local)
        return place.report(Finding::out_of_bounds, Fault::illegal_address, "access-outside-local",
                            {{"does", access.kind}, {"bytes", bytes}, {"offset", address}});
    const bool in_window =
        access.space == Space::global && (in_shared_window(address) || in_local_window(address));
    place.report(Finding::out_of_bounds, in_window ? Fault::invalid_address_space : Fault::illegal_address,
                 "access-outside-global", {{"does", access.kind}, {"where", GlobalBytes{address, bytes}}});
}

std::byte* shared_pointer(Warp& warp, const AccessExtra& access, Address address, unsigned bytes) {
    if (address > 0xffffffffu)
        return nullptr;
    const auto a = static_cast<std::uint32_t>(address);
    Block& own = warp.block();
    if (shared_rank(a) == own.rank())
        return own.shared_bytes(shared_offset(a), bytes);
    if (access.own_block_only && access.space == Space::shared)
        return nullptr;
    Block* owner = warp.cluster().block(shared_rank(a));
    return owner && !owner->finished() ? owner->shared_bytes(shared_offset(a), bytes) : nullptr;
}

/// Whether the access may end behind its array: see AccessEvent::overhanging.
bool may_overhang(const AccessExtra& access, unsigned bytes) {
    if (access.kind == AccessKind::read && access.semantics == Semantics::weak)
        return access.rows.size() > 1;
    return access.kind == AccessKind::atomic ? bytes == 4
                                             : access.kind == AccessKind::read && access.rows.size() == 1;
}

/// An aligned access that begins in an allocation and ends behind it, in the same granule.
std::byte* overhanging_pointer(Warp& warp, const AccessExtra& access, Space space, unsigned lane,
                               unsigned bytes, Pointers& out) {
    const Address a = warp.addresses[lane];
    if (!may_overhang(access, bytes) || a % bytes)
        return nullptr;
    std::byte* p = nullptr;
    Address end = 0;
    if (space == Space::shared) {
        const auto at = static_cast<std::uint32_t>(a);
        Block* owner = warp.cluster().block(shared_rank(at));
        if (a > 0xffffffffu || !owner || owner->finished() || !shared_pointer(warp, access, a, 1))
            return nullptr;
        p = owner->shared_granule(shared_offset(at), bytes);
        end = owner->shared_base() + owner->shared().size();
    } else if (space == Space::global) {
        const GlobalMemory& memory = warp.cluster().launch().device().memory();
        const auto allocation = memory.find(a);
        if (!allocation || allocation->kind == Allocation::Kind::registered)
            return nullptr;
        p = memory.bytes(a);
        end = allocation->base + allocation->size;
    }
    if (p) {
        out.overhanging |= LaneMask{1} << lane;
        out.inside[lane] = static_cast<std::uint8_t>(end - a);
    }
    return p;
}

/// Pointers of lanes that all lie in `space`; stops at the first bad lane.
bool resolve_space(Warp& warp, const AccessExtra& access, Space space, LaneMask mask, unsigned bytes,
                   Pointers& out) {
    Cluster& cluster = warp.cluster();
    if (space == Space::global)
        cluster.note_outside_use();
    Cluster::Window window{};
    for (LaneMask rest = mask; rest; rest &= rest - 1) {
        const auto lane = static_cast<unsigned>(std::countr_zero(rest));
        const Address a = warp.addresses[lane];
        std::byte* p = nullptr;
        if (space == Space::shared) {
            p = shared_pointer(warp, access, a, bytes);
        } else if (space == Space::local) {
            p = warp.local(lane, a, bytes);
        } else {
            if (!window.contains(a, bytes))
                window = cluster.window(a);
            p = window.contains(a, bytes) ? window.at(a) : nullptr;
        }
        if (!p) [[unlikely]]
            p = overhanging_pointer(warp, access, space, lane, bytes, out);
        if (!p || a % bytes) {
            // Where there is no memory at all, an H200 says so whatever the alignment.
            const bool nowhere = space == Space::global && !cluster.window(a).contains(a, 1);
            if (a % bytes && !nowhere)
                report_misaligned(warp, access, lane, bytes);
            else
                report_outside(warp, access, space, lane, bytes);
            return false;
        }
        out.at[lane] = p;
    }
    return true;
}

/// The lanes whose generic address lies in `space`.
LaneMask lanes_in(const Warp& warp, LaneMask mask, Space space) {
    LaneMask result = 0;
    for_lanes(mask, [&](unsigned lane) {
        Address a = warp.addresses[lane];
        if (classify(a) == space)
            result |= 1u << lane;
    });
    return result;
}

constexpr Space generic_spaces[] = {Space::global, Space::shared, Space::local};

} // namespace

void decode_semantics(DecodeContext& context, AccessExtra& access) {
    struct Name {
        std::string_view text;
        Semantics semantics;
    };
    for (const Name n : {Name{"weak", Semantics::weak}, Name{"volatile", Semantics::volatile_},
                         Name{"relaxed", Semantics::relaxed}, Name{"acquire", Semantics::acquire},
                         Name{"release", Semantics::release}, Name{"acq_rel", Semantics::acq_rel},
                         Name{"mmio", Semantics::relaxed}})
        if (context.has(n.text))
            access.semantics = n.semantics;
    access.scope = access.kind == AccessKind::atomic ? Scope::gpu : Scope::sys;
    for (const auto& [text, scope] : {std::pair{"cta", Scope::cta}, std::pair{"cluster", Scope::cluster},
                                      std::pair{"gpu", Scope::gpu}, std::pair{"sys", Scope::sys}})
        if (context.has(text))
            access.scope = scope;
    access.own_block_only = !context.has("shared::cluster");
}

Space space_of(DecodeContext& context, const ptx::Operand& address) {
    const Space written = context.space();
    if (written != Space::generic || address.kind != ptx::Operand::Kind::address)
        return written;
    const ptx::Operand& base = address.elements.front();
    if (base.kind != ptx::Operand::Kind::symbol)
        return written;
    const ptx::Variable* variable = nullptr;
    if (base.symbol_kind == ptx::SymbolKind::module_variable)
        variable = &context.module().variables[base.index];
    else if (base.symbol_kind == ptx::SymbolKind::function_variable)
        variable = &context.function().source->variables[base.index];
    const bool windowed = variable && (variable->space == Space::shared || variable->space == Space::local);
    return windowed ? variable->space : written;
}

void compute_addresses(Warp& warp, const DecodeContext::AddressParts& parts, LaneMask mask) {
    const auto offset = static_cast<Address>(parts.offset);
    if (parts.wide) {
        const Address* base = warp.row<Address>(parts.base);
        map_lanes(mask, warp.addresses.data(), [&](unsigned i) { return base[i] + offset; });
    } else {
        const std::uint32_t* base = warp.row<std::uint32_t>(parts.base);
        map_lanes(mask, warp.addresses.data(), [&](unsigned i) {
            return Address{static_cast<std::uint32_t>(base[i] + static_cast<std::uint32_t>(offset))};
        });
    }
}

bool resolve(Warp& warp, const AccessExtra& access, LaneMask mask, unsigned bytes, Pointers& out) {
    if (access.address.in_frame) {
        std::byte* base = warp.frame_bytes(access.address.base.offset) + access.address.offset;
        for_lanes(mask,
                  [&](unsigned lane) { out.at[lane] = base + std::size_t{lane} * access.address.stride; });
        out.space = Space::param;
        return true;
    }
    compute_addresses(warp, access.address, mask);
    if (access.space != Space::generic) {
        out.space =
            access.space == Space::param || access.space == Space::constant ? Space::constant : access.space;
        // A shared-space address is 32 bits wide even when it sits in a 64-bit register.
        return resolve_space(warp, access, access.space, mask, bytes, out);
    }
    Address first = warp.addresses[static_cast<unsigned>(std::countr_zero(mask))];
    out.space = classify(first);
    for (const Space space : generic_spaces) {
        const LaneMask lanes = lanes_in(warp, mask, space);
        if (!lanes)
            continue;
        const Address window = space == Space::shared  ? shared_window
                               : space == Space::local ? local_window
                                                       : 0;
        for_lanes(lanes, [&](unsigned lane) { warp.addresses[lane] -= window; });
        const bool good = resolve_space(warp, access, space, lanes, bytes, out);
        for_lanes(lanes, [&](unsigned lane) { warp.addresses[lane] += window; });
        if (!good)
            return false;
    }
    return true;
}

std::unique_lock<std::mutex> in_order(Warp& warp, const AccessExtra& access, LaneMask mask) {
    const bool shared_only = access.space != Space::global && access.space != Space::generic;
    if (shared_only || !warp.cluster().listening())
        return {};
    Launch& launch = warp.cluster().launch();
    if (access.semantics != Semantics::weak)
        return std::unique_lock(launch.order());
    if (access.kind != AccessKind::write)
        return {};
    return std::unique_lock(launch.order_near(warp.addresses[static_cast<unsigned>(std::countr_zero(mask))]));
}

void emit_access(Warp& warp, const Op& op, const AccessExtra& access, const Pointers& pointers, LaneMask mask,
                 unsigned bytes, LaneMask changing, Clash clash) {
    if (pointers.space == Space::param)
        return;
    AccessEvent event;
    event.warp = &warp;
    event.op = &op;
    event.pc = warp.pc();
    event.kind = access.kind;
    event.semantics = access.semantics;
    event.scope = access.scope;
    event.noncoherent = access.noncoherent;
    event.bytes = bytes;
    const auto send = [&](Space space, LaneMask lanes, const Address* addresses) {
        event.space = space;
        event.mask = lanes;
        event.addresses = addresses;
        event.changing = changing & lanes;
        event.changes_value = event.changing != 0;
        event.overhanging = pointers.overhanging & lanes;
        event.inside = pointers.inside.data();
        if ((lanes >> clash[0] & 1) && (lanes >> clash[1] & 1))
            std::ranges::copy(clash, event.clash);
        warp.cluster().emit(&ClusterListener::on_access, event);
    };
    if (access.space != Space::generic) {
        send(pointers.space, mask, warp.addresses.data());
        return;
    }
    for (const Space space : generic_spaces) {
        const LaneMask lanes = lanes_in(warp, mask, space);
        if (!lanes)
            continue;
        std::array<Address, warp_size> inside{};
        for_lanes(lanes, [&](unsigned lane) {
            inside[lane] = warp.addresses[lane];
            classify(inside[lane]);
        });
        send(space, lanes, inside.data());
    }
}

} // namespace emu
