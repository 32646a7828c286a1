#include "machine/instructions/bulk_operands.hpp"

#include "hopper_emulator/finding_kinds.hpp"

namespace emu {

BulkCompletion decode_completion(DecodeContext& context, std::size_t next, bool skips_one) {
    BulkCompletion completion;
    completion.at_barrier = context.has("mbarrier::complete_tx::bytes");
    if (completion.at_barrier == context.has("bulk_group"))
        context.malformed("needs a completion mechanism: .mbarrier::complete_tx::bytes or .bulk_group");
    if (completion.at_barrier)
        completion.barrier = address_operand(context, next++, ptx::Space::shared);
    next += skips_one ? 1 : 0;
    completion.multicast = context.has("multicast::cluster");
    if (completion.multicast)
        completion.mask = context.source(next++, ptx::Type::u16);
    if (context.has("L2::cache_hint"))
        context.source(next++, ptx::Type::b64);
    if (next != context.operand_count())
        context.malformed("has " + std::to_string(context.operand_count()) +
                          " operands where its modifiers ask for " + std::to_string(next));
    return completion;
}

namespace {

bool check_mask(const Place& place, std::uint16_t mask) {
    const std::size_t blocks = place.cluster().blocks().size();
    if ((std::uint32_t{mask} >> blocks) == 0)
        return true;
    place.report(Finding::multicast_mask_out_of_range, Fault::launch_failure, "multicast-mask",
                 {{"mask", Hexadecimal{mask}}, {"blocks", blocks}});
    return false;
}

bool check_target(const Place& place, const BulkTarget& target, std::uint64_t bytes, const char* what) {
    return check_shared(place, target.destination, bytes, what) && find_barrier(place, target.barrier);
}

constexpr std::uint32_t in_block(std::uint32_t rank, std::uint32_t address) {
    return (rank << shared_rank_shift) | shared_offset(address);
}

} // namespace

std::vector<BulkTarget> bulk_targets(const Place& place, const BulkCompletion& completion,
                                     std::uint32_t destination, std::uint64_t bytes, const char* what) {
    const auto barrier = shared_address(place, completion.barrier, "mbarrier address");
    if (!barrier)
        return {};
    std::vector<BulkTarget> targets;
    if (!completion.multicast) {
        targets.push_back({destination, *barrier, 0});
    } else {
        const std::uint16_t mask = place.warp.row<std::uint16_t>(completion.mask)[place.lane];
        if (!check_mask(place, mask))
            return {};
        for (std::uint32_t rank = 0; rank < 16; ++rank)
            if ((mask >> rank) & 1)
                targets.push_back({in_block(rank, destination), in_block(rank, *barrier), mask});
    }
    for (const BulkTarget& target : targets)
        if (!check_target(place, target, bytes, what))
            return {};
    return targets;
}

void issue_at_barrier(const Place& place, std::unique_ptr<AsyncTask> task, const BulkTarget& target,
                      std::uint32_t bytes) {
    AsyncOperation& operation = task->operation;
    operation.barrier = target.barrier;
    operation.tx_bytes = bytes;
    operation.multicast = target.multicast;
    operation.writes_shared = true;
    task->destination_rank = static_cast<std::int8_t>(shared_rank(target.destination));
    place.cluster().async().issue(std::move(task));
}

bool check_cluster_launch(const Place& place, std::string_view without) {
    if (place.cluster().info().config.explicit_cluster())
        return true;
    place.report(Finding::no_cluster_launch, Fault::illegal_instruction, without);
    return false;
}

namespace {

/// The type groups in which PTX states the legal reductions.
bool legal_in_global(ReduceOp op, ptx::Type type) {
    using ptx::Type;
    switch (op) {
    case ReduceOp::add:
        return type == Type::u32 || type == Type::s32 || type == Type::u64 || type == Type::f32 ||
               type == Type::f64 || type == Type::f16 || type == Type::bf16;
    case ReduceOp::min:
    case ReduceOp::max:
        return type == Type::u32 || type == Type::s32 || type == Type::u64 || type == Type::s64 ||
               type == Type::f16 || type == Type::bf16;
    case ReduceOp::inc:
    case ReduceOp::dec:
        return type == Type::u32;
    default:
        return type == Type::b32 || type == Type::b64;
    }
}

bool legal_in_shared(ReduceOp op, ptx::Type type) {
    using ptx::Type;
    if (!legal_in_global(op, type) || type == Type::f32 || type == Type::f64 || type == Type::f16 ||
        type == Type::bf16)
        return false;
    return ptx::size_of(type) == 4 || (op == ReduceOp::add && type == Type::u64);
}

} // namespace

Reduction decode_reduction(DecodeContext& context, bool to_global) {
    Reduction reduction;
    reduction.type = context.type();
    bool found = false;
    for (const auto modifier : context.instruction().modifiers)
        if (const auto op = reduce_op_from_name(modifier)) {
            reduction.op = *op;
            found = true;
        }
    if (!found)
        context.malformed("names no reduction");
    if (!(to_global ? legal_in_global(reduction.op, reduction.type)
                    : legal_in_shared(reduction.op, reduction.type)))
        context.malformed("does not exist for this type");
    const bool half = reduction.type == ptx::Type::f16 || reduction.type == ptx::Type::bf16;
    if (context.has("noftz") != (half && reduction.op == ReduceOp::add))
        context.malformed("takes .noftz exactly for .add of .f16 and .bf16");
    reduction.flush = to_global && reduction.type == ptx::Type::f32;
    return reduction;
}

} // namespace emu
