#include "cuda/graph_nodes.hpp"

#include "cuda/copy.hpp"
#include "cuda/launch.hpp"
#include "cuda/registry.hpp"
#include "cuda/streams.hpp"

#include <algorithm>

namespace emu::cuda {
namespace {

/// cudaGraphExecUpdateResult
enum UpdateResult { update_success = 0, update_topology_changed = 2, update_node_type_changed = 3 };

Error refuse_update(abi::UpdateResultInfo* result, UpdateResult why) {
    if (result)
        result->result = why;
    return Error::graph_exec_update_failure;
}

bool same_dependencies(const Graph& a, const Node& x, const Graph& b, const Node& y) {
    return std::ranges::equal(x.dependencies, y.dependencies,
                              [&](const Node* p, const Node* q) { return a.index_of(p) == b.index_of(q); });
}

} // namespace

KernelOperation to_operation(const abi::KernelNodeParams* params) {
    if (!params)
        throw ApiError(Error::invalid_value);
    LaunchRequest request;
    request.grid = params->grid;
    request.block = params->block;
    request.dynamic_shared = params->dynamic_shared;
    request.arguments = params->parameters;
    request.extra = params->extra;
    return prepare(Registry::get().function(params->function), request);
}

FillOperation to_operation(const abi::MemsetParams* params) {
    if (!params)
        throw ApiError(Error::invalid_value);
    FillOperation f;
    f.destination = static_cast<std::byte*>(params->destination);
    f.pitch = params->pitch;
    f.value = params->value;
    f.element_size = params->element_size;
    f.width = params->width;
    f.height = params->height;
    return f;
}

HostOperation to_operation(const abi::HostNodeParams* params) {
    if (!params || !params->function)
        throw ApiError(Error::invalid_value);
    return {params->function, params->user_data};
}

AllocationOperation to_operation(State& state, abi::AllocationNodeParams* params) {
    if (!params || params->size == 0 || params->pool.location.id != 0 ||
        params->pool.location.type != static_cast<int>(abi::MemoryLocationType::device))
        throw ApiError(Error::invalid_value);
    const AllocationOperation operation{state.device().memory().reserve(params->size), params->size};
    if (operation.base == 0)
        throw ApiError(Error::memory_allocation);
    params->pointer = reinterpret_cast<void*>(operation.base);
    return operation;
}

Operation to_operation(State& state, abi::NodeParams* params) {
    if (!params)
        throw ApiError(Error::invalid_value);
    switch (params->type) {
    case abi::NodeType::kernel:
        return to_operation(&params->kernel);
    case abi::NodeType::copy:
        return checked(state, box(&params->copy.copy));
    case abi::NodeType::set:
        return checked(state, to_operation(&params->set));
    case abi::NodeType::host:
        return to_operation(&params->host);
    case abi::NodeType::graph:
        return GraphOperation{state.graphs().graph(params->graph).clone()};
    case abi::NodeType::empty:
        return EmptyOperation{};
    case abi::NodeType::wait_event:
        return EventOperation{state.streams().event(params->event), false};
    case abi::NodeType::event_record:
        return EventOperation{state.streams().event(params->event), true};
    case abi::NodeType::allocate:
        return to_operation(state, &params->allocation);
    case abi::NodeType::free:
        return FreeOperation{params->pointer};
    }
    throw ApiError(Error::not_supported, "graph nodes of type " +
                                             std::to_string(static_cast<int>(params->type)) +
                                             " are not supported");
}

abi::NodeType type_of(const Operation& operation) {
    struct Types {
        abi::NodeType operator()(const EmptyOperation&) const { return abi::NodeType::empty; }
        abi::NodeType operator()(const KernelOperation&) const { return abi::NodeType::kernel; }
        abi::NodeType operator()(const CopyOperation&) const { return abi::NodeType::copy; }
        abi::NodeType operator()(const FillOperation&) const { return abi::NodeType::set; }
        abi::NodeType operator()(const HostOperation&) const { return abi::NodeType::host; }
        abi::NodeType operator()(const EventOperation& e) const {
            return e.record ? abi::NodeType::event_record : abi::NodeType::wait_event;
        }
        abi::NodeType operator()(const GraphOperation&) const { return abi::NodeType::graph; }
        abi::NodeType operator()(const AllocationOperation&) const { return abi::NodeType::allocate; }
        abi::NodeType operator()(const FreeOperation&) const { return abi::NodeType::free; }
    };
    return std::visit(Types{}, operation);
}

Error update(GraphExec& exec, const Graph& graph, abi::UpdateResultInfo* result) {
    if (result)
        *result = {};
    const auto &old_nodes = exec.graph->nodes(), &new_nodes = graph.nodes();
    if (old_nodes.size() != new_nodes.size())
        return refuse_update(result, update_topology_changed);
    for (std::size_t i = 0; i < old_nodes.size(); ++i) {
        if (old_nodes[i]->operation.index() != new_nodes[i]->operation.index())
            return refuse_update(result, update_node_type_changed);
        if (!same_dependencies(*exec.graph, *old_nodes[i], graph, *new_nodes[i]))
            return refuse_update(result, update_topology_changed);
    }
    for (std::size_t i = 0; i < old_nodes.size(); ++i)
        old_nodes[i]->operation = new_nodes[i]->operation;
    return Error::success;
}

} // namespace emu::cuda
