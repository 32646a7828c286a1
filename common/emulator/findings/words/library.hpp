#pragma once
/// \file
/// Findings in code of CUDA's C++ library: the reader called cuda::barrier, cuda::pipeline or memcpy_async,
/// and looks for their names, not for those of the PTX that their headers are made of.

#include "hopper_emulator/findings.hpp"
#include "machine/program.hpp"

namespace emu {

/// Puts the library's names in place of those of PTX, where no instruction that the finding names was written
/// as PTX by the reader and one of them is the library's.
void use_names_of_library(Diagnostic& diagnostic, const Kernel& kernel);

} // namespace emu
