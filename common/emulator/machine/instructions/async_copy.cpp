/// \file
/// cp.async, the non-bulk asynchronous copy, and its groups (PTX ISA 9.7.9.25.3).

#include "hopper_emulator/finding_kinds.hpp"
#include "machine/async_tasks.hpp"

namespace emu {

namespace {

struct CopyOperands final : OpExtra {
    AddressOperand destination, source;
    Row source_bytes; ///< u32, when `sized`.
    Row ignore;       ///< Predicate, when `ignorable`.
    bool sized = false;
    bool ignorable = false;
    bool ignore_negated = false;
    std::uint8_t bytes = 0;
};

/// Bytes this lane really reads, or nothing after a report.
std::optional<std::uint32_t> source_bytes(const Place& place, const CopyOperands& o) {
    Warp& warp = place.warp;
    if (o.ignorable && (((warp.predicate(o.ignore) >> place.lane) & 1) != 0) != o.ignore_negated)
        return 0;
    if (!o.sized)
        return o.bytes;
    const std::uint32_t bytes = warp.row<std::uint32_t>(o.source_bytes)[place.lane];
    if (bytes <= o.bytes)
        return bytes;
    place.report(Finding::invalid_size, Fault::launch_failure, "cp-async-source-size",
                 {{"bytes", bytes}, {"size", o.bytes}});
    return std::nullopt;
}

void copy_one(const Place& place, const CopyOperands& o) {
    const auto destination = shared_address(place, o.destination, "destination of cp.async");
    const auto read = source_bytes(place, o);
    if (!destination || !read)
        return;
    Cluster& cluster = place.cluster();
    Address source = 0;
    if (*read) { // An unread source may be any address.
        const auto address =
            global_address(place, o.source, "source of cp.async", Fault::invalid_address_space);
        if (!address || !check_alignment(place, *address, o.bytes, "source of cp.async") ||
            !check_global(place, *address, *read, "source of cp.async"))
            return;
        source = *address;
    }
    if (!check_alignment(place, *destination, o.bytes, "destination of cp.async") ||
        !check_shared(place, *destination, o.bytes, "destination of cp.async"))
        return;
    auto task = cluster.async().copy_task();
    task->source = source;
    task->destination = *destination;
    task->bytes = o.bytes;
    task->source_bytes = static_cast<std::uint8_t>(*read);
    AsyncOperation& operation = task->operation;
    operation.kind = AsyncKind::cp_async;
    operation.completion = CompletionKind::cp_async_group;
    operation.warp = &place.warp;
    operation.lane = place.lane;
    operation.pc = place.pc;
    operation.writes_shared = true;
    operation.reads_global = *read != 0;
    task->destination_rank = static_cast<std::int8_t>(shared_rank(*destination));
    if (cluster.listening()) {
        if (*read)
            operation.pieces.push_back({source, *destination, *read});
        if (*read < o.bytes)
            operation.pieces.push_back({0, *destination + *read, o.bytes - *read});
    }
    cluster.async().issue(std::move(task));
}

Flow run_copy(Warp& warp, const Op& op, LaneMask mask) {
    const auto& o = static_cast<const CopyOperands&>(*op.extra);
    for_lanes(mask, [&](unsigned lane) { copy_one(Place(warp, lane), o); });
    return Flow::next;
}

Flow run_commit(Warp& warp, const Op&, LaneMask mask) {
    for_lanes(mask, [&](unsigned lane) {
        warp.cluster().async().commit(warp, lane, CompletionKind::cp_async_group);
    });
    return Flow::next;
}

/// op.immediate: groups that may stay pending; op.flags: 1 for wait_all, which commits first.
Flow run_wait(Warp& warp, const Op& op, LaneMask mask) {
    for_lanes(mask, [&](unsigned lane) {
        warp.cluster().async().wait(warp, lane, CompletionKind::cp_async_group,
                                    static_cast<std::uint64_t>(op.immediate), false, op.flags != 0,
                                    warp.pc());
    });
    return Flow::next;
}

struct ArriveOperands final : OpExtra {
    AddressOperand barrier;
    bool noinc = false;
};

Flow run_arrive(Warp& warp, const Op& op, LaneMask mask) {
    const auto& o = static_cast<const ArriveOperands&>(*op.extra);
    for_lanes(mask, [&](unsigned lane) {
        if (const auto address = shared_address(Place(warp, lane), o.barrier, "mbarrier address"))
            warp.cluster().async().arrive_after_cp_async(warp, lane, *address, o.noinc, warp.pc());
    });
    return Flow::next;
}

// -- decoding

bool is_predicate(DecodeContext& context, const ptx::Operand& operand) {
    return operand.kind == ptx::Operand::Kind::reg &&
           context.function().source->registers[operand.index].type == ptx::Type::pred;
}

/// The optional fourth and fifth operands: src-size or ignore-src, then the cache policy, which is only read.
void decode_optional(DecodeContext& context, CopyOperands& o) {
    std::size_t next = 3;
    const std::size_t end = context.operand_count() - (context.has("L2::cache_hint") ? 1 : 0);
    if (next < end) {
        const ptx::Operand& operand = context.operand(next++);
        if (is_predicate(context, operand)) {
            o.ignorable = true;
            o.ignore_negated = operand.negated;
            o.ignore = context.predicate(operand);
        } else {
            o.sized = true;
            o.source_bytes = context.source(operand, ptx::Type::u32);
        }
    }
    if (next != end)
        context.malformed("has too many operands");
    if (end != context.operand_count())
        context.source(end, ptx::Type::b64);
}

void decode_copy(DecodeContext& context, Op& op) {
    context.allow({"async", "ca", "cg", "shared", "shared::cta", "global", "L2::cache_hint", "L2::64B",
                   "L2::128B", "L2::256B"});
    auto o = std::make_unique<CopyOperands>();
    o->destination = address_operand(context, 0, ptx::Space::shared);
    o->source = address_operand(context, 1, ptx::Space::global);
    const std::int64_t bytes = context.immediate(2);
    if (bytes != 4 && bytes != 8 && bytes != 16)
        context.malformed("copies 4, 8 or 16 bytes, not " + std::to_string(bytes));
    if (context.has("cg") && bytes != 16)
        context.malformed("with .cg copies 16 bytes, not " + std::to_string(bytes));
    o->bytes = static_cast<std::uint8_t>(bytes);
    decode_optional(context, *o);
    op.handler = run_copy;
    op.progress = true;
    op.extra = context.keep(std::move(o));
}

void decode_commit(DecodeContext& context, Op& op) {
    context.allow({"async", "commit_group"});
    op.handler = run_commit;
}

void decode_wait_group(DecodeContext& context, Op& op) {
    context.allow({"async", "wait_group"});
    op.immediate = context.immediate(0);
    if (op.immediate < 0)
        context.malformed("takes a count of groups that is not negative");
    op.handler = run_wait;
}

void decode_wait_all(DecodeContext& context, Op& op) {
    context.allow({"async", "wait_all"});
    op.flags = 1;
    op.handler = run_wait;
}

void decode_arrive(DecodeContext& context, Op& op) {
    context.allow({"async", "mbarrier", "arrive", "noinc", "shared", "shared::cta", "b64"});
    auto o = std::make_unique<ArriveOperands>();
    o->barrier = address_operand(context, 0, context.space());
    o->noinc = context.has("noinc");
    op.handler = run_arrive;
    op.progress = true;
    op.extra = context.keep(std::move(o));
}

constexpr InstructionRow rows[] = {
    {"cp.async", "9.7.9.25.3.1", decode_copy},
    {"cp.async.commit_group", "9.7.9.25.3.2", decode_commit},
    {"cp.async.wait_group", "9.7.9.25.3.3", decode_wait_group},
    {"cp.async.wait_all", "9.7.9.25.3.3", decode_wait_all},
    {"cp.async.mbarrier.arrive", "9.7.13.15.15", decode_arrive},
};

} // namespace

std::span<const InstructionRow> async_copy_instructions() { return rows; }

} // namespace emu
