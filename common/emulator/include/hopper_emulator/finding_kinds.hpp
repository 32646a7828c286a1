#pragma once
/// \file
/// The kinds of findings, by name. catalogue.hpp explains each; who only hands findings on (findings.hpp)
/// needs neither.

#include "hopper_emulator/findings.hpp"

#pragma GCC visibility push(default)
namespace emu {

/// Their names are stable; the numbers of the enumerators change when one is added.
enum class Finding : std::uint8_t {
#ifndef DOXYGEN // The file is made when the library is built.
#include "hopper_emulator/finding_kinds.inc"
#endif
};

} // namespace emu
#pragma GCC visibility pop
