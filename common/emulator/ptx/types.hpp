#pragma once
/// \file
/// The fundamental types and state spaces of PTX (PTX ISA 9.0, sections 5.1 and 5.2).

#include "hopper_emulator/address.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace emu::ptx {

using emu::name_of;
using emu::Space;

/// Fundamental and packed types. `none` stands for "the instruction names no type".
enum class Type : std::uint8_t {
    none,
    pred,
    b8,
    b16,
    b32,
    b64,
    b128,
    u8,
    u16,
    u32,
    u64,
    s8,
    s16,
    s32,
    s64,
    f16,
    f16x2,
    bf16,
    bf16x2,
    f32,
    f32x2,
    f64,
    tf32,
    e4m3,
    e5m2,
    e4m3x2,
    e5m2x2,
    u16x2,
    s16x2,
};

/// Bytes one value of `type` takes in memory; 0 for `none` and `pred`.
constexpr unsigned size_of(Type type) {
    switch (type) {
    case Type::none:
    case Type::pred:
        return 0;
    case Type::b8:
    case Type::u8:
    case Type::s8:
    case Type::e4m3:
    case Type::e5m2:
        return 1;
    case Type::b16:
    case Type::u16:
    case Type::s16:
    case Type::f16:
    case Type::bf16:
    case Type::e4m3x2:
    case Type::e5m2x2:
        return 2;
    case Type::b32:
    case Type::u32:
    case Type::s32:
    case Type::f32:
    case Type::tf32:
    case Type::f16x2:
    case Type::bf16x2:
    case Type::u16x2:
    case Type::s16x2:
        return 4;
    case Type::b64:
    case Type::u64:
    case Type::s64:
    case Type::f64:
    case Type::f32x2:
        return 8;
    case Type::b128:
        return 16;
    }
    return 0;
}

constexpr bool is_signed(Type type) {
    return type == Type::s8 || type == Type::s16 || type == Type::s32 || type == Type::s64 ||
           type == Type::s16x2;
}

/// The type a modifier such as "u32" names, or nothing if it names none.
std::optional<Type> type_from_name(std::string_view name);

/// The spelling of a type without its dot.
std::string_view name_of(Type type);

} // namespace emu::ptx
