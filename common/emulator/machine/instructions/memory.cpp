// Loads, stores and address conversion (PTX ISA 9.7.9).

#include "machine/access.hpp"
#include "machine/cluster.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace emu {
namespace {

using ptx::Space;
using ptx::Type;

/// Modifiers of ld, ldu and st that choose a space, a semantics or a size, or only hint at caches.
const std::initializer_list<std::string_view> access_modifiers{
    "weak",
    "volatile",
    "relaxed",
    "acquire",
    "release",
    "mmio",
    "cta",
    "cluster",
    "gpu",
    "sys",
    "global",
    "shared",
    "shared::cta",
    "shared::cluster",
    "local",
    "const",
    "param",
    "param::entry",
    "param::func",
    "ca",
    "cg",
    "cs",
    "lu",
    "cv",
    "wb",
    "wt",
    "nc",
    "v2",
    "v4",
    "v8",
    "unified",
    "L1::evict_normal",
    "L1::evict_first",
    "L1::evict_unchanged",
    "L1::evict_last",
    "L1::no_allocate",
    "L2::64B",
    "L2::evict_normal",
    "L2::evict_first",
    "L2::evict_last",
    "L2::cache_hint",
    "L2::128B",
    "L2::256B",
};

/// The rows of a register operand or of each element of a vector.
std::vector<Row> element_rows(DecodeContext& context, const ptx::Operand& operand, Type type,
                              bool destination) {
    std::vector<Row> rows;
    const auto row = [&](const ptx::Operand& o) {
        return destination ? context.destination(o, type, true) : context.source(o, type, true);
    };
    if (operand.kind == ptx::Operand::Kind::vector)
        for (const ptx::Operand& element : operand.elements)
            rows.push_back(row(element));
    else
        rows.push_back(row(operand));
    return rows;
}

/// Bytes of the registers an element sits in; all elements must agree. Sinks and immediates take the type's
/// own size.
unsigned element_register_bytes(const DecodeContext& context, const ptx::Operand& operand, Type type) {
    const unsigned natural = std::max(2u, ptx::size_of(type));
    if (operand.kind != ptx::Operand::Kind::vector)
        return context.register_bytes(operand, natural);
    for (const ptx::Operand& element : operand.elements)
        if (element.kind == ptx::Operand::Kind::reg)
            return context.register_bytes(element, natural);
    return natural;
}

/// Memory of type Mem to registers of type Reg: widened with the sign of Mem.
template <class Mem, class Reg>
Flow load(Warp& warp, const Op& op, LaneMask mask) {
    const auto& access = *static_cast<const AccessExtra*>(op.extra);
    const auto bytes = static_cast<unsigned>(sizeof(Mem) * access.rows.size());
    Pointers p;
    if (!resolve(warp, access, mask, bytes, p))
        return Flow::next;
    const auto lock = in_order(warp, access, mask);
    if (warp.cluster().listening())
        emit_access(warp, op, access, p, mask, bytes);
    for (std::size_t e = 0; e < access.rows.size(); ++e) {
        Reg* d = warp.row<Reg>(access.rows[e]);
        for_lanes(mask, [&](unsigned lane) {
            Mem value;
            std::memcpy(&value, p.at[lane] + e * sizeof(Mem), sizeof value);
            d[lane] = static_cast<Reg>(value);
        });
        if (access.semantics != Semantics::weak)
            warp.note_poll(poll_of(warp, mask, d));
    }
    return Flow::next;
}

/// Two lanes of a store that write different values to the same address. Most stores go upwards lane by lane
/// and are done with one comparison each.
template <class Mem, class Reg>
Clash find_clash(Warp& warp, const AccessExtra& access, const Pointers& p, LaneMask mask) {
    const std::byte* highest = nullptr;
    bool ascending = true;
    for_lanes(mask, [&](unsigned lane) {
        ascending &= p.at[lane] > highest;
        highest = p.at[lane];
    });
    if (ascending || access.semantics != Semantics::weak)
        return {};
    std::array<std::uint8_t, warp_size> lanes{};
    unsigned count = 0;
    for_lanes(mask, [&](unsigned lane) { lanes[count++] = static_cast<std::uint8_t>(lane); });
    std::stable_sort(lanes.begin(), lanes.begin() + count,
                     [&](unsigned a, unsigned b) { return p.at[a] < p.at[b]; });
    for (unsigned i = 1; i < count; ++i) {
        if (p.at[lanes[i - 1]] != p.at[lanes[i]])
            continue;
        for (const Row row : access.rows) {
            const Reg* s = warp.row<Reg>(row);
            const Mem a = static_cast<Mem>(s[lanes[i - 1]]), b = static_cast<Mem>(s[lanes[i]]);
            if (std::memcmp(&a, &b, sizeof a) != 0)
                return {lanes[i - 1], lanes[i]};
        }
    }
    return {};
}

template <class Mem, class Reg>
Flow store(Warp& warp, const Op& op, LaneMask mask) {
    const auto& access = *static_cast<const AccessExtra*>(op.extra);
    const auto bytes = static_cast<unsigned>(sizeof(Mem) * access.rows.size());
    Pointers p;
    if (!resolve(warp, access, mask, bytes, p))
        return Flow::next;
    const auto lock = in_order(warp, access, mask);
    if (warp.cluster().listening()) {
        LaneMask changing = 0;
        for (std::size_t e = 0; e < access.rows.size(); ++e) {
            const Reg* s = warp.row<Reg>(access.rows[e]);
            for_lanes(mask, [&](unsigned lane) {
                const Mem value = static_cast<Mem>(s[lane]);
                if (std::memcmp(&value, p.at[lane] + e * sizeof(Mem), sizeof value) != 0)
                    changing |= 1u << lane;
            });
        }
        emit_access(warp, op, access, p, mask, bytes, changing, find_clash<Mem, Reg>(warp, access, p, mask));
    }
    for (std::size_t e = 0; e < access.rows.size(); ++e) {
        const Reg* s = warp.row<Reg>(access.rows[e]);
        for_lanes(mask, [&](unsigned lane) {
            const Mem value = static_cast<Mem>(s[lane]);
            std::memcpy(p.at[lane] + e * sizeof(Mem), &value, sizeof value);
        });
    }
    if (p.space != Space::param)
        warp.cluster().made_progress();
    return Flow::next;
}

/// 128-bit values are moved, never widened.
struct Wide {
    std::uint64_t half[2];
};

template <template <class, class> class Pick>
Handler pick_handler(DecodeContext& context, Type type, unsigned reg) {
    const bool sign = ptx::is_signed(type);
    switch (ptx::size_of(type) * 100 + reg) {
    case 102:
        return sign ? Pick<std::int8_t, std::int16_t>::handler : Pick<std::uint8_t, std::uint16_t>::handler;
    case 104:
        return sign ? Pick<std::int8_t, std::int32_t>::handler : Pick<std::uint8_t, std::uint32_t>::handler;
    case 108:
        return sign ? Pick<std::int8_t, std::int64_t>::handler : Pick<std::uint8_t, std::uint64_t>::handler;
    case 202:
        return Pick<std::uint16_t, std::uint16_t>::handler;
    case 204:
        return sign ? Pick<std::int16_t, std::int32_t>::handler : Pick<std::uint16_t, std::uint32_t>::handler;
    case 208:
        return sign ? Pick<std::int16_t, std::int64_t>::handler : Pick<std::uint16_t, std::uint64_t>::handler;
    case 404:
        return Pick<std::uint32_t, std::uint32_t>::handler;
    case 408:
        return sign ? Pick<std::int32_t, std::int64_t>::handler : Pick<std::uint32_t, std::uint64_t>::handler;
    case 808:
        return Pick<std::uint64_t, std::uint64_t>::handler;
    case 1616:
        return Pick<Wide, Wide>::handler;
    default:
        context.malformed("cannot move a ." + std::string(ptx::name_of(type)) + " through a register of " +
                          std::to_string(8 * reg) + " bits");
    }
}

template <class Mem, class Reg>
struct Load {
    static constexpr Handler handler = load<Mem, Reg>;
};
template <class Mem, class Reg>
struct Store {
    static constexpr Handler handler = store<Mem, Reg>;
};

void decode_access(DecodeContext& c, Op& op, AccessKind kind) {
    c.allow(access_modifiers);
    const Type type = c.type();
    if (ptx::size_of(type) == 0)
        c.malformed("names no type that memory can hold");
    const bool is_load = kind == AccessKind::read;
    auto extra = std::make_unique<AccessExtra>();
    extra->kind = kind;
    const ptx::Operand& address = c.operand(is_load ? 1 : 0);
    extra->space = space_of(c, address);
    decode_semantics(c, *extra);
    extra->noncoherent = c.has("nc");
    extra->address = c.address(address);
    const ptx::Operand& data = c.operand(is_load ? 0 : 1);
    extra->rows = element_rows(c, data, type, is_load);
    const unsigned reg = element_register_bytes(c, data, type);
    op.handler = is_load ? pick_handler<Load>(c, type, reg) : pick_handler<Store>(c, type, reg);
    op.extra = c.keep(std::move(extra));
}

void decode_ld(DecodeContext& c, Op& op) { decode_access(c, op, AccessKind::read); }
void decode_st(DecodeContext& c, Op& op) { decode_access(c, op, AccessKind::write); }

Flow nothing(Warp&, const Op&, LaneMask) { return Flow::next; }

/// prefetch, prefetchu, applypriority, discard: hints. The address is not checked, as on hardware.
void decode_hint(DecodeContext& c, Op& op) {
    c.allow({"global", "local", "const", "param", "L1", "L2", "L2::evict_last", "L2::evict_normal",
             "L2::128B", "L1::evict_last"});
    op.handler = nothing;
}

/// createpolicy: an opaque 64-bit cache policy; the emulator has no caches to apply it to.
Flow make_policy(Warp& warp, const Op& op, LaneMask mask) {
    map_lanes(mask, warp.row<std::uint64_t>(op.dst),
              [](unsigned) { return std::uint64_t{0x10f0000000000000}; });
    return Flow::next;
}

void decode_createpolicy(DecodeContext& c, Op& op) {
    c.allow({"fractional", "range", "cvt", "global", "L2", "L2::evict_last", "L2::evict_normal",
             "L2::evict_first", "L2::evict_unchanged"});
    op.dst = c.destination(0, Type::b64);
    op.handler = make_policy;
}

/// cvta adds or removes the window of a space; `immediate` is what to add.
template <class In, class Out>
Flow convert_address(Warp& warp, const Op& op, LaneMask mask) {
    const In* a = warp.row<In>(op.a);
    const auto shift = static_cast<std::uint64_t>(op.immediate);
    map_lanes(mask, warp.row<Out>(op.dst), [&](unsigned i) { return static_cast<Out>(a[i] + shift); });
    return Flow::next;
}

void decode_cvta(DecodeContext& c, Op& op) {
    c.allow({"to", "global", "shared", "shared::cta", "shared::cluster", "local", "const", "param",
             "param::entry"});
    const Type type = c.type();
    const bool to = c.has("to");
    const Space space = c.space();
    const Address window = space == Space::shared ? shared_window : space == Space::local ? local_window : 0;
    op.immediate = static_cast<std::int64_t>(to ? 0 - window : window);
    op.dst = c.destination(0, type);
    op.a = c.source(1, type);
    if (type == Type::u32 || type == Type::b32)
        c.unsupported("32-bit generic addresses do not exist on this device");
    op.handler = convert_address<std::uint64_t, std::uint64_t>;
}

Flow test_space(Warp& warp, const Op& op, LaneMask mask) {
    const auto* a = warp.row<std::uint64_t>(op.a);
    const auto space = static_cast<Space>(op.flags);
    LaneMask result = 0;
    for_lanes(mask, [&](unsigned i) {
        bool inside = false;
        if (space == Space::shared)
            inside = in_shared_window(a[i]) &&
                     (op.count == 0 || shared_rank(static_cast<std::uint32_t>(a[i])) == warp.block().rank());
        else if (space == Space::local)
            inside = in_local_window(a[i]);
        else if (space == Space::global)
            inside = !in_shared_window(a[i]) && !in_local_window(a[i]);
        result |= LaneMask{inside} << i;
    });
    warp.set_predicate(op.dst, mask, result);
    return Flow::next;
}

void decode_isspacep(DecodeContext& c, Op& op) {
    c.allow(
        {"global", "shared", "shared::cta", "shared::cluster", "local", "const", "param", "param::entry"});
    op.dst = c.predicate(c.operand(0));
    op.a = c.source(1, Type::b64);
    op.flags = static_cast<std::uint8_t>(c.space());
    op.count = c.has("shared::cluster") ? 0 : 1;
    op.handler = test_space;
}

constexpr InstructionRow table[] = {
    {"ld", "9.7.9.8", decode_ld},
    {"ldu", "9.7.9.10", decode_ld},
    {"st", "9.7.9.11", decode_st},
    {"prefetch", "9.7.9.15", decode_hint},
    {"prefetchu", "9.7.9.15", decode_hint},
    {"applypriority", "9.7.9.16", decode_hint},
    {"discard", "9.7.9.17", decode_hint},
    {"createpolicy", "9.7.9.18", decode_createpolicy},
    {"isspacep", "9.7.9.19", decode_isspacep},
    {"cvta", "9.7.9.20", decode_cvta},
};

} // namespace

std::span<const InstructionRow> memory_instructions() { return table; }

} // namespace emu
