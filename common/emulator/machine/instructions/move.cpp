/// \file
/// mov in all its forms and prmt (PTX ISA 9.0, sections 9.7.9.3, 9.7.9.4 and 9.7.9.7), with the special
/// registers that change while a thread runs (section 10).

#include "machine/block.hpp"
#include "machine/cluster.hpp"
#include "machine/instructions/arith.hpp"

#include <array>
#include <cstring>
#include <vector>

namespace emu {
namespace {

using ptx::Operand;
using ptx::Type;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

struct alignas(16) Bits128 {
    u64 low, high;
};

// -- special registers that change

/// %clock: the machine counts instructions, not cycles, and adds them up now and then; counting the reads too
/// makes every read later than the one before.
/// While everybody waits it goes on, so that a wait with a time limit comes to its end.
u64 clock_of(Warp& warp) { return warp.instructions() + ++warp.clock_reads + warp.cluster().idle_cycles(); }
/// %globaltimer: nanoseconds since the Unix epoch on hardware; here they pass with every reading, in
/// nanosleep, and when everybody waits, so that a wait with a time limit comes to its end. Every launch
/// begins later than the one before it.
u64 global_timer_of(Warp& warp) {
    return (warp.cluster().info().serial << 42) + warp.cluster().launch().time();
}

/// %envreg1 and %envreg2: high and low half of the grid workspace's address; zero unless the launch is
/// cooperative (cooperative_groups/details/driver_abi.h of CUDA 13.0).
u64 grid_workspace_of(Warp& warp) { return warp.cluster().info().grid_workspace; }

template <class T, auto Read, unsigned Shift>
Flow run_counter(Warp& warp, const Op& op, LaneMask mask) {
    const auto value = static_cast<T>(Read(warp) >> Shift);
    map_lanes(mask, warp.row<T>(op.dst), [value](unsigned) { return value; });
    return Flow::next;
}

/// A special register that needs more than a row: its handler and its width.
struct Counter {
    std::string_view name;
    unsigned bytes;
    Handler handler;
};
constexpr Counter counters[] = {
    {"%clock", 4, run_counter<u32, clock_of, 0>},
    {"%clock_hi", 4, run_counter<u32, clock_of, 32>},
    {"%clock64", 8, run_counter<u64, clock_of, 0>},
    {"%globaltimer", 8, run_counter<u64, global_timer_of, 0>},
    {"%globaltimer_lo", 4, run_counter<u32, global_timer_of, 0>},
    {"%globaltimer_hi", 4, run_counter<u32, global_timer_of, 32>},
    {"%envreg1", 4, run_counter<u32, grid_workspace_of, 32>},
    {"%envreg2", 4, run_counter<u32, grid_workspace_of, 0>},
};

Flow run_explicit_cluster(Warp& warp, const Op& op, LaneMask mask) {
    const bool is_explicit = warp.cluster().info().config.explicit_cluster();
    warp.set_predicate(op.dst, mask, is_explicit ? all_lanes : 0);
    return Flow::next;
}

/// Special registers of 64 bits; all others have 32 (section 10).
bool is_wide_special(std::string_view name) {
    return name == "%gridid" || name == "%current_graph_exec" || name.ends_with("_64");
}

// -- plain moves

template <class T>
Flow run_mov(Warp& warp, const Op& op, LaneMask mask) {
    const T* a = warp.row<T>(op.a);
    map_lanes(mask, warp.row<T>(op.dst), [a](unsigned i) { return a[i]; });
    return Flow::next;
}
/// In a kernel with wgmma: the copy of an accumulator in flight becomes its second name.
Flow run_mov_accumulator(Warp& warp, const Op& op, LaneMask mask) {
    const bool in_frame = op.a.base == Row::Base::frame;
    if (warp.wgmma_in_flight && in_frame &&
        warp.cluster().async().hand_on(warp, op.a.offset, op.dst.offset, mask))
        return Flow::next;
    return run_mov<u32>(warp, op, mask);
}
Flow run_mov_predicate(Warp& warp, const Op& op, LaneMask mask) {
    warp.set_predicate(op.dst, mask, op.flags ? ~warp.predicate(op.a) : warp.predicate(op.a));
    return Flow::next;
}

Handler mov_handler(const DecodeContext& context, unsigned bytes, bool has_wgmma = false) {
    switch (bytes) {
    case 2:
        return &run_mov<std::uint16_t>;
    case 4:
        return has_wgmma ? &run_mov_accumulator : &run_mov<u32>;
    case 8:
        return &run_mov<u64>;
    case 16:
        return &run_mov<Bits128>;
    default:
        context.unsupported("an operand of " + std::to_string(8 * bytes) + " bits");
    }
}

void decode_mov_predicate(DecodeContext& context, Op& op) {
    op.dst = context.predicate(context.operand(0));
    const Operand& source = context.operand(1);
    if (source.kind == Operand::Kind::special && source.name == "%is_explicit_cluster") {
        op.handler = &run_explicit_cluster;
        return;
    }
    op.a = context.predicate(source);
    op.flags = source.negated;
    op.handler = &run_mov_predicate;
}

/// mov from a special register. True if that is what the instruction is.
bool decode_mov_special(DecodeContext& context, Op& op, Type type) {
    const Operand& source = context.operand(1);
    if (source.kind != Operand::Kind::special)
        return false;
    const unsigned bytes = ptx::size_of(type);
    for (const Counter& counter : counters)
        if (counter.name == source.name) {
            if (counter.bytes != bytes)
                context.malformed("reads " + std::string(source.name) + ", which has " +
                                  std::to_string(8 * counter.bytes) + " bits");
            op.dst = context.destination(0, type);
            op.handler = counter.handler;
            return true;
        }
    if (source.name == "WARP_SZ")
        return false;
    // Old programs read the 32-bit index registers as .u16, and %gridid as .u32: the low bits are meant.
    const unsigned stored = is_wide_special(source.name) ? 8 : 4;
    if (bytes > stored)
        context.malformed("reads " + std::string(source.name) + ", which has " + std::to_string(8 * stored) +
                          " bits");
    op.dst = context.destination(0, type);
    op.a = context.source(1, stored == 8 ? Type::u64 : Type::u32);
    if (bytes == stored)
        op.handler = mov_handler(context, bytes);
    else if (stored == 8)
        op.handler = unary<u32, u64>([](u64 a) { return a; });
    else
        op.handler = unary<std::uint16_t, u32>([](u32 a) { return a; });
    return true;
}

// -- packing and unpacking: mov.b64 d, {a, b} and mov.b64 {a, b}, d

/// The parts of a vector operand, lowest first. Absent parts are sinks.
struct Parts : OpExtra {
    std::vector<Row> rows;
};

/// Bytes of lane i in a row of `bytes` wide values.
std::byte* at(Warp& warp, Row row, unsigned bytes, unsigned lane) {
    return warp.row<std::byte>(row) + std::size_t{lane} * bytes;
}

/// Parts and whole by bytes; the parts are `op.width` wide. `Stride` is the width of a part's register: 8-bit
/// parts lie in 16-bit rows.
template <bool Pack>
Flow run_parts(Warp& warp, const Op& op, LaneMask mask) {
    const auto& parts = *static_cast<const Parts*>(op.extra);
    const unsigned width = op.width, stride = width < 2 ? 2 : width;
    const auto whole = static_cast<unsigned>(width * parts.rows.size());
    const Row row = Pack ? op.dst : op.a;
    for_lanes(mask, [&](unsigned i) {
        std::array<std::byte, 16> bytes{};
        if constexpr (Pack) {
            for (std::size_t k = 0; k < parts.rows.size(); ++k)
                std::memcpy(bytes.data() + k * width, at(warp, parts.rows[k], stride, i), width);
            std::memcpy(at(warp, row, whole, i), bytes.data(), whole);
        } else {
            std::memcpy(bytes.data(), at(warp, row, whole, i), whole);
            for (std::size_t k = 0; k < parts.rows.size(); ++k) {
                std::array<std::byte, 16> part{};
                std::memcpy(part.data(), bytes.data() + k * width, width);
                std::memcpy(at(warp, parts.rows[k], stride, i), part.data(), stride);
            }
        }
    });
    return Flow::next;
}

/// {low, high} of 32-bit parts, by far the commonest form; vectorises.
Flow run_pack_pair(Warp& warp, const Op& op, LaneMask mask) {
    const u32 *a = warp.row<u32>(op.a), *b = warp.row<u32>(op.b);
    map_lanes(mask, warp.row<u64>(op.dst), [=](unsigned i) { return a[i] | u64{b[i]} << 32; });
    return Flow::next;
}
Flow run_unpack_pair(Warp& warp, const Op& op, LaneMask mask) {
    const u64* a = warp.row<u64>(op.a);
    u32 *low = warp.row<u32>(op.dst), *high = warp.row<u32>(op.b);
    map_lanes(mask, low, [a](unsigned i) { return static_cast<u32>(a[i]); });
    map_lanes(mask, high, [a](unsigned i) { return static_cast<u32>(a[i] >> 32); });
    return Flow::next;
}

Type bit_type(const DecodeContext& context, unsigned bytes) {
    switch (bytes) {
    case 1:
        return Type::b8;
    case 2:
        return Type::b16;
    case 4:
        return Type::b32;
    case 8:
        return Type::b64;
    default:
        context.malformed("cannot be divided into that many parts");
    }
}

/// The type of one of `count` parts of a value of `type`.
Type part_type(const DecodeContext& context, Type type, std::size_t count) {
    if (count != 2 && count != 4)
        context.malformed("packs two or four parts");
    return bit_type(context, static_cast<unsigned>(ptx::size_of(type) / count));
}

void decode_pack(DecodeContext& context, Op& op, Type type) {
    const Operand& vector = context.operand(1);
    const Type part = part_type(context, type, vector.elements.size());
    auto parts = std::make_unique<Parts>();
    for (const Operand& element : vector.elements)
        parts->rows.push_back(context.source(element, part));
    op.dst = context.destination(0, type);
    op.width = static_cast<std::uint8_t>(ptx::size_of(part));
    op.handler = &run_parts<true>;
    if (part == Type::b32 && parts->rows.size() == 2) {
        op.a = parts->rows[0];
        op.b = parts->rows[1];
        op.handler = &run_pack_pair;
    }
    op.extra = context.keep(std::move(parts));
}

void decode_unpack(DecodeContext& context, Op& op, Type type) {
    const Operand& vector = context.operand(0);
    const Type part = part_type(context, type, vector.elements.size());
    auto parts = std::make_unique<Parts>();
    for (const Operand& element : vector.elements)
        parts->rows.push_back(context.destination(element, part));
    op.a = context.source(1, type);
    op.width = static_cast<std::uint8_t>(ptx::size_of(part));
    op.handler = &run_parts<false>;
    if (part == Type::b32 && parts->rows.size() == 2) {
        op.dst = parts->rows[0];
        op.b = parts->rows[1];
        op.handler = &run_unpack_pair;
    }
    op.extra = context.keep(std::move(parts));
}

/// The parts of both sides of `mov.v2` and `mov.v4`.
struct VectorMove : OpExtra {
    std::vector<Row> to, from;
};

/// All parts are read before one is written: `mov.v2.u32 {a, b}, {b, a}` exchanges.
Flow run_mov_vector(Warp& warp, const Op& op, LaneMask mask) {
    const auto& parts = *static_cast<const VectorMove*>(op.extra);
    const unsigned width = op.width;
    for_lanes(mask, [&](unsigned i) {
        std::array<std::byte, 16> bytes;
        for (std::size_t k = 0; k < parts.from.size(); ++k)
            std::memcpy(bytes.data() + k * width, at(warp, parts.from[k], width, i), width);
        for (std::size_t k = 0; k < parts.to.size(); ++k)
            std::memcpy(at(warp, parts.to[k], width, i), bytes.data() + k * width, width);
    });
    return Flow::next;
}

/// mov.v2 and mov.v4: part by part. The manual does not list them; ptxas takes them, for parts of 16, 32 and
/// 64 bits that make up at most 128.
void decode_mov_vector(DecodeContext& context, Op& op, std::size_t count) {
    const Type type = require_type(context, {Type::b16, Type::u16, Type::s16, Type::b32, Type::u32, Type::s32,
                                             Type::f32, Type::b64, Type::u64, Type::s64, Type::f64});
    const Operand &to = context.operand(0), &from = context.operand(1);
    if (to.kind != Operand::Kind::vector || from.kind != Operand::Kind::vector ||
        to.elements.size() != count || from.elements.size() != count)
        context.malformed("moves vectors of " + std::to_string(count) + " parts");
    if (count * ptx::size_of(type) > 16)
        context.malformed("moves more than 128 bits");
    auto parts = std::make_unique<VectorMove>();
    for (std::size_t k = 0; k < count; ++k) {
        parts->to.push_back(context.destination(to.elements[k], type));
        parts->from.push_back(context.source(from.elements[k], type));
    }
    op.width = static_cast<std::uint8_t>(ptx::size_of(type));
    op.handler = &run_mov_vector;
    op.extra = context.keep(std::move(parts));
}

/// mov, 9.7.9.3 and 9.7.9.4.
void decode_mov(DecodeContext& context, Op& op) {
    context.allow({"v2", "v4"});
    expect_types(context, 1);
    expect_operands(context, 2);
    if (context.has("v2") || context.has("v4"))
        return decode_mov_vector(context, op, context.has("v2") ? 2 : 4);
    const Type type =
        require_type(context, {Type::pred, Type::b16, Type::b32, Type::b64, Type::b128, Type::u16, Type::u32,
                               Type::u64, Type::s16, Type::s32, Type::s64, Type::f16, Type::bf16, Type::f32,
                               Type::f64, Type::f16x2, Type::bf16x2});
    if (type == Type::pred)
        return decode_mov_predicate(context, op);
    if (context.operand(0).kind == Operand::Kind::vector)
        return decode_unpack(context, op, type);
    if (context.operand(1).kind == Operand::Kind::vector)
        return decode_pack(context, op, type);
    if (decode_mov_special(context, op, type))
        return;
    op.dst = context.destination(0, type);
    op.a = context.source(1, type);
    op.handler = mov_handler(context, ptx::size_of(type), context.kernel().has_wgmma);
}

// -- prmt

/// Byte `selector` (0 to 7) of the eight bytes in `value`; bit 3 replicates its sign instead.
constexpr u32 permuted_byte(u64 value, u32 selector) {
    const auto byte = static_cast<u32>(value >> 8 * (selector & 7)) & 0xff;
    return selector & 8 ? (byte & 0x80 ? 0xffu : 0) : byte;
}

/// The default mode: four selectors in the low 16 bits of c.
constexpr u32 permute(u32 a, u32 b, u32 c) {
    const u64 value = u64{b} << 32 | a;
    u32 result = 0;
    for (u32 i = 0; i < 4; ++i)
        result |= permuted_byte(value, c >> 4 * i & 15) << 8 * i;
    return result;
}

/// The named modes: which byte comes first, second, third and fourth, for each value of c's low two bits.
using Selectors = std::array<std::array<std::uint8_t, 4>, 4>;
constexpr Selectors forward4{{{0, 1, 2, 3}, {1, 2, 3, 4}, {2, 3, 4, 5}, {3, 4, 5, 6}}};
constexpr Selectors backward4{{{0, 7, 6, 5}, {1, 0, 7, 6}, {2, 1, 0, 7}, {3, 2, 1, 0}}};
constexpr Selectors replicate8{{{0, 0, 0, 0}, {1, 1, 1, 1}, {2, 2, 2, 2}, {3, 3, 3, 3}}};
constexpr Selectors edge_left{{{0, 1, 2, 3}, {1, 1, 2, 3}, {2, 2, 2, 3}, {3, 3, 3, 3}}};
constexpr Selectors edge_right{{{0, 0, 0, 0}, {0, 1, 1, 1}, {0, 1, 2, 2}, {0, 1, 2, 3}}};
constexpr Selectors replicate16{{{0, 1, 0, 1}, {2, 3, 2, 3}, {0, 1, 0, 1}, {2, 3, 2, 3}}};

template <const Selectors& Table>
constexpr Handler prmt_mode() {
    return ternary<u32>([](u32 a, u32 b, u32 c) {
        const auto& s = Table[c & 3];
        return permute(a, b, u32{s[0]} | u32{s[1]} << 4 | u32{s[2]} << 8 | u32{s[3]} << 12);
    });
}

/// prmt, 9.7.9.7.
void decode_prmt(DecodeContext& context, Op& op) {
    context.allow({"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"});
    expect_types(context, 1);
    require_type(context, {Type::b32});
    operands_ternary(context, op, Type::b32);
    if (context.instruction().modifiers.size() > 2)
        context.malformed("has more than one mode");
    op.handler = context.has("f4e")    ? prmt_mode<forward4>()
                 : context.has("b4e")  ? prmt_mode<backward4>()
                 : context.has("rc8")  ? prmt_mode<replicate8>()
                 : context.has("ecl")  ? prmt_mode<edge_left>()
                 : context.has("ecr")  ? prmt_mode<edge_right>()
                 : context.has("rc16") ? prmt_mode<replicate16>()
                                       : ternary<u32>([](u32 a, u32 b, u32 c) { return permute(a, b, c); });
}

} // namespace

std::span<const InstructionRow> move_instructions() {
    static constexpr InstructionRow rows[] = {
        {"mov", "9.7.9.3", decode_mov},
        {"prmt", "9.7.9.7", decode_prmt},
    };
    return rows;
}

} // namespace emu
