#pragma once
/// \file
/// Node parameters as programs write them, made into operations.

#include "cuda/abi.hpp"
#include "cuda/graph.hpp"
#include "cuda/operation.hpp"
#include "cuda/state.hpp"

namespace emu::cuda {

// All throw ApiError for parameters that CUDA refuses.
KernelOperation to_operation(const abi::KernelNodeParams* params);
FillOperation to_operation(const abi::MemsetParams* params);
HostOperation to_operation(const abi::HostNodeParams* params);
Operation to_operation(State& state, abi::NodeParams* params);
/// Reserves the memory and says where it is going to be.
AllocationOperation to_operation(State& state, abi::AllocationNodeParams* params);

abi::NodeType type_of(const Operation& operation);

/// Takes over the operations of a graph of the same shape (cudaGraphExecUpdate).
Error update(GraphExec& exec, const Graph& graph, abi::UpdateResultInfo* result);

/// The operation itself if check() accepts it, else throws ApiError.
template <class AnyOperation>
AnyOperation checked(State& state, AnyOperation operation) {
    if (const Error error = check(state, operation); error != Error::success)
        throw ApiError(error);
    return operation;
}

} // namespace emu::cuda
