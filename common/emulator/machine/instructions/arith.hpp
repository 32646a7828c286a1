#pragma once
/// \file
/// What the scalar instructions share: handlers that apply a function to the lanes, and checks of operands.
///
/// A handler is written as a captureless lambda over the values of one lane; the templates here turn it into
/// a loop over the warp that the compiler vectorises. Decoding picks the instantiation, so that nothing is
/// decided while an instruction runs.

#include "machine/decoder.hpp"
#include "machine/warp.hpp"

#include <cstdint>
#include <type_traits>

namespace emu {

/// A fourth source row lives in Op::immediate (bfi, vmad and friends are the only ones to need it).
constexpr std::int64_t pack_row(Row row) {
    return static_cast<std::int64_t>(std::uint64_t{row.offset} |
                                     std::uint64_t{static_cast<unsigned>(row.base)} << 32);
}
constexpr Row unpack_row(std::int64_t packed) {
    const auto bits = static_cast<std::uint64_t>(packed);
    return Row{static_cast<std::uint32_t>(bits), static_cast<Row::Base>(bits >> 32)};
}

// -- handlers: d = f(a), f(a, b), f(a, b, c), f(a, b, c, e)

template <class D, class A, class F>
Flow run_unary(Warp& warp, const Op& op, LaneMask mask) {
    const A* a = warp.row<A>(op.a);
    map_lanes(mask, warp.row<D>(op.dst), [a](unsigned i) { return static_cast<D>(F{}(a[i])); });
    return Flow::next;
}
template <class D, class A, class B, class F>
Flow run_binary(Warp& warp, const Op& op, LaneMask mask) {
    const A* a = warp.row<A>(op.a);
    const B* b = warp.row<B>(op.b);
    map_lanes(mask, warp.row<D>(op.dst), [a, b](unsigned i) { return static_cast<D>(F{}(a[i], b[i])); });
    return Flow::next;
}
template <class D, class A, class B, class C, class F>
Flow run_ternary(Warp& warp, const Op& op, LaneMask mask) {
    const A* a = warp.row<A>(op.a);
    const B* b = warp.row<B>(op.b);
    const C* c = warp.row<C>(op.c);
    map_lanes(mask, warp.row<D>(op.dst),
              [a, b, c](unsigned i) { return static_cast<D>(F{}(a[i], b[i], c[i])); });
    return Flow::next;
}
template <class D, class A, class B, class C, class E, class F>
Flow run_quaternary(Warp& warp, const Op& op, LaneMask mask) {
    const A* a = warp.row<A>(op.a);
    const B* b = warp.row<B>(op.b);
    const C* c = warp.row<C>(op.c);
    const E* e = warp.row<E>(unpack_row(op.immediate));
    map_lanes(mask, warp.row<D>(op.dst),
              [a, b, c, e](unsigned i) { return static_cast<D>(F{}(a[i], b[i], c[i], e[i])); });
    return Flow::next;
}

/// `unary<D, A>(f)` is the handler for d = f(a) with a destination of type D and a source of type A; the
/// others likewise. `f` must be a captureless lambda.
template <class D, class A = D, class F>
constexpr Handler unary(F) {
    return &run_unary<D, A, F>;
}
template <class D, class A = D, class B = A, class F>
constexpr Handler binary(F) {
    return &run_binary<D, A, B, F>;
}
template <class D, class A = D, class B = A, class C = B, class F>
constexpr Handler ternary(F) {
    return &run_ternary<D, A, B, C, F>;
}
template <class D, class A = D, class B = A, class C = B, class E = C, class F>
constexpr Handler quaternary(F) {
    return &run_quaternary<D, A, B, C, E, F>;
}

/// Bit i of the result is `f(i)`, for all 32 lanes, without branches: a loop over bytes that vectorises, then
/// each eight bytes are gathered into eight bits by one multiplication.
template <class F>
inline LaneMask mask_of(F&& f) {
    alignas(32) std::uint8_t flags[warp_size];
    for (unsigned i = 0; i < warp_size; ++i)
        flags[i] = static_cast<std::uint8_t>(f(i) ? 1 : 0);
    LaneMask bits = 0;
    for (unsigned k = 0; k < warp_size / 8; ++k) {
        std::uint64_t bytes;
        std::memcpy(&bytes, flags + 8 * k, 8);
        if constexpr (std::endian::native == std::endian::big)
            bytes = __builtin_bswap64(bytes);
        bits |= static_cast<LaneMask>((bytes * 0x0102040810204080u) >> 56) << (8 * k);
    }
    return bits;
}

// -- decoding

/// Throws unless the instruction has exactly `count` operands, destination included.
inline void expect_operands(const DecodeContext& context, std::size_t count) {
    if (context.operand_count() != count)
        context.malformed("takes " + std::to_string(count) + " operands, not " +
                          std::to_string(context.operand_count()));
}
/// Destination and one, two or three sources, all of `type`.
inline void operands_unary(DecodeContext& context, Op& op, ptx::Type type) {
    expect_operands(context, 2);
    op.dst = context.destination(0, type);
    op.a = context.source(1, type);
}
inline void operands_binary(DecodeContext& context, Op& op, ptx::Type type) {
    expect_operands(context, 3);
    op.dst = context.destination(0, type);
    op.a = context.source(1, type);
    op.b = context.source(2, type);
}
inline void operands_ternary(DecodeContext& context, Op& op, ptx::Type type) {
    expect_operands(context, 4);
    op.dst = context.destination(0, type);
    op.a = context.source(1, type);
    op.b = context.source(2, type);
    op.c = context.source(3, type);
}

/// The type the instruction names; throws if it is not among `allowed`.
inline ptx::Type require_type(const DecodeContext& context, std::initializer_list<ptx::Type> allowed,
                              unsigned which = 0) {
    const ptx::Type type = context.type(which);
    for (const auto each : allowed)
        if (each == type)
            return type;
    if (type == ptx::Type::none)
        context.malformed("names no type");
    context.unsupported("type ." + std::string(ptx::name_of(type)) + " is not defined for it on sm_90");
}

/// Throws when the modifiers name more than `count` types, or fewer.
inline void expect_types(const DecodeContext& context, unsigned count) {
    if (context.type(count) != ptx::Type::none || (count && context.type(count - 1) == ptx::Type::none))
        context.malformed("must name " + std::to_string(count) + (count == 1 ? " type" : " types"));
}

/// Calls `f(T{})` with the host type of an integer or bit type of 16, 32 or 64 bits.
template <class F>
void with_integer(const DecodeContext& context, ptx::Type type, F&& f) {
    using ptx::Type;
    switch (type) {
    case Type::b16:
    case Type::u16:
        return f(std::uint16_t{});
    case Type::s16:
        return f(std::int16_t{});
    case Type::b32:
    case Type::u32:
        return f(std::uint32_t{});
    case Type::s32:
        return f(std::int32_t{});
    case Type::b64:
    case Type::u64:
        return f(std::uint64_t{});
    case Type::s64:
        return f(std::int64_t{});
    default:
        context.unsupported("type ." + std::string(ptx::name_of(type)) + " is not defined for it");
    }
}
/// Calls `f(T{})` with the unsigned host type of as many bits as `type` has: 16, 32 or 64.
template <class F>
void with_bits(const DecodeContext& context, ptx::Type type, F&& f) {
    switch (ptx::size_of(type)) {
    case 2:
        return f(std::uint16_t{});
    case 4:
        return f(std::uint32_t{});
    case 8:
        return f(std::uint64_t{});
    default:
        context.unsupported("type ." + std::string(ptx::name_of(type)) + " is not defined for it");
    }
}

// -- integers

/// An unsigned type in which sums and products of T wrap without undefined behaviour (no promotion to int).
template <class T>
using Wrap = std::common_type_t<std::make_unsigned_t<T>, unsigned>;
__extension__ using Int128 = __int128;
__extension__ using UInt128 = unsigned __int128;
/// The type of twice the width.
template <class T>
using Wide = std::conditional_t<
    sizeof(T) == 2, std::conditional_t<std::is_signed_v<T>, std::int32_t, std::uint32_t>,
    std::conditional_t<sizeof(T) == 4, std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>,
                       std::conditional_t<std::is_signed_v<T>, Int128, UInt128>>>;

/// Low half of the product.
template <class T>
constexpr T mul_lo(T a, T b) {
    return static_cast<T>(static_cast<Wrap<T>>(a) * static_cast<Wrap<T>>(b));
}
/// High half of the product.
template <class T>
constexpr T mul_hi(T a, T b) {
    return static_cast<T>((static_cast<Wide<T>>(a) * static_cast<Wide<T>>(b)) >> (8 * sizeof(T)));
}
/// Wrapping sum and difference.
template <class T>
constexpr T wrap_add(T a, T b) {
    return static_cast<T>(static_cast<Wrap<T>>(a) + static_cast<Wrap<T>>(b));
}
template <class T>
constexpr T wrap_sub(T a, T b) {
    return static_cast<T>(static_cast<Wrap<T>>(a) - static_cast<Wrap<T>>(b));
}
/// `value` clamped to the range of s32.
constexpr std::int32_t saturate_s32(std::int64_t value) {
    return static_cast<std::int32_t>(value > INT32_MAX ? INT32_MAX : value < INT32_MIN ? INT32_MIN : value);
}

} // namespace emu
