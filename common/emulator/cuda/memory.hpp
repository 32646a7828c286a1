#pragma once
/// \file
/// Memory functions that runtime and driver share.

#include "cuda/abi.hpp"
#include "cuda/errors.hpp"
#include "hopper_emulator/memory.hpp"

#include <cstddef>

namespace emu::cuda {

class State;

/// Allocates; size 0 gives a null pointer, as CUDA does.
Error allocate(State& state, void** pointer, std::size_t size, Allocation::Kind kind);
/// The same, also while a stream is captured (stream-ordered memory of another stream).
Error allocate_during_capture(State& state, void** pointer, std::size_t size, Allocation::Kind kind);
/// Rows are padded to 512 bytes, the pitch that an H200 uses.
Error allocate_pitched(State& state, void** pointer, std::size_t* pitch, std::size_t width,
                       std::size_t height, std::size_t depth);
Error release(State& state, void* pointer);
Error release_host(State& state, void* pointer);
Error register_host(State& state, void* pointer, std::size_t size);
bool is_host_memory(State& state, const void* pointer);
/// Where the bytes are that a program's pointer names: of device memory, not there.
std::byte* bytes_of(State& state, const void* pointer);
Error memory_info(State& state, std::size_t* free, std::size_t* total);
abi::PointerAttributes describe(State& state, const void* pointer);
/// Success if the range is managed memory, where advice and prefetching have no effect here.
Error check_managed(State& state, const void* pointer, std::size_t count);

} // namespace emu::cuda
