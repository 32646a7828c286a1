// Instructions by which the lanes of a warp exchange values or meet (PTX ISA 9.7.9.6, 9.7.13.2 to 9.7.13.14,
// 9.7.14.5.17).

#include "hopper_emulator/finding_kinds.hpp"
#include "machine/cluster.hpp"
#include "machine/decoder.hpp"
#include "machine/mistake.hpp"

#include <algorithm>
#include <array>

namespace emu {
namespace {

using ptx::Operand;
using ptx::Type;

/// What a warp-synchronous instruction needs beyond its rows.
struct WarpExtra final : OpExtra {
    Row members;
    Row second; ///< shfl, match, elect: the predicate destination.
    bool has_second = false;
    Warp::MeetingAction action = nullptr;
};

const WarpExtra& extra_of(const Op& op) { return *static_cast<const WarpExtra*>(op.extra); }

/// The common frame: every lane names the members; all of them must come.
Flow meet_members(Warp& warp, const Op& op, LaneMask mask) {
    const WarpExtra& x = extra_of(op);
    const auto* row = warp.row<std::uint32_t>(x.members);
    const auto first = static_cast<unsigned>(std::countr_zero(mask));
    const LaneMask members = row[first];
    LaneMask same = 0;
    for_lanes(mask, [&](unsigned i) { same |= LaneMask{row[i] == members} << i; });
    if (!(members >> first & 1)) {
        // An H200 stops at a shuffle or vote, and lets bar.warp.sync pass.
        const bool barrier = warp.cluster().info().kernel->sources[warp.pc()]->opcode == "bar";
        Place(warp, first)
            .report(Finding::divergent_barrier, barrier ? Fault::launch_failure : Fault::illegal_instruction,
                    "mask-without-self");
        return Flow::next;
    }
    const Flow flow = warp.meet(op, same, members, x.action);
    if (same == mask || warp.cluster().stopped())
        return flow;
    if (flow == Flow::next)
        return warp.retry(mask & ~same);
    warp.hold(mask & ~same);
    return flow;
}

void finish(DecodeContext& c, Op& op, std::size_t members, Warp::MeetingAction action,
            const Operand* second = nullptr) {
    auto x = std::make_unique<WarpExtra>();
    x->members = c.source(members, Type::b32);
    x->action = action;
    if (second) {
        x->second = c.predicate(*second);
        x->has_second = true;
    }
    op.extra = c.keep(std::move(x));
    op.handler = meet_members;
}

// Lanes that meet from different places have their operands in registers of their own.

/// One operand of all lanes. `storage` takes it when the lanes come from different places.
template <class T>
const T* gather(Warp& warp, const Op& op, Row Op::*operand, std::array<T, warp_size>& storage) {
    if (warp.meeting().empty())
        return warp.row<T>(op.*operand);
    storage = {};
    for (const Warp::MeetingPlace& place : warp.meeting()) {
        const T* values = warp.row_in<T>(place.frame, place.op->*operand);
        for_lanes(place.lanes, [&](unsigned lane) { storage[lane] = values[lane]; });
    }
    return storage.data();
}

/// `value(lane)` into the destination of each lane.
template <class T, class F>
void give(Warp& warp, const Op& op, LaneMask lanes, F value) {
    const auto into = [&](T* d, LaneMask some) {
        for_lanes(some, [&](unsigned lane) { d[lane] = value(lane); });
    };
    if (warp.meeting().empty())
        return into(warp.row<T>(op.dst), lanes);
    for (const Warp::MeetingPlace& place : warp.meeting())
        into(warp.row_in<T>(place.frame, place.op->dst), place.lanes);
}

void set_bits(LaneMask& predicate, LaneMask lanes, LaneMask bits) {
    predicate = (predicate & ~lanes) | (bits & lanes);
}

/// A predicate of each lane: the destination, or the second one.
template <class RowOf>
void give_predicate(Warp& warp, const Op& op, LaneMask lanes, LaneMask bits, RowOf row_of) {
    if (warp.meeting().empty())
        return warp.set_predicate(row_of(op), lanes, bits);
    for (const Warp::MeetingPlace& place : warp.meeting())
        set_bits(*warp.row_in<LaneMask>(place.frame, row_of(*place.op)), place.lanes, bits);
}

void give_second(Warp& warp, const Op& op, LaneMask lanes, LaneMask bits) {
    if (warp.meeting().empty()) {
        if (extra_of(op).has_second)
            warp.set_predicate(extra_of(op).second, lanes, bits);
        return;
    }
    for (const Warp::MeetingPlace& place : warp.meeting())
        if (const WarpExtra& x = extra_of(*place.op); x.has_second)
            set_bits(*warp.row_in<LaneMask>(place.frame, x.second), place.lanes, bits);
}

/// A destination `d` or `d|p`.
const Operand& first_of_pair(const Operand& o) { return o.kind == Operand::Kind::pair ? o.elements[0] : o; }
const Operand* second_of_pair(const Operand& o) {
    return o.kind == Operand::Kind::pair ? &o.elements[1] : nullptr;
}

/// These lanes got what lanes hold that are not there.
void tell_absent(Warp& warp, const Op& op, LaneMask lanes, const std::uint8_t* from) {
    const Op* const code = warp.cluster().info().kernel->code.data();
    const auto send = [&](const Op& at, std::uint32_t frame, LaneMask some) {
        if (!some || frame != warp.frame())
            return;
        const auto first = static_cast<unsigned>(std::countr_zero(some));
        const LaneMask members = warp.row_in<std::uint32_t>(frame, extra_of(at).members)[first];
        warp.cluster().emit(&ClusterListener::on_shuffle_from_absent,
                            ShuffleEvent{&warp, static_cast<std::uint32_t>(&at - code), some, members, from});
    };
    if (warp.meeting().empty())
        return send(op, warp.frame(), lanes);
    for (const Warp::MeetingPlace& place : warp.meeting())
        send(*place.op, place.frame, place.lanes & lanes);
}

enum class Shuffle : std::uint8_t { up, down, bfly, idx };

/// PTX ISA 9.7.9.6: segments of the warp by the mask in bits 8 to 12 of c, clamp in bits 0 to 4.
template <Shuffle mode>
void shuffle(Warp& warp, const Op& op, LaneMask lanes) {
    std::array<std::uint32_t, warp_size> a_storage, b_storage, c_storage;
    const auto* a = gather(warp, op, &Op::a, a_storage);
    const auto* b = gather(warp, op, &Op::b, b_storage);
    const auto* c = gather(warp, op, &Op::c, c_storage);
    std::array<std::uint8_t, warp_size> from{};
    LaneMask valid = 0, absent = 0;
    for_lanes(lanes, [&](unsigned lane) {
        const std::uint32_t clamp = c[lane] & 31, segment = c[lane] >> 8 & 31, distance = b[lane] & 31;
        const auto max_lane = static_cast<int>((lane & segment) | (clamp & ~segment));
        const auto min_lane = static_cast<int>(lane & segment);
        const auto here = static_cast<int>(lane), step = static_cast<int>(distance);
        int j = 0;
        bool in_range = false;
        if constexpr (mode == Shuffle::up) {
            j = here - step;
            in_range = j >= max_lane;
        } else if constexpr (mode == Shuffle::down) {
            j = here + step;
            in_range = j <= max_lane;
        } else if constexpr (mode == Shuffle::bfly) {
            j = here ^ step;
            in_range = j <= max_lane;
        } else {
            j = min_lane | static_cast<int>(distance & ~segment);
            in_range = j <= max_lane;
        }
        from[lane] = static_cast<std::uint8_t>(in_range ? j : here);
        valid |= LaneMask{in_range} << lane;
        absent |= (~lanes >> from[lane] & 1) << lane;
    });
    std::array<std::uint32_t, warp_size> result{};
    for_lanes(lanes, [&](unsigned lane) { result[lane] = a[from[lane]]; });
    give<std::uint32_t>(warp, op, lanes, [&](unsigned lane) { return result[lane]; });
    give_second(warp, op, lanes, valid);
    if (absent) [[unlikely]]
        tell_absent(warp, op, absent, from.data());
}

void decode_shfl(DecodeContext& c, Op& op) {
    c.allow({"sync", "up", "down", "bfly", "idx"});
    if (!c.has("sync"))
        c.unsupported("shfl without .sync does not exist on this architecture");
    op.dst = c.destination(first_of_pair(c.operand(0)), Type::b32);
    op.a = c.source(1, Type::b32);
    op.b = c.source(2, Type::b32);
    op.c = c.source(3, Type::b32);
    const Warp::MeetingAction action = c.has("up")     ? shuffle<Shuffle::up>
                                       : c.has("down") ? shuffle<Shuffle::down>
                                       : c.has("bfly") ? shuffle<Shuffle::bfly>
                                                       : shuffle<Shuffle::idx>;
    finish(c, op, 4, action, second_of_pair(c.operand(0)));
}

/// The source predicate of a vote, negated if the instruction says so.
LaneMask vote_source(Warp& warp, const Op& op, LaneMask lanes) {
    if (warp.meeting().empty()) {
        const LaneMask p = warp.predicate(op.a);
        return (op.flags ? ~p : p) & lanes;
    }
    LaneMask all = 0;
    for (const Warp::MeetingPlace& place : warp.meeting()) {
        const LaneMask p = *warp.row_in<LaneMask>(place.frame, place.op->a);
        all |= (place.op->flags ? ~p : p) & place.lanes;
    }
    return all;
}

void give_vote(Warp& warp, const Op& op, LaneMask lanes, bool result) {
    give_predicate(warp, op, lanes, result ? all_lanes : 0, [](const Op& each) { return each.dst; });
}
void vote_all(Warp& warp, const Op& op, LaneMask lanes) {
    give_vote(warp, op, lanes, vote_source(warp, op, lanes) == lanes);
}
void vote_any(Warp& warp, const Op& op, LaneMask lanes) {
    give_vote(warp, op, lanes, vote_source(warp, op, lanes) != 0);
}
void vote_uni(Warp& warp, const Op& op, LaneMask lanes) {
    const LaneMask p = vote_source(warp, op, lanes);
    give_vote(warp, op, lanes, p == 0 || p == lanes);
}
void vote_ballot(Warp& warp, const Op& op, LaneMask lanes) {
    const LaneMask p = vote_source(warp, op, lanes);
    give<std::uint32_t>(warp, op, lanes, [p](unsigned) { return p; });
}

void decode_vote(DecodeContext& c, Op& op) {
    c.allow({"sync", "all", "any", "uni", "ballot"});
    if (!c.has("sync"))
        c.unsupported("vote without .sync does not exist on this architecture");
    const bool ballot = c.has("ballot");
    op.dst = ballot ? c.destination(0, Type::b32) : c.predicate(c.operand(0));
    op.a = c.predicate(c.operand(1));
    op.flags = c.operand(1).negated;
    finish(c, op, 2, ballot ? vote_ballot : c.has("all") ? vote_all : c.has("any") ? vote_any : vote_uni);
}

template <class T>
void match_any(Warp& warp, const Op& op, LaneMask lanes) {
    std::array<T, warp_size> storage;
    const T* a = gather(warp, op, &Op::a, storage);
    std::array<std::uint32_t, warp_size> result{};
    for_lanes(lanes, [&](unsigned i) {
        for_lanes(lanes, [&](unsigned j) { result[i] |= LaneMask{a[i] == a[j]} << j; });
    });
    give<std::uint32_t>(warp, op, lanes, [&](unsigned i) { return result[i]; });
}

template <class T>
void match_all(Warp& warp, const Op& op, LaneMask lanes) {
    std::array<T, warp_size> storage;
    const T* a = gather(warp, op, &Op::a, storage);
    const auto first = static_cast<unsigned>(std::countr_zero(lanes));
    bool same = true;
    for_lanes(lanes, [&](unsigned i) { same &= a[i] == a[first]; });
    give<std::uint32_t>(warp, op, lanes, [&](unsigned) { return same ? lanes : 0; });
    give_second(warp, op, lanes, same ? all_lanes : 0);
}

void decode_match(DecodeContext& c, Op& op) {
    c.allow({"sync", "any", "all"});
    const bool wide = ptx::size_of(c.type()) == 8;
    op.dst = c.destination(first_of_pair(c.operand(0)), Type::b32);
    op.a = c.source(1, c.type());
    const Warp::MeetingAction action = c.has("any")
                                           ? (wide ? match_any<std::uint64_t> : match_any<std::uint32_t>)
                                           : (wide ? match_all<std::uint64_t> : match_all<std::uint32_t>);
    finish(c, op, 2, action, second_of_pair(c.operand(0)));
}

template <class T, class F>
void reduce(Warp& warp, const Op& op, LaneMask lanes, F combine) {
    std::array<T, warp_size> storage;
    const T* a = gather(warp, op, &Op::a, storage);
    T value = a[std::countr_zero(lanes)];
    for_lanes(lanes & (lanes - 1), [&](unsigned i) { value = combine(value, a[i]); });
    give<T>(warp, op, lanes, [value](unsigned) { return value; });
}

template <class T>
Warp::MeetingAction redux_action(const DecodeContext& c) {
    if (c.has("add"))
        return [](Warp& w, const Op& op, LaneMask l) { reduce<T>(w, op, l, [](T x, T y) { return x + y; }); };
    if (c.has("min"))
        return [](Warp& w, const Op& op, LaneMask l) {
            reduce<T>(w, op, l, [](T x, T y) { return std::min(x, y); });
        };
    if (c.has("max"))
        return [](Warp& w, const Op& op, LaneMask l) {
            reduce<T>(w, op, l, [](T x, T y) { return std::max(x, y); });
        };
    if (c.has("and"))
        return [](Warp& w, const Op& op, LaneMask l) { reduce<T>(w, op, l, [](T x, T y) { return x & y; }); };
    if (c.has("or"))
        return [](Warp& w, const Op& op, LaneMask l) { reduce<T>(w, op, l, [](T x, T y) { return x | y; }); };
    if (c.has("xor"))
        return [](Warp& w, const Op& op, LaneMask l) { reduce<T>(w, op, l, [](T x, T y) { return x ^ y; }); };
    c.malformed("names no operation");
}

void decode_redux(DecodeContext& c, Op& op) {
    c.allow({"sync", "add", "min", "max", "and", "or", "xor"});
    const Type type = c.type();
    if (type != Type::u32 && type != Type::s32 && type != Type::b32)
        c.unsupported("redux works on 32-bit integers on this architecture");
    op.dst = c.destination(0, type);
    op.a = c.source(1, type);
    // Signed sums wrap; only minimum and maximum depend on the sign.
    const bool by_sign = type == Type::s32 && !c.has("add");
    finish(c, op, 2, by_sign ? redux_action<std::int32_t>(c) : redux_action<std::uint32_t>(c));
}

Flow active_mask(Warp& warp, const Op& op, LaneMask mask) {
    auto* d = warp.row<std::uint32_t>(op.dst);
    for_lanes(mask, [&](unsigned lane) { d[lane] = mask; });
    return Flow::next;
}

void decode_activemask(DecodeContext& c, Op& op) {
    c.allow({});
    op.dst = c.destination(0, Type::b32);
    op.handler = active_mask;
}

/// elect.sync: one member, the same at every execution with the same members. Hardware picks the lowest lane.
void elect(Warp& warp, const Op& op, LaneMask lanes) {
    const auto leader = static_cast<std::uint32_t>(std::countr_zero(lanes));
    give<std::uint32_t>(warp, op, lanes, [leader](unsigned) { return leader; });
    give_second(warp, op, lanes, 1u << leader);
}

void decode_elect(DecodeContext& c, Op& op) {
    c.allow({"sync"});
    const Operand& d = c.operand(0);
    if (d.kind != Operand::Kind::pair)
        c.malformed("takes a destination d|p");
    op.dst = c.destination(d.elements[0], Type::b32);
    finish(c, op, 1, elect, &d.elements[1]);
}

/// movmatrix: lane i holds elements 2 (i % 4) and the one after it of row i / 4, of the matrix and of its
/// transpose.
void transpose_8x8(Warp& warp, const Op& op, LaneMask lanes) {
    std::array<std::uint32_t, warp_size> storage;
    const std::uint32_t* a = gather(warp, op, &Op::a, storage);
    const auto element = [a](unsigned row, unsigned column) {
        return a[4 * row + column / 2] >> 16 * (column % 2) & 0xffffu;
    };
    std::array<std::uint32_t, warp_size> result{}; // The destination may be the source.
    for_lanes(lanes, [&](unsigned lane) {
        const unsigned row = lane / 4, column = 2 * (lane % 4);
        result[lane] = element(column, row) | element(column + 1, row) << 16;
    });
    give<std::uint32_t>(warp, op, lanes, [&](unsigned lane) { return result[lane]; });
}

void decode_movmatrix(DecodeContext& c, Op& op) {
    c.allow({"sync", "aligned", "m8n8", "trans"});
    if (!c.has("sync") || !c.has("aligned") || !c.has("m8n8") || !c.has("trans") || c.type() != Type::b16)
        c.malformed("is movmatrix.sync.aligned.m8n8.trans.b16");
    op.dst = c.destination(0, Type::b32);
    op.a = c.source(1, Type::b32);
    auto x = std::make_unique<WarpExtra>();
    x->members = c.constant(all_lanes, sizeof(LaneMask));
    x->action = transpose_8x8;
    op.extra = c.keep(std::move(x));
    op.handler = meet_members;
}

void warp_barrier(Warp& warp, const Op& op, LaneMask lanes) {
    if (!warp.cluster().listening())
        return;
    // Not the warp's place: where the last missing lane exits, that is behind the barrier.
    const Op* const code = warp.cluster().info().kernel->code.data();
    const WarpLanes all{&warp, lanes, static_cast<std::uint32_t>(&op - code)};
    warp.cluster().emit(&ClusterListener::on_barrier_complete, ClusterListener::BarrierKind::warp, 0u,
                        std::span<const WarpLanes>(&all, 1), std::span<const WarpLanes>(&all, 1));
}

void decode_warp_barrier(DecodeContext& c, Op& op) {
    c.allow({"warp", "sync"});
    finish(c, op, 0, warp_barrier);
}

constexpr InstructionRow table[] = {
    {"shfl", "9.7.9.6", decode_shfl},
    {"bar.warp.sync", "9.7.13.2", decode_warp_barrier},
    {"vote", "9.7.13.8", decode_vote},
    {"match", "9.7.13.9", decode_match},
    {"activemask", "9.7.13.10", decode_activemask},
    {"redux", "9.7.13.11", decode_redux},
    {"elect", "9.7.13.14", decode_elect},
    {"movmatrix", "9.7.14.5.17", decode_movmatrix},
};

} // namespace

std::span<const InstructionRow> warp_instructions() { return table; }

} // namespace emu
