#pragma once
/// \file
/// The runtime's functions for graphs, which the driver's forward to.

#include "cuda/abi.hpp"
#include "cuda/errors.hpp"

#include <cstddef>

extern "C" {

using emu::cuda::Error;
namespace abi = emu::cuda::abi;

Error cudaGraphCreate(void** graph, unsigned flags);
Error cudaGraphDestroy(void* graph);
Error cudaGraphClone(void** clone, void* graph);
Error cudaGraphAddEmptyNode(void** node, void* graph, void* const* dependencies, std::size_t count);
Error cudaGraphAddKernelNode(void** node, void* graph, void* const* dependencies, std::size_t count,
                             const abi::KernelNodeParams* params);
Error cudaGraphAddMemcpyNode(void** node, void* graph, void* const* dependencies, std::size_t count,
                             const abi::Copy3D* params);
Error cudaGraphAddMemcpyNode1D(void** node, void* graph, void* const* dependencies, std::size_t count,
                               void* to, const void* from, std::size_t bytes, abi::CopyKind kind);
Error cudaGraphAddMemcpyNodeToSymbol(void** node, void* graph, void* const* dependencies, std::size_t count,
                                     const void* symbol, const void* from, std::size_t bytes,
                                     std::size_t offset, abi::CopyKind kind);
Error cudaGraphAddMemcpyNodeFromSymbol(void** node, void* graph, void* const* dependencies, std::size_t count,
                                       void* to, const void* symbol, std::size_t bytes, std::size_t offset,
                                       abi::CopyKind kind);
Error cudaGraphAddMemsetNode(void** node, void* graph, void* const* dependencies, std::size_t count,
                             const abi::MemsetParams* params);
Error cudaGraphAddHostNode(void** node, void* graph, void* const* dependencies, std::size_t count,
                           const abi::HostNodeParams* params);
Error cudaGraphAddChildGraphNode(void** node, void* graph, void* const* dependencies, std::size_t count,
                                 void* child);
Error cudaGraphAddEventRecordNode(void** node, void* graph, void* const* dependencies, std::size_t count,
                                  void* event);
Error cudaGraphAddEventWaitNode(void** node, void* graph, void* const* dependencies, std::size_t count,
                                void* event);
Error cudaGraphAddNode(void** node, void* graph, void* const* dependencies, const abi::EdgeData*,
                       std::size_t count, abi::NodeParams* params);
Error cudaGraphKernelNodeSetParams(void* node, const abi::KernelNodeParams* params);
Error cudaGraphExecKernelNodeSetParams(void* exec, void* node, const abi::KernelNodeParams* params);
Error cudaGraphMemcpyNodeSetParams(void* node, const abi::Copy3D* params);
Error cudaGraphMemcpyNodeSetParams1D(void* node, void* to, const void* from, std::size_t bytes,
                                     abi::CopyKind kind);
Error cudaGraphExecMemcpyNodeSetParams(void* exec, void* node, const abi::Copy3D* params);
Error cudaGraphExecMemcpyNodeSetParams1D(void* exec, void* node, void* to, const void* from,
                                         std::size_t bytes, abi::CopyKind kind);
Error cudaGraphExecMemcpyNodeSetParamsToSymbol(void* exec, void* node, const void* symbol, const void* from,
                                               std::size_t bytes, std::size_t offset, abi::CopyKind kind);
Error cudaGraphExecMemcpyNodeSetParamsFromSymbol(void* exec, void* node, void* to, const void* symbol,
                                                 std::size_t bytes, std::size_t offset, abi::CopyKind kind);
Error cudaGraphMemcpyNodeSetParamsToSymbol(void* node, const void* symbol, const void* from,
                                           std::size_t bytes, std::size_t offset, abi::CopyKind kind);
Error cudaGraphMemcpyNodeSetParamsFromSymbol(void* node, void* to, const void* symbol, std::size_t bytes,
                                             std::size_t offset, abi::CopyKind kind);
Error cudaGraphMemsetNodeSetParams(void* node, const abi::MemsetParams* params);
Error cudaGraphExecMemsetNodeSetParams(void* exec, void* node, const abi::MemsetParams* params);
Error cudaGraphHostNodeSetParams(void* node, const abi::HostNodeParams* params);
Error cudaGraphExecHostNodeSetParams(void* exec, void* node, const abi::HostNodeParams* params);
Error cudaGraphExecChildGraphNodeSetParams(void* exec, void* node, void* child);
Error cudaGraphExecEventRecordNodeSetEvent(void* exec, void* node, void* event);
Error cudaGraphExecEventWaitNodeSetEvent(void* exec, void* node, void* event);
Error cudaGraphEventRecordNodeSetEvent(void* node, void* event);
Error cudaGraphEventWaitNodeSetEvent(void* node, void* event);
Error cudaGraphNodeSetParams(void* node, abi::NodeParams* params);
Error cudaGraphExecNodeSetParams(void* exec, void* node, abi::NodeParams* params);
Error cudaGraphNodeGetType(void* node, abi::NodeType* type);
Error cudaGraphGetNodes(void* graph, void** nodes, std::size_t* count);
Error cudaGraphGetRootNodes(void* graph, void** nodes, std::size_t* count);
Error cudaGraphNodeGetDependencies(void* node, void** dependencies, abi::EdgeData*, std::size_t* count);
Error cudaGraphAddDependencies(void* graph, void* const* from, void* const* to, const abi::EdgeData*,
                               std::size_t count);
Error cudaGraphRemoveDependencies(void* graph, void* const* from, void* const* to, const abi::EdgeData*,
                                  std::size_t count);
Error cudaGraphDestroyNode(void* node);
Error cudaGraphInstantiate(void** exec, void* graph, unsigned long long flags);
Error cudaGraphInstantiateWithFlags(void** exec, void* graph, unsigned long long flags);
Error cudaGraphInstantiateWithParams(void** exec, void* graph, abi::InstantiateParams* params);
Error cudaGraphExecUpdate(void* exec, void* graph, abi::UpdateResultInfo* result);
Error cudaGraphNodeSetEnabled(void* exec, void* node, unsigned enabled);
Error cudaGraphNodeGetEnabled(void* exec, void* node, unsigned* enabled);
Error cudaGraphUpload(void* exec, void*);
Error cudaGraphLaunch(void* exec, void* stream);
Error cudaGraphExecDestroy(void* exec);
Error cudaGraphAddMemAllocNode(void** node, void* graph, void* const* dependencies, std::size_t count,
                               abi::AllocationNodeParams* params);
Error cudaGraphAddMemFreeNode(void** node, void* graph, void* const* dependencies, std::size_t count,
                              void* pointer);
Error cudaGraphMemAllocNodeGetParams(void* node, abi::AllocationNodeParams* params);
Error cudaGraphMemFreeNodeGetParams(void* node, void** pointer);
Error cudaDeviceGraphMemTrim(int device);
Error cudaDeviceGetGraphMemAttribute(int device, int attribute, void* value);
Error cudaDeviceSetGraphMemAttribute(int device, int attribute, void* value);
Error cudaGraphKernelNodeGetParams(void* node, abi::KernelNodeParams* params);
Error cudaGraphMemsetNodeGetParams(void* node, abi::MemsetParams* params);
Error cudaGraphMemcpyNodeGetParams(void* node, abi::Copy3D* params);
Error cudaGraphHostNodeGetParams(void* node, abi::HostNodeParams* params);
Error cudaGraphEventRecordNodeGetEvent(void* node, void** event);
Error cudaGraphEventWaitNodeGetEvent(void* node, void** event);
Error cudaUserObjectCreate(void** object, void* data, abi::HostFunction destroy, unsigned references,
                           unsigned flags);
Error cudaUserObjectRetain(void* object, unsigned count);
Error cudaUserObjectRelease(void* object, unsigned count);
Error cudaGraphRetainUserObject(void* graph, void* object, unsigned count, unsigned flags);
Error cudaGraphReleaseUserObject(void* graph, void* object, unsigned count);
Error cudaGraphKernelNodeSetAttribute(void* node, int attribute, const abi::LaunchAttributeValue* value);
Error cudaGraphKernelNodeGetAttribute(void* node, int attribute, abi::LaunchAttributeValue* value);
Error cudaGraphKernelNodeCopyAttributes(void* to, void* from);
Error cudaGraphGetEdges(void* graph, void** from, void** to, abi::EdgeData* data, std::size_t* count);
Error cudaGraphNodeGetDependentNodes(void* node, void** dependents, abi::EdgeData* data, std::size_t* count);
Error cudaGraphNodeFindInClone(void** node, void* original, void* clone);
Error cudaGraphChildGraphNodeGetGraph(void* node, void** graph);
Error cudaGraphExecGetFlags(void* exec, unsigned long long* flags);
Error cudaGraphDebugDotPrint(void* graph, const char* path, unsigned);
}
