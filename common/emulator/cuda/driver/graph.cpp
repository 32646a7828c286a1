/// \file
/// CUDA driver: graphs. The runtime's functions do the work: both have the same nodes and, except for copies,
/// the same layout of parameters.

#include "cuda/runtime/graph.hpp"
#include "cuda/copy.hpp"
#include "cuda/state.hpp"

#include <cstring>

using namespace emu::cuda;

namespace {

using emu::cuda::to_runtime;

/// CUDA_KERNEL_NODE_PARAMS_v2 (and v3): what the runtime has, and a CUkernel that counts when `function` is
/// null.
struct DriverKernelParams {
    abi::KernelNodeParams kernel;
    void* library_kernel;
    void* context;
};

/// CUDA_MEMCPY_NODE_PARAMS.
struct DriverCopyParams {
    int flags;
    int reserved;
    void* context;
    abi::DriverCopy3D copy;
};

/// CUgraphNodeParams.
struct DriverNodeParams {
    abi::NodeType type;
    int reserved0[3];
    union {
        long long reserved1[29];
        DriverKernelParams kernel;
        DriverCopyParams copy;
    };
    long long reserved2;
};
static_assert(sizeof(DriverNodeParams) == sizeof(abi::NodeParams));

abi::KernelNodeParams to_runtime(const DriverKernelParams& params) {
    abi::KernelNodeParams kernel = params.kernel;
    if (!kernel.function)
        kernel.function = params.library_kernel;
    return kernel;
}

abi::NodeParams to_runtime(const DriverNodeParams& params) {
    abi::NodeParams any{};
    std::memcpy(static_cast<void*>(&any), &params, sizeof any);
    if (params.type == abi::NodeType::kernel)
        any.kernel = to_runtime(params.kernel);
    if (params.type == abi::NodeType::copy) {
        any.copy = {};
        any.copy.copy = to_runtime(params.copy.copy);
    }
    return any;
}

/// Calls `function(arguments..., parameters for the runtime)`; null stays null.
template <class Runtime, class Function, class Driver, class... Arguments>
Error translated(Function function, const Driver* params, Arguments... arguments) {
    if (!params)
        return forward(function, arguments..., static_cast<const Runtime*>(nullptr));
    try {
        const Runtime runtime = to_runtime(*params);
        return forward(function, arguments..., &runtime);
    } catch (...) {
        return to_driver(translate_exception("cuGraph"));
    }
}

/// The same for parameters that the function writes to: the address of an allocation.
template <class Function, class... Arguments>
Error translated_node(Function function, DriverNodeParams* params, Arguments... arguments) {
    if (!params)
        return forward(function, arguments..., static_cast<abi::NodeParams*>(nullptr));
    try {
        abi::NodeParams runtime = to_runtime(*params);
        const Error error = forward(function, arguments..., &runtime);
        if (params->type == abi::NodeType::allocate)
            std::memcpy(static_cast<void*>(params), &runtime, sizeof runtime);
        return error;
    } catch (...) {
        return to_driver(translate_exception("cuGraph"));
    }
}

using Nodes = void* const*;

} // namespace

extern "C" {

Error cuGraphCreate(void** graph, unsigned flags) { return forward(cudaGraphCreate, graph, flags); }
Error cuGraphDestroy(void* graph) { return forward_by_handle(cudaGraphDestroy, graph); }
Error cuGraphClone(void** clone, void* graph) { return forward(cudaGraphClone, clone, graph); }
Error cuGraphDebugDotPrint(void* graph, const char* path, unsigned flags) {
    return forward(cudaGraphDebugDotPrint, graph, path, flags);
}

Error cuGraphAddEmptyNode(void** node, void* graph, Nodes before, std::size_t count) {
    return forward(cudaGraphAddEmptyNode, node, graph, before, count);
}
Error cuGraphAddKernelNode_v2(void** node, void* graph, Nodes before, std::size_t count,
                              const DriverKernelParams* params) {
    return translated<abi::KernelNodeParams>(cudaGraphAddKernelNode, params, node, graph, before, count);
}
Error cuGraphAddKernelNode(void** node, void* graph, Nodes before, std::size_t count,
                           const abi::KernelNodeParams* params) {
    return forward(cudaGraphAddKernelNode, node, graph, before, count, params);
}
Error cuGraphAddMemcpyNode(void** node, void* graph, Nodes before, std::size_t count,
                           const abi::DriverCopy3D* params, void*) {
    return translated<abi::Copy3D>(cudaGraphAddMemcpyNode, params, node, graph, before, count);
}
Error cuGraphAddMemsetNode(void** node, void* graph, Nodes before, std::size_t count,
                           const abi::MemsetParams* params, void*) {
    return forward(cudaGraphAddMemsetNode, node, graph, before, count, params);
}
Error cuGraphAddHostNode(void** node, void* graph, Nodes before, std::size_t count,
                         const abi::HostNodeParams* params) {
    return forward(cudaGraphAddHostNode, node, graph, before, count, params);
}
Error cuGraphAddChildGraphNode(void** node, void* graph, Nodes before, std::size_t count, void* child) {
    return forward(cudaGraphAddChildGraphNode, node, graph, before, count, child);
}
Error cuGraphAddEventRecordNode(void** node, void* graph, Nodes before, std::size_t count, void* event) {
    return forward(cudaGraphAddEventRecordNode, node, graph, before, count, event);
}
Error cuGraphAddEventWaitNode(void** node, void* graph, Nodes before, std::size_t count, void* event) {
    return forward(cudaGraphAddEventWaitNode, node, graph, before, count, event);
}
Error cuGraphAddMemAllocNode(void** node, void* graph, Nodes before, std::size_t count,
                             abi::AllocationNodeParams* params) {
    return forward(cudaGraphAddMemAllocNode, node, graph, before, count, params);
}
Error cuGraphAddMemFreeNode(void** node, void* graph, Nodes before, std::size_t count,
                            std::uint64_t pointer) {
    return forward(cudaGraphAddMemFreeNode, node, graph, before, count, reinterpret_cast<void*>(pointer));
}
Error cuGraphAddNode_v2(void** node, void* graph, Nodes before, const abi::EdgeData* edges, std::size_t count,
                        DriverNodeParams* params) {
    return translated_node(cudaGraphAddNode, params, node, graph, before, edges, count);
}

Error cuGraphKernelNodeGetParams_v2(void* node, DriverKernelParams* params) {
    if (params)
        *params = {};
    return forward(cudaGraphKernelNodeGetParams, node, params ? &params->kernel : nullptr);
}
Error cuGraphKernelNodeSetParams_v2(void* node, const DriverKernelParams* params) {
    return translated<abi::KernelNodeParams>(cudaGraphKernelNodeSetParams, params, node);
}
Error cuGraphExecKernelNodeSetParams_v2(void* exec, void* node, const DriverKernelParams* params) {
    return translated<abi::KernelNodeParams>(cudaGraphExecKernelNodeSetParams, params, exec, node);
}
Error cuGraphKernelNodeSetAttribute(void* node, int attribute, const abi::LaunchAttributeValue* value) {
    return forward(cudaGraphKernelNodeSetAttribute, node, attribute, value);
}
Error cuGraphKernelNodeGetAttribute(void* node, int attribute, abi::LaunchAttributeValue* value) {
    return forward(cudaGraphKernelNodeGetAttribute, node, attribute, value);
}
Error cuGraphKernelNodeCopyAttributes(void* to, void* from) {
    return forward(cudaGraphKernelNodeCopyAttributes, to, from);
}
Error cuGraphMemcpyNodeGetParams(void* node, abi::DriverCopy3D* params) {
    if (!params)
        return Error::invalid_value;
    abi::Copy3D runtime{};
    const Error error = forward(cudaGraphMemcpyNodeGetParams, node, &runtime);
    if (error == Error::success)
        *params = to_driver(runtime);
    return error;
}
Error cuGraphMemcpyNodeSetParams(void* node, const abi::DriverCopy3D* params) {
    return translated<abi::Copy3D>(cudaGraphMemcpyNodeSetParams, params, node);
}
Error cuGraphExecMemcpyNodeSetParams(void* exec, void* node, const abi::DriverCopy3D* params, void*) {
    return translated<abi::Copy3D>(cudaGraphExecMemcpyNodeSetParams, params, exec, node);
}
Error cuGraphMemsetNodeGetParams(void* node, abi::MemsetParams* params) {
    return forward(cudaGraphMemsetNodeGetParams, node, params);
}
Error cuGraphMemsetNodeSetParams(void* node, const abi::MemsetParams* params) {
    return forward(cudaGraphMemsetNodeSetParams, node, params);
}
Error cuGraphExecMemsetNodeSetParams(void* exec, void* node, const abi::MemsetParams* params, void*) {
    return forward(cudaGraphExecMemsetNodeSetParams, exec, node, params);
}
Error cuGraphHostNodeGetParams(void* node, abi::HostNodeParams* params) {
    return forward(cudaGraphHostNodeGetParams, node, params);
}
Error cuGraphHostNodeSetParams(void* node, const abi::HostNodeParams* params) {
    return forward(cudaGraphHostNodeSetParams, node, params);
}
Error cuGraphExecHostNodeSetParams(void* exec, void* node, const abi::HostNodeParams* params) {
    return forward(cudaGraphExecHostNodeSetParams, exec, node, params);
}
Error cuGraphChildGraphNodeGetGraph(void* node, void** graph) {
    return forward(cudaGraphChildGraphNodeGetGraph, node, graph);
}
Error cuGraphExecChildGraphNodeSetParams(void* exec, void* node, void* child) {
    return forward(cudaGraphExecChildGraphNodeSetParams, exec, node, child);
}
Error cuGraphEventRecordNodeGetEvent(void* node, void** event) {
    return forward(cudaGraphEventRecordNodeGetEvent, node, event);
}
Error cuGraphEventRecordNodeSetEvent(void* node, void* event) {
    return forward(cudaGraphEventRecordNodeSetEvent, node, event);
}
Error cuGraphExecEventRecordNodeSetEvent(void* exec, void* node, void* event) {
    return forward(cudaGraphExecEventRecordNodeSetEvent, exec, node, event);
}
Error cuGraphEventWaitNodeGetEvent(void* node, void** event) {
    return forward(cudaGraphEventWaitNodeGetEvent, node, event);
}
Error cuGraphEventWaitNodeSetEvent(void* node, void* event) {
    return forward(cudaGraphEventWaitNodeSetEvent, node, event);
}
Error cuGraphExecEventWaitNodeSetEvent(void* exec, void* node, void* event) {
    return forward(cudaGraphExecEventWaitNodeSetEvent, exec, node, event);
}
Error cuGraphMemAllocNodeGetParams(void* node, abi::AllocationNodeParams* params) {
    return forward(cudaGraphMemAllocNodeGetParams, node, params);
}
Error cuGraphMemFreeNodeGetParams(void* node, std::uint64_t* pointer) {
    return forward(cudaGraphMemFreeNodeGetParams, node, reinterpret_cast<void**>(pointer));
}
Error cuGraphNodeSetParams(void* node, DriverNodeParams* params) {
    return translated_node(cudaGraphNodeSetParams, params, node);
}
Error cuGraphExecNodeSetParams(void* exec, void* node, DriverNodeParams* params) {
    return translated_node(cudaGraphExecNodeSetParams, params, exec, node);
}

Error cuGraphNodeGetType(void* node, abi::NodeType* type) {
    return forward(cudaGraphNodeGetType, node, type);
}
Error cuGraphGetNodes(void* graph, void** nodes, std::size_t* count) {
    return forward(cudaGraphGetNodes, graph, nodes, count);
}
Error cuGraphGetRootNodes(void* graph, void** nodes, std::size_t* count) {
    return forward(cudaGraphGetRootNodes, graph, nodes, count);
}
Error cuGraphGetEdges_v2(void* graph, void** from, void** to, abi::EdgeData* data, std::size_t* count) {
    return forward(cudaGraphGetEdges, graph, from, to, data, count);
}
Error cuGraphGetEdges(void* graph, void** from, void** to, std::size_t* count) {
    return cuGraphGetEdges_v2(graph, from, to, nullptr, count);
}
Error cuGraphNodeGetDependencies_v2(void* node, void** nodes, abi::EdgeData* data, std::size_t* count) {
    return forward(cudaGraphNodeGetDependencies, node, nodes, data, count);
}
Error cuGraphNodeGetDependencies(void* node, void** nodes, std::size_t* count) {
    return cuGraphNodeGetDependencies_v2(node, nodes, nullptr, count);
}
Error cuGraphNodeGetDependentNodes_v2(void* node, void** nodes, abi::EdgeData* data, std::size_t* count) {
    return forward(cudaGraphNodeGetDependentNodes, node, nodes, data, count);
}
Error cuGraphNodeGetDependentNodes(void* node, void** nodes, std::size_t* count) {
    return cuGraphNodeGetDependentNodes_v2(node, nodes, nullptr, count);
}
Error cuGraphAddDependencies_v2(void* graph, Nodes from, Nodes to, const abi::EdgeData* data,
                                std::size_t count) {
    return forward(cudaGraphAddDependencies, graph, from, to, data, count);
}
Error cuGraphAddDependencies(void* graph, Nodes from, Nodes to, std::size_t count) {
    return cuGraphAddDependencies_v2(graph, from, to, nullptr, count);
}
Error cuGraphRemoveDependencies_v2(void* graph, Nodes from, Nodes to, const abi::EdgeData* data,
                                   std::size_t count) {
    return forward(cudaGraphRemoveDependencies, graph, from, to, data, count);
}
Error cuGraphRemoveDependencies(void* graph, Nodes from, Nodes to, std::size_t count) {
    return cuGraphRemoveDependencies_v2(graph, from, to, nullptr, count);
}
Error cuGraphDestroyNode(void* node) { return forward(cudaGraphDestroyNode, node); }
Error cuGraphNodeFindInClone(void** node, void* original, void* clone) {
    return forward(cudaGraphNodeFindInClone, node, original, clone);
}

Error cuGraphInstantiateWithFlags(void** exec, void* graph, unsigned long long flags) {
    return forward(cudaGraphInstantiate, exec, graph, flags);
}
Error cuGraphInstantiateWithParams(void** exec, void* graph, abi::InstantiateParams* params) {
    return forward(cudaGraphInstantiateWithParams, exec, graph, params);
}
Error cuGraphExecGetFlags(void* exec, std::uint64_t* flags) {
    return forward(cudaGraphExecGetFlags, exec, reinterpret_cast<unsigned long long*>(flags));
}
Error cuGraphExecUpdate_v2(void* exec, void* graph, abi::UpdateResultInfo* result) {
    return forward(cudaGraphExecUpdate, exec, graph, result);
}
Error cuGraphNodeSetEnabled(void* exec, void* node, unsigned enabled) {
    return forward(cudaGraphNodeSetEnabled, exec, node, enabled);
}
Error cuGraphNodeGetEnabled(void* exec, void* node, unsigned* enabled) {
    return forward(cudaGraphNodeGetEnabled, exec, node, enabled);
}
Error cuGraphUpload(void* exec, void* stream) { return forward(cudaGraphUpload, exec, stream); }
Error cuGraphLaunch(void* exec, void* stream) { return forward(cudaGraphLaunch, exec, stream); }
Error cuGraphExecDestroy(void* exec) { return forward_by_handle(cudaGraphExecDestroy, exec); }

Error cuUserObjectCreate(void** object, void* data, abi::HostFunction destroy, unsigned references,
                         unsigned flags) {
    return forward(cudaUserObjectCreate, object, data, destroy, references, flags);
}
Error cuUserObjectRetain(void* object, unsigned count) {
    return forward(cudaUserObjectRetain, object, count);
}
Error cuUserObjectRelease(void* object, unsigned count) {
    return forward(cudaUserObjectRelease, object, count);
}
Error cuGraphRetainUserObject(void* graph, void* object, unsigned count, unsigned flags) {
    return forward(cudaGraphRetainUserObject, graph, object, count, flags);
}
Error cuGraphReleaseUserObject(void* graph, void* object, unsigned count) {
    return forward(cudaGraphReleaseUserObject, graph, object, count);
}

Error cuDeviceGraphMemTrim(int device) { return forward(cudaDeviceGraphMemTrim, device); }
Error cuDeviceGetGraphMemAttribute(int device, int attribute, void* value) {
    return forward(cudaDeviceGetGraphMemAttribute, device, attribute, value);
}
Error cuDeviceSetGraphMemAttribute(int device, int attribute, void* value) {
    return forward(cudaDeviceSetGraphMemAttribute, device, attribute, value);
}

} // extern "C"
