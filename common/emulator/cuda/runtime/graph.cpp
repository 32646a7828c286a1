/// \file
/// CUDA runtime: building graphs by hand, instantiating and launching them.

#include "cuda/copy.hpp"
#include "cuda/graph_nodes.hpp"
#include "cuda/registry.hpp"
#include "cuda/state.hpp"
#include "cuda/streams.hpp"

#include <optional>

using namespace emu::cuda;

namespace {

/// Adds a node with `operation()` behind the dependencies.
template <class MakeOperation>
Error add_node(const char* function, void** node, void* graph, void* const* dependencies, std::size_t count,
               MakeOperation&& operation) {
    return runtime_call(function, [&](State& state) {
        if (!node || (count && !dependencies))
            return Error::invalid_value;
        std::vector<Node*> before;
        for (std::size_t i = 0; i < count; ++i)
            before.push_back(&state.graphs().node(dependencies[i]));
        *node = state.graphs().graph(graph).add(operation(state), std::move(before));
        return Error::success;
    });
}

/// An edge that says more than that one node stands behind another.
void note_edge(Node& node, Node* before, const abi::EdgeData& edge) {
    constexpr unsigned char programmatic = 1; // cudaGraphDependencyTypeProgrammatic
    constexpr unsigned char at_trigger = 1;   // cudaGraphKernelNodePortProgrammatic
    if (edge.type == programmatic && edge.from_port == at_trigger)
        node.programmatic.push_back(before);
}

/// Replaces the operation of a node of a graph, or of its copy in an executable graph when `exec` is given.
template <class MakeOperation>
Error set_node(const char* function, std::optional<void*> exec, void* handle, MakeOperation&& operation) {
    return runtime_call(function, [&](State& state) {
        Node* node = &state.graphs().node(handle);
        if (exec)
            node = &state.graphs().exec(*exec).graph->twin(*node);
        Operation made = operation(state);
        if (type_of(made) != type_of(node->operation))
            return Error::invalid_value;
        node->operation = std::move(made);
        return Error::success;
    });
}

EventOperation event_operation(State& state, void* event, bool record) {
    return {state.streams().event(event), record};
}

CopyOperation to_symbol(State& state, const void* symbol, const void* from, std::size_t bytes,
                        std::size_t offset, abi::CopyKind kind) {
    const auto base = reinterpret_cast<std::byte*>(Registry::get().variable(symbol).address);
    return checked(state, flat(base + offset, from, bytes, kind));
}
CopyOperation from_symbol(State& state, void* to, const void* symbol, std::size_t bytes, std::size_t offset,
                          abi::CopyKind kind) {
    const auto base = reinterpret_cast<std::byte*>(Registry::get().variable(symbol).address);
    return checked(state, flat(to, base + offset, bytes, kind));
}

/// Fills up to *count handles and says how many there are.
Error give_nodes(const std::vector<Node*>& nodes, void** out, std::size_t* count) {
    if (!count)
        return Error::invalid_value;
    if (out)
        for (std::size_t i = 0; i < *count; ++i)
            out[i] = i < nodes.size() ? nodes[i] : nullptr;
    if (!out || *count > nodes.size())
        *count = nodes.size();
    return Error::success;
}

} // namespace

extern "C" {

Error cudaGraphCreate(void** graph, unsigned flags) {
    return runtime_call(__func__, [&](State& state) {
        if (!graph || flags != 0)
            return Error::invalid_value;
        *graph = state.graphs().create();
        return Error::success;
    });
}
Error cudaGraphDestroy(void* graph) {
    return runtime_call(__func__, [&](State& state) {
        state.graphs().destroy(graph);
        return Error::success;
    });
}
Error cudaGraphClone(void** clone, void* graph) {
    return runtime_call(__func__, [&](State& state) {
        if (!clone)
            return Error::invalid_value;
        *clone = state.graphs().adopt(state.graphs().graph(graph).clone());
        return Error::success;
    });
}

Error cudaGraphAddEmptyNode(void** node, void* graph, void* const* dependencies, std::size_t count) {
    return add_node(__func__, node, graph, dependencies, count, [](State&) { return EmptyOperation{}; });
}
Error cudaGraphAddKernelNode(void** node, void* graph, void* const* dependencies, std::size_t count,
                             const abi::KernelNodeParams* params) {
    return add_node(__func__, node, graph, dependencies, count, [&](State&) { return to_operation(params); });
}
Error cudaGraphAddMemcpyNode(void** node, void* graph, void* const* dependencies, std::size_t count,
                             const abi::Copy3D* params) {
    return add_node(__func__, node, graph, dependencies, count,
                    [&](State& state) { return checked(state, box(params)); });
}
Error cudaGraphAddMemcpyNode1D(void** node, void* graph, void* const* dependencies, std::size_t count,
                               void* to, const void* from, std::size_t bytes, abi::CopyKind kind) {
    return add_node(__func__, node, graph, dependencies, count,
                    [&](State& state) { return checked(state, flat(to, from, bytes, kind)); });
}
Error cudaGraphAddMemcpyNodeToSymbol(void** node, void* graph, void* const* dependencies, std::size_t count,
                                     const void* symbol, const void* from, std::size_t bytes,
                                     std::size_t offset, abi::CopyKind kind) {
    return add_node(__func__, node, graph, dependencies, count,
                    [&](State& state) { return to_symbol(state, symbol, from, bytes, offset, kind); });
}
Error cudaGraphAddMemcpyNodeFromSymbol(void** node, void* graph, void* const* dependencies, std::size_t count,
                                       void* to, const void* symbol, std::size_t bytes, std::size_t offset,
                                       abi::CopyKind kind) {
    return add_node(__func__, node, graph, dependencies, count,
                    [&](State& state) { return from_symbol(state, to, symbol, bytes, offset, kind); });
}
Error cudaGraphAddMemsetNode(void** node, void* graph, void* const* dependencies, std::size_t count,
                             const abi::MemsetParams* params) {
    return add_node(__func__, node, graph, dependencies, count,
                    [&](State& state) { return checked(state, to_operation(params)); });
}
Error cudaGraphAddHostNode(void** node, void* graph, void* const* dependencies, std::size_t count,
                           const abi::HostNodeParams* params) {
    return add_node(__func__, node, graph, dependencies, count, [&](State&) { return to_operation(params); });
}
Error cudaGraphAddChildGraphNode(void** node, void* graph, void* const* dependencies, std::size_t count,
                                 void* child) {
    return add_node(__func__, node, graph, dependencies, count,
                    [&](State& state) { return GraphOperation{state.graphs().graph(child).clone()}; });
}
Error cudaGraphAddEventRecordNode(void** node, void* graph, void* const* dependencies, std::size_t count,
                                  void* event) {
    return add_node(__func__, node, graph, dependencies, count,
                    [&](State& state) { return event_operation(state, event, true); });
}
Error cudaGraphAddEventWaitNode(void** node, void* graph, void* const* dependencies, std::size_t count,
                                void* event) {
    return add_node(__func__, node, graph, dependencies, count,
                    [&](State& state) { return event_operation(state, event, false); });
}
Error cudaGraphAddNode(void** node, void* graph, void* const* dependencies, const abi::EdgeData* edges,
                       std::size_t count, abi::NodeParams* params) {
    const Error error = add_node(__func__, node, graph, dependencies, count,
                                 [&](State& state) { return to_operation(state, params); });
    if (error == Error::success)
        for (std::size_t i = 0; edges && i < count; ++i)
            note_edge(*static_cast<Node*>(*node), static_cast<Node*>(dependencies[i]), edges[i]);
    return error;
}

Error cudaGraphKernelNodeSetParams(void* node, const abi::KernelNodeParams* params) {
    return set_node(__func__, std::nullopt, node, [&](State&) { return to_operation(params); });
}
Error cudaGraphExecKernelNodeSetParams(void* exec, void* node, const abi::KernelNodeParams* params) {
    return set_node(__func__, exec, node, [&](State&) { return to_operation(params); });
}
Error cudaGraphMemcpyNodeSetParams(void* node, const abi::Copy3D* params) {
    return set_node(__func__, std::nullopt, node, [&](State& state) { return checked(state, box(params)); });
}
Error cudaGraphMemcpyNodeSetParams1D(void* node, void* to, const void* from, std::size_t bytes,
                                     abi::CopyKind kind) {
    return set_node(__func__, std::nullopt, node,
                    [&](State& state) { return checked(state, flat(to, from, bytes, kind)); });
}
Error cudaGraphExecMemcpyNodeSetParams(void* exec, void* node, const abi::Copy3D* params) {
    return set_node(__func__, exec, node, [&](State& state) { return checked(state, box(params)); });
}
Error cudaGraphExecMemcpyNodeSetParams1D(void* exec, void* node, void* to, const void* from,
                                         std::size_t bytes, abi::CopyKind kind) {
    return set_node(__func__, exec, node,
                    [&](State& state) { return checked(state, flat(to, from, bytes, kind)); });
}
Error cudaGraphExecMemcpyNodeSetParamsToSymbol(void* exec, void* node, const void* symbol, const void* from,
                                               std::size_t bytes, std::size_t offset, abi::CopyKind kind) {
    return set_node(__func__, exec, node,
                    [&](State& state) { return to_symbol(state, symbol, from, bytes, offset, kind); });
}
Error cudaGraphExecMemcpyNodeSetParamsFromSymbol(void* exec, void* node, void* to, const void* symbol,
                                                 std::size_t bytes, std::size_t offset, abi::CopyKind kind) {
    return set_node(__func__, exec, node,
                    [&](State& state) { return from_symbol(state, to, symbol, bytes, offset, kind); });
}
Error cudaGraphMemcpyNodeSetParamsToSymbol(void* node, const void* symbol, const void* from,
                                           std::size_t bytes, std::size_t offset, abi::CopyKind kind) {
    return set_node(__func__, std::nullopt, node,
                    [&](State& state) { return to_symbol(state, symbol, from, bytes, offset, kind); });
}
Error cudaGraphMemcpyNodeSetParamsFromSymbol(void* node, void* to, const void* symbol, std::size_t bytes,
                                             std::size_t offset, abi::CopyKind kind) {
    return set_node(__func__, std::nullopt, node,
                    [&](State& state) { return from_symbol(state, to, symbol, bytes, offset, kind); });
}
Error cudaGraphMemsetNodeSetParams(void* node, const abi::MemsetParams* params) {
    return set_node(__func__, std::nullopt, node,
                    [&](State& state) { return checked(state, to_operation(params)); });
}
Error cudaGraphExecMemsetNodeSetParams(void* exec, void* node, const abi::MemsetParams* params) {
    return set_node(__func__, exec, node, [&](State& state) { return checked(state, to_operation(params)); });
}
Error cudaGraphHostNodeSetParams(void* node, const abi::HostNodeParams* params) {
    return set_node(__func__, std::nullopt, node, [&](State&) { return to_operation(params); });
}
Error cudaGraphExecHostNodeSetParams(void* exec, void* node, const abi::HostNodeParams* params) {
    return set_node(__func__, exec, node, [&](State&) { return to_operation(params); });
}
Error cudaGraphExecChildGraphNodeSetParams(void* exec, void* node, void* child) {
    return set_node(__func__, exec, node,
                    [&](State& state) { return GraphOperation{state.graphs().graph(child).clone()}; });
}
Error cudaGraphExecEventRecordNodeSetEvent(void* exec, void* node, void* event) {
    return set_node(__func__, exec, node, [&](State& state) { return event_operation(state, event, true); });
}
Error cudaGraphExecEventWaitNodeSetEvent(void* exec, void* node, void* event) {
    return set_node(__func__, exec, node, [&](State& state) { return event_operation(state, event, false); });
}
Error cudaGraphEventRecordNodeSetEvent(void* node, void* event) {
    return set_node(__func__, std::nullopt, node,
                    [&](State& state) { return event_operation(state, event, true); });
}
Error cudaGraphEventWaitNodeSetEvent(void* node, void* event) {
    return set_node(__func__, std::nullopt, node,
                    [&](State& state) { return event_operation(state, event, false); });
}
Error cudaGraphNodeSetParams(void* node, abi::NodeParams* params) {
    return set_node(__func__, std::nullopt, node, [&](State& state) { return to_operation(state, params); });
}
Error cudaGraphExecNodeSetParams(void* exec, void* node, abi::NodeParams* params) {
    return set_node(__func__, exec, node, [&](State& state) { return to_operation(state, params); });
}

Error cudaGraphNodeGetType(void* node, abi::NodeType* type) {
    return runtime_call(__func__, [&](State& state) {
        if (!type)
            return Error::invalid_value;
        *type = type_of(state.graphs().node(node).operation);
        return Error::success;
    });
}
Error cudaGraphGetNodes(void* graph, void** nodes, std::size_t* count) {
    return runtime_call(__func__, [&](State& state) {
        std::vector<Node*> all;
        for (const auto& node : state.graphs().graph(graph).nodes())
            all.push_back(node.get());
        return give_nodes(all, nodes, count);
    });
}
Error cudaGraphGetRootNodes(void* graph, void** nodes, std::size_t* count) {
    return runtime_call(__func__, [&](State& state) {
        std::vector<Node*> roots;
        for (const auto& node : state.graphs().graph(graph).nodes())
            if (node->dependencies.empty())
                roots.push_back(node.get());
        return give_nodes(roots, nodes, count);
    });
}
Error cudaGraphNodeGetDependencies(void* node, void** dependencies, abi::EdgeData*, std::size_t* count) {
    return runtime_call(__func__, [&](State& state) {
        return give_nodes(state.graphs().node(node).dependencies, dependencies, count);
    });
}
Error cudaGraphAddDependencies(void* graph, void* const* from, void* const* to, const abi::EdgeData* edges,
                               std::size_t count) {
    return runtime_call(__func__, [&](State& state) {
        static_cast<void>(state.graphs().graph(graph));
        for (std::size_t i = 0; i < count; ++i) {
            Node &before = state.graphs().node(from[i]), &behind = state.graphs().node(to[i]);
            behind.dependencies.push_back(&before);
            if (edges)
                note_edge(behind, &before, edges[i]);
        }
        return Error::success;
    });
}
Error cudaGraphRemoveDependencies(void* graph, void* const* from, void* const* to, const abi::EdgeData*,
                                  std::size_t count) {
    return runtime_call(__func__, [&](State& state) {
        static_cast<void>(state.graphs().graph(graph));
        for (std::size_t i = 0; i < count; ++i) {
            std::erase(state.graphs().node(to[i]).dependencies, &state.graphs().node(from[i]));
            std::erase(state.graphs().node(to[i]).programmatic, &state.graphs().node(from[i]));
        }
        return Error::success;
    });
}
Error cudaGraphDestroyNode(void* node) {
    return runtime_call(__func__, [&](State& state) {
        Node& found = state.graphs().node(node);
        found.graph->remove(&found);
        return Error::success;
    });
}

Error cudaGraphInstantiate(void** exec, void* graph, unsigned long long flags) {
    return runtime_call(__func__, [&](State& state) {
        if (!exec)
            return Error::invalid_value;
        *exec = state.graphs().instantiate(state.graphs().graph(graph), flags);
        return Error::success;
    });
}
Error cudaGraphInstantiateWithFlags(void** exec, void* graph, unsigned long long flags) {
    return cudaGraphInstantiate(exec, graph, flags);
}
Error cudaGraphInstantiateWithParams(void** exec, void* graph, abi::InstantiateParams* params) {
    if (params) {
        params->result = 0;
        params->error_node = nullptr;
    }
    return cudaGraphInstantiate(exec, graph, params ? params->flags : 0);
}
Error cudaGraphExecUpdate(void* exec, void* graph, abi::UpdateResultInfo* result) {
    return runtime_call(__func__, [&](State& state) {
        return update(state.graphs().exec(exec), state.graphs().graph(graph), result);
    });
}
Error cudaGraphNodeSetEnabled(void* exec, void* node, unsigned enabled) {
    return runtime_call(__func__, [&](State& state) {
        state.graphs().exec(exec).graph->twin(state.graphs().node(node)).enabled = enabled != 0;
        return Error::success;
    });
}
Error cudaGraphNodeGetEnabled(void* exec, void* node, unsigned* enabled) {
    return runtime_call(__func__, [&](State& state) {
        if (!enabled)
            return Error::invalid_value;
        *enabled = state.graphs().exec(exec).graph->twin(state.graphs().node(node)).enabled;
        return Error::success;
    });
}
Error cudaGraphUpload(void* exec, void*) {
    return runtime_call(__func__, [&](State& state) {
        static_cast<void>(state.graphs().exec(exec));
        return Error::success;
    });
}
Error cudaGraphLaunch(void* exec, void* stream) {
    return runtime_call(__func__, [&](State& state) {
        return state.streams().submit(state, stream, GraphOperation{state.graphs().exec(exec).graph});
    });
}
Error cudaGraphExecDestroy(void* exec) {
    return runtime_call(__func__, [&](State& state) {
        state.graphs().destroy_exec(exec);
        return Error::success;
    });
}

} // extern "C"
