/// \file
/// Fences (PTX ISA 9.7.13.4 membar/fence, 9.7.13.13 griddepcontrol). The emulated machine executes in order,
/// so a fence changes nothing in it; listeners learn which accesses it orders.

#include "machine/instructions/async_operands.hpp"

#include <array>

namespace emu {

namespace {

struct FenceOperands final : OpExtra {
    FenceEvent event;
    bool has_address = false; ///< fence.proxy.tensormap::generic.acquire [address], 128
    AddressOperand address;
};

Flow run_fence(Warp& warp, const Op& op, LaneMask mask) {
    Cluster& cluster = warp.cluster();
    const auto& o = static_cast<const FenceOperands&>(*op.extra);
    std::array<Address, warp_size> maps{};
    if (o.has_address)
        for_lanes(mask, [&](unsigned lane) {
            // It reads nothing: an H200 takes any address, and CUTLASS acquires maps that are not there
            // (null).
            maps[lane] = o.address.value(warp, lane);
        });
    if (o.event.kind == FenceKind::membar && o.event.scope >= Scope::gpu)
        for_lanes(mask, [&](unsigned lane) { cluster.async().fence(warp, lane); });
    if (!cluster.listening())
        return Flow::next;
    FenceEvent event = o.event;
    event.warp = &warp;
    event.pc = warp.pc();
    event.mask = mask;
    event.addresses = o.has_address ? maps.data() : nullptr;
    cluster.emit(&ClusterListener::on_fence, event);
    return Flow::next;
}

Flow run_launch_dependents(Warp& warp, const Op&, LaneMask) {
    warp.cluster().trigger_dependents(warp.block());
    if (warp.cluster().is_held())
        warp.yield();
    return Flow::next;
}

Flow run_grid_wait(Warp& warp, const Op&, LaneMask mask) {
    if (warp.cluster().arrive_at_grid_wait({&warp, mask, warp.pc()}))
        return Flow::next;
    return warp.block_lanes(mask, Wait::grids, 0);
}

void finish(DecodeContext& context, Op& op, const FenceEvent& event) {
    auto o = std::make_unique<FenceOperands>();
    o->event = event;
    op.handler = run_fence;
    op.extra = context.keep(std::move(o));
}

/// Scope, and the direction where the modifiers give one.
FenceEvent order_of(DecodeContext& context) {
    FenceEvent event;
    event.scope = context.has("cta")       ? Scope::cta
                  : context.has("cluster") ? Scope::cluster
                  : context.has("gpu")     ? Scope::gpu
                                           : Scope::sys;
    event.acquire = !context.has("release");
    event.release = !context.has("acquire");
    return event;
}

void decode_membar(DecodeContext& context, Op& op) {
    context.allow({"cta", "gl", "sys"});
    FenceEvent event;
    event.scope = context.has("cta") ? Scope::cta : context.has("gl") ? Scope::gpu : Scope::sys;
    finish(context, op, event);
}

void decode_fence(DecodeContext& context, Op& op) {
    context.allow({"sc", "acq_rel", "acquire", "release", "cta", "cluster", "gpu", "sys",
                   "sync_restrict::shared::cluster", "sync_restrict::shared::cta"});
    finish(context, op, order_of(context));
}

void decode_mbarrier_init(DecodeContext& context, Op& op) {
    context.allow({"mbarrier_init", "release", "cluster"});
    FenceEvent event = order_of(context);
    event.kind = FenceKind::mbarrier_init;
    finish(context, op, event);
}

void decode_proxy_alias(DecodeContext& context, Op& op) {
    context.allow({"proxy", "alias"});
    FenceEvent event;
    event.kind = FenceKind::proxy_alias;
    finish(context, op, event);
}

void decode_proxy_async(DecodeContext& context, Op& op) {
    context.allow({"proxy", "async", "global", "shared::cta", "shared::cluster"});
    FenceEvent event;
    event.kind = FenceKind::proxy_async;
    const ptx::Space space = context.space();
    event.covers_shared = space != ptx::Space::global;
    event.covers_global = space != ptx::Space::shared;
    event.scope = context.has("shared::cta") ? Scope::cta : Scope::sys;
    finish(context, op, event);
}

void decode_proxy_async_generic(DecodeContext& context, Op& op) {
    context.allow({"proxy", "async::generic", "acquire", "release", "sync_restrict::shared::cluster",
                   "sync_restrict::shared::cta", "cluster"});
    FenceEvent event = order_of(context);
    event.kind = FenceKind::proxy_async_acquire_release;
    event.covers_global = false;
    finish(context, op, event);
}

void decode_proxy_tensormap(DecodeContext& context, Op& op) {
    context.allow({"proxy", "tensormap::generic", "acquire", "release", "cta", "cluster", "gpu", "sys"});
    auto o = std::make_unique<FenceOperands>();
    o->event = order_of(context);
    o->event.kind = FenceKind::proxy_tensormap;
    o->event.covers_shared = false;
    o->has_address = context.operand_count() > 0;
    if (o->has_address) {
        o->address = address_operand(context, 0, ptx::Space::generic);
        if (context.immediate(1) != 128)
            context.malformed("covers 128 bytes, the size of a tensor map");
    }
    op.handler = run_fence;
    op.extra = context.keep(std::move(o));
}

void decode_griddepcontrol(DecodeContext& context, Op& op) {
    context.allow({"wait", "launch_dependents"});
    op.handler = context.has("wait") ? run_grid_wait : run_launch_dependents;
}

constexpr InstructionRow rows[] = {
    {"membar", "9.7.13.4", decode_membar},
    {"membar.proxy.alias", "9.7.13.4", decode_proxy_alias},
    {"fence", "9.7.13.4", decode_fence},
    {"fence.mbarrier_init", "9.7.13.4", decode_mbarrier_init},
    {"fence.proxy.alias", "9.7.13.4", decode_proxy_alias},
    {"fence.proxy.async", "9.7.13.4", decode_proxy_async},
    {"fence.proxy.async::generic", "9.7.13.4", decode_proxy_async_generic},
    {"fence.proxy.tensormap::generic", "9.7.13.4", decode_proxy_tensormap},
    {"griddepcontrol", "9.7.13.13", decode_griddepcontrol},
};

} // namespace

std::span<const InstructionRow> fence_instructions() { return rows; }

} // namespace emu
