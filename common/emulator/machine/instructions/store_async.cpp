/// \file
/// st.async and red.async: a value from registers to another block's shared memory, counted at an mbarrier
/// there (PTX ISA 9.7.9.12 and 9.7.13.8).

#include "hopper_emulator/finding_kinds.hpp"
#include "machine/instructions/bulk_operands.hpp"

#include <cstring>

namespace emu {

namespace {

struct StoreOperands final : OpExtra {
    AddressOperand destination, barrier;
    std::vector<Row> values;
    std::uint8_t width = 4; ///< Bytes of one value.
    std::optional<Reduction> reduction;
};

bool same_block(const Place& place, std::uint32_t destination, std::uint32_t barrier) {
    if (shared_rank(destination) == shared_rank(barrier))
        return true;
    place.report(Finding::rank_out_of_range, Fault::launch_failure, "store-async-blocks",
                 {{"rank", shared_rank(destination)}, {"barrier_rank", shared_rank(barrier)}});
    return false;
}

void store_one(const Place& place, const StoreOperands& o) {
    if (!check_cluster_launch(place, "store-async-without-cluster"))
        return;
    const auto destination = shared_address(place, o.destination, "destination of the asynchronous store");
    const auto barrier = shared_address(place, o.barrier, "mbarrier address");
    const auto bytes = static_cast<std::uint8_t>(o.width * o.values.size());
    if (!destination || !barrier || !same_block(place, *destination, *barrier) ||
        !check_alignment(place, *destination, bytes, "destination of the asynchronous store") ||
        !check_shared(place, *destination, bytes, "destination of the asynchronous store") ||
        !find_barrier(place, *barrier))
        return;
    auto task = std::make_unique<StoreTask>();
    task->operation = make_operation(place, o.reduction ? AsyncKind::red_async : AsyncKind::st_async,
                                     CompletionKind::mbarrier);
    task->operation.source_done = true;
    task->destination = *destination;
    task->bytes = bytes;
    task->reduction = o.reduction;
    for (std::size_t i = 0; i < o.values.size(); ++i)
        std::memcpy(task->value.data() + i * o.width,
                    place.warp.row<std::byte>(o.values[i]) + std::size_t{place.lane} * o.width, o.width);
    task->operation.pieces.push_back({0, *destination, bytes});
    issue_at_barrier(place, std::move(task), {*destination, *barrier, 0}, bytes);
}

Flow run_store(Warp& warp, const Op& op, LaneMask mask) {
    const auto& o = static_cast<const StoreOperands&>(*op.extra);
    for_lanes(mask, [&](unsigned lane) { store_one(Place(warp, lane), o); });
    return Flow::next;
}

/// `[address], values, [mbarrier]`.
std::unique_ptr<StoreOperands> decode_operands(DecodeContext& context) {
    auto o = std::make_unique<StoreOperands>();
    const ptx::Space space = context.space();
    if (!context.has("mbarrier::complete_tx::bytes"))
        context.malformed("needs .mbarrier::complete_tx::bytes on compute capability 9.0");
    o->destination = address_operand(context, 0, space);
    o->barrier = address_operand(context, 2, space);
    o->width = static_cast<std::uint8_t>(ptx::size_of(context.type()));
    if (o->width != 4 && o->width != 8)
        context.malformed("stores values of 32 or 64 bits");
    const ptx::Operand& value = context.operand(1);
    if (value.kind == ptx::Operand::Kind::vector)
        for (const ptx::Operand& element : value.elements)
            o->values.push_back(context.source(element, context.type()));
    else
        o->values.push_back(context.source(value, context.type()));
    const std::size_t count = context.has("v4") ? 4 : context.has("v2") ? 2 : 1;
    if (o->values.size() != count || count * o->width > 16)
        context.malformed("has a vector of the wrong size");
    return o;
}

} // namespace

void decode_store_async(DecodeContext& context, Op& op) {
    context.allow({"async", "weak", "shared::cluster", "mbarrier::complete_tx::bytes", "v2", "v4"});
    op.handler = run_store;
    op.progress = true;
    op.extra = context.keep(decode_operands(context));
}

void decode_reduce_async(DecodeContext& context, Op& op) {
    context.allow({"async", "relaxed", "cluster", "shared::cluster", "mbarrier::complete_tx::bytes", "add",
                   "min", "max", "inc", "dec", "and", "or", "xor"});
    auto o = decode_operands(context);
    o->reduction = decode_reduction(context, false);
    op.handler = run_store;
    op.progress = true;
    op.extra = context.keep(std::move(o));
}

void decode_store_bulk(DecodeContext& context, Op&) {
    context.unsupported("st.bulk needs compute capability 10.0, this is a device of compute capability 9.0");
}

} // namespace emu
