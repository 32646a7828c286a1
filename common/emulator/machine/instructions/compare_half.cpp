/// \file
/// Comparisons of halves (PTX ISA 9.0, section 9.7.7). The values are widened to binary32, which is exact,
/// and compared there.

#include "machine/instructions/arith.hpp"
#include "machine/instructions/compare.hpp"
#include "machine/instructions/float16.hpp"
#include "machine/instructions/scalar.hpp"

#include <array>

namespace emu {
namespace {

using ptx::Type;
using Floats = std::array<float, warp_size>;

/// Widens half number `Part` (0 low, 1 high) of each lane's T.
template <class H, class T, unsigned Part, bool Flush>
void load_halves(const std::byte* row, Floats& out) {
    const T* values = reinterpret_cast<const T*>(row);
    for (unsigned i = 0; i < warp_size; ++i) {
        const auto bits = static_cast<std::uint16_t>(values[i] >> (16 * Part));
        out[i] = H::decode(Flush ? flush16<H>(bits) : bits);
    }
}
using Loader = void (*)(const std::byte*, Floats&);

struct HalfCombination : Combination {
    Loader low = nullptr, high = nullptr;
};

/// Truth of the comparison of one half of all lanes.
LaneMask compare_halves(Warp& warp, const Op& op, const HalfCombination& combination, Loader load) {
    Floats a, b;
    load(warp.row<std::byte>(op.a), a);
    load(warp.row<std::byte>(op.b), b);
    return combination.comparison(a.data(), b.data());
}

Flow run_setp_half(Warp& warp, const Op& op, LaneMask mask) {
    const auto& combination = *static_cast<const HalfCombination*>(op.extra);
    const LaneMask result = compare_halves(warp, op, combination, combination.low);
    const LaneMask predicate = combination.predicate(warp);
    warp.set_predicate(op.dst, mask, combination(result, predicate));
    warp.set_predicate(combination.second, mask, combination(~result, predicate));
    return Flow::next;
}
/// Packed operands: p belongs to the low halves, q to the high ones.
Flow run_setp_packed(Warp& warp, const Op& op, LaneMask mask) {
    const auto& combination = *static_cast<const HalfCombination*>(op.extra);
    const LaneMask low = compare_halves(warp, op, combination, combination.low);
    const LaneMask high = compare_halves(warp, op, combination, combination.high);
    const LaneMask predicate = combination.predicate(warp);
    warp.set_predicate(op.dst, mask, combination(low, predicate));
    warp.set_predicate(combination.second, mask, combination(high, predicate));
    return Flow::next;
}
template <class T>
Flow run_set_half(Warp& warp, const Op& op, LaneMask mask) {
    const auto& combination = *static_cast<const HalfCombination*>(op.extra);
    const LaneMask result = compare_halves(warp, op, combination, combination.low);
    store_truth(warp, op.dst, mask, combination(result, combination.predicate(warp)),
                static_cast<T>(op.immediate));
    return Flow::next;
}
Flow run_set_packed(Warp& warp, const Op& op, LaneMask mask) {
    const auto& combination = *static_cast<const HalfCombination*>(op.extra);
    const LaneMask predicate = combination.predicate(warp);
    const LaneMask low = combination(compare_halves(warp, op, combination, combination.low), predicate);
    const LaneMask high = combination(compare_halves(warp, op, combination, combination.high), predicate);
    const auto one = static_cast<std::uint32_t>(op.immediate);
    map_lanes(mask, warp.row<std::uint32_t>(op.dst), [=](unsigned i) {
        return (low >> i & 1 ? one & 0xffffu : 0) | (high >> i & 1 ? one & 0xffff0000u : 0);
    });
    return Flow::next;
}

/// Fills in how values of `type` are compared.
void choose(const DecodeContext& context, HalfCombination& combination, Type type) {
    const bool ftz = context.has("ftz");
    if (ftz && (type == Type::bf16 || type == Type::bf16x2))
        context.unsupported(".ftz is not defined for .bf16");
    using u16 = std::uint16_t;
    using u32 = std::uint32_t;
    switch (type) {
    case Type::f16:
        combination.low = ftz ? load_halves<F16, u16, 0, true> : load_halves<F16, u16, 0, false>;
        break;
    case Type::f16x2:
        combination.low = ftz ? load_halves<F16, u32, 0, true> : load_halves<F16, u32, 0, false>;
        combination.high = ftz ? load_halves<F16, u32, 1, true> : load_halves<F16, u32, 1, false>;
        break;
    case Type::bf16:
        combination.low = load_halves<BF16, u16, 0, false>;
        break;
    default:
        combination.low = load_halves<BF16, u32, 0, false>;
        combination.high = load_halves<BF16, u32, 1, false>;
        break;
    }
    with_float_relation(context, [&]<class C>(C) { combination.comparison = compare_rows<float, C>; });
}

/// What `set` writes for true.
std::uint32_t true_value_of(const DecodeContext& context, Type type) {
    switch (type) {
    case Type::u16:
    case Type::s16:
        return 0xffff;
    case Type::u32:
    case Type::s32:
        return ~0u;
    case Type::f16:
        return F16::one;
    case Type::bf16:
        return BF16::one;
    case Type::f16x2:
        return F16::one * 0x10001u;
    case Type::bf16x2:
        return BF16::one * 0x10001u;
    default:
        context.unsupported("a result of type ." + std::string(ptx::name_of(type)) +
                            " is not defined for it");
    }
}

constexpr auto half_types = {Type::f16, Type::f16x2, Type::bf16, Type::bf16x2};

constexpr bool is_packed(Type type) { return type == Type::f16x2 || type == Type::bf16x2; }

} // namespace

void decode_setp_half(DecodeContext& context, Op& op) {
    check_comparison_modifiers(context);
    expect_types(context, 1);
    const Type type = require_type(context, half_types);
    auto combination = std::make_unique<HalfCombination>();
    decode_combination(context, *combination);
    decode_predicate_pair(context, op, *combination);
    choose(context, *combination, type);
    op.a = context.source(1, type);
    op.b = context.source(2, type);
    op.handler = is_packed(type) ? &run_setp_packed : &run_setp_half;
    op.extra = context.keep(std::move(combination));
}

void decode_set_half(DecodeContext& context, Op& op) {
    check_comparison_modifiers(context);
    expect_types(context, 2);
    const Type result = context.type(0);
    const Type type = require_type(context, half_types, 1);
    const bool mask = result == Type::u32 || result == Type::s32; // Of packed operands: 0xffff in each half.
    if (is_packed(type) ? type != result && !mask : is_packed(result))
        context.unsupported("packed operands give a packed result of the same type, or one of 32 bits");
    auto combination = std::make_unique<HalfCombination>();
    decode_combination(context, *combination);
    choose(context, *combination, type);
    op.dst = context.destination(0, result);
    op.a = context.source(1, type);
    op.b = context.source(2, type);
    op.immediate = true_value_of(context, result);
    op.handler = is_packed(type)             ? &run_set_packed
                 : ptx::size_of(result) == 2 ? &run_set_half<std::uint16_t>
                                             : &run_set_half<std::uint32_t>;
    op.extra = context.keep(std::move(combination));
}

} // namespace emu
