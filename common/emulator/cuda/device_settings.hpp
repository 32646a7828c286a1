#pragma once
/// \file
/// Limits of the device that programs may set, shared by runtime and driver.

#include "cuda/errors.hpp"

#include <cstddef>

namespace emu::cuda {

class State;

/// cudaLimit / CUlimit numbers. Errors: unsupported_limit for unknown numbers.
Error set_limit(State& state, int limit, std::size_t value);
Error get_limit(State& state, int limit, std::size_t* value);

} // namespace emu::cuda
