/// \file
/// Comparison and selection instructions (PTX ISA 9.0, section 9.7.6) and testp (9.7.3.1). Comparisons of
/// halves (9.7.7) are in compare_half.cpp.

#include "machine/instructions/compare.hpp"
#include "machine/instructions/arith.hpp"
#include "machine/instructions/float16.hpp"
#include "machine/instructions/scalar.hpp"

namespace emu {

void check_comparison_modifiers(const DecodeContext& context) {
    context.allow({"eq",  "ne",  "lt",  "le",  "gt",  "ge",  "lo",  "ls",  "hi", "hs",  "equ",
                   "neu", "ltu", "leu", "gtu", "geu", "num", "nan", "and", "or", "xor", "ftz"});
    unsigned operators = 0, combinations = 0;
    for (const auto modifier : context.instruction().modifiers) {
        const bool combines = modifier == "and" || modifier == "or" || modifier == "xor";
        combinations += combines;
        operators += !combines && modifier != "ftz" && !ptx::type_from_name(modifier);
    }
    if (operators != 1 || combinations > 1)
        context.malformed("must name one comparison operator and at most one of .and, .or and .xor");
}

void decode_combination(DecodeContext& context, Combination& combination) {
    const bool both = context.has("and"), either = context.has("or"), differ = context.has("xor");
    const bool combined = both || either || differ;
    expect_operands(context, combined ? 4 : 3);
    combination.plain = combined ? 0 : all_lanes;
    combination.both = both ? all_lanes : 0;
    combination.either = either ? all_lanes : 0;
    combination.differ = differ ? all_lanes : 0;
    if (combined) {
        combination.c = context.predicate(context.operand(3));
        combination.c_negated = context.operand(3).negated;
    } else {
        combination.c = context.constant(std::uint64_t{0}, 4);
    }
}

void decode_predicate_pair(DecodeContext& context, Op& op, Combination& combination) {
    const ptx::Operand& target = context.operand(0);
    if (target.kind == ptx::Operand::Kind::pair) {
        if (target.elements.size() != 2)
            context.malformed("writes p or p|q");
        op.dst = context.predicate(target.elements[0]);
        combination.second = context.predicate(target.elements[1]);
    } else {
        op.dst = context.predicate(target);
        combination.second = context.scratch(4);
    }
}

namespace {

using ptx::Type;

/// setp with one destination and without BoolOp, which is nearly every setp.
template <Comparison C>
Flow run_setp(Warp& warp, const Op& op, LaneMask mask) {
    warp.set_predicate(op.dst, mask, C(warp.row<std::byte>(op.a), warp.row<std::byte>(op.b)));
    return Flow::next;
}
Flow run_setp_combined(Warp& warp, const Op& op, LaneMask mask) {
    const auto& combination = *static_cast<const Combination*>(op.extra);
    const LaneMask result = combination.comparison(warp.row<std::byte>(op.a), warp.row<std::byte>(op.b));
    const LaneMask predicate = combination.predicate(warp);
    warp.set_predicate(op.dst, mask, combination(result, predicate));
    warp.set_predicate(combination.second, mask, combination(~result, predicate));
    return Flow::next;
}
Flow run_set(Warp& warp, const Op& op, LaneMask mask) {
    const auto& combination = *static_cast<const Combination*>(op.extra);
    const LaneMask result = combination.comparison(warp.row<std::byte>(op.a), warp.row<std::byte>(op.b));
    const LaneMask truth = combination(result, combination.predicate(warp));
    store_truth(warp, op.dst, mask, truth, static_cast<std::uint32_t>(op.immediate));
    return Flow::next;
}
Flow run_set_narrow(Warp& warp, const Op& op, LaneMask mask) {
    const auto& combination = *static_cast<const Combination*>(op.extra);
    const LaneMask result = combination.comparison(warp.row<std::byte>(op.a), warp.row<std::byte>(op.b));
    const LaneMask truth = combination(result, combination.predicate(warp));
    store_truth(warp, op.dst, mask, truth, static_cast<std::uint16_t>(op.immediate));
    return Flow::next;
}

/// A comparison and the setp that is nothing but this comparison.
struct Choice {
    Comparison comparison = nullptr;
    Handler plain = nullptr;
};
template <Comparison C>
constexpr Choice choice() {
    return {C, &run_setp<C>};
}

Choice float_choice(const DecodeContext& context, Type type) {
    Choice chosen;
    const bool ftz = context.has("ftz");
    with_float_relation(context, [&]<class C>(C) {
        chosen = type == Type::f64 ? choice<compare_rows<double, C>>()
                 : ftz             ? choice<compare_rows<float, C, true>>()
                                   : choice<compare_rows<float, C>>();
    });
    return chosen;
}
Choice integer_choice(const DecodeContext& context, Type type) {
    Choice chosen;
    with_integer(context, type, [&]<class T>(T) {
        with_integer_relation(context, type, [&]<class C>(C) { chosen = choice<compare_rows<T, C>>(); });
    });
    return chosen;
}
/// The comparison of two values of `type`.
Choice choose(const DecodeContext& context, Type type) {
    if (context.has("ftz") && type != Type::f32)
        context.unsupported(".ftz is defined for .f32 only");
    return type == Type::f32 || type == Type::f64 ? float_choice(context, type)
                                                  : integer_choice(context, type);
}

constexpr auto compared_types = {Type::b16, Type::b32, Type::b64, Type::u16, Type::u32, Type::u64,
                                 Type::s16, Type::s32, Type::s64, Type::f32, Type::f64};

/// setp, 9.7.6.2.
void decode_setp(DecodeContext& context, Op& op) {
    if (chapter_of(context.type(0)) == Chapter::half)
        return decode_setp_half(context, op);
    check_comparison_modifiers(context);
    expect_types(context, 1);
    const Type type = require_type(context, compared_types);
    auto combination = std::make_unique<Combination>();
    decode_combination(context, *combination);
    decode_predicate_pair(context, op, *combination);
    op.a = context.source(1, type);
    op.b = context.source(2, type);
    const Choice chosen = choose(context, type);
    combination->comparison = chosen.comparison;
    const bool plain = combination->plain && context.operand(0).kind != ptx::Operand::Kind::pair;
    op.handler = plain ? chosen.plain : &run_setp_combined;
    op.extra = context.keep(std::move(combination));
}

TrueValue true_value_of(const DecodeContext& context, Type type) {
    switch (type) {
    case Type::u32:
    case Type::s32:
        return {~0u, false};
    case Type::f32:
        return {std::bit_cast<std::uint32_t>(1.0f), false};
    case Type::f16:
        return {F16::one, true};
    case Type::bf16:
        return {BF16::one, true};
    default:
        context.unsupported("a result of type ." + std::string(ptx::name_of(type)) +
                            " is not defined for it");
    }
}

/// set, 9.7.6.1.
void decode_set(DecodeContext& context, Op& op) {
    if (chapter_of(context.type(1)) == Chapter::half)
        return decode_set_half(context, op);
    check_comparison_modifiers(context);
    expect_types(context, 2);
    const Type type = require_type(context, compared_types, 1);
    const TrueValue truth = true_value_of(context, context.type(0));
    auto combination = std::make_unique<Combination>();
    decode_combination(context, *combination);
    combination->comparison = choose(context, type).comparison;
    op.dst = context.destination(0, context.type(0));
    op.a = context.source(1, type);
    op.b = context.source(2, type);
    op.immediate = truth.bits;
    op.handler = truth.narrow ? &run_set_narrow : &run_set;
    op.extra = context.keep(std::move(combination));
}

/// selp: c ? a : b.
template <class U>
Flow run_selp(Warp& warp, const Op& op, LaneMask mask) {
    const LaneMask p = op.flags ? ~warp.predicate(op.c) : warp.predicate(op.c);
    const U *a = warp.row<U>(op.a), *b = warp.row<U>(op.b);
    map_lanes(mask, warp.row<U>(op.dst), [=](unsigned i) { return p >> i & 1 ? a[i] : b[i]; });
    return Flow::next;
}

constexpr auto selected_types = {Type::b16, Type::b32, Type::b64, Type::u16, Type::u32, Type::u64,
                                 Type::s16, Type::s32, Type::s64, Type::f32, Type::f64};

/// selp, 9.7.6.3.
void decode_selp(DecodeContext& context, Op& op) {
    context.allow({});
    expect_types(context, 1);
    const Type type = require_type(context, selected_types);
    expect_operands(context, 4);
    op.dst = context.destination(0, type);
    op.a = context.source(1, type);
    op.b = context.source(2, type);
    op.c = context.predicate(context.operand(3));
    op.flags = context.operand(3).negated;
    with_bits(context, type, [&]<class U>(U) { op.handler = &run_selp<U>; });
}

/// slct, 9.7.6.4: c >= 0 ? a : b. A NaN selects b, -0 selects a.
void decode_slct(DecodeContext& context, Op& op) {
    context.allow({"ftz"});
    expect_types(context, 2);
    const Type type = require_type(context, selected_types);
    const Type selector = require_type(context, {Type::s32, Type::f32}, 1);
    if (context.has("ftz") && selector != Type::f32)
        context.unsupported(".ftz is defined for a selector of type .f32 only");
    expect_operands(context, 4);
    op.dst = context.destination(0, type);
    op.a = context.source(1, type);
    op.b = context.source(2, type);
    op.c = context.source(3, selector);
    const bool ftz = context.has("ftz");
    with_bits(context, type, [&]<class U>(U) {
        if (selector == Type::s32)
            op.handler =
                ternary<U, U, U, std::int32_t>([](U a, U b, std::int32_t c) { return c >= 0 ? a : b; });
        else if (ftz)
            op.handler = ternary<U, U, U, float>([](U a, U b, float c) { return flush(c) >= 0 ? a : b; });
        else
            op.handler = ternary<U, U, U, float>([](U a, U b, float c) { return c >= 0 ? a : b; });
    });
}

// -- testp

/// The classes of testp, on the bits of a number.
template <class U, int FractionBits>
struct NumberClass {
    static constexpr U sign = U{1} << (8 * sizeof(U) - 1);
    static constexpr U fraction = (U{1} << FractionBits) - 1;
    static constexpr U infinity = static_cast<U>(~sign & ~fraction);
    struct Finite {
        constexpr bool operator()(U u) const { return (u & ~sign) < infinity; }
    };
    struct Infinite {
        constexpr bool operator()(U u) const { return (u & ~sign) == infinity; }
    };
    struct Number {
        constexpr bool operator()(U u) const { return (u & ~sign) <= infinity; }
    };
    struct NotANumber {
        constexpr bool operator()(U u) const { return (u & ~sign) > infinity; }
    };
    struct Normal {
        /// Zero counts as normal: the manual says so, and an H200 does.
        constexpr bool operator()(U u) const {
            return (u & infinity) != infinity && ((u & infinity) != 0 || (u & fraction) == 0);
        }
    };
    struct Subnormal {
        constexpr bool operator()(U u) const { return (u & infinity) == 0 && (u & fraction) != 0; }
    };
};

template <class U, class F>
Flow run_testp(Warp& warp, const Op& op, LaneMask mask) {
    const U* a = warp.row<U>(op.a);
    warp.set_predicate(op.dst, mask, mask_of([a](unsigned i) { return F{}(a[i]); }));
    return Flow::next;
}

template <class U, int FractionBits>
Handler testp_handler(const DecodeContext& context) {
    using Class = NumberClass<U, FractionBits>;
    if (context.has("finite"))
        return &run_testp<U, typename Class::Finite>;
    if (context.has("infinite"))
        return &run_testp<U, typename Class::Infinite>;
    if (context.has("number"))
        return &run_testp<U, typename Class::Number>;
    if (context.has("notanumber"))
        return &run_testp<U, typename Class::NotANumber>;
    if (context.has("normal"))
        return &run_testp<U, typename Class::Normal>;
    if (context.has("subnormal"))
        return &run_testp<U, typename Class::Subnormal>;
    context.malformed("must name the property it tests");
}

void decode_testp(DecodeContext& context, Op& op) {
    context.allow({"finite", "infinite", "number", "notanumber", "normal", "subnormal"});
    expect_types(context, 1);
    const Type type = require_type(context, {Type::f32, Type::f64});
    expect_operands(context, 2);
    op.dst = context.predicate(context.operand(0));
    op.a = context.source(1, type);
    op.handler = type == Type::f32 ? testp_handler<std::uint32_t, 23>(context)
                                   : testp_handler<std::uint64_t, 52>(context);
}

} // namespace

std::span<const InstructionRow> compare_instructions() {
    static constexpr InstructionRow rows[] = {
        {"set", "9.7.6.1", decode_set},     {"setp", "9.7.6.2", decode_setp},
        {"selp", "9.7.6.3", decode_selp},   {"slct", "9.7.6.4", decode_slct},
        {"testp", "9.7.3.1", decode_testp},
    };
    return rows;
}

} // namespace emu
