#pragma once
/// \file
/// From an API call's idea of a launch to a checked KernelOperation.

#include "cuda/abi.hpp"
#include "cuda/operation.hpp"

#include <cstddef>
#include <span>

namespace emu::cuda {

class State;

/// The error that a fault of a kernel becomes.
Error error_of(Fault fault);

/// What every launch function boils down to.
struct LaunchRequest {
    abi::Dim3 grid;
    abi::Dim3 block;
    std::size_t dynamic_shared = 0;
    void* stream = nullptr;
    std::span<const abi::LaunchAttribute> attributes;
    bool cooperative = false;
    void** arguments = nullptr; ///< One pointer per parameter.
    void** extra = nullptr;     ///< CU_LAUNCH_PARAM_BUFFER_POINTER and friends, else null.
};

/// Checks the request and copies the arguments. Throws ApiError with the error CUDA defines.
KernelOperation prepare(Function& function, const LaunchRequest& request);

/// prepare() and submit to the stream, events among the attributes included.
Error launch(State& state, Function& function, const LaunchRequest& request);

/// Cluster dimensions that a launch of `function` with these attributes has; {1,1,1}: none.
Dim3 cluster_of(Function& function, std::span<const abi::LaunchAttribute> attributes);

} // namespace emu::cuda
