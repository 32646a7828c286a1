#pragma once
/// \file
/// The one fact the emulator takes from machine code: how many registers nvcc gave each kernel, so that
/// occupancy queries answer as the hardware would.

#include <cstddef>
#include <map>
#include <span>
#include <string>

namespace emu::cuda {

/// Registers per thread by mangled kernel name, from an ELF image for sm_90. Empty if the image is damaged or
/// does not tell; never reads outside it.
std::map<std::string, unsigned> registers_of_cubin(std::span<const std::byte> elf);

} // namespace emu::cuda
