/// \file
/// cvt between scalar types (PTX ISA 9.0, section 9.7.9.21). Packed and alternate formats and cvt.pack are in
/// convert_pack.cpp.
///
/// A conversion is a chain of steps over the 32 lanes: load the source as an exact 64-bit integer or double,
/// clamp or round it there, store it in the destination's format. The commonest conversions have handlers of
/// their own, in convert_common.cpp.

#include "machine/instructions/convert.hpp"
#include "machine/instructions/arith.hpp"
#include "machine/instructions/float16.hpp"
#include "machine/instructions/scalar.hpp"

#include <algorithm>
#include <array>
#include <cfloat>
#include <limits>

namespace emu {
namespace {

using ptx::Type;
using s32 = std::int32_t;
using s64 = std::int64_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

/// The values between the steps: integers (u64 as the same bits) or numbers that represent the source
/// exactly.
struct Values {
    alignas(64) std::array<s64, warp_size> integers;
    alignas(64) std::array<double, warp_size> numbers;
};

struct Conversion;
using Step = void (*)(Values&, const Conversion&);

struct Conversion : OpExtra {
    void (*load)(const std::byte*, Values&) = nullptr;
    std::array<Step, 4> steps{};
    unsigned step_count = 0;
    void (*store)(std::byte*, LaneMask, const Values&, Rounding) = nullptr;
    Rounding rounding = Rounding::nearest;
    s64 low = 0, high = 0; ///< Range of an integer destination; of u64 only `high` as bits counts.
    s64 nan_value = 0;     ///< What NaN becomes as an integer.
    double largest = 0;    ///< .satfinite: the largest number of the destination.

    void then(Step step) { steps[step_count++] = step; }
};

Flow run_conversion(Warp& warp, const Op& op, LaneMask mask) {
    const auto& conversion = *static_cast<const Conversion*>(op.extra);
    Values values;
    conversion.load(warp.row<std::byte>(op.a), values);
    for (unsigned i = 0; i < conversion.step_count; ++i)
        conversion.steps[i](values, conversion);
    conversion.store(warp.row<std::byte>(op.dst), mask, values, conversion.rounding);
    return Flow::next;
}

// -- loads; Register is the unsigned type of the source register, at least as wide as the value

template <class V, class Register>
void load_integer(const std::byte* row, Values& values) {
    const auto* r = reinterpret_cast<const Register*>(row);
    for (unsigned i = 0; i < warp_size; ++i)
        values.integers[i] = static_cast<s64>(static_cast<V>(r[i]));
}
template <class Register, bool Flush>
void load_f32(const std::byte* row, Values& values) {
    const auto* r = reinterpret_cast<const Register*>(row);
    for (unsigned i = 0; i < warp_size; ++i) {
        const auto value = std::bit_cast<float>(static_cast<u32>(r[i]));
        values.numbers[i] = Flush ? canonical(flush(value)) : value;
    }
}
void load_f64(const std::byte* row, Values& values) {
    std::memcpy(values.numbers.data(), row, sizeof values.numbers);
}
template <class H, class Register>
void load_half(const std::byte* row, Values& values) {
    const auto* r = reinterpret_cast<const Register*>(row);
    for (unsigned i = 0; i < warp_size; ++i)
        values.numbers[i] = H::decode(static_cast<u16>(r[i]));
}

// -- steps on numbers

template <class F>
void each_number(Values& values, F&& f) {
    for (double& number : values.numbers)
        number = f(number);
}
void round_even(Values& v, const Conversion&) {
    each_number(v, [](double x) { return std::nearbyint(x); });
}
void round_zero(Values& v, const Conversion&) {
    each_number(v, [](double x) { return std::trunc(x); });
}
void round_down(Values& v, const Conversion&) {
    each_number(v, [](double x) { return std::floor(x); });
}
void round_up(Values& v, const Conversion&) {
    each_number(v, [](double x) { return std::ceil(x); });
}
/// .sat, .relu, .satfinite before rounding give what they would after it: the bounds are numbers of the
/// format.
void saturate_numbers(Values& v, const Conversion&) {
    each_number(v, [](double x) { return saturate(x); });
}
void clamp_negative(Values& v, const Conversion&) {
    each_number(v, [](double x) { return x > 0 || x != x ? x : 0.0; });
}
void clamp_finite(Values& v, const Conversion& c) {
    each_number(v, [&](double x) { return x != x ? x : std::clamp(x, -c.largest, c.largest); });
}
void canonical_numbers(Values& v, const Conversion&) {
    each_number(v, [](double x) { return x == x ? x : static_cast<double>(canonical_nan); });
}
/// .ftz of an f32 result: zero unless rounding to 24 bits, whatever the exponent, reaches the least normal
/// number.
void flush_result(Values& v, const Conversion& c) {
    each_number(v, [&](double x) {
        const double size = std::abs(x);
        const bool outwards = c.rounding == (x < 0 ? Rounding::down : Rounding::up);
        const bool reaches = size >= 0x1p-126 || (outwards && size > 0x1.fffffep-127) ||
                             (c.rounding == Rounding::nearest && size >= 0x1.ffffffp-127);
        return reaches || x != x ? x : std::copysign(0.0, x);
    });
}

// -- steps between integers and numbers

/// An integral number as an integer of the destination's range. All bounds but those of 64 bits are doubles.
void number_to_integer(Values& v, const Conversion& c) {
    const auto low = static_cast<double>(c.low), high = static_cast<double>(c.high);
    for (unsigned i = 0; i < warp_size; ++i) {
        const double x = v.numbers[i];
        v.integers[i] = x != x ? c.nan_value : x >= high ? c.high : x <= low ? c.low : static_cast<s64>(x);
    }
}
void number_to_u64(Values& v, const Conversion& c) {
    for (unsigned i = 0; i < warp_size; ++i) {
        const double x = v.numbers[i];
        const u64 value = x >= 0x1p64 ? ~u64{0} : x <= 0 ? 0 : static_cast<u64>(x);
        v.integers[i] = x != x ? c.nan_value : static_cast<s64>(value);
    }
}
void clamp_signed(Values& v, const Conversion& c) {
    for (s64& value : v.integers)
        value = std::clamp(value, c.low, c.high);
}
void clamp_unsigned(Values& v, const Conversion& c) {
    for (s64& value : v.integers)
        value = static_cast<s64>(std::min(static_cast<u64>(value), static_cast<u64>(c.high)));
}
/// Towards f64: one rounding, by the host.
template <class T>
void integer_to_f64(Values& v, const Conversion& c) {
    const RoundingScope scope(c.rounding);
    for (unsigned i = 0; i < warp_size; ++i)
        v.numbers[i] = scope.arithmetic.convert<double>(static_cast<T>(v.integers[i]));
}
/// Towards smaller formats: rounded to odd here, so that the store's rounding is the only one that counts.
template <class T>
void integer_to_number(Values& v, const Conversion&) {
    for (unsigned i = 0; i < warp_size; ++i) {
        const s64 value = v.integers[i];
        const bool negative = std::is_signed_v<T> && value < 0;
        const double size = integer_to_odd(negative ? 0 - static_cast<u64>(value) : static_cast<u64>(value));
        v.numbers[i] = negative ? -size : size;
    }
}

// -- stores; a wider register gets the sign of a signed integer, else zeros

template <class V, class Register>
void store_integer(std::byte* row, LaneMask mask, const Values& values, Rounding) {
    map_lanes(mask, reinterpret_cast<Register*>(row),
              [&](unsigned i) { return static_cast<Register>(static_cast<V>(values.integers[i])); });
}
template <class Register>
void store_f32(std::byte* row, LaneMask mask, const Values& values, Rounding rounding) {
    const RoundingScope scope(rounding);
    map_lanes(mask, reinterpret_cast<Register*>(row), [&](unsigned i) {
        return Register{std::bit_cast<u32>(scope.arithmetic.convert<float>(values.numbers[i]))};
    });
}
void store_f64(std::byte* row, LaneMask mask, const Values& values, Rounding) {
    map_lanes(mask, reinterpret_cast<double*>(row), [&](unsigned i) { return values.numbers[i]; });
}
template <class H, class Register>
void store_half(std::byte* row, LaneMask mask, const Values& values, Rounding rounding) {
    map_lanes(mask, reinterpret_cast<Register*>(row),
              [&](unsigned i) { return Register{encode16<H>(values.numbers[i], rounding)}; });
}

// -- decoding

/// Calls `f(Register{})` with the unsigned type of a register of `bytes`, if it can hold a V.
template <class V, class F>
void with_register(const DecodeContext& context, unsigned bytes, F&& f) {
    if constexpr (sizeof(V) <= 2)
        if (bytes == 2)
            return f(u16{});
    if constexpr (sizeof(V) <= 4)
        if (bytes == 4)
            return f(u32{});
    if (bytes == 8)
        return f(u64{});
    context.malformed("names a register of the wrong size");
}
void choose_load(DecodeContext& context, Conversion& conversion, Type type, unsigned bytes) {
    // An H200 does not flush what it converts to f16; the manual says nothing of an exception.
    const bool ftz = context.has("ftz") && context.type(0) != Type::f16;
    switch (type) {
    case Type::f64:
        conversion.load = load_f64;
        return;
    case Type::f32:
        return with_register<float>(context, bytes, [&]<class R>(R) {
            if constexpr (sizeof(R) >= 4)
                conversion.load = ftz ? load_f32<R, true> : load_f32<R, false>;
        });
    case Type::f16:
        return with_register<u16>(context, bytes, [&]<class R>(R) { conversion.load = load_half<F16, R>; });
    case Type::bf16:
        conversion.load = load_half<BF16, u16>;
        return;
    default:
        with_value(type, [&]<class V>(V) {
            with_register<V>(context, bytes, [&]<class R>(R) { conversion.load = load_integer<V, R>; });
        });
    }
}

void choose_store(DecodeContext& context, Conversion& conversion, Type type, unsigned bytes) {
    switch (type) {
    case Type::f64:
        conversion.store = store_f64;
        return;
    case Type::f32:
        return with_register<float>(context, bytes, [&]<class R>(R) {
            if constexpr (sizeof(R) >= 4)
                conversion.store = store_f32<R>;
        });
    case Type::f16:
        return with_register<u16>(context, bytes, [&]<class R>(R) { conversion.store = store_half<F16, R>; });
    case Type::bf16:
        conversion.store = store_half<BF16, u16>;
        return;
    default:
        with_value(type, [&]<class V>(V) {
            with_register<V>(context, bytes, [&]<class R>(R) { conversion.store = store_integer<V, R>; });
        });
    }
}

/// `.rni`, `.rzi`, `.rmi`, `.rpi`; nullptr if there is none.
Step integral_rounding(const DecodeContext& context) {
    constexpr std::pair<std::string_view, Step> names[] = {
        {"rni", round_even}, {"rzi", round_zero}, {"rmi", round_down}, {"rpi", round_up}};
    Step found = nullptr;
    for (const auto& [name, step] : names)
        if (context.has(name)) {
            if (found)
                context.malformed("has more than one rounding modifier");
            found = step;
        }
    return found;
}
bool has_rounding(const DecodeContext& context) {
    return context.has("rn") || context.has("rz") || context.has("rm") || context.has("rp");
}

/// The range of an integer type as 64-bit integers.
void set_range(Conversion& conversion, Type type) {
    with_value(type, [&]<class V>(V) {
        conversion.low = static_cast<s64>(std::numeric_limits<V>::min());
        conversion.high = static_cast<s64>(std::numeric_limits<V>::max());
    });
}

/// Signed sources keep within s64, so u64's upper bound is no bound for them.
void plan_integer_to_integer(DecodeContext& context, Conversion& conversion, Type to, Type from) {
    if (integral_rounding(context) || has_rounding(context))
        context.malformed("rounds where nothing can be lost");
    if (!context.has("sat"))
        return;
    const unsigned to_size = ptx::size_of(to), from_size = ptx::size_of(from);
    if (ptx::is_signed(to) == ptx::is_signed(from) ? to_size >= from_size
                                                   : ptx::is_signed(to) && to_size > from_size)
        context.malformed("saturates where every value fits");
    set_range(conversion, to);
    if (ptx::is_signed(from)) {
        if (to == Type::u64)
            conversion.high = INT64_MAX;
        conversion.then(clamp_signed);
    } else {
        conversion.then(clamp_unsigned);
    }
}

void plan_float_to_integer(DecodeContext& context, Conversion& conversion, Type to, Type from) {
    const Step rounding = integral_rounding(context);
    if (!rounding || has_rounding(context))
        context.malformed("must say .rni, .rzi, .rmi or .rpi to get an integer");
    set_range(conversion, to);
    if (from == Type::f64 || ptx::size_of(to) == 8)
        conversion.nan_value = static_cast<s64>(u64{1} << (8 * ptx::size_of(to) - 1));
    conversion.then(rounding);
    conversion.then(to == Type::u64 ? number_to_u64 : number_to_integer);
}

void plan_integer_to_float(DecodeContext& context, Conversion& conversion, Type to, Type from) {
    if (!has_rounding(context) || integral_rounding(context))
        context.malformed("must say .rn, .rz, .rm or .rp to get a floating-point number");
    const bool from_signed = ptx::is_signed(from);
    if (to == Type::f64)
        conversion.then(from_signed ? integer_to_f64<s64> : integer_to_f64<u64>);
    else
        conversion.then(from_signed ? integer_to_number<s64> : integer_to_number<u64>);
    if (context.has("sat"))
        conversion.then(saturate_numbers);
}

double largest_of(Type type) {
    return type == Type::f16 ? 65504.0 : type == Type::bf16 ? 0x1.fep127 : static_cast<double>(FLT_MAX);
}

void plan_float_to_float(DecodeContext& context, Conversion& conversion, Type to, Type from) {
    const Step integral = integral_rounding(context);
    const bool rounds = has_rounding(context);
    const unsigned to_size = ptx::size_of(to), from_size = ptx::size_of(from);
    // The assembler takes a rounding mode where bf16 becomes wider and nothing needs rounding.
    const bool idle = from == Type::bf16 && (to == Type::f32 || to == Type::f64);
    if ((integral && (to_size != from_size || rounds)) || (rounds && to_size > from_size && !idle))
        context.malformed("has a rounding modifier that does not belong to its types");
    const bool loses = to_size < from_size || (to_size == from_size && to != from);
    if (loses && !rounds)
        context.malformed("must say how it rounds");
    if (integral)
        conversion.then(integral);
    if (context.has("sat"))
        conversion.then(saturate_numbers);
    if (context.has("relu"))
        conversion.then(clamp_negative);
    if (context.has("satfinite")) {
        conversion.largest = largest_of(to);
        conversion.then(clamp_finite);
    }
    if (to == Type::f32 && context.has("ftz"))
        conversion.then(flush_result);
    if (to == Type::f32 && (integral || context.has("ftz") || from == Type::f16))
        conversion.then(canonical_numbers);
}

void check_modifiers(DecodeContext& context, Type to, Type from) {
    context.allow({"rn", "rz", "rm", "rp", "rni", "rzi", "rmi", "rpi", "ftz", "sat", "relu", "satfinite"});
    if (context.has("ftz") && to != Type::f32 && from != Type::f32)
        context.unsupported(".ftz is defined for .f32 only");
    const bool narrow = (to == Type::f16 || to == Type::bf16) && !is_integer(from);
    if ((context.has("relu") || context.has("satfinite")) && !narrow)
        context.unsupported(".relu and .satfinite are not defined for these types");
    if (context.has("sat") && to == Type::bf16)
        context.unsupported(".sat is not defined for .bf16");
    if (context.has("sat") && (context.has("relu") || context.has("satfinite")))
        context.malformed("takes .sat alone");
}

constexpr auto scalar_types = {Type::u8,  Type::s8,  Type::u16, Type::s16,  Type::u32, Type::s32,
                               Type::u64, Type::s64, Type::f16, Type::bf16, Type::f32, Type::f64};

} // namespace

void decode_cvt_scalar(DecodeContext& context, Op& op) {
    expect_types(context, 2);
    expect_operands(context, 2);
    const Type to = require_type(context, scalar_types, 0), from = require_type(context, scalar_types, 1);
    check_modifiers(context, to, from);
    op.dst = context.destination(0, to, to != Type::bf16);
    op.a = context.source(1, from, from != Type::bf16);
    const unsigned to_bytes = context.register_bytes(context.operand(0), std::max(2u, ptx::size_of(to)));
    const unsigned from_bytes = context.register_bytes(context.operand(1), std::max(2u, ptx::size_of(from)));
    auto conversion = std::make_unique<Conversion>();
    conversion->rounding = rounding_of(context);
    choose_load(context, *conversion, from, from_bytes);
    choose_store(context, *conversion, to, to_bytes);
    if (is_integer(from))
        is_integer(to) ? plan_integer_to_integer(context, *conversion, to, from)
                       : plan_integer_to_float(context, *conversion, to, from);
    else
        is_integer(to) ? plan_float_to_integer(context, *conversion, to, from)
                       : plan_float_to_float(context, *conversion, to, from);
    const Handler common = common_conversion(context, to, from, to_bytes, from_bytes);
    op.handler = common ? common : &run_conversion;
    op.extra = context.keep(std::move(conversion));
}

} // namespace emu
