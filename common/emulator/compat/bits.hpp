#pragma once
/// \file
/// std::bit_cast (C++20, 26.5.3).

#include <bit>
#include <type_traits>

#ifndef __cpp_lib_bit_cast
namespace std {

/// The same bits as another type.
template <class To, class From>
requires(sizeof(To) == sizeof(From) && is_trivially_copyable_v<To> &&
         is_trivially_copyable_v<From>) constexpr To bit_cast(const From& from) noexcept {
    return __builtin_bit_cast(To, from);
}

} // namespace std
#endif
