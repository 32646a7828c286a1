/// \file
/// Integer instructions on bits and bit fields, and dot products (PTX ISA 9.0, sections 9.7.1.14
/// to 9.7.1.24).

#include "machine/instructions/arith.hpp"
#include "machine/instructions/scalar.hpp"

#include <algorithm>
#include <bit>

namespace emu {
namespace {

using ptx::Type;
using u32 = std::uint32_t;
using s32 = std::int32_t;

/// popc, clz: the destination is always 32 bits wide.
Type bit_count_operands(DecodeContext& context, Op& op) {
    context.allow({});
    expect_types(context, 1);
    const Type type = require_type(context, {Type::b32, Type::b64});
    expect_operands(context, 2);
    op.dst = context.destination(0, Type::u32);
    op.a = context.source(1, type);
    return type;
}

/// Position of the highest bit that is not a copy of the sign, all ones if there is none.
template <class T, bool Shift>
constexpr u32 find_bit(T value) {
    using U = std::make_unsigned_t<T>;
    U bits = static_cast<U>(value);
    if constexpr (std::is_signed_v<T>)
        bits = value < 0 ? static_cast<U>(~bits) : bits;
    if (bits == 0)
        return ~u32{0};
    const auto zeros = static_cast<u32>(std::countl_zero(bits));
    return Shift ? zeros : static_cast<u32>(8 * sizeof(T) - 1) - zeros;
}

/// fns: position of the n-th set bit of `mask`, counted from bit `base` upwards (offset > 0) or downwards.
constexpr u32 find_nth_set(u32 mask, u32 base, s32 offset) {
    if (offset == INT32_MIN) // As on an H200.
        return 0;
    if (base > 31)
        return ~u32{0};
    if (offset == 0)
        return mask >> base & 1 ? base : ~u32{0};
    const s32 step = offset > 0 ? 1 : -1;
    std::uint32_t left = offset > 0 ? static_cast<u32>(offset) : 0u - static_cast<u32>(offset);
    for (s32 position = static_cast<s32>(base); position >= 0 && position < 32; position += step)
        if (mask >> position & 1 && --left == 0)
            return static_cast<u32>(position);
    return ~u32{0};
}

template <class U>
constexpr U reverse_bits(U value) {
    U v = value;
    constexpr U ones = static_cast<U>(~U{0});
    v = static_cast<U>((v >> 1 & ones / 3) | (v & ones / 3) << 1);
    v = static_cast<U>((v >> 2 & ones / 5) | (v & ones / 5) << 2);
    v = static_cast<U>((v >> 4 & ones / 17) | (v & ones / 17) << 4);
    if constexpr (sizeof(U) == 4)
        return __builtin_bswap32(v);
    else
        return __builtin_bswap64(v);
}

/// A position or length of bfe and bfi. The manual uses its low 8 bits; an H200 does so for 32-bit values and
/// takes the whole operand for 64-bit values.
template <class T>
constexpr u32 bit_count(u32 operand) {
    return sizeof(T) == 4 ? operand & 0xff : operand;
}

/// bfe, as the manual defines it: bits past the value are its sign (signed) or zero.
template <class T>
constexpr T extract(T value, u32 position, u32 length) {
    constexpr u32 bits = 8 * sizeof(T);
    const u32 pos = bit_count<T>(position), len = bit_count<T>(length);
    if (len == 0)
        return 0;
    // Shifting by more than the width leaves only copies of the sign.
    const T shifted = static_cast<T>(value >> std::min(pos, bits - 1));
    const T field = pos >= bits ? static_cast<T>(std::is_signed_v<T> && value < 0 ? -1 : 0) : shifted;
    if (len >= bits)
        return field;
    using U = std::make_unsigned_t<T>;
    const u32 spare = bits - len;
    return static_cast<T>(static_cast<T>(static_cast<U>(field) << spare) >> spare);
}

/// bfi: `length` bits of `field` replace those of `base` at `position`.
template <class U>
constexpr U insert(U field, U base, u32 position, u32 length) {
    constexpr u32 bits = 8 * sizeof(U);
    const u32 pos = bit_count<U>(position), len = bit_count<U>(length);
    if (pos >= bits || len == 0)
        return base;
    const U ones = len >= bits ? static_cast<U>(~U{0}) : static_cast<U>((U{1} << len) - 1);
    const U mask = static_cast<U>(ones << pos);
    return static_cast<U>((base & ~mask) | (field << pos & mask));
}

/// A mask of `width` ones from bit `position` upwards.
constexpr u32 bit_mask(u32 position, u32 width) {
    const u32 low = position > 31 ? 0 : ~u32{0} << position;
    const std::uint64_t sum = std::uint64_t{position} + width;
    const u32 above = sum > 31 ? 0 : ~u32{0} << sum;
    return low & ~above;
}

/// szext: sign- or zero-extends the low `n` bits.
template <class T>
constexpr T extend_from(T value, u32 n) {
    if (n == 0)
        return 0;
    if (n >= 32)
        return value;
    return static_cast<T>(static_cast<T>(static_cast<u32>(value) << (32 - n)) >> (32 - n));
}

bool clamp_mode(const DecodeContext& context) {
    if (context.has("clamp") == context.has("wrap"))
        context.malformed("must say either .clamp or .wrap");
    return context.has("clamp");
}

/// Byte i of a packed operand.
template <bool Signed>
constexpr s32 byte_of(u32 packed, unsigned i) {
    return Signed ? static_cast<std::int8_t>(packed >> 8 * i) : static_cast<std::uint8_t>(packed >> 8 * i);
}
template <bool Signed>
constexpr s32 half_of(u32 packed, unsigned i) {
    return Signed ? static_cast<std::int16_t>(packed >> 16 * i)
                  : static_cast<std::uint16_t>(packed >> 16 * i);
}
template <bool A, bool B>
constexpr Handler dp4a_handler() {
    return ternary<u32>([](u32 a, u32 b, u32 c) {
        u32 sum = c;
        for (unsigned i = 0; i < 4; ++i)
            sum += static_cast<u32>(byte_of<A>(a, i) * byte_of<B>(b, i));
        return sum;
    });
}
template <bool A, bool B, bool High>
constexpr Handler dp2a_handler() {
    return ternary<u32>([](u32 a, u32 b, u32 c) {
        u32 sum = c;
        for (unsigned i = 0; i < 2; ++i)
            sum += static_cast<u32>(half_of<A>(a, i) * byte_of<B>(b, i + (High ? 2 : 0)));
        return sum;
    });
}
/// The two types of a dot product; fills the operands.
std::pair<bool, bool> dot_operands(DecodeContext& context, Op& op) {
    expect_types(context, 2);
    const Type a = require_type(context, {Type::u32, Type::s32}, 0);
    const Type b = require_type(context, {Type::u32, Type::s32}, 1);
    operands_ternary(context, op, Type::u32);
    return {ptx::is_signed(a), ptx::is_signed(b)};
}

} // namespace

void decode_popc(DecodeContext& context, Op& op) {
    with_bits(context, bit_count_operands(context, op),
              [&]<class U>(U) { op.handler = unary<u32, U>([](U a) { return std::popcount(a); }); });
}

void decode_clz(DecodeContext& context, Op& op) {
    with_bits(context, bit_count_operands(context, op),
              [&]<class U>(U) { op.handler = unary<u32, U>([](U a) { return std::countl_zero(a); }); });
}

void decode_bfind(DecodeContext& context, Op& op) {
    context.allow({"shiftamt"});
    expect_types(context, 1);
    const Type type = require_type(context, {Type::u32, Type::s32, Type::u64, Type::s64});
    expect_operands(context, 2);
    op.dst = context.destination(0, Type::u32);
    op.a = context.source(1, type);
    with_integer(context, type, [&]<class T>(T) {
        op.handler = context.has("shiftamt") ? unary<u32, T>([](T a) { return find_bit<T, true>(a); })
                                             : unary<u32, T>([](T a) { return find_bit<T, false>(a); });
    });
}

void decode_fns(DecodeContext& context, Op& op) {
    context.allow({});
    expect_types(context, 1);
    require_type(context, {Type::b32});
    operands_ternary(context, op, Type::b32);
    op.handler =
        ternary<u32, u32, u32, s32>([](u32 mask, u32 base, s32 n) { return find_nth_set(mask, base, n); });
}

void decode_brev(DecodeContext& context, Op& op) {
    context.allow({});
    expect_types(context, 1);
    const Type type = require_type(context, {Type::b32, Type::b64});
    operands_unary(context, op, type);
    if (type == Type::b32)
        op.handler = unary<u32>([](u32 a) { return reverse_bits(a); });
    else
        op.handler = unary<std::uint64_t>([](std::uint64_t a) { return reverse_bits(a); });
}

void decode_bfe(DecodeContext& context, Op& op) {
    context.allow({});
    expect_types(context, 1);
    const Type type = require_type(context, {Type::u32, Type::s32, Type::u64, Type::s64});
    expect_operands(context, 4);
    op.dst = context.destination(0, type);
    op.a = context.source(1, type);
    op.b = context.source(2, Type::u32);
    op.c = context.source(3, Type::u32);
    with_integer(context, type, [&]<class T>(T) {
        op.handler = ternary<T, T, u32>([](T a, u32 b, u32 c) { return extract(a, b, c); });
    });
}

void decode_bfi(DecodeContext& context, Op& op) {
    context.allow({});
    expect_types(context, 1);
    const Type type = require_type(context, {Type::b32, Type::b64});
    expect_operands(context, 5);
    op.dst = context.destination(0, type);
    op.a = context.source(1, type);
    op.b = context.source(2, type);
    op.c = context.source(3, Type::u32);
    op.immediate = pack_row(context.source(4, Type::u32));
    with_bits(context, type, [&]<class U>(U) {
        if constexpr (sizeof(U) >= 4)
            op.handler = quaternary<U, U, U, u32>(
                [](U a, U b, u32 position, u32 length) { return insert(a, b, position, length); });
    });
}

void decode_szext(DecodeContext& context, Op& op) {
    context.allow({"clamp", "wrap"});
    expect_types(context, 1);
    const Type type = require_type(context, {Type::u32, Type::s32});
    operands_binary(context, op, type);
    const bool clamp = clamp_mode(context);
    if (type == Type::u32)
        op.handler = clamp ? binary<u32>([](u32 a, u32 n) { return extend_from(a, n); })
                           : binary<u32>([](u32 a, u32 n) { return extend_from(a, n & 31); });
    else
        op.handler = clamp ? binary<s32, s32, u32>([](s32 a, u32 n) { return extend_from(a, n); })
                           : binary<s32, s32, u32>([](s32 a, u32 n) { return extend_from(a, n & 31); });
}

void decode_bmsk(DecodeContext& context, Op& op) {
    context.allow({"clamp", "wrap"});
    expect_types(context, 1);
    require_type(context, {Type::b32});
    operands_binary(context, op, Type::b32);
    op.handler = clamp_mode(context) ? binary<u32>([](u32 a, u32 b) { return bit_mask(a, b); })
                                     : binary<u32>([](u32 a, u32 b) { return bit_mask(a & 31, b & 31); });
}

void decode_dp4a(DecodeContext& context, Op& op) {
    context.allow({});
    const auto [a, b] = dot_operands(context, op);
    op.handler = a ? (b ? dp4a_handler<true, true>() : dp4a_handler<true, false>())
                   : (b ? dp4a_handler<false, true>() : dp4a_handler<false, false>());
}

void decode_dp2a(DecodeContext& context, Op& op) {
    context.allow({"lo", "hi"});
    const auto [a, b] = dot_operands(context, op);
    if (context.has("lo") == context.has("hi"))
        context.malformed("must say either .lo or .hi");
    if (context.has("hi"))
        op.handler = a ? (b ? dp2a_handler<true, true, true>() : dp2a_handler<true, false, true>())
                       : (b ? dp2a_handler<false, true, true>() : dp2a_handler<false, false, true>());
    else
        op.handler = a ? (b ? dp2a_handler<true, true, false>() : dp2a_handler<true, false, false>())
                       : (b ? dp2a_handler<false, true, false>() : dp2a_handler<false, false, false>());
}

} // namespace emu
