/// \file
/// cp.async.bulk.tensor, cp.reduce.async.bulk.tensor and their prefetch, in tile and im2col mode (PTX ISA
/// 9.7.9.27).

#include "hopper_emulator/finding_kinds.hpp"
#include "machine/im2col.hpp"
#include "machine/instructions/bulk_operands.hpp"
#include "machine/tensor_tile.hpp"

namespace emu {

namespace {

enum class Direction : std::uint8_t { load, store, reduce, prefetch };

struct TensorOperands final : OpExtra {
    Direction direction = Direction::load;
    AddressOperand map;
    unsigned rank = 1;
    std::vector<Row> coordinates; ///< s32, innermost first.
    bool im2col = false;
    std::vector<Row> offsets; ///< u16, of loads in im2col mode.
    AddressOperand shared;
    BulkCompletion completion;
    ReduceOp reduce = ReduceOp::add;

    bool writes() const { return direction == Direction::store || direction == Direction::reduce; }
};

/// Two rules of the hardware: the box starts at a multiple of 16 bytes along the innermost dimension (an H200
/// stops with an illegal instruction otherwise), and what is written has no negative start (CUDA programming
/// guide, tensor memory access: only reads may begin before the tensor).
bool check_start(const Place& place, const TensorOperands& o, const TensorMap& map,
                 const std::array<std::int32_t, 5>& start) {
    const auto inner = std::int64_t{start[0]} * coordinate_bytes(map);
    if (inner % 16 != 0) {
        place.report(Finding::misaligned, Fault::illegal_instruction, "tensor-start-misaligned",
                     {{"coordinate", start[0]}, {"byte", inner}});
        return false;
    }
    for (std::size_t i = 0; o.writes() && i < o.coordinates.size(); ++i)
        if (start[i] < 0) {
            place.report(Finding::out_of_bounds, Fault::illegal_instruction, "tensor-start-negative",
                         {{"coordinate", start[i]}, {"dimension", i}});
            return false;
        }
    return true;
}

/// A column of pixels begins in the box (PTX ISA 5.5.4.1), and the box of what is written lies inside the
/// tensor, or an H200 stops with an illegal instruction.
bool check_box(const Place& place, const TensorOperands& o, const TensorMap& map,
               const std::array<std::int32_t, 5>& start) {
    for (std::size_t i = 0; map.im2col && i + 2 < map.rank; ++i) {
        const std::size_t dimension = box_dimension(map, i);
        const BoxEdges edges = box_edges(map, i);
        if (o.writes() && (map.lower_corner[i] < 0 || map.upper_corner[i] > 0)) {
            place.report(Finding::out_of_bounds, Fault::illegal_instruction, "tensor-box-outside",
                         {{"dimension", dimension},
                          {"lower", map.lower_corner[i]},
                          {"upper", map.upper_corner[i]},
                          {"i", i}});
            return false;
        }
        if (start[dimension] < edges.first || start[dimension] > edges.last) {
            place.report(Finding::out_of_bounds, Fault::illegal_instruction, "tensor-start-outside-box",
                         {{"coordinate", start[dimension]},
                          {"dimension", dimension},
                          {"first", edges.first},
                          {"last", edges.last}});
            return false;
        }
    }
    return true;
}

/// Bytes from the tensor's first to the end of its last, as the map has it.
std::uint64_t extent_of(const TensorMap& map) {
    std::uint64_t bytes = map.dims[0] * element_bytes(map.type);
    for (std::uint32_t i = 1; i < map.rank; ++i)
        bytes += (map.dims[i] - 1) * map.strides[i - 1];
    return bytes;
}

/// What the copy of one lane will move, all checks of the map and of global memory done.
std::optional<TensorTile> tile_of(const Place& place, const TensorOperands& o, std::uint64_t address) {
    const auto map = load_tensor_map(place, address, o.rank, o.direction == Direction::load, o.im2col);
    if (!map)
        return std::nullopt;
    std::array<std::int32_t, 5> start{};
    for (std::size_t i = 0; i < o.coordinates.size(); ++i)
        start[i] = place.warp.row<std::int32_t>(o.coordinates[i])[place.lane];
    if (!check_start(place, o, *map, start) || !check_box(place, o, *map, start))
        return std::nullopt;
    std::array<std::uint16_t, 3> offsets{};
    for (std::size_t i = 0; i < o.offsets.size(); ++i)
        offsets[i] = place.warp.row<std::uint16_t>(o.offsets[i])[place.lane];
    TensorTile tile(*map, start, offsets);
    for (std::uint32_t r = 0; r < tile.rows(); ++r) {
        const TensorTile::Row row = tile.row(r, o.direction == Direction::load ? TensorTile::Clip::at_element
                                                                               : TensorTile::Clip::at_chunk);
        if (row.bytes && !place.cluster().global_bytes(row.global, row.bytes)) {
            place.report(Finding::out_of_bounds, Fault::illegal_address, "tensor-outside-memory",
                         {{"where", GlobalBytes{row.global, row.bytes}},
                          {"extent", extent_of(*map)},
                          {"address", Hexadecimal{map->address}}});
            return std::nullopt;
        }
    }
    return tile;
}

bool check_tile(const Place& place, std::uint32_t shared) {
    if (shared % 128 == 0)
        return true;
    place.report(Finding::misaligned, Fault::misaligned_address, "tensor-tile-misaligned",
                 {{"place", SharedPlace{shared}}});
    return false;
}

AsyncOperation make_tensor_operation(const Place& place, AsyncKind kind, CompletionKind completion,
                                     std::uint64_t map) {
    AsyncOperation operation = make_operation(place, kind, completion);
    operation.tensor_map = map;
    return operation;
}

void load_one(const Place& place, const TensorOperands& o, const TensorTile& tile, std::uint64_t map) {
    const char* what = "tile of the tensor copy";
    const auto shared = shared_address(place, o.shared, what);
    if (!shared || !check_tile(place, *shared))
        return;
    for (const BulkTarget& target : bulk_targets(place, o.completion, *shared, tile.extent(*shared), what)) {
        auto task = std::make_unique<TensorLoadTask>(tile, target.destination);
        task->operation = make_tensor_operation(place, AsyncKind::tensor_load, CompletionKind::mbarrier, map);
        task->operation.reads_global = true;
        task->operation.swizzle[0] = static_cast<std::int16_t>(swizzle_bytes(tile.map().swizzle));
        if (place.cluster().listening()) {
            tile.list_load(target.destination, task->operation.pieces);
            task->operation.sectors =
                tile.load_sectors(o.completion.multicast ? Delivery::multicast : Delivery::one_block);
        }
        issue_at_barrier(place, std::move(task), target, tile.bytes());
    }
}

/// The reduction on elements of the map's type, or nothing after a report.
std::optional<Reduction> reduction_of(const Place& place, ReduceOp op, TensorType type) {
    using ptx::Type;
    static constexpr std::array types{Type::none, Type::none, Type::u32, Type::s32, Type::u64,
                                      Type::s64,  Type::f16,  Type::f32, Type::f64, Type::bf16,
                                      Type::f32,  Type::none, Type::none};
    Reduction reduction{op, types[static_cast<std::size_t>(type)], type == TensorType::f32_ftz};
    const bool floating = is_floating(type);
    const bool half = type == TensorType::f16 || type == TensorType::bf16;
    bool legal = reduction.type != Type::none;
    if (op == ReduceOp::min || op == ReduceOp::max)
        legal &= !floating || half;
    else if (op == ReduceOp::add)
        legal &= type != TensorType::s64; // An H200 stops at it.
    else if (op == ReduceOp::inc || op == ReduceOp::dec)
        legal &= type == TensorType::u32;
    else
        legal &= !floating;
    if (legal)
        return reduction;
    report_tensor_map(place, "tensor-reduction-type", {{"type", name_of(type)}});
    return std::nullopt;
}

void store_one(const Place& place, const TensorOperands& o, const TensorTile& tile, std::uint64_t map) {
    const char* what = "tile of the tensor copy";
    const auto shared = shared_address(place, o.shared, what);
    if (!shared || !check_tile(place, *shared) || !check_shared(place, *shared, tile.extent(*shared), what))
        return;
    std::optional<Reduction> reduction;
    if (o.direction == Direction::reduce) {
        reduction = reduction_of(place, o.reduce, tile.map().type);
        if (!reduction)
            return;
    }
    auto task = std::make_unique<TensorStoreTask>(tile, *shared, reduction);
    task->operation =
        make_tensor_operation(place, reduction ? AsyncKind::tensor_reduce : AsyncKind::tensor_store,
                              CompletionKind::bulk_group, map);
    task->operation.reads_shared = true;
    task->operation.writes_global = true;
    task->source_rank = static_cast<std::int8_t>(shared_rank(*shared));
    if (place.cluster().listening()) {
        tile.list_store(*shared, task->operation.pieces);
        task->operation.sectors = tile.store_sectors();
    }
    place.cluster().async().issue(std::move(task));
}

void prefetch_one(const Place& place, const TensorTile& tile, std::uint64_t map) {
    auto task = std::make_unique<ArriveTask>(); // Moves nothing.
    task->operation = make_tensor_operation(place, AsyncKind::prefetch, CompletionKind::none, map);
    for (std::uint32_t r = 0; r < tile.rows() && place.cluster().listening(); ++r)
        if (const TensorTile::Row row = tile.row(r, TensorTile::Clip::at_element); row.bytes)
            task->operation.pieces.push_back({row.global, 0, row.bytes});
    place.cluster().async().issue(std::move(task));
}

Flow run_tensor(Warp& warp, const Op& op, LaneMask mask) {
    const auto& o = static_cast<const TensorOperands&>(*op.extra);
    const auto equal = [&](unsigned a, unsigned b) {
        const auto same = [&](const Row& row) {
            return warp.row<std::int32_t>(row)[a] == warp.row<std::int32_t>(row)[b];
        };
        return o.map.value(warp, a) == o.map.value(warp, b) &&
               o.shared.value(warp, a) == o.shared.value(warp, b) && std::ranges::all_of(o.coordinates, same);
    };
    if (o.direction == Direction::store)
        mask = distinct_lanes(mask, equal);
    for_lanes(mask, [&](unsigned lane) {
        const Place place(warp, lane);
        const std::uint64_t map = o.map.value(warp, lane);
        const auto tile = tile_of(place, o, map);
        if (!tile)
            return;
        if (o.direction == Direction::load)
            load_one(place, o, *tile, map);
        else if (o.direction == Direction::prefetch)
            prefetch_one(place, *tile, map);
        else
            store_one(place, o, *tile, map);
    });
    return Flow::next;
}

// -- decoding

/// `[map, {x, y, …}]` and the rank that the modifiers name.
void decode_map(DecodeContext& context, TensorOperands& o, std::size_t i) {
    for (const auto modifier : context.instruction().modifiers)
        if (modifier.size() == 2 && modifier[1] == 'd' && modifier[0] >= '1' && modifier[0] <= '5')
            o.rank = static_cast<unsigned>(modifier[0] - '0');
    o.map = address_operand(context, i, ptx::Space::generic);
    const ptx::Operand& operand = context.operand(i);
    if (operand.elements.size() != 2 || operand.elements[1].kind != ptx::Operand::Kind::vector ||
        operand.elements[1].elements.size() != o.rank)
        context.malformed("needs [map, {coordinates}] with as many coordinates as dimensions");
    for (const ptx::Operand& coordinate : operand.elements[1].elements)
        o.coordinates.push_back(context.source(coordinate, ptx::Type::s32));
}

/// Im2col mode, which loads and prefetches name otherwise than what writes.
void decode_mode(DecodeContext& context, TensorOperands& o) {
    const bool writes = o.writes();
    const bool tile = context.has("tile"), plain = context.has("im2col"),
               no_offs = context.has("im2col_no_offs");
    if (writes ? plain : no_offs)
        context.malformed(writes ? "writes with .im2col_no_offs, not with .im2col"
                                 : "reads with .im2col, not with .im2col_no_offs");
    o.im2col = plain || no_offs;
    if (o.im2col && tile)
        context.malformed("names two modes");
    if (o.im2col && o.rank < 3)
        context.malformed("needs at least 3 dimensions in im2col mode");
}

/// `{offset, …}`: one for each dimension but that of the channels and that of the images.
void decode_offsets(DecodeContext& context, TensorOperands& o, std::size_t i) {
    const ptx::Operand& operand = context.operand(i);
    if (operand.kind != ptx::Operand::Kind::vector || operand.elements.size() != o.rank - 2)
        context.malformed("needs {im2col offsets}, two fewer than coordinates");
    for (const ptx::Operand& offset : operand.elements)
        o.offsets.push_back(context.source(offset, ptx::Type::u16));
}

void refuse_other_modes(DecodeContext& context) {
    for (const auto modifier : context.instruction().modifiers) {
        if (modifier.starts_with("tile::") || modifier.starts_with("im2col::") ||
            modifier.starts_with("cta_group"))
            context.unsupported("modifier ." + std::string(modifier) +
                                " needs compute capability 10.0, this is a device of compute capability 9.0");
    }
}

void decode_copy(DecodeContext& context, Op& op) {
    refuse_other_modes(context);
    context.allow({"async", "bulk", "tensor", "1d", "2d", "3d", "4d", "5d", "shared::cluster", "shared::cta",
                   "global", "tile", "im2col", "im2col_no_offs", "mbarrier::complete_tx::bytes", "bulk_group",
                   "multicast::cluster", "L2::cache_hint"});
    auto o = std::make_unique<TensorOperands>();
    const bool store = context.space() == ptx::Space::global; // The first space is the destination's.
    o->direction = store ? Direction::store : Direction::load;
    decode_map(context, *o, store ? 0 : 1);
    decode_mode(context, *o);
    o->shared = address_operand(context, store ? 1 : 0, ptx::Space::shared);
    const bool offsets = o->im2col && !store;
    if (offsets)
        decode_offsets(context, *o, 3);
    o->completion = decode_completion(context, 2, offsets);
    if (o->completion.at_barrier == store)
        context.malformed("completes in a bulk_group when it writes global memory, else at an mbarrier");
    if (o->completion.multicast && context.has("shared::cta"))
        context.malformed("has .multicast::cluster with .shared::cta, it needs .shared::cluster");
    op.handler = run_tensor;
    op.progress = true;
    op.extra = context.keep(std::move(o));
}

void decode_reduce(DecodeContext& context, Op& op) {
    refuse_other_modes(context);
    context.allow({"reduce", "async",      "bulk",          "tensor", "1d",   "2d",     "3d",
                   "4d",     "5d",         "shared::cta",   "global", "tile", "im2col", "im2col_no_offs",
                   "add",    "min",        "max",           "inc",    "dec",  "and",    "or",
                   "xor",    "bulk_group", "L2::cache_hint"});
    auto o = std::make_unique<TensorOperands>();
    o->direction = Direction::reduce;
    bool found = false;
    for (const auto modifier : context.instruction().modifiers)
        if (const auto reduce = reduce_op_from_name(modifier)) {
            o->reduce = *reduce;
            found = true;
        }
    if (!found)
        context.malformed("names no reduction");
    decode_map(context, *o, 0);
    decode_mode(context, *o);
    o->shared = address_operand(context, 1, ptx::Space::shared);
    o->completion = decode_completion(context, 2);
    op.handler = run_tensor;
    op.progress = true;
    op.extra = context.keep(std::move(o));
}

void decode_prefetch(DecodeContext& context, Op& op) {
    refuse_other_modes(context);
    context.allow({"async", "bulk", "prefetch", "tensor", "1d", "2d", "3d", "4d", "5d", "L2", "global",
                   "tile", "im2col", "im2col_no_offs", "L2::cache_hint"});
    auto o = std::make_unique<TensorOperands>();
    o->direction = Direction::prefetch;
    decode_map(context, *o, 0);
    decode_mode(context, *o);
    std::size_t next = 1;
    if (o->im2col)
        decode_offsets(context, *o, next++);
    if (context.has("L2::cache_hint"))
        context.source(next++, ptx::Type::b64);
    if (next != context.operand_count())
        context.malformed("has " + std::to_string(context.operand_count()) +
                          " operands where its modifiers ask for " + std::to_string(next));
    op.handler = run_tensor;
    op.extra = context.keep(std::move(o));
}

constexpr InstructionRow rows[] = {
    {"cp.async.bulk.tensor", "9.7.9.27.1.2", decode_copy},
    {"cp.reduce.async.bulk.tensor", "9.7.9.27.1.3", decode_reduce},
    {"cp.async.bulk.prefetch.tensor", "9.7.9.27.1.4", decode_prefetch},
    {"tensormap.replace", "9.7.9.28", decode_tensormap_replace},
    {"tensormap.cp_fenceproxy", "9.7.13.14", decode_tensormap_copy},
    {"prefetch.tensormap", "9.7.9.16", decode_tensormap_prefetch},
    {"prefetch.param.tensormap", "9.7.9.16", decode_tensormap_prefetch},
    {"prefetch.const.tensormap", "9.7.9.16", decode_tensormap_prefetch},
};

} // namespace

std::span<const InstructionRow> tensor_copy_instructions() { return rows; }

} // namespace emu
