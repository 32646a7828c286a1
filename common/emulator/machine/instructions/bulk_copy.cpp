/// \file
/// cp.async.bulk, cp.reduce.async.bulk and bulk groups (PTX ISA 9.7.9.25.4).

#include "machine/instructions/bulk_operands.hpp"

namespace emu {

namespace {

struct BulkOperands final : OpExtra {
    AddressOperand destination, source;
    bool to_global = false, from_global = false;
    Row size; ///< u32
    BulkCompletion completion;
    std::optional<Reduction> reduction;
};

/// Size and, for one end, address, alignment and memory.
std::optional<CopyEnd> check_end(const Place& place, const AddressOperand& operand, bool global,
                                 std::uint32_t bytes, const char* what) {
    CopyEnd end;
    end.global = global;
    if (global) {
        const auto address = global_address(place, operand, what);
        if (!address || !check_alignment(place, *address, 16, what) ||
            !check_global(place, *address, bytes, what))
            return std::nullopt;
        end.address = *address;
        return end;
    }
    const auto address = shared_address(place, operand, what);
    if (!address || !check_alignment(place, *address, 16, what) ||
        !check_shared(place, *address, bytes, what))
        return std::nullopt;
    end.address = *address;
    return end;
}

std::unique_ptr<BulkTask> make_task(const Place& place, const BulkOperands& o, const CopyEnd& source,
                                    const CopyEnd& destination, std::uint32_t bytes) {
    auto task = std::make_unique<BulkTask>();
    const AsyncKind kind = o.reduction     ? AsyncKind::bulk_reduce
                           : o.to_global   ? AsyncKind::bulk_store
                           : o.from_global ? AsyncKind::bulk_load
                                           : AsyncKind::bulk_shared;
    task->operation = make_operation(
        place, kind, o.completion.at_barrier ? CompletionKind::mbarrier : CompletionKind::bulk_group);
    task->source = source;
    task->destination = destination;
    task->bytes = bytes;
    task->reduction = o.reduction;
    AsyncOperation& operation = task->operation;
    operation.reads_global = source.global;
    operation.writes_global = destination.global;
    operation.reads_shared = !source.global;
    operation.writes_shared = !destination.global;
    if (!source.global)
        task->source_rank = static_cast<std::int8_t>(shared_rank(static_cast<std::uint32_t>(source.address)));
    const auto shared_of = [](const CopyEnd& end) { return static_cast<std::uint32_t>(end.address); };
    if (!place.cluster().listening() || bytes == 0)
        return task;
    if (source.global) {
        operation.pieces.push_back({source.address, shared_of(destination), bytes});
    } else if (destination.global) {
        operation.pieces.push_back({destination.address, shared_of(source), bytes});
    } else {
        operation.pieces.push_back({0, shared_of(destination), bytes});
        operation.source_pieces.push_back({0, shared_of(source), bytes});
    }
    return task;
}

void copy_one(const Place& place, const BulkOperands& o) {
    const std::uint32_t bytes = place.warp.row<std::uint32_t>(o.size)[place.lane];
    if (!check_bulk_size(place, bytes))
        return;
    if (!o.from_global && !o.to_global && !check_cluster_launch(place, "bulk-copy-without-cluster"))
        return;
    const auto source = check_end(place, o.source, o.from_global, bytes, "source of the bulk copy");
    if (!source)
        return;
    const auto destination =
        check_end(place, o.destination, o.to_global, bytes, "destination of the bulk copy");
    if (!destination)
        return;
    if (!o.completion.at_barrier)
        return place.cluster().async().issue(make_task(place, o, *source, *destination, bytes));
    const auto targets = bulk_targets(place, o.completion, static_cast<std::uint32_t>(destination->address),
                                      bytes, "destination of the bulk copy");
    for (const BulkTarget& target : targets)
        issue_at_barrier(place, make_task(place, o, *source, CopyEnd{false, target.destination}, bytes),
                         target, bytes);
}

Flow run_copy(Warp& warp, const Op& op, LaneMask mask) {
    const auto& o = static_cast<const BulkOperands&>(*op.extra);
    const auto equal = [&](unsigned a, unsigned b) {
        const auto* const sizes = warp.row<std::uint32_t>(o.size);
        return o.destination.value(warp, a) == o.destination.value(warp, b) &&
               o.source.value(warp, a) == o.source.value(warp, b) && sizes[a] == sizes[b];
    };
    if (o.to_global && !o.reduction)
        mask = distinct_lanes(mask, equal);
    for_lanes(mask, [&](unsigned lane) { copy_one(Place(warp, lane), o); });
    return Flow::next;
}

Flow run_prefetch(Warp& warp, const Op& op, LaneMask mask) {
    const auto& o = static_cast<const BulkOperands&>(*op.extra);
    for_lanes(mask, [&](unsigned lane) {
        const Place place(warp, lane);
        const std::uint32_t bytes = warp.row<std::uint32_t>(o.size)[lane];
        const auto source = global_address(place, o.source, "source of the bulk prefetch");
        // A prefetch is a hint: PTX states no bounds for it.
        if (!source || !check_bulk_size(place, bytes) ||
            !check_alignment(place, *source, 16, "source of the bulk prefetch"))
            return;
        auto task = std::make_unique<ArriveTask>(); // Moves nothing.
        task->operation = make_operation(place, AsyncKind::prefetch, CompletionKind::none);
        task->operation.pieces.push_back({*source, 0, bytes});
        place.cluster().async().issue(std::move(task));
    });
    return Flow::next;
}

Flow run_commit(Warp& warp, const Op&, LaneMask mask) {
    for_lanes(mask,
              [&](unsigned lane) { warp.cluster().async().commit(warp, lane, CompletionKind::bulk_group); });
    return Flow::next;
}

/// op.immediate: groups that may stay pending; op.flags: 1 for `.read`.
Flow run_wait(Warp& warp, const Op& op, LaneMask mask) {
    for_lanes(mask, [&](unsigned lane) {
        warp.cluster().async().wait(warp, lane, CompletionKind::bulk_group,
                                    static_cast<std::uint64_t>(op.immediate), op.flags != 0, false,
                                    warp.pc());
    });
    return Flow::next;
}

// -- decoding

/// The two state spaces of a copy, destination first.
void decode_spaces(DecodeContext& context, BulkOperands& o) {
    std::vector<std::string_view> spaces;
    for (const auto modifier : context.instruction().modifiers)
        if (modifier == "global" || modifier == "shared::cta" || modifier == "shared::cluster")
            spaces.push_back(modifier);
    if (spaces.size() != 2)
        context.malformed("needs the state spaces of destination and source");
    o.to_global = spaces[0] == "global";
    o.from_global = spaces[1] == "global";
    if (o.to_global && o.from_global)
        context.malformed("cannot copy from global to global memory");
    if (!o.from_global && spaces[1] != "shared::cta")
        context.malformed("can read only the own block's shared memory (.shared::cta)");
}

void decode_copy(DecodeContext& context, Op& op, bool reduce) {
    auto o = std::make_unique<BulkOperands>();
    decode_spaces(context, *o);
    if (reduce && o->from_global)
        context.malformed("reduces from shared memory only");
    o->destination = address_operand(context, 0, o->to_global ? ptx::Space::global : ptx::Space::shared);
    o->source = address_operand(context, 1, o->from_global ? ptx::Space::global : ptx::Space::shared);
    o->size = context.source(2, ptx::Type::u32);
    o->completion = decode_completion(context, 3);
    if (o->completion.at_barrier == o->to_global)
        context.malformed("completes in a bulk_group when it writes global memory, else at an mbarrier");
    if (reduce)
        o->reduction = decode_reduction(context, o->to_global);
    op.handler = run_copy;
    op.progress = true;
    op.extra = context.keep(std::move(o));
}

void decode_plain_copy(DecodeContext& context, Op& op) {
    context.allow({"async", "bulk", "shared::cluster", "shared::cta", "global",
                   "mbarrier::complete_tx::bytes", "bulk_group", "multicast::cluster", "L2::cache_hint"});
    decode_copy(context, op, false);
}

void decode_reduce(DecodeContext& context, Op& op) {
    context.allow({"reduce", "async", "bulk", "shared::cluster", "shared::cta", "global",
                   "mbarrier::complete_tx::bytes", "bulk_group", "L2::cache_hint", "noftz", "add", "min",
                   "max", "inc", "dec", "and", "or", "xor"});
    decode_copy(context, op, true);
}

void decode_prefetch(DecodeContext& context, Op& op) {
    context.allow({"async", "bulk", "prefetch", "L2", "global", "L2::cache_hint"});
    auto o = std::make_unique<BulkOperands>();
    o->source = address_operand(context, 0, ptx::Space::global);
    o->size = context.source(1, ptx::Type::u32);
    if (context.has("L2::cache_hint"))
        context.source(2, ptx::Type::b64);
    op.handler = run_prefetch;
    op.extra = context.keep(std::move(o));
}

void decode_commit(DecodeContext& context, Op& op) {
    context.allow({"async", "bulk", "commit_group"});
    op.handler = run_commit;
}

void decode_wait(DecodeContext& context, Op& op) {
    context.allow({"async", "bulk", "wait_group", "read"});
    op.immediate = context.immediate(0);
    if (op.immediate < 0)
        context.malformed("takes a count of groups that is not negative");
    op.flags = context.has("read") ? 1 : 0;
    op.handler = run_wait;
}

constexpr InstructionRow rows[] = {
    {"cp.async.bulk", "9.7.9.25.4.1", decode_plain_copy},
    {"cp.reduce.async.bulk", "9.7.9.25.4.2", decode_reduce},
    {"cp.async.bulk.prefetch", "9.7.9.25.4.3", decode_prefetch},
    {"cp.async.bulk.commit_group", "9.7.9.25.6.1", decode_commit},
    {"cp.async.bulk.wait_group", "9.7.9.25.6.2", decode_wait},
    {"st.async", "9.7.9.12", decode_store_async},
    {"st.bulk", "9.7.9.13", decode_store_bulk},
    {"red.async", "9.7.13.8", decode_reduce_async},
};

} // namespace

std::span<const InstructionRow> bulk_copy_instructions() { return rows; }

} // namespace emu
