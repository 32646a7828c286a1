/// \file
/// Logic and shift instructions (PTX ISA 9.0, section 9.7.8).

#include "machine/instructions/arith.hpp"

#include <algorithm>

namespace emu {
namespace {

using ptx::Type;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

// -- and, or, xor, not

struct And {
    template <class T>
    constexpr T operator()(T a, T b) const {
        return static_cast<T>(a & b);
    }
};
struct Or {
    template <class T>
    constexpr T operator()(T a, T b) const {
        return static_cast<T>(a | b);
    }
};
struct Xor {
    template <class T>
    constexpr T operator()(T a, T b) const {
        return static_cast<T>(a ^ b);
    }
};

/// A predicate operand as a mask, with `!` applied: bit 0 of `flags` is for a, bit 1 for b.
LaneMask predicate_value(Warp& warp, Row row, bool negated) {
    const LaneMask value = warp.predicate(row);
    return negated ? ~value : value;
}

template <class F>
Flow run_predicate_binary(Warp& warp, const Op& op, LaneMask mask) {
    const LaneMask a = predicate_value(warp, op.a, op.flags & 1);
    const LaneMask b = predicate_value(warp, op.b, op.flags & 2);
    warp.set_predicate(op.dst, mask, F{}(a, b));
    return Flow::next;
}
Flow run_predicate_not(Warp& warp, const Op& op, LaneMask mask) {
    warp.set_predicate(op.dst, mask, ~predicate_value(warp, op.a, op.flags & 1));
    return Flow::next;
}

constexpr auto logic_types = {Type::pred, Type::b16, Type::b32, Type::b64};

template <class F>
void decode_logic(DecodeContext& context, Op& op) {
    context.allow({});
    expect_types(context, 1);
    const Type type = require_type(context, logic_types);
    if (type == Type::pred) {
        expect_operands(context, 3);
        op.dst = context.predicate(context.operand(0));
        op.a = context.predicate(context.operand(1));
        op.b = context.predicate(context.operand(2));
        op.flags = static_cast<std::uint8_t>(context.operand(1).negated | context.operand(2).negated << 1);
        op.handler = &run_predicate_binary<F>;
        return;
    }
    operands_binary(context, op, type);
    with_bits(context, type, [&]<class U>(U) { op.handler = binary<U>([](U a, U b) { return F{}(a, b); }); });
}

void decode_not(DecodeContext& context, Op& op) {
    context.allow({});
    expect_types(context, 1);
    const Type type = require_type(context, logic_types);
    if (type == Type::pred) {
        expect_operands(context, 2);
        op.dst = context.predicate(context.operand(0));
        op.a = context.predicate(context.operand(1));
        op.flags = context.operand(1).negated;
        op.handler = &run_predicate_not;
        return;
    }
    operands_unary(context, op, type);
    with_bits(context, type, [&]<class U>(U) { op.handler = unary<U>([](U a) { return ~a; }); });
}

/// cnot: C's logical negation.
void decode_cnot(DecodeContext& context, Op& op) {
    context.allow({});
    expect_types(context, 1);
    const Type type = require_type(context, {Type::b16, Type::b32, Type::b64});
    operands_unary(context, op, type);
    with_bits(context, type, [&]<class U>(U) { op.handler = unary<U>([](U a) { return a == 0 ? 1 : 0; }); });
}

// -- lop3

/// A truth table spread into eight words of zeros or ones: entry abc is bit 4a + 2b + c of the table.
struct TruthTable : OpExtra {
    explicit TruthTable(unsigned table) {
        for (unsigned i = 0; i < 8; ++i)
            entry[i] = table >> i & 1 ? ~u32{0} : 0;
    }
    u32 entry[8];
    Row predicate; ///< Destination p of the .BoolOp form.
    Row q;         ///< Its source predicate.
    bool q_negated = false;
};

constexpr u32 choose(u32 selector, u32 if_one, u32 if_zero) {
    return ((if_one ^ if_zero) & selector) ^ if_zero;
}

Flow run_lop3(Warp& warp, const Op& op, LaneMask mask) {
    const auto& t = static_cast<const TruthTable*>(op.extra)->entry;
    const u32 *a = warp.row<u32>(op.a), *b = warp.row<u32>(op.b), *c = warp.row<u32>(op.c);
    const u32 t0 = t[0], t1 = t[1], t2 = t[2], t3 = t[3], t4 = t[4], t5 = t[5], t6 = t[6], t7 = t[7];
    map_lanes(mask, warp.row<u32>(op.dst), [=](unsigned i) {
        const u32 without_a = choose(b[i], choose(c[i], t3, t2), choose(c[i], t1, t0));
        const u32 with_a = choose(b[i], choose(c[i], t7, t6), choose(c[i], t5, t4));
        return choose(a[i], with_a, without_a);
    });
    return Flow::next;
}

/// lop3.BoolOp: besides the word, p = (word != 0) BoolOp q.
template <class F>
Flow run_lop3_predicate(Warp& warp, const Op& op, LaneMask mask) {
    const auto& extra = *static_cast<const TruthTable*>(op.extra);
    run_lop3(warp, op, mask);
    const u32* d = warp.row<u32>(op.dst);
    const LaneMask nonzero = mask_of([d](unsigned i) { return d[i] != 0; });
    warp.set_predicate(extra.predicate, mask, F{}(nonzero, predicate_value(warp, extra.q, extra.q_negated)));
    return Flow::next;
}

void decode_lop3(DecodeContext& context, Op& op) {
    context.allow({"or", "and"});
    expect_types(context, 1);
    require_type(context, {Type::b32});
    const bool boolean = context.has("or") || context.has("and");
    expect_operands(context, boolean ? 6 : 5);
    const std::int64_t table = context.immediate(4);
    if (table < 0 || table > 255)
        context.malformed("takes a truth table from 0 to 255");
    auto extra = std::make_unique<TruthTable>(static_cast<unsigned>(table));
    op.a = context.source(1, Type::b32);
    op.b = context.source(2, Type::b32);
    op.c = context.source(3, Type::b32);
    const ptx::Operand& target = context.operand(0);
    if (!boolean) {
        op.dst = context.destination(0, Type::b32);
        op.handler = &run_lop3;
    } else {
        if (target.kind != ptx::Operand::Kind::pair || target.elements.size() != 2)
            context.malformed("with .and or .or writes d|p");
        op.dst = context.destination(target.elements[0], Type::b32);
        extra->predicate = context.predicate(target.elements[1]);
        extra->q = context.predicate(context.operand(5));
        extra->q_negated = context.operand(5).negated;
        op.handler = context.has("or") ? &run_lop3_predicate<Or> : &run_lop3_predicate<And>;
    }
    op.extra = context.keep(std::move(extra));
}

// -- shifts

/// shf: a 64-bit value [b:a] shifted by c; left gives the upper word, right the lower.
template <bool Left, bool Clamp>
constexpr u32 funnel(u32 a, u32 b, u32 c) {
    const u32 n = Clamp ? std::min(c, u32{32}) : c & 31;
    const u64 value = u64{b} << 32 | a;
    return static_cast<u32>(Left ? value << n >> 32 : value >> n);
}

void decode_shf(DecodeContext& context, Op& op) {
    context.allow({"l", "r", "clamp", "wrap"});
    expect_types(context, 1);
    require_type(context, {Type::b32});
    operands_ternary(context, op, Type::b32);
    const bool left = context.has("l"), clamp = context.has("clamp");
    if (left == context.has("r") || clamp == context.has("wrap"))
        context.malformed("must say .l or .r, and .clamp or .wrap");
    if (left)
        op.handler = clamp ? ternary<u32>([](u32 a, u32 b, u32 c) { return funnel<true, true>(a, b, c); })
                           : ternary<u32>([](u32 a, u32 b, u32 c) { return funnel<true, false>(a, b, c); });
    else
        op.handler = clamp ? ternary<u32>([](u32 a, u32 b, u32 c) { return funnel<false, true>(a, b, c); })
                           : ternary<u32>([](u32 a, u32 b, u32 c) { return funnel<false, false>(a, b, c); });
}

/// Shift amounts are 32 bits wide and clamp at the width of the value.
void shift_operands(DecodeContext& context, Op& op, Type type) {
    expect_operands(context, 3);
    op.dst = context.destination(0, type);
    op.a = context.source(1, type);
    op.b = context.source(2, Type::u32);
}

void decode_shl(DecodeContext& context, Op& op) {
    context.allow({});
    expect_types(context, 1);
    const Type type = require_type(context, {Type::b16, Type::b32, Type::b64});
    shift_operands(context, op, type);
    with_bits(context, type, [&]<class U>(U) {
        op.handler = binary<U, U, u32>([](U a, u32 n) {
            constexpr u32 bits = 8 * sizeof(U);
            const U shifted = static_cast<U>(a << (n & (bits - 1)));
            return n < bits ? shifted : U{0};
        });
    });
}

void decode_shr(DecodeContext& context, Op& op) {
    context.allow({});
    expect_types(context, 1);
    const Type type = require_type(context, {Type::b16, Type::b32, Type::b64, Type::u16, Type::u32, Type::u64,
                                             Type::s16, Type::s32, Type::s64});
    shift_operands(context, op, type);
    with_integer(context, type, [&]<class T>(T) {
        op.handler = binary<T, T, u32>([](T a, u32 n) {
            constexpr u32 bits = 8 * sizeof(T);
            const T shifted = static_cast<T>(a >> (n < bits ? n : bits - 1));
            // Only copies of the sign are left of a signed value; of an unsigned one, nothing.
            return std::is_signed_v<T> || n < bits ? shifted : T{0};
        });
    });
}

} // namespace

std::span<const InstructionRow> logic_instructions() {
    static constexpr InstructionRow rows[] = {
        {"and", "9.7.8.1", decode_logic<And>}, {"or", "9.7.8.2", decode_logic<Or>},
        {"xor", "9.7.8.3", decode_logic<Xor>}, {"not", "9.7.8.4", decode_not},
        {"cnot", "9.7.8.5", decode_cnot},      {"lop3", "9.7.8.6", decode_lop3},
        {"shf", "9.7.8.7", decode_shf},        {"shl", "9.7.8.8", decode_shl},
        {"shr", "9.7.8.9", decode_shr},
    };
    return rows;
}

} // namespace emu
