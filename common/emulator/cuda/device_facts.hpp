#pragma once
/// \file
/// The emulated device as property and attribute queries show it: an H200 by its public numbers.

#include "cuda/abi.hpp"
#include "hopper_emulator/device.hpp"

#include <cstdint>
#include <optional>

namespace emu::cuda {

inline constexpr const char* device_name = "NVIDIA H200 (emulated)";
inline constexpr const char* pci_bus_id = "0000:00:00.0";
inline constexpr const char device_uuid[17] = "hopper-emulator\0"; ///< 16 bytes.

/// `memory`: bytes of global memory.
abi::DeviceProperties device_properties(std::uint64_t memory);

/// Value of cudaDeviceAttr / CUdevice_attribute number `attribute`; nothing if CUDA 13 has no such number.
std::optional<int> device_attribute(int attribute);

} // namespace emu::cuda
