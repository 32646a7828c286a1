/// \file
/// Integer arithmetic (PTX ISA 9.0, section 9.7.1); bit fields are in integer_bits.cpp, carry chains (9.7.2)
/// in integer_carry.cpp.

#include "machine/instructions/arith.hpp"
#include "machine/instructions/scalar.hpp"

#include <algorithm>
#include <limits>

namespace emu {
namespace {

using ptx::Type;

constexpr auto scalar_types = {Type::u16, Type::u32, Type::u64, Type::s16, Type::s32, Type::s64};
constexpr auto add_types = {Type::u16, Type::u32,   Type::u64,   Type::s16,
                            Type::s32, Type::u16x2, Type::s16x2, Type::s64};

/// Applies `f` to the two 16-bit halves of packed operands.
template <class T, class F>
constexpr std::uint32_t each_half(std::uint32_t a, std::uint32_t b, F f) {
    const auto low = static_cast<std::uint16_t>(f(static_cast<T>(a), static_cast<T>(b)));
    const auto high = static_cast<std::uint16_t>(f(static_cast<T>(a >> 16), static_cast<T>(b >> 16)));
    return low | static_cast<std::uint32_t>(high) << 16;
}

/// Quotient and remainder where C++ has none. PTX leaves division by zero to the machine: NVIDIA's sequence
/// returns all ones for both. The quotient of the smallest number and -1 wraps to itself.
template <class T>
constexpr T divide(T a, T b) {
    if (b == 0)
        return static_cast<T>(~T{0});
    if constexpr (std::is_signed_v<T>)
        if (b == -1)
            return wrap_sub(T{0}, a);
    return static_cast<T>(a / b);
}
template <class T>
constexpr T remainder(T a, T b) {
    if (b == 0)
        return static_cast<T>(~T{0});
    if constexpr (std::is_signed_v<T>)
        if (b == -1)
            return 0;
    return static_cast<T>(a % b);
}

/// Low 24 bits as a number of the sign of T.
template <class T>
constexpr std::int64_t low24(T value) {
    if constexpr (std::is_signed_v<T>)
        return static_cast<std::int32_t>(static_cast<std::uint32_t>(value) << 8) >> 8;
    else
        return value & 0xffffff;
}
/// mul24: bits 31..0 or 47..16 of the 48-bit product.
template <class T, bool High>
constexpr T mul24(T a, T b) {
    const auto product = static_cast<std::uint64_t>(low24(a)) * static_cast<std::uint64_t>(low24(b));
    return static_cast<T>(High ? product >> 16 : product);
}

enum class Half : std::uint8_t { low, high, wide };
Half half_of(const DecodeContext& context) {
    const bool low = context.has("lo"), high = context.has("hi"), wide = context.has("wide");
    if (low + high + wide != 1)
        context.malformed("must say one of .lo, .hi and .wide");
    return low ? Half::low : high ? Half::high : Half::wide;
}

/// The unsigned or signed type of twice the bits.
Type wide_type(const DecodeContext& context, Type type) {
    switch (type) {
    case Type::u16:
        return Type::u32;
    case Type::s16:
        return Type::s32;
    case Type::u32:
        return Type::u64;
    case Type::s32:
        return Type::s64;
    default:
        context.unsupported(".wide is defined for 16 and 32 bits only");
    }
}

void require_s32_for_sat(const DecodeContext& context, Type type) {
    if (context.has("sat") && type != Type::s32)
        context.unsupported(".sat is defined for .s32 only");
}

/// rem, 9.7.1.9.
void decode_rem(DecodeContext& context, Op& op) {
    context.allow({});
    expect_types(context, 1);
    const Type type = require_type(context, scalar_types);
    operands_binary(context, op, type);
    with_integer(context, type,
                 [&]<class T>(T) { op.handler = binary<T>([](T a, T b) { return remainder(a, b); }); });
}

/// sad, 9.7.1.7: d = c + |a - b|.
void decode_sad(DecodeContext& context, Op& op) {
    context.allow({});
    expect_types(context, 1);
    const Type type = require_type(context, scalar_types);
    operands_ternary(context, op, type);
    with_integer(context, type, [&]<class T>(T) {
        op.handler =
            ternary<T>([](T a, T b, T c) { return wrap_add(c, a < b ? wrap_sub(b, a) : wrap_sub(a, b)); });
    });
}

/// mul24, 9.7.1.5.
void decode_mul24(DecodeContext& context, Op& op) {
    context.allow({"lo", "hi"});
    expect_types(context, 1);
    const Type type = require_type(context, {Type::u32, Type::s32});
    operands_binary(context, op, type);
    const Half half = half_of(context);
    with_integer(context, type, [&]<class T>(T) {
        if constexpr (sizeof(T) == 4)
            op.handler = half == Half::high ? binary<T>([](T a, T b) { return mul24<T, true>(a, b); })
                                            : binary<T>([](T a, T b) { return mul24<T, false>(a, b); });
    });
}

/// mad24, 9.7.1.6.
void decode_mad24(DecodeContext& context, Op& op) {
    context.allow({"lo", "hi", "sat"});
    expect_types(context, 1);
    const Type type = require_type(context, {Type::u32, Type::s32});
    operands_ternary(context, op, type);
    require_s32_for_sat(context, type);
    const Half half = half_of(context);
    if (context.has("sat")) {
        if (half != Half::high)
            context.unsupported(".sat is defined for .hi only");
        op.handler = ternary<std::int32_t>([](std::int32_t a, std::int32_t b, std::int32_t c) {
            return saturate_s32(std::int64_t{mul24<std::int32_t, true>(a, b)} + c);
        });
        return;
    }
    with_integer(context, type, [&]<class T>(T) {
        if constexpr (sizeof(T) == 4)
            op.handler = half == Half::high
                             ? ternary<T>([](T a, T b, T c) { return wrap_add(mul24<T, true>(a, b), c); })
                             : ternary<T>([](T a, T b, T c) { return wrap_add(mul24<T, false>(a, b), c); });
    });
}

/// The smaller or larger of two, and with `Relu` at least zero.
template <bool Max, bool Relu = false>
struct Pick {
    template <class T>
    constexpr T operator()(T a, T b) const {
        const T picked = Max ? std::max(a, b) : std::min(a, b);
        return Relu ? std::max(picked, T{0}) : picked;
    }
};
/// Wrapping sum or difference.
template <bool Subtract>
struct Combine {
    template <class T>
    constexpr T operator()(T a, T b) const {
        return Subtract ? wrap_sub(a, b) : wrap_add(a, b);
    }
};

/// min and max of one type; `Max` chooses.
template <bool Max>
void decode_extremum(DecodeContext& context, Op& op) {
    context.allow({"relu"});
    expect_types(context, 1);
    const Type type = require_type(context, add_types);
    operands_binary(context, op, type);
    const bool relu = context.has("relu");
    if (relu && type != Type::s32 && type != Type::s16x2)
        context.unsupported(".relu is defined for .s32 and .s16x2 only");
    if (type == Type::u16x2) {
        op.handler = binary<std::uint32_t>(
            [](std::uint32_t a, std::uint32_t b) { return each_half<std::uint16_t>(a, b, Pick<Max>{}); });
    } else if (type == Type::s16x2) {
        op.handler = relu ? binary<std::uint32_t>([](std::uint32_t a, std::uint32_t b) {
            return each_half<std::int16_t>(a, b, Pick<Max, true>{});
        })
                          : binary<std::uint32_t>([](std::uint32_t a, std::uint32_t b) {
                                return each_half<std::int16_t>(a, b, Pick<Max>{});
                            });
    } else if (relu) {
        op.handler =
            binary<std::int32_t>([](std::int32_t a, std::int32_t b) { return Pick<Max, true>{}(a, b); });
    } else {
        with_integer(context, type,
                     [&]<class T>(T) { op.handler = binary<T>([](T a, T b) { return Pick<Max>{}(a, b); }); });
    }
}

/// add and sub share their forms: 16x2, .sat.s32, and wrapping scalars.
template <bool Subtract>
void decode_sum(DecodeContext& context, Op& op) {
    context.allow({"sat"});
    expect_types(context, 1);
    const Type type = Subtract ? require_type(context, scalar_types) : require_type(context, add_types);
    operands_binary(context, op, type);
    require_s32_for_sat(context, type);
    if (type == Type::u16x2 || type == Type::s16x2) {
        op.handler = binary<std::uint32_t>([](std::uint32_t a, std::uint32_t b) {
            return each_half<std::uint16_t>(a, b, Combine<Subtract>{});
        });
    } else if (context.has("sat")) {
        op.handler = binary<std::int32_t>([](std::int32_t a, std::int32_t b) {
            return saturate_s32(Subtract ? std::int64_t{a} - b : std::int64_t{a} + b);
        });
    } else {
        with_integer(context, type, [&]<class T>(T) {
            op.handler = binary<T>([](T a, T b) { return Combine<Subtract>{}(a, b); });
        });
    }
}

} // namespace

void decode_add_integer(DecodeContext& context, Op& op) { decode_sum<false>(context, op); }
void decode_sub_integer(DecodeContext& context, Op& op) { decode_sum<true>(context, op); }
void decode_min_integer(DecodeContext& context, Op& op) { decode_extremum<false>(context, op); }
void decode_max_integer(DecodeContext& context, Op& op) { decode_extremum<true>(context, op); }

void decode_mul_integer(DecodeContext& context, Op& op) {
    context.allow({"lo", "hi", "wide"});
    expect_types(context, 1);
    const Type type = require_type(context, scalar_types);
    const Half half = half_of(context);
    expect_operands(context, 3);
    op.dst = context.destination(0, half == Half::wide ? wide_type(context, type) : type);
    op.a = context.source(1, type);
    op.b = context.source(2, type);
    with_integer(context, type, [&]<class T>(T) {
        if (half == Half::low)
            op.handler = binary<T>([](T a, T b) { return mul_lo(a, b); });
        else if (half == Half::high)
            op.handler = binary<T>([](T a, T b) { return mul_hi(a, b); });
        else if constexpr (sizeof(T) < 8)
            op.handler = binary<Wide<T>, T>([](T a, T b) { return mul_lo<Wide<T>>(a, b); });
    });
}

void decode_mad_integer(DecodeContext& context, Op& op) {
    context.allow({"lo", "hi", "wide", "sat"});
    expect_types(context, 1);
    const Type type = require_type(context, scalar_types);
    const Half half = half_of(context);
    const Type result = half == Half::wide ? wide_type(context, type) : type;
    expect_operands(context, 4);
    op.dst = context.destination(0, result);
    op.a = context.source(1, type);
    op.b = context.source(2, type);
    op.c = context.source(3, result);
    require_s32_for_sat(context, type);
    if (context.has("sat")) {
        if (half != Half::high)
            context.unsupported(".sat is defined for .hi only");
        op.handler = ternary<std::int32_t>([](std::int32_t a, std::int32_t b, std::int32_t c) {
            return saturate_s32(std::int64_t{mul_hi(a, b)} + c);
        });
        return;
    }
    with_integer(context, type, [&]<class T>(T) {
        if (half == Half::low)
            op.handler = ternary<T>([](T a, T b, T c) { return wrap_add(mul_lo(a, b), c); });
        else if (half == Half::high)
            op.handler = ternary<T>([](T a, T b, T c) { return wrap_add(mul_hi(a, b), c); });
        else if constexpr (sizeof(T) < 8)
            op.handler = ternary<Wide<T>, T, T, Wide<T>>(
                [](T a, T b, Wide<T> c) { return wrap_add(mul_lo<Wide<T>>(a, b), c); });
    });
}

void decode_div_integer(DecodeContext& context, Op& op) {
    context.allow({});
    expect_types(context, 1);
    const Type type = require_type(context, scalar_types);
    operands_binary(context, op, type);
    with_integer(context, type,
                 [&]<class T>(T) { op.handler = binary<T>([](T a, T b) { return divide(a, b); }); });
}

void decode_abs_integer(DecodeContext& context, Op& op) {
    context.allow({});
    expect_types(context, 1);
    const Type type = require_type(context, {Type::s16, Type::s32, Type::s64});
    operands_unary(context, op, type);
    with_integer(context, type, [&]<class T>(T) {
        op.handler = unary<T>([](T a) { return a < 0 ? wrap_sub(T{0}, a) : a; });
    });
}

void decode_neg_integer(DecodeContext& context, Op& op) {
    context.allow({});
    expect_types(context, 1);
    const Type type = require_type(context, {Type::s16, Type::s32, Type::s64});
    operands_unary(context, op, type);
    with_integer(context, type,
                 [&]<class T>(T) { op.handler = unary<T>([](T a) { return wrap_sub(T{0}, a); }); });
}

std::span<const InstructionRow> integer_instructions() {
    static constexpr InstructionRow rows[] = {
        {"add", "9.7.1.1", by_chapter<decode_add_integer, decode_add_floating, decode_add_half>},
        {"sub", "9.7.1.2", by_chapter<decode_sub_integer, decode_sub_floating, decode_sub_half>},
        {"mul", "9.7.1.3", by_chapter<decode_mul_integer, decode_mul_floating, decode_mul_half>},
        {"mad", "9.7.1.4", by_chapter<decode_mad_integer, decode_fma_floating, decode_no_such_type>},
        {"mul24", "9.7.1.5", decode_mul24},
        {"mad24", "9.7.1.6", decode_mad24},
        {"sad", "9.7.1.7", decode_sad},
        {"div", "9.7.1.8", by_chapter<decode_div_integer, decode_div_floating, decode_no_such_type>},
        {"rem", "9.7.1.9", decode_rem},
        {"abs", "9.7.1.10", by_chapter<decode_abs_integer, decode_abs_floating, decode_abs_half>},
        {"neg", "9.7.1.11", by_chapter<decode_neg_integer, decode_neg_floating, decode_neg_half>},
        {"min", "9.7.1.12", by_chapter<decode_min_integer, decode_min_floating, decode_min_half>},
        {"max", "9.7.1.13", by_chapter<decode_max_integer, decode_max_floating, decode_max_half>},
        {"popc", "9.7.1.14", decode_popc},
        {"clz", "9.7.1.15", decode_clz},
        {"bfind", "9.7.1.16", decode_bfind},
        {"fns", "9.7.1.17", decode_fns},
        {"brev", "9.7.1.18", decode_brev},
        {"bfe", "9.7.1.19", decode_bfe},
        {"bfi", "9.7.1.20", decode_bfi},
        {"szext", "9.7.1.21", decode_szext},
        {"bmsk", "9.7.1.22", decode_bmsk},
        {"dp4a", "9.7.1.23", decode_dp4a},
        {"dp2a", "9.7.1.24", decode_dp2a},
        {"add.cc", "9.7.2.1", decode_add_carry},
        {"addc", "9.7.2.2", decode_add_carry},
        {"sub.cc", "9.7.2.3", decode_sub_carry},
        {"subc", "9.7.2.4", decode_sub_carry},
        {"mad.lo.cc", "9.7.2.5", decode_mad_carry},
        {"mad.hi.cc", "9.7.2.5", decode_mad_carry},
        {"madc", "9.7.2.6", decode_mad_carry},
    };
    return rows;
}

} // namespace emu
