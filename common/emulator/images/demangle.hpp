#pragma once
/// \file
/// Names as a reader wrote them.

#include <string>

namespace emu::cuda {

/// `mangled` in the words of C++; as it is if it is no mangled name. Apart from the rest, since the header
/// that this takes declares a namespace `abi`, as CUDA's own is called here.
std::string demangled(const std::string& mangled);

} // namespace emu::cuda
