/// \file
/// CUDA runtime: user objects, and what programs ask of graphs as a whole.

#include "cuda/graph_nodes.hpp"
#include "cuda/registry.hpp"
#include "cuda/state.hpp"
#include "cuda/streams.hpp"
#include "cuda/user_objects.hpp"

#include <cstring>
#include <fstream>

using namespace emu::cuda;

namespace {

/// The kernel's launch in a node. Throws ApiError for other nodes.
KernelOperation& kernel_of(Node& node) {
    auto* const operation = std::get_if<KernelOperation>(&node.operation);
    if (!operation)
        throw ApiError(Error::invalid_value);
    return *operation;
}

void set_attribute(Node& node, int attribute, const abi::LaunchAttributeValue& value) {
    KernelOperation& kernel = kernel_of(node);
    switch (static_cast<abi::LaunchAttributeId>(attribute)) {
    case abi::LaunchAttributeId::cluster_dimension:
        if (value.dimension.x == 0 || value.dimension.y == 0 || value.dimension.z == 0)
            throw ApiError(Error::invalid_value);
        kernel.config.cluster = {value.dimension.x, value.dimension.y, value.dimension.z};
        kernel.config.cluster_launch = true;
        break;
    case abi::LaunchAttributeId::cooperative:
        kernel.config.cooperative = value.number != 0;
        break;
    default:
        node.attributes[attribute] = value;
    }
}

abi::LaunchAttributeValue get_attribute(Node& node, int attribute) {
    const KernelOperation& kernel = kernel_of(node);
    abi::LaunchAttributeValue value{};
    switch (static_cast<abi::LaunchAttributeId>(attribute)) {
    case abi::LaunchAttributeId::cluster_dimension:
        if (kernel.config.cluster_launch)
            value.dimension = {kernel.config.cluster.x, kernel.config.cluster.y, kernel.config.cluster.z};
        return value;
    case abi::LaunchAttributeId::cooperative:
        value.number = kernel.config.cooperative;
        return value;
    default:
        const auto found = node.attributes.find(attribute);
        return found == node.attributes.end() ? value : found->second;
    }
}

struct Edges {
    std::vector<Node*> from, to;
};

/// All edges of the graph, or those that leave `only`.
Edges edges_of(const Graph& graph, const Node* only = nullptr) {
    Edges edges;
    for (const auto& node : graph.nodes())
        for (Node* const dependency : node->dependencies)
            if (!only || dependency == only) {
                edges.from.push_back(dependency);
                edges.to.push_back(node.get());
            }
    return edges;
}

/// Fills up to `count` handles.
void give(const std::vector<Node*>& nodes, void** out, std::size_t count) {
    for (std::size_t i = 0; out && i < count; ++i)
        out[i] = i < nodes.size() ? nodes[i] : nullptr;
}

const char* name_of(abi::NodeType type) {
    constexpr const char* names[]{
        "kernel", "copy",         "memset",           "host",           "graph",      "empty",
        "wait",   "event record", "semaphore signal", "semaphore wait", "allocation", "free"};
    return names[static_cast<std::size_t>(type)];
}

std::string label(const Node& node) {
    const std::string type = name_of(type_of(node.operation));
    const auto* const kernel = std::get_if<KernelOperation>(&node.operation);
    return kernel ? type + " " + kernel->function->readable_name() : type;
}

} // namespace

extern "C" {

Error cudaUserObjectCreate(void** object, void* data, abi::HostFunction destroy, unsigned references,
                           unsigned flags) {
    return runtime_call(__func__, [&](State&) {
        constexpr unsigned no_destructor_sync = 1; // cudaUserObjectNoDestructorSync must be set.
        if (!object || !destroy || references == 0 || flags != no_destructor_sync)
            return Error::invalid_value;
        *object = UserObjects::get().create(data, destroy, references);
        return Error::success;
    });
}
Error cudaUserObjectRetain(void* object, unsigned count) {
    return runtime_call(__func__, [&](State&) {
        UserObjects::get().retain(object, count);
        return Error::success;
    });
}
Error cudaUserObjectRelease(void* object, unsigned count) {
    return runtime_call(__func__, [&](State&) {
        UserObjects::get().release(object, count);
        return Error::success;
    });
}
Error cudaGraphRetainUserObject(void* graph, void* object, unsigned count, unsigned flags) {
    return runtime_call(__func__, [&](State& state) {
        Graph& holder = state.graphs().graph(graph);
        constexpr unsigned move = 1; // cudaGraphUserObjectMove: the caller's references become the graph's.
        if (count == 0 || flags > move)
            return Error::invalid_value;
        UserObjects::get().retain(object, count);
        if (flags == move)
            UserObjects::get().release(object, count);
        holder.objects.adopt(object, count);
        return Error::success;
    });
}
Error cudaGraphReleaseUserObject(void* graph, void* object, unsigned count) {
    return runtime_call(__func__, [&](State& state) {
        state.graphs().graph(graph).objects.release(object, count);
        return Error::success;
    });
}

Error cudaGraphKernelNodeSetAttribute(void* node, int attribute, const abi::LaunchAttributeValue* value) {
    return runtime_call(__func__, [&](State& state) {
        if (!value)
            return Error::invalid_value;
        set_attribute(state.graphs().node(node), attribute, *value);
        return Error::success;
    });
}
Error cudaGraphKernelNodeGetAttribute(void* node, int attribute, abi::LaunchAttributeValue* value) {
    return runtime_call(__func__, [&](State& state) {
        if (!value)
            return Error::invalid_value;
        *value = get_attribute(state.graphs().node(node), attribute);
        return Error::success;
    });
}
/// The first parameter is the destination, as in the headers.
Error cudaGraphKernelNodeCopyAttributes(void* to, void* from) {
    return runtime_call(__func__, [&](State& state) {
        Node &source = state.graphs().node(from), &destination = state.graphs().node(to);
        const KernelOperation& kernel = kernel_of(source);
        kernel_of(destination).config.cluster = kernel.config.cluster;
        kernel_of(destination).config.cluster_launch = kernel.config.cluster_launch;
        kernel_of(destination).config.cooperative = kernel.config.cooperative;
        destination.attributes = source.attributes;
        return Error::success;
    });
}

Error cudaGraphGetEdges(void* graph, void** from, void** to, abi::EdgeData* data, std::size_t* count) {
    return runtime_call(__func__, [&](State& state) {
        if (!count || (from == nullptr) != (to == nullptr))
            return Error::invalid_value;
        const Edges edges = edges_of(state.graphs().graph(graph));
        give(edges.from, from, *count);
        give(edges.to, to, *count);
        if (data && from)
            std::memset(data, 0, std::min(*count, edges.from.size()) * sizeof *data);
        if (!from || *count > edges.from.size())
            *count = edges.from.size();
        return Error::success;
    });
}
Error cudaGraphNodeGetDependentNodes(void* node, void** dependents, abi::EdgeData* data, std::size_t* count) {
    return runtime_call(__func__, [&](State& state) {
        if (!count)
            return Error::invalid_value;
        const Node& found = state.graphs().node(node);
        const Edges edges = edges_of(*found.graph, &found);
        give(edges.to, dependents, *count);
        if (data && dependents)
            std::memset(data, 0, std::min(*count, edges.to.size()) * sizeof *data);
        if (!dependents || *count > edges.to.size())
            *count = edges.to.size();
        return Error::success;
    });
}
Error cudaGraphNodeFindInClone(void** node, void* original, void* clone) {
    return runtime_call(__func__, [&](State& state) {
        if (!node)
            return Error::invalid_value;
        *node = &state.graphs().graph(clone).twin(state.graphs().node(original));
        return Error::success;
    });
}
Error cudaGraphChildGraphNodeGetGraph(void* node, void** graph) {
    return runtime_call(__func__, [&](State& state) {
        const auto* const child = std::get_if<GraphOperation>(&state.graphs().node(node).operation);
        if (!child || !graph)
            return Error::invalid_value;
        *graph = state.graphs().adopt(std::const_pointer_cast<Graph>(child->graph));
        return Error::success;
    });
}
Error cudaGraphExecGetFlags(void* exec, unsigned long long* flags) {
    return runtime_call(__func__, [&](State& state) {
        if (!flags)
            return Error::invalid_value;
        *flags = state.graphs().exec(exec).flags;
        return Error::success;
    });
}

/// Writes types, kernels and edges; the flags, which ask for more, change nothing.
Error cudaGraphDebugDotPrint(void* graph, const char* path, unsigned) {
    return runtime_call(__func__, [&](State& state) {
        if (!path)
            return Error::invalid_value;
        const Graph& drawn = state.graphs().graph(graph);
        std::ofstream out(path);
        out << "digraph graph_0 {\n";
        for (const auto& node : drawn.nodes())
            out << "    node_" << node->id << " [label=\"" << label(*node) << "\"]\n";
        const Edges edges = edges_of(drawn);
        for (std::size_t i = 0; i < edges.from.size(); ++i)
            out << "    node_" << edges.from[i]->id << " -> node_" << edges.to[i]->id << "\n";
        out << "}\n";
        return out.flush() ? Error::success : Error::operating_system;
    });
}

} // extern "C"
