#pragma once
/// \file
/// std::from_chars of floating-point numbers (C++17, 22.13.3), as far as the emulator uses it: libc++ has
/// them from version 20 on.

#include <charconv>
#include <cstdlib>
#include <string>

#if defined(_LIBCPP_VERSION) && _LIBCPP_VERSION < 200000
namespace std {

/// Decimal digits with a fraction and an exponent. Correctly rounded, because strtod() is.
inline from_chars_result from_chars(const char* first, const char* last, double& value) {
    const string text(first, last);
    char* end = nullptr;
    const double number = strtod(text.c_str(), &end);
    if (end == text.c_str())
        return {first, errc::invalid_argument};
    value = number;
    return {first + (end - text.c_str()), errc()};
}

} // namespace std
#endif
