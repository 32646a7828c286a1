#pragma once
/// \file
/// CUDA driver: device pointers are 64-bit integers here.

#include <cstdint>

namespace emu::cuda {

using DevicePointer = std::uint64_t;

inline void* host(DevicePointer pointer) { return reinterpret_cast<void*>(pointer); }
inline void** host(DevicePointer* pointers) { return reinterpret_cast<void**>(pointers); }

} // namespace emu::cuda
