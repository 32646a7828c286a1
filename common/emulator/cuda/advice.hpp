#pragma once
/// \file
/// What programs advised about managed memory. It moves nothing here; programs may ask for it again.

#include "cuda/abi.hpp"
#include "cuda/errors.hpp"

#include <cstddef>

namespace emu::cuda {

class State;

/// cudaMemAdvise. Errors: invalid_value for memory that is not managed, for unknown advice, for a location
/// that does not exist.
Error advise(State& state, const void* pointer, std::size_t count, int advice, abi::MemoryLocation location);
/// cudaMemPrefetchAsync. The same errors, but invalid_device for a device that does not exist.
Error prefetch(State& state, const void* pointer, std::size_t count, abi::MemoryLocation location);
/// cudaMemRangeGetAttribute: what holds for the whole range, else "none".
Error range_attribute(State& state, void* data, std::size_t size, int attribute, const void* pointer,
                      std::size_t count);

} // namespace emu::cuda
