#pragma once
/// \file
/// Kernel attributes as runtime and driver ask for them.

#include "cuda/abi.hpp"
#include "cuda/registry.hpp"
#include "hopper_emulator/launch.hpp"

namespace emu::cuda {

abi::FunctionAttributes attributes_of(Function& function);
Error set_attribute(Function& function, abi::FunctionAttribute attribute, int value);
Error get_attribute(Function& function, abi::FunctionAttribute attribute, int* value);
Error parameter_info(Function& function, std::size_t index, std::size_t* offset, std::size_t* size);

/// Largest cluster the kernel may be launched with: 8, or 16 when non-portable sizes are allowed.
unsigned largest_cluster(Function& function, abi::Dim3 block, std::size_t dynamic_shared);
/// cudaOccupancyMaxActiveClusters.
Error count_clusters(Function& function, abi::Dim3 block, std::size_t dynamic_shared, emu::Dim3 cluster,
                     int* count);

} // namespace emu::cuda
