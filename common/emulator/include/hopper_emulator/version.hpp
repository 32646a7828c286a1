#pragma once
/// \file
/// The version of the library.

#include <string_view>

#pragma GCC visibility push(default)
namespace emu {

/// "MAJOR.MINOR.PATCH" of the library that runs, which may be a later patch than that of these headers. Any
/// thread may ask.
std::string_view version();

} // namespace emu
#pragma GCC visibility pop
