#pragma once
/// \file
/// What the source files of cvt share.

#include "machine/decoder.hpp"

#include <cstdint>

namespace emu {

/// The integer types that cvt knows.
constexpr bool is_integer(ptx::Type type) {
    switch (type) {
    case ptx::Type::u8:
    case ptx::Type::s8:
    case ptx::Type::u16:
    case ptx::Type::s16:
    case ptx::Type::u32:
    case ptx::Type::s32:
    case ptx::Type::u64:
    case ptx::Type::s64:
        return true;
    default:
        return false;
    }
}

/// Calls `f(V{})` with the host type of an integer type.
template <class F>
void with_value(ptx::Type type, F&& f) {
    switch (type) {
    case ptx::Type::u8:
        return f(std::uint8_t{});
    case ptx::Type::s8:
        return f(std::int8_t{});
    case ptx::Type::u16:
        return f(std::uint16_t{});
    case ptx::Type::s16:
        return f(std::int16_t{});
    case ptx::Type::u32:
        return f(std::uint32_t{});
    case ptx::Type::s32:
        return f(std::int32_t{});
    case ptx::Type::u64:
        return f(std::uint64_t{});
    default:
        return f(std::int64_t{});
    }
}

/// A handler of its own for a common conversion between `to` and `from`, in registers of as many bytes.
/// nullptr if types, modifiers or registers allow none.
Handler common_conversion(const DecodeContext& context, ptx::Type to, ptx::Type from, unsigned to_bytes,
                          unsigned from_bytes);

} // namespace emu
