/// \file
/// CUDA runtime: memory that graphs own, and what programs ask of the nodes of a graph.

#include "cuda/graph_nodes.hpp"
#include "cuda/registry.hpp"
#include "cuda/state.hpp"

#include <cstring>

using namespace emu::cuda;

extern "C" Error cudaGraphAddNode(void** node, void* graph, void* const* dependencies,
                                  const abi::EdgeData* edges, std::size_t count, abi::NodeParams* params);

namespace {

/// Adds the node that `operation()` makes through the general function.
Error add(void** node, void* graph, void* const* dependencies, std::size_t count, abi::NodeParams& params) {
    return cudaGraphAddNode(node, graph, dependencies, nullptr, count, &params);
}

/// Calls `answer(operation)` with the node's operation if it is of the type asked for.
template <class Wanted, class Answer>
Error ask(const char* function, void* node, const void* out, Answer&& answer) {
    return runtime_call(function, [&](State& state) {
        Node& found = state.graphs().node(node);
        const auto* const operation = std::get_if<Wanted>(&found.operation);
        if (!operation || !out)
            return Error::invalid_value;
        answer(*operation, found);
        return Error::success;
    });
}

} // namespace

extern "C" {

Error cudaGraphAddMemAllocNode(void** node, void* graph, void* const* dependencies, std::size_t count,
                               abi::AllocationNodeParams* params) {
    if (!params)
        return cudaGraphAddNode(node, graph, dependencies, nullptr, count, nullptr);
    abi::NodeParams any{};
    any.type = abi::NodeType::allocate;
    any.allocation = *params;
    const Error error = add(node, graph, dependencies, count, any);
    params->pointer = any.allocation.pointer;
    return error;
}
Error cudaGraphAddMemFreeNode(void** node, void* graph, void* const* dependencies, std::size_t count,
                              void* pointer) {
    abi::NodeParams any{};
    any.type = abi::NodeType::free;
    any.pointer = pointer;
    return add(node, graph, dependencies, count, any);
}
Error cudaGraphMemAllocNodeGetParams(void* node, abi::AllocationNodeParams* params) {
    return ask<AllocationOperation>(__func__, node, params, [&](const AllocationOperation& a, Node&) {
        *params = {};
        params->pool.allocation_type = 1; // cudaMemAllocationTypePinned
        params->pool.location = {static_cast<int>(abi::MemoryLocationType::device), 0};
        params->size = a.size;
        params->pointer = reinterpret_cast<void*>(a.base);
    });
}
Error cudaGraphMemFreeNodeGetParams(void* node, void** pointer) {
    return ask<FreeOperation>(__func__, node, pointer,
                              [&](const FreeOperation& f, Node&) { *pointer = f.pointer; });
}

/// Graphs keep no memory beyond what is in use, so there is nothing to give back.
Error cudaDeviceGraphMemTrim(int device) {
    return runtime_call(__func__,
                        [&](State&) { return device == 0 ? Error::success : Error::invalid_device; });
}
Error cudaDeviceGetGraphMemAttribute(int device, int attribute, void* value) {
    return runtime_call(__func__, [&](State& state) {
        if (device != 0)
            return Error::invalid_device;
        if (!value || attribute < 0 || attribute > 3)
            return Error::invalid_value;
        std::uint64_t bytes = 0;
        for (const emu::Allocation& each : state.device().memory().unfreed())
            bytes += each.kept ? each.size : 0;
        std::memcpy(value, &bytes, sizeof bytes);
        return Error::success;
    });
}
/// Only the high-water marks may be set, to zero; none are kept.
Error cudaDeviceSetGraphMemAttribute(int device, int attribute, void* value) {
    return runtime_call(__func__, [&](State&) {
        if (device != 0)
            return Error::invalid_device;
        const bool high_mark = attribute == 1 || attribute == 3;
        return value && high_mark ? Error::success : Error::invalid_value;
    });
}

Error cudaGraphKernelNodeGetParams(void* node, abi::KernelNodeParams* params) {
    return ask<KernelOperation>(__func__, node, params, [&](const KernelOperation& k, Node& found) {
        found.arguments.clear();
        for (const auto& parameter : k.function->kernel().signature)
            found.arguments.push_back(const_cast<std::byte*>(k.parameters.data()) + parameter.offset);
        const auto dim = [](emu::Dim3 d) { return abi::Dim3{d.x, d.y, d.z}; };
        *params = {k.function,
                   dim(k.config.grid),
                   dim(k.config.block),
                   k.config.dynamic_shared,
                   found.arguments.data(),
                   nullptr};
    });
}
Error cudaGraphMemsetNodeGetParams(void* node, abi::MemsetParams* params) {
    return ask<FillOperation>(__func__, node, params, [&](const FillOperation& f, Node&) {
        *params = {f.destination, f.pitch, f.value, f.element_size, f.width, f.height};
    });
}
Error cudaGraphMemcpyNodeGetParams(void* node, abi::Copy3D* params) {
    return ask<CopyOperation>(__func__, node, params, [&](const CopyOperation& c, Node&) {
        const auto rows = [](std::size_t slice, std::size_t pitch, std::size_t height) {
            return pitch && slice ? slice / pitch : height;
        };
        *params = {};
        params->source = {const_cast<std::byte*>(c.source), c.source_pitch, c.width,
                          rows(c.source_slice, c.source_pitch, c.height)};
        params->destination = {c.destination, c.destination_pitch, c.width,
                               rows(c.destination_slice, c.destination_pitch, c.height)};
        params->extent = {c.width, c.height, c.depth};
        params->kind = c.kind;
    });
}
Error cudaGraphHostNodeGetParams(void* node, abi::HostNodeParams* params) {
    return ask<HostOperation>(__func__, node, params, [&](const HostOperation& h, Node&) {
        *params = {h.function, h.user_data};
    });
}
Error cudaGraphEventRecordNodeGetEvent(void* node, void** event) {
    return ask<EventOperation>(__func__, node, event,
                               [&](const EventOperation& e, Node&) { *event = e.event.get(); });
}
Error cudaGraphEventWaitNodeGetEvent(void* node, void** event) {
    return cudaGraphEventRecordNodeGetEvent(node, event);
}

} // extern "C"
