// The numbered barriers of a block (PTX ISA 9.7.13.1).

#include "hopper_emulator/finding_kinds.hpp"
#include "machine/cluster.hpp"
#include "machine/decoder.hpp"
#include "machine/mistake.hpp"

namespace emu {
namespace {

using ptx::Operand;
using ptx::Type;

struct BarrierExtra final : OpExtra {
    Row id;
    Row threads;
    bool has_threads = false;
    bool wait = true;
    Row predicate;
    bool has_predicate = false;
    bool predicate_negated = false;
};

bool valid(Warp& warp, const BarrierExtra& x, unsigned lane, std::uint32_t id, std::uint32_t threads) {
    if (id < 16 && threads % warp_size == 0 && (threads != 0 || !x.has_threads))
        return true;
    // An H200 stops at a wrong count, and takes a wrong number and barrier.sync with 0 threads silently.
    const bool stops = id < 16 && (threads != 0 || !x.wait);
    Place(warp, lane)
        .report(Finding::invalid_size, stops ? Fault::illegal_instruction : Fault::launch_failure,
                "barrier-operands", {{"id", id}, {"threads", threads}});
    return false;
}

/// Lanes may name different barriers: the first lane's go now, the others execute the instruction again.
Flow arrive(Warp& warp, const Op& op, LaneMask mask) {
    const auto& x = *static_cast<const BarrierExtra*>(op.extra);
    const auto first = static_cast<unsigned>(std::countr_zero(mask));
    const auto* ids = warp.row<std::uint32_t>(x.id);
    const std::uint32_t id = ids[first];
    const std::uint32_t threads = x.has_threads ? warp.row<std::uint32_t>(x.threads)[first] : 0;
    if (!valid(warp, x, first, id, threads))
        return Flow::next;
    LaneMask same = 0;
    for_lanes(mask, [&](unsigned lane) { same |= LaneMask{ids[lane] == id} << lane; });
    LaneMask predicate = 0;
    if (x.has_predicate)
        predicate = x.predicate_negated ? ~warp.predicate(x.predicate) : warp.predicate(x.predicate);
    const Flow flow = warp.block().arrive(id, threads, {&warp, same, warp.pc()}, x.wait, predicate);
    if (same == mask)
        return flow;
    if (flow == Flow::next)
        return warp.retry(mask & ~same);
    warp.hold(mask & ~same);
    return flow;
}

void decode_barrier(DecodeContext& c, Op& op) {
    c.allow({"cta", "sync", "arrive", "red", "popc", "and", "or", "aligned"});
    auto x = std::make_unique<BarrierExtra>();
    x->wait = !c.has("arrive");
    std::size_t next = 0;
    std::size_t last = c.operand_count();
    if (c.has("red")) {
        const bool popc = c.has("popc");
        op.dst = popc ? c.destination(0, Type::u32) : c.predicate(c.operand(0));
        op.flags = static_cast<std::uint8_t>(popc           ? BarrierReduction::popc
                                             : c.has("and") ? BarrierReduction::all
                                                            : BarrierReduction::any);
        next = 1;
        const Operand& p = c.operand(--last);
        x->predicate = c.predicate(p);
        x->predicate_negated = p.negated;
        x->has_predicate = true;
    }
    x->id = c.source(next++, Type::u32);
    if (next < last) {
        x->threads = c.source(next, Type::u32);
        x->has_threads = true;
    }
    if (!x->wait && !x->has_threads)
        c.malformed("needs a thread count");
    op.extra = c.keep(std::move(x));
    op.handler = arrive;
}

constexpr InstructionRow table[] = {
    {"bar", "9.7.13.1", decode_barrier},
    {"barrier", "9.7.13.1", decode_barrier},
};

} // namespace

std::span<const InstructionRow> barrier_instructions() { return table; }

} // namespace emu
