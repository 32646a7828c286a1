/// \file
/// Instructions on tensor maps themselves: tensormap.replace (PTX ISA 9.7.9.28), tensormap.cp_fenceproxy
/// (9.7.13.14) and prefetch.tensormap (9.7.9.16).

#include "machine/tensor_tile.hpp"

#include <cstring>

namespace emu {

namespace {

struct FieldRow {
    std::string_view name;
    TensorMapField field;
    bool indexed;      ///< Takes the number of a dimension.
    unsigned greatest; ///< Greatest constant it takes; 0 when it takes a register.
};
constexpr FieldRow fields[] = {
    {"global_address", TensorMapField::global_address, false, 0},
    {"rank", TensorMapField::rank, false, 0},
    {"box_dim", TensorMapField::box_dim, true, 0},
    {"global_dim", TensorMapField::global_dim, true, 0},
    {"global_stride", TensorMapField::global_stride, true, 0},
    {"element_stride", TensorMapField::element_stride, true, 0},
    {"elemtype", TensorMapField::elemtype, false, 12},
    {"interleave_layout", TensorMapField::interleave_layout, false, 2},
    {"swizzle_mode", TensorMapField::swizzle_mode, false, 3},
    {"fill_mode", TensorMapField::fill_mode, false, 1},
};

/// Where a tensor map lies. An address of shared memory may come in 64 bits, too.
struct MapOperand : AddressOperand {
    bool in_shared = false; ///< Named by the instruction.

    /// Generic.
    Address at(const Place& place) const {
        const std::uint64_t address = value(place.warp, place.lane);
        return in_shared ? shared_window + static_cast<std::uint32_t>(address) : address;
    }
};

struct ReplaceOperands final : OpExtra {
    MapOperand address;
    TensorMapField field = TensorMapField::rank;
    unsigned index = 0; ///< Dimension.
    Row value;          ///< b64 for addresses and strides, else b32.
    bool wide = false;
};

/// Host bytes of a tensor map in shared or global memory, or nullptr after a report.
std::byte* map_bytes(const Place& place, const MapOperand& operand) {
    const Address address = operand.at(place);
    if (address % tensor_map_alignment) {
        report_tensor_map(place, "map-misaligned", {{"address", Hexadecimal{address}}});
        return nullptr;
    }
    const auto in_window = static_cast<std::uint32_t>(address);
    if (in_shared_window(address))
        return check_shared(place, in_window, tensor_map_bytes, "tensor map")
                   ? place.cluster().shared_bytes(in_window, tensor_map_bytes)
                   : nullptr;
    return check_global(place, address, tensor_map_bytes, "tensor map")
               ? place.cluster().global_bytes(address, tensor_map_bytes)
               : nullptr;
}

void tell_access(const Place& place, const MapOperand& operand, AccessKind kind) {
    place.cluster().emit(&ClusterListener::on_tensor_map_access, place.warp, place.lane, place.pc,
                         operand.at(place), kind);
}

Flow run_replace(Warp& warp, const Op& op, LaneMask mask) {
    const auto& o = static_cast<const ReplaceOperands&>(*op.extra);
    for_lanes(mask, [&](unsigned lane) {
        const Place place(warp, lane);
        std::byte* bytes = map_bytes(place, o.address);
        if (!bytes)
            return;
        const std::uint64_t value =
            o.wide ? warp.row<std::uint64_t>(o.value)[lane] : warp.row<std::uint32_t>(o.value)[lane];
        replace_in_tensor_map(std::span<std::byte, tensor_map_bytes>(bytes, tensor_map_bytes), o.field,
                              o.index, value);
        tell_access(place, o.address, AccessKind::write);
    });
    return Flow::next;
}

struct CopyOperands final : OpExtra {
    MapOperand destination, source;
    Scope scope = Scope::gpu;
};

/// All threads of the warp name the same addresses and copy together; the fence follows.
Flow run_copy(Warp& warp, const Op& op, LaneMask mask) {
    const auto& o = static_cast<const CopyOperands&>(*op.extra);
    const Place place(warp, static_cast<unsigned>(std::countr_zero(mask)));
    std::byte* to = map_bytes(place, o.destination);
    const std::byte* from = to ? map_bytes(place, o.source) : nullptr;
    if (!from)
        return Flow::next;
    std::memcpy(to, from, tensor_map_bytes);
    const unsigned last = 31u - static_cast<unsigned>(std::countl_zero(mask));
    tell_access(place, o.source, AccessKind::read);
    tell_access(Place(warp, last), o.source, AccessKind::read); // All lanes read; two stand for them.
    tell_access(place, o.destination, AccessKind::write);
    FenceEvent event;
    event.warp = &warp;
    event.pc = warp.pc();
    event.mask = mask;
    event.kind = FenceKind::proxy_tensormap;
    event.scope = o.scope;
    event.covers_shared = false;
    event.acquire = false;
    warp.cluster().emit(&ClusterListener::on_fence, event);
    return Flow::next;
}

Flow run_nothing(Warp&, const Op&, LaneMask) { return Flow::next; }

MapOperand decode_address(DecodeContext& context, std::size_t i, bool shared) {
    return {address_operand(context, i, shared ? ptx::Space::shared : ptx::Space::global), shared};
}

} // namespace

void decode_tensormap_replace(DecodeContext& context, Op& op) {
    context.allow({"replace", "tile", "global", "shared::cta", "b1024", "global_address", "rank", "box_dim",
                   "global_dim", "global_stride", "element_stride", "elemtype", "interleave_layout",
                   "swizzle_mode", "fill_mode"});
    const FieldRow* row = nullptr;
    for (const FieldRow& each : fields)
        if (context.has(each.name))
            row = &each;
    if (!row)
        context.malformed("names no field");
    auto o = std::make_unique<ReplaceOperands>();
    o->field = row->field;
    o->address = decode_address(context, 0, context.has("shared::cta"));
    o->wide = row->field == TensorMapField::global_address || row->field == TensorMapField::global_stride;
    if (row->indexed) {
        const std::int64_t index = context.immediate(1);
        if (index < 0 || index > (row->field == TensorMapField::global_stride ? 3 : 4))
            context.malformed("names dimension " + std::to_string(index));
        o->index = static_cast<unsigned>(index);
    }
    const std::size_t value = row->indexed ? 2 : 1;
    if (row->greatest && (context.immediate(value) < 0 || context.immediate(value) > row->greatest))
        context.malformed("takes a constant from 0 to " + std::to_string(row->greatest));
    o->value = context.source(value, o->wide ? ptx::Type::b64 : ptx::Type::b32);
    op.handler = run_replace;
    op.progress = true;
    op.extra = context.keep(std::move(o));
}

void decode_tensormap_copy(DecodeContext& context, Op& op) {
    context.allow({"cp_fenceproxy", "global", "shared::cta", "tensormap::generic", "release", "cta",
                   "cluster", "gpu", "sys", "sync", "aligned"});
    if (context.immediate(2) != static_cast<std::int64_t>(tensor_map_bytes))
        context.malformed("copies 128 bytes, the size of a tensor map");
    auto o = std::make_unique<CopyOperands>();
    o->destination = decode_address(context, 0, false);
    o->source = decode_address(context, 1, true);
    o->scope = context.has("cta")       ? Scope::cta
               : context.has("cluster") ? Scope::cluster
               : context.has("sys")     ? Scope::sys
                                        : Scope::gpu;
    op.handler = run_copy;
    op.progress = true;
    op.extra = context.keep(std::move(o));
}

void decode_tensormap_prefetch(DecodeContext& context, Op& op) {
    context.allow({"param", "const", "tensormap"});
    if (context.operand_count() != 1)
        context.malformed("takes one address");
    op.handler = run_nothing;
}

} // namespace emu
