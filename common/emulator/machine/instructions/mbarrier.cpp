/// \file
/// mbarrier.* (PTX ISA 9.7.13.15).

#include "hopper_emulator/finding_kinds.hpp"
#include "machine/instructions/async_operands.hpp"

#include <algorithm>

namespace emu {

namespace {

/// Operands of every instruction of the family.
struct MbarrierOperands final : OpExtra {
    AddressOperand address;
    Row state;              ///< b64 token, written or read.
    Row count;              ///< u32: arrivals, or the parity of a wait.
    Row tx;                 ///< u32: bytes.
    bool has_count = false; ///< Otherwise one arrival.
    bool has_tx = false;    ///< `.expect_tx`
    bool drop = false;      ///< `arrive_drop`
    bool no_complete = false;
    bool returns_state = false;
    bool own_block = true; ///< The object must lie in the executing thread's block.
    bool parity = false;
    bool blocking = false; ///< try_wait
    bool ignored = false;  ///< The program does not use the answer.
    Semantics semantics = Semantics::release;
    Scope scope = Scope::cta;
};

const MbarrierOperands& operands(const Op& op) { return static_cast<const MbarrierOperands&>(*op.extra); }

/// The barrier of one lane, all checks done. nullptr after a report.
Mbarrier* barrier_of(const Place& place, const MbarrierOperands& o, std::uint32_t& address,
                     Invalid invalid = Invalid::refused) {
    const auto where = shared_address(place, o.address, "mbarrier address");
    if (!where)
        return nullptr;
    address = *where;
    if (o.own_block && shared_rank(address) != place.warp.block().rank() &&
        shared_rank(address) < place.cluster().block_count()) {
        place.report(Finding::rank_out_of_range, Fault::illegal_instruction, "mbarrier-of-other-block",
                     {{"barrier", SharedPlace{address}}, {"rank", shared_rank(address)}});
        return nullptr;
    }
    return find_barrier(place, address, invalid);
}

MbarrierEvent event_at(const Place& place, const MbarrierOperands& o, std::uint32_t address) {
    MbarrierEvent event;
    event.warp = &place.warp;
    event.lane = place.lane;
    event.pc = place.pc;
    event.address = address;
    event.semantics = o.semantics;
    event.scope = o.scope;
    return event;
}

void observe(const Place& place, const MbarrierOperands& o, Mbarrier& barrier, std::uint32_t address) {
    Cluster& cluster = place.cluster();
    barrier.history.note_wait(place.warp, place.lane, place.pc, barrier.phase);
    MbarrierEvent event = event_at(place, o, address);
    if (barrier.phase == 0)
        return cluster.emit(&ClusterListener::on_mbarrier_passed_fresh, event);
    event.phase = barrier.phase - 1;
    cluster.emit(&ClusterListener::on_mbarrier_observed, event);
    cluster.async().barrier_observed(address, event.phase);
}

// -- init, inval

/// Threads that waited for the last phase have their answer, even if they come to read it only after another
/// mbarrier has taken its place.
void answer_waits(Cluster& cluster, Mbarrier& barrier, std::uint32_t address) {
    for (const auto& warp : cluster.block(shared_rank(address))->warps()) {
        const LaneMask woken = warp->woken(address);
        for_lanes(woken, [&](unsigned lane) {
            const Place place(*warp, lane, warp->lane_pc(lane));
            observe(place, operands(cluster.info().kernel->code[place.pc]), barrier, address);
        });
        warp->grant(woken);
    }
}

void init_one(const Place& place, std::uint32_t address, std::uint32_t count) {
    Cluster& cluster = place.cluster();
    if (!check_alignment(place, address, 8, "mbarrier address") ||
        !check_shared(place, address, 8, "mbarrier address"))
        return;
    if (count == 0 || count > mbarrier_max_count)
        return place.report(Finding::arrival_count_mismatch, Fault::launch_failure, "mbarrier-count",
                            {{"count", count}});
    Block& block = *cluster.block(shared_rank(address));
    const std::uint32_t offset = shared_offset(address);
    if (Mbarrier* old = block.mbarriers().find(offset)) {
        bool waited = false;
        for (const auto& warp : block.warps())
            waited |= warp->waiting(Wait::mbarrier, address) != 0;
        if (waited || cluster.async().uses_barrier(address) || !(old->invalidated || old->at_rest()))
            return place.report(Finding::barrier_reinit_in_use, Fault::launch_failure, "mbarrier-in-use",
                                {{"barrier", SharedPlace{address}},
                                 {"phase", old->phase},
                                 {"pending", old->pending},
                                 {"expected", old->expected},
                                 {"tx", old->tx}});
        answer_waits(cluster, *old, address);
    }
    Mbarrier& barrier = block.mbarriers().create(offset);
    barrier.expected = barrier.pending = count;
    barrier.init_pc = place.pc;
    barrier.init_calls = place.warp.calls_to(place.lane, place.pc).value_or(std::vector<std::uint32_t>{});
    MbarrierEvent event = event_at(place, MbarrierOperands{}, address);
    event.count = count;
    cluster.emit(&ClusterListener::on_mbarrier_init, event);
}

Flow run_init(Warp& warp, const Op& op, LaneMask mask) {
    const MbarrierOperands& o = operands(op);
    for_lanes(mask, [&](unsigned lane) {
        const Place place(warp, lane);
        if (const auto address = shared_address(place, o.address, "mbarrier address"))
            init_one(place, *address, warp.row<std::uint32_t>(o.count)[lane]);
    });
    return Flow::next;
}

Flow run_inval(Warp& warp, const Op& op, LaneMask mask) {
    const MbarrierOperands& o = operands(op);
    for_lanes(mask, [&](unsigned lane) {
        const Place place(warp, lane);
        std::uint32_t address = 0;
        Mbarrier* barrier = barrier_of(place, o, address, Invalid::taken);
        // A second mbarrier.inval changes nothing on hardware. That is how two barrier objects of libcu++
        // that share their memory are destroyed.
        if (!barrier || barrier->invalidated)
            return;
        barrier->invalidated =
            Mbarrier::Invalidation{warp.thread_of(lane), place.pc, ended_barriers(place, address)};
        warp.cluster().emit(&ClusterListener::on_mbarrier_inval, event_at(place, o, address));
    });
    return Flow::next;
}

// -- expect_tx, complete_tx

/// The change of the tx-count is the operand times op.immediate (+1 or -1).
Flow run_tx(Warp& warp, const Op& op, LaneMask mask) {
    const MbarrierOperands& o = operands(op);
    for_lanes(mask, [&](unsigned lane) {
        const Place place(warp, lane);
        std::uint32_t address = 0;
        Mbarrier* barrier = barrier_of(place, o, address);
        if (!barrier)
            return;
        MbarrierEvent event = event_at(place, o, address);
        event.tx = op.immediate * std::int64_t{warp.row<std::uint32_t>(o.tx)[lane]};
        warp.cluster().mbarrier_update(*barrier, event);
    });
    return Flow::next;
}

// -- arrive, arrive_drop

/// `.noComplete` promises that the phase does not end; a dropped arrival must have been expected.
bool check_promises(const Place& place, const MbarrierOperands& o, const Mbarrier& barrier,
                    std::uint32_t address, const MbarrierEvent& event) {
    if (o.no_complete && event.count >= barrier.pending && barrier.tx + event.tx == 0) {
        place.report(Finding::arrival_count_mismatch, Fault::launch_failure, "mbarrier-would-complete",
                     {{"phase", barrier.phase}, {"barrier", SharedPlace{address}}});
        return false;
    }
    if (event.count == 0 || (o.drop && event.count > barrier.expected)) {
        place.report(
            Finding::arrival_count_mismatch, Fault::launch_failure, "mbarrier-arrival-count",
            {{"count", event.count}, {"barrier", SharedPlace{address}}, {"expected", barrier.expected}});
        return false;
    }
    return true;
}

void arrive_one(const Place& place, const MbarrierOperands& o) {
    Warp& warp = place.warp;
    std::uint32_t address = 0;
    Mbarrier* barrier = barrier_of(place, o, address);
    if (!barrier)
        return;
    MbarrierEvent event = event_at(place, o, address);
    event.count = o.has_count ? warp.row<std::uint32_t>(o.count)[place.lane] : 1;
    event.tx = o.has_tx ? std::int64_t{warp.row<std::uint32_t>(o.tx)[place.lane]} : 0;
    if (!check_promises(place, o, *barrier, address, event))
        return;
    if (o.returns_state)
        warp.row<std::uint64_t>(o.state)[place.lane] = make_token(barrier->phase, barrier->pending);
    if (o.drop)
        barrier->expected -= event.count;
    warp.cluster().mbarrier_update(*barrier, event);
}

Flow run_arrive(Warp& warp, const Op& op, LaneMask mask) {
    for_lanes(mask, [&](unsigned lane) { arrive_one(Place(warp, lane), operands(op)); });
    return Flow::next;
}

Flow run_pending_count(Warp& warp, const Op& op, LaneMask mask) {
    const std::uint64_t* state = warp.row<std::uint64_t>(op.a);
    map_lanes(mask, warp.row<std::uint32_t>(op.dst), [&](unsigned i) { return token_pending(state[i]); });
    return Flow::next;
}

// -- test_wait, try_wait

/// PTX defines the parities 0 and 1, and ptxas refuses others where it sees them.
bool check_parity(const Place& place, const MbarrierOperands& o, std::uint32_t address) {
    if (!o.parity)
        return true;
    const std::uint32_t parity = place.warp.row<std::uint32_t>(o.count)[place.lane];
    if (parity < 2)
        return true;
    place.report(Finding::invalid_size, Fault::launch_failure, "mbarrier-parity",
                 {{"parity", parity}, {"barrier", SharedPlace{address}}});
    return false;
}

bool phase_complete(Warp& warp, unsigned lane, const MbarrierOperands& o, const Mbarrier& barrier) {
    const std::uint64_t phase = o.parity ? warp.row<std::uint32_t>(o.count)[lane]
                                         : token_phase(warp.row<std::uint64_t>(o.state)[lane]);
    return barrier.parity_complete(static_cast<std::uint32_t>(phase & 1));
}

/// Lanes that must wait, all at one barrier; lanes at a second barrier get the answer "not yet", which
/// try_wait may always give.
struct Waiting {
    LaneMask mask = 0;
    std::uint32_t address = 0;
    std::uint64_t phase = 0;

    bool add(unsigned lane, std::uint32_t at, std::uint64_t in_phase) {
        if (mask && address != at)
            return false;
        mask |= LaneMask{1} << lane;
        address = at;
        phase = in_phase;
        return true;
    }
};

/// A test whose answer nobody looks at tells nothing, so it counts as one that failed. A try_wait may always
/// return at once.
Flow ask_in_vain(Warp& warp, const Op& op, LaneMask mask) {
    const MbarrierOperands& o = operands(op);
    for_lanes(mask, [&](unsigned lane) {
        std::uint32_t address = 0;
        if (barrier_of(Place(warp, lane), o, address))
            warp.note_test(lane, address, warp.pc());
    });
    warp.set_predicate(op.dst, mask, 0);
    return Flow::next;
}

Flow run_wait(Warp& warp, const Op& op, LaneMask mask) {
    const MbarrierOperands& o = operands(op);
    if (o.ignored)
        return ask_in_vain(warp, op, mask);
    LaneMask passed = warp.take_grants(mask);
    LaneMask failed = 0;
    Waiting waiting;
    for_lanes(mask & ~passed, [&](unsigned lane) {
        const Place place(warp, lane);
        const LaneMask bit = LaneMask{1} << lane;
        std::uint32_t address = 0;
        Mbarrier* barrier = barrier_of(place, o, address);
        if (!barrier || !check_parity(place, o, address)) {
            failed |= bit;
            return;
        }
        const bool timed_out = o.blocking && warp.take_time_out(lane);
        if (phase_complete(warp, lane, o, *barrier)) {
            observe(place, o, *barrier, address);
            warp.forget_test(lane);
            passed |= bit;
        } else if (!o.blocking || timed_out || !waiting.add(lane, address, barrier->phase)) {
            warp.note_test(lane, address, place.pc);
            failed |= bit;
        }
    });
    warp.set_predicate(op.dst, passed | failed, passed);
    if (failed)
        warp.yield();
    return waiting.mask ? warp.block_lanes(waiting.mask, Wait::mbarrier, waiting.address, waiting.phase)
                        : Flow::next;
}

// -- decoding

/// Semantics and scope as written; `otherwise` when they are absent.
void decode_order(DecodeContext& context, MbarrierOperands& o, Semantics otherwise) {
    o.semantics = context.has("relaxed")   ? Semantics::relaxed
                  : context.has("acquire") ? Semantics::acquire
                  : context.has("release") ? Semantics::release
                                           : otherwise;
    o.scope = context.has("cluster") ? Scope::cluster : Scope::cta;
}

ptx::Space space_of(DecodeContext& context) {
    const bool shared = context.has("shared") || context.has("shared::cta") || context.has("shared::cluster");
    return shared ? ptx::Space::shared : ptx::Space::generic;
}

std::unique_ptr<MbarrierOperands> decode_common(DecodeContext& context, std::size_t address,
                                                Semantics otherwise) {
    auto o = std::make_unique<MbarrierOperands>();
    o->address = address_operand(context, address, space_of(context));
    decode_order(context, *o, otherwise);
    return o;
}

void finish(DecodeContext& context, Op& op, std::unique_ptr<MbarrierOperands> o, Handler handler) {
    op.handler = handler;
    op.progress = true;
    op.extra = context.keep(std::move(o));
}

void decode_init(DecodeContext& context, Op& op) {
    context.allow({"init", "shared", "shared::cta", "b64"});
    auto o = decode_common(context, 0, Semantics::weak);
    o->count = context.source(1, ptx::Type::u32);
    finish(context, op, std::move(o), run_init);
}

void decode_inval(DecodeContext& context, Op& op) {
    context.allow({"inval", "shared", "shared::cta", "b64"});
    finish(context, op, decode_common(context, 0, Semantics::weak), run_inval);
}

void decode_tx(DecodeContext& context, Op& op) {
    context.allow({"expect_tx", "complete_tx", "relaxed", "cta", "cluster", "shared", "shared::cta",
                   "shared::cluster", "b64"});
    auto o = decode_common(context, 0, Semantics::relaxed);
    o->own_block = false;
    o->tx = context.source(1, ptx::Type::u32);
    op.immediate = context.has("expect_tx") ? 1 : -1;
    finish(context, op, std::move(o), run_tx);
}

void decode_arrive(DecodeContext& context, Op& op) {
    context.allow({"arrive", "arrive_drop", "expect_tx", "noComplete", "release", "relaxed", "cta", "cluster",
                   "shared", "shared::cta", "shared::cluster", "b64"});
    auto o = decode_common(context, 1, Semantics::release);
    o->drop = context.has("arrive_drop");
    o->no_complete = context.has("noComplete");
    o->returns_state = context.operand(0).kind != ptx::Operand::Kind::sink;
    if (o->returns_state && context.has("shared::cluster"))
        context.malformed("an arrival at a barrier of the cluster returns no state: write _ instead");
    o->own_block = o->returns_state;
    if (o->returns_state)
        o->state = context.destination(0, ptx::Type::b64);
    o->has_tx = context.has("expect_tx");
    const OptionalRow third = optional_source(context, 2, ptx::Type::u32);
    if (!third.present && (o->has_tx || o->no_complete))
        context.malformed("this form of mbarrier.arrive needs a third operand");
    if (o->has_tx)
        o->tx = third.row;
    else
        o->count = third.row;
    o->has_count = third.present && !o->has_tx;
    finish(context, op, std::move(o), run_arrive);
}

bool mentions(const ptx::Operand& operand, std::uint32_t reg) {
    if (operand.kind == ptx::Operand::Kind::reg && operand.index == reg)
        return true;
    return std::ranges::any_of(operand.elements, [&](const ptx::Operand& e) { return mentions(e, reg); });
}

/// Whether the function does anything with the register: what is only selected, compared, moved or converted
/// into another register counts if that one does. Follows a few such steps.
bool is_used(const ptx::Function& function, std::uint32_t reg, unsigned steps = 3) {
    static constexpr std::string_view plain[] = {"selp", "setp", "mov", "cvt", "and", "or", "xor", "not"};
    return std::ranges::any_of(function.body, [&](const ptx::Instruction& each) {
        if (each.guard == static_cast<std::int64_t>(reg))
            return true;
        if (std::ranges::none_of(each.operands, [&](const ptx::Operand& o) { return mentions(o, reg); }))
            return false;
        const ptx::Operand& result = each.operands.front();
        const bool writes_one = result.kind == ptx::Operand::Kind::reg;
        const bool is_wait = each.opcode == "mbarrier";
        if (!writes_one || !(is_wait || std::ranges::find(plain, each.opcode) != std::end(plain)))
            return true;
        const auto sources = std::span(each.operands).subspan(1);
        if (std::ranges::none_of(sources, [&](const ptx::Operand& o) { return mentions(o, reg); }))
            return false; // It is written here.
        return is_wait || steps == 0 || result.index == reg || is_used(function, result.index, steps - 1);
    });
}

void decode_wait(DecodeContext& context, Op& op) {
    context.allow({"test_wait", "try_wait", "parity", "acquire", "relaxed", "cta", "cluster", "shared",
                   "shared::cta", "b64"});
    auto o = decode_common(context, 1, Semantics::acquire);
    o->parity = context.has("parity");
    o->blocking = context.has("try_wait");
    if (o->parity)
        o->count = context.source(2, ptx::Type::u32);
    else
        o->state = context.source(2, ptx::Type::b64);
    // The suspend-time hint of try_wait is a bound on time, which does not exist here.
    if (context.operand_count() > 3)
        context.source(3, ptx::Type::u32);
    const ptx::Operand& answer = context.operand(0);
    op.dst = context.predicate(answer);
    o->ignored =
        answer.kind == ptx::Operand::Kind::sink ||
        (answer.kind == ptx::Operand::Kind::reg && !is_used(*context.function().source, answer.index));
    finish(context, op, std::move(o), run_wait);
    op.progress = false; // A poll that fails must not hide an endless wait.
}

void decode_pending_count(DecodeContext& context, Op& op) {
    context.allow({"pending_count", "b64"});
    op.dst = context.destination(0, ptx::Type::u32);
    op.a = context.source(1, ptx::Type::b64);
    op.handler = run_pending_count;
}

constexpr InstructionRow rows[] = {
    {"mbarrier.init", "9.7.13.15.9", decode_init},
    {"mbarrier.inval", "9.7.13.15.10", decode_inval},
    {"mbarrier.expect_tx", "9.7.13.15.11", decode_tx},
    {"mbarrier.complete_tx", "9.7.13.15.12", decode_tx},
    {"mbarrier.arrive", "9.7.13.15.13", decode_arrive},
    {"mbarrier.arrive_drop", "9.7.13.15.14", decode_arrive},
    {"mbarrier.test_wait", "9.7.13.15.16", decode_wait},
    {"mbarrier.try_wait", "9.7.13.15.16", decode_wait},
    {"mbarrier.pending_count", "9.7.13.15.17", decode_pending_count},
};

} // namespace

std::span<const InstructionRow> mbarrier_instructions() { return rows; }

} // namespace emu
