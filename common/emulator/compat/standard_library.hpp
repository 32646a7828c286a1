#pragma once
/// \file
/// Parts of C++20's standard library that the oldest libc++ we compile with (13, of Emscripten 3.1.6) does
/// not have yet. meson.build includes this before everything else where the library is libc++; each part
/// steps back where the library has it.

#include <version>

#if defined(_LIBCPP_VERSION)
#include "compat/algorithms.hpp"
#include "compat/atomic_ref.hpp"
#include "compat/bits.hpp"
#include "compat/characters.hpp"
#include "compat/ordering.hpp"
#endif
