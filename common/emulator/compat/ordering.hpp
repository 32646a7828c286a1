#pragma once
/// \file
/// Three-way comparison of strings (C++20, 21.3.3.2): defaulted comparisons of classes with strings need it.

#include <compare>
#include <string>

#if defined(_LIBCPP_VERSION) && _LIBCPP_VERSION < 140000
namespace std {

/// By their characters.
inline strong_ordering operator<=>(const string& a, const string& b) noexcept { return a.compare(b) <=> 0; }

} // namespace std
#endif
