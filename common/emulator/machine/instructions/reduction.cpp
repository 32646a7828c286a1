#include "machine/instructions/reduction.hpp"

#include "machine/instructions/rounding.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <type_traits>
#include <utility>

namespace emu {

namespace {

float flushed(float x) { return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0f, x) : x; }

float half_to_float(std::uint16_t h) {
    const std::uint32_t sign = std::uint32_t{h & 0x8000u} << 16;
    const unsigned exponent = (h >> 10) & 31;
    const std::uint32_t mantissa = h & 0x3ffu;
    if (exponent == 31)
        return std::bit_cast<float>(sign | 0x7f800000u | (mantissa << 13));
    const float magnitude =
        exponent == 0 ? std::ldexp(static_cast<float>(mantissa), -24)
                      : std::ldexp(static_cast<float>(mantissa | 0x400u), static_cast<int>(exponent) - 25);
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(magnitude) | sign);
}

/// Round to nearest even. A NaN becomes the canonical NaN 0x7fff.
std::uint16_t float_to_half(float f) {
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(f);
    const auto sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000u);
    if (std::isnan(f))
        return 0x7fff;
    const float magnitude = std::fabs(f);
    if (magnitude == 0.0f)
        return sign;
    if (magnitude >= 65520.0f)
        return sign | 0x7c00u;
    int exponent = 0;
    std::frexp(magnitude, &exponent); // magnitude < 2^exponent
    const int unit = std::max(exponent - 11, -24);
    const auto scaled = static_cast<std::uint32_t>(std::nearbyint(std::ldexp(magnitude, -unit)));
    // `scaled` has at most 11 bits (or is 2048, which carries into the exponent by itself).
    return static_cast<std::uint16_t>(sign + scaled + (static_cast<std::uint32_t>(unit + 24) << 10));
}

float bfloat_to_float(std::uint16_t b) { return std::bit_cast<float>(std::uint32_t{b} << 16); }

std::uint16_t float_to_bfloat(float f) {
    if (std::isnan(f))
        return 0x7fff;
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(f);
    return static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1)) >> 16);
}

template <class T>
T combine_integer(ReduceOp op, T old, T value) {
    using U = std::make_unsigned_t<T>;
    switch (op) {
    case ReduceOp::add:
        return static_cast<T>(static_cast<U>(old) + static_cast<U>(value));
    case ReduceOp::min:
        return std::min(old, value);
    case ReduceOp::max:
        return std::max(old, value);
    case ReduceOp::inc:
        return old >= value ? T{0} : static_cast<T>(old + 1);
    case ReduceOp::dec:
        return old == 0 || old > value ? value : static_cast<T>(old - 1);
    case ReduceOp::bit_and:
        return old & value;
    case ReduceOp::bit_or:
        return old | value;
    case ReduceOp::bit_xor:
        return old ^ value;
    }
    return old;
}

/// min and max of numbers return the number where one operand is NaN, and order -0 below +0.
float combine_float(ReduceOp op, float old, float value) {
    if (op == ReduceOp::add)
        return canonical(old + value);
    if (std::isnan(old))
        return value;
    if (std::isnan(value))
        return old;
    if (old == value)
        return (op == ReduceOp::min) == std::signbit(old) ? old : value;
    return op == ReduceOp::min ? std::min(old, value) : std::max(old, value);
}

/// Replaces *to by f(*to, *from) for each element.
template <class Stored, class F>
void each(std::byte* to, const std::byte* from, std::size_t bytes, F&& f) {
    for (std::size_t i = 0; i < bytes; i += sizeof(Stored)) {
        Stored value;
        std::memcpy(&value, from + i, sizeof value);
        std::atomic_ref<Stored> target(*reinterpret_cast<Stored*>(to + i));
        Stored old = target.load(std::memory_order_relaxed);
        while (!target.compare_exchange_weak(old, f(old, value), std::memory_order_relaxed)) {
        }
    }
}

template <class T>
void integers(ReduceOp op, std::byte* to, const std::byte* from, std::size_t bytes) {
    each<T>(to, from, bytes, [op](T old, T value) { return combine_integer(op, old, value); });
}

} // namespace

std::optional<ReduceOp> reduce_op_from_name(std::string_view name) {
    using enum ReduceOp;
    constexpr std::array<std::pair<std::string_view, ReduceOp>, 8> names{{{"add", add},
                                                                          {"min", min},
                                                                          {"max", max},
                                                                          {"inc", inc},
                                                                          {"dec", dec},
                                                                          {"and", bit_and},
                                                                          {"or", bit_or},
                                                                          {"xor", bit_xor}}};
    for (const auto& [text, op] : names)
        if (text == name)
            return op;
    return std::nullopt;
}

void Reduction::apply(std::byte* to, const std::byte* from, std::size_t bytes) const {
    using ptx::Type;
    switch (type) {
    case Type::s32:
        return integers<std::int32_t>(op, to, from, bytes);
    case Type::s64:
        return integers<std::int64_t>(op, to, from, bytes);
    case Type::b64:
    case Type::u64:
        return integers<std::uint64_t>(op, to, from, bytes);
    case Type::f16:
        return each<std::uint16_t>(to, from, bytes, [this](std::uint16_t a, std::uint16_t b) {
            return float_to_half(combine_float(op, half_to_float(a), half_to_float(b)));
        });
    case Type::bf16:
        return each<std::uint16_t>(to, from, bytes, [this](std::uint16_t a, std::uint16_t b) {
            return float_to_bfloat(combine_float(op, bfloat_to_float(a), bfloat_to_float(b)));
        });
    case Type::f32:
        return each<float>(to, from, bytes, [this](float a, float b) {
            return flush ? canonical(flushed(flushed(a) + flushed(b))) : combine_float(op, a, b);
        });
    case Type::f64:
        return each<double>(to, from, bytes, [](double a, double b) { return a + b; });
    default:
        return integers<std::uint32_t>(op, to, from, bytes);
    }
}

} // namespace emu
