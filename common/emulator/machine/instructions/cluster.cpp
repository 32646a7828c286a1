/// \file
/// Clusters: barrier.cluster (PTX ISA 9.7.13.5), mapa (9.7.9.24) and getctarank (9.7.9.23).

#include "hopper_emulator/finding_kinds.hpp"
#include "machine/instructions/async_operands.hpp"

namespace emu {

namespace {

// -- barrier.cluster

/// op.flags: Semantics of the arrival.
Flow run_arrive(Warp& warp, const Op& op, LaneMask mask) {
    warp.cluster().cluster_barrier_arrive({&warp, mask, warp.pc()}, static_cast<Semantics>(op.flags));
    return Flow::next;
}

Flow run_wait(Warp& warp, const Op&, LaneMask mask) {
    Cluster& cluster = warp.cluster();
    LaneMask done = 0;
    for_lanes(mask, [&](unsigned lane) {
        if (cluster.cluster_barrier_done(warp, lane))
            done |= LaneMask{1} << lane;
    });
    if (done && cluster.listening()) {
        // The phase completed before these lanes came to wait for it.
        const WarpLanes late{&warp, done, warp.pc()};
        cluster.emit(&ClusterListener::on_barrier_complete, ClusterListener::BarrierKind::cluster, 0u,
                     std::span<const WarpLanes>(), std::span<const WarpLanes>(&late, 1));
    }
    const LaneMask waiting = mask & ~done;
    if (!waiting)
        return Flow::next;
    // Lanes that are not done all arrived in the phase that is under way.
    const auto first = static_cast<unsigned>(std::countr_zero(waiting));
    return warp.block_lanes(waiting, Wait::cluster_barrier, warp.cluster_phase[first]);
}

// -- mapa, getctarank

/// Results are 32-bit shared addresses (op.flags 0), or generic ones (op.flags 1).
Flow run_mapa(Warp& warp, const Op& op, LaneMask mask) {
    const bool generic = op.flags != 0;
    const std::uint32_t* ranks = warp.row<std::uint32_t>(op.b);
    for_lanes(mask, [&](unsigned lane) {
        const Place place(warp, lane);
        const std::uint64_t address =
            op.width == 8 ? warp.row<std::uint64_t>(op.a)[lane] : warp.row<std::uint32_t>(op.a)[lane];
        if (generic ? !in_shared_window(address) && (address >> 32) != 0 : (address >> 32) != 0)
            return place.report(Finding::out_of_bounds, Fault::launch_failure, "mapa-address",
                                {{"address", Hexadecimal{address}}});
        if (ranks[lane] >= warp.cluster().block_count())
            return place.report(Finding::rank_out_of_range, Fault::launch_failure, "mapa-rank",
                                {{"rank", ranks[lane]}, {"blocks", warp.cluster().block_count()}});
        const std::uint32_t mapped =
            (ranks[lane] << shared_rank_shift) | shared_offset(static_cast<std::uint32_t>(address));
        if (op.width == 8)
            warp.row<std::uint64_t>(op.dst)[lane] = generic ? shared_window | mapped : Address{mapped};
        else
            warp.row<std::uint32_t>(op.dst)[lane] = mapped;
    });
    return Flow::next;
}

Flow run_getctarank(Warp& warp, const Op& op, LaneMask mask) {
    std::uint32_t* d = warp.row<std::uint32_t>(op.dst);
    for_lanes(mask, [&](unsigned lane) {
        const std::uint64_t address =
            op.width == 8 ? warp.row<std::uint64_t>(op.a)[lane] : warp.row<std::uint32_t>(op.a)[lane];
        d[lane] = shared_rank(static_cast<std::uint32_t>(address));
    });
    return Flow::next;
}

// -- decoding

void decode_arrive(DecodeContext& context, Op& op) {
    context.allow({"cluster", "arrive", "release", "relaxed", "aligned"});
    op.flags = static_cast<std::uint8_t>(context.has("relaxed") ? Semantics::relaxed : Semantics::release);
    op.handler = run_arrive;
    op.progress = true;
}

void decode_wait(DecodeContext& context, Op& op) {
    context.allow({"cluster", "wait", "acquire", "aligned"});
    op.handler = run_wait;
}

/// Type .u32 or .u64, in op.width.
ptx::Type decode_type(DecodeContext& context, Op& op) {
    const ptx::Type type = context.type();
    if (type != ptx::Type::u32 && type != ptx::Type::u64)
        context.malformed("takes .u32 or .u64");
    op.width = static_cast<std::uint8_t>(ptx::size_of(type));
    return type;
}

void decode_mapa(DecodeContext& context, Op& op) {
    context.allow({"shared::cluster"});
    const ptx::Type type = decode_type(context, op);
    op.dst = context.destination(0, type);
    op.a = context.source(1, type);
    op.b = context.source(2, ptx::Type::u32);
    op.flags = context.has("shared::cluster") ? 0 : 1;
    op.handler = run_mapa;
}

void decode_getctarank(DecodeContext& context, Op& op) {
    context.allow({"shared::cluster"});
    const ptx::Type type = decode_type(context, op);
    op.dst = context.destination(0, ptx::Type::u32);
    op.a = context.source(1, type);
    op.handler = run_getctarank;
}

constexpr InstructionRow rows[] = {
    {"barrier.cluster.arrive", "9.7.13.5", decode_arrive},
    {"barrier.cluster.wait", "9.7.13.5", decode_wait},
    {"mapa", "9.7.9.24", decode_mapa},
    {"getctarank", "9.7.9.23", decode_getctarank},
};

} // namespace

std::span<const InstructionRow> cluster_instructions() { return rows; }

} // namespace emu
