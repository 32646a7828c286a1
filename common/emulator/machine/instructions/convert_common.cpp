/// \file
/// The commonest conversions of cvt (PTX ISA 9.0, section 9.7.9.21), one loop over the lanes each.

#include "machine/instructions/convert.hpp"

#include "machine/instructions/arith.hpp"
#include "machine/instructions/float16.hpp"
#include "machine/instructions/scalar.hpp"

#include <limits>
#include <type_traits>

namespace emu {
namespace {

using ptx::Type;
using s32 = std::int32_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

/// Between integers of at least 16 bits; nullptr for others.
Handler common_integer(Type to, Type from) {
    Handler handler = nullptr;
    with_value(from, [&]<class S>(S) {
        with_value(to, [&]<class D>(D) {
            if constexpr (sizeof(S) > 1 && sizeof(D) > 1)
                handler = unary<D, S>([](S a) { return static_cast<D>(a); });
        });
    });
    return handler;
}
/// cvt.rzi of f32: clamped first, because C++ converts only what fits.
template <class T>
constexpr Handler truncate_f32() {
    return unary<T, float>([](float a) {
        constexpr float end = std::is_signed_v<T> ? 0x1p31f : 0x1p32f;
        constexpr float last = std::is_signed_v<T> ? 0x1.fffffep30f : 0x1.fffffep31f;
        constexpr float first = std::is_signed_v<T> ? -0x1p31f : 0.0f;
        const float low = a > first ? a : first;
        const T inside = static_cast<T>(low < last ? low : last);
        const T value = a >= end ? std::numeric_limits<T>::max() : inside;
        return a != a ? T{0} : value;
    });
}
Handler common_float(const DecodeContext& context, Type to, Type from) {
    const bool nearest = context.has("rn"), truncates = context.has("rzi");
    if (to == Type::f32 && from == Type::s32 && nearest)
        return unary<float, s32>([](s32 a) { return static_cast<float>(a); });
    if (to == Type::f32 && from == Type::u32 && nearest)
        return unary<float, u32>([](u32 a) { return static_cast<float>(a); });
    if (to == Type::f64 && from == Type::s32 && nearest)
        return unary<double, s32>([](s32 a) { return static_cast<double>(a); });
    if (to == Type::s32 && from == Type::f32 && truncates)
        return truncate_f32<s32>();
    if (to == Type::u32 && from == Type::f32 && truncates)
        return truncate_f32<u32>();
    if (to == Type::f64 && from == Type::f32 && !truncates)
        return unary<double, float>([](float a) { return static_cast<double>(a); });
    if (to == Type::f32 && from == Type::f64 && nearest)
        return unary<float, double>([](double a) { return static_cast<float>(a); });
    if (to == Type::f32 && from == Type::f16)
        return unary<float, u16>([](u16 a) { return canonical(F16::decode(a)); });
    if (to == Type::f32 && from == Type::bf16)
        return unary<u32, u16>([](u16 a) { return u32{a} << 16; });
    if (to == Type::f16 && from == Type::f32 && nearest)
        return unary<u16, float>([](float a) { return F16::encode(a); });
    if (to == Type::bf16 && from == Type::f32 && nearest)
        return unary<u16, float>([](float a) { return BF16::encode(a); });
    if (to == from && (to == Type::f32 || to == Type::f64) && context.instruction().modifiers.size() == 2)
        return to == Type::f32 ? unary<u32>([](u32 a) { return a; }) : unary<u64>([](u64 a) { return a; });
    return nullptr;
}

} // namespace

Handler common_conversion(const DecodeContext& context, Type to, Type from, unsigned to_bytes,
                          unsigned from_bytes) {
    const bool plain =
        !context.has("ftz") && !context.has("sat") && !context.has("relu") && !context.has("satfinite");
    if (!plain || to_bytes != ptx::size_of(to) || from_bytes != ptx::size_of(from))
        return nullptr;
    return is_integer(to) && is_integer(from) ? common_integer(to, from) : common_float(context, to, from);
}

} // namespace emu
