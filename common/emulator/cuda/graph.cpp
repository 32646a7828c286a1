#include "cuda/graph.hpp"

#include "cuda/state.hpp"

#include <algorithm>
#include <unordered_map>

namespace emu::cuda {

Node* Graph::add(Operation operation, std::vector<Node*> dependencies) {
    nodes_.push_back(
        std::make_unique<Node>(Node{std::move(operation), std::move(dependencies), this, next_id_++}));
    return nodes_.back().get();
}

void Graph::remove(Node* node) {
    for (const auto& each : nodes_)
        std::erase(each->dependencies, node);
    std::erase_if(nodes_, [&](const auto& each) { return each.get() == node; });
}

std::optional<std::size_t> Graph::index_of(const Node* node) const {
    const auto found = std::ranges::find_if(nodes_, [&](const auto& each) { return each.get() == node; });
    if (found == nodes_.end())
        return std::nullopt;
    return static_cast<std::size_t>(found - nodes_.begin());
}

std::shared_ptr<Graph> Graph::clone() const {
    auto copy = std::make_shared<Graph>();
    std::unordered_map<const Node*, Node*> twins;
    for (const auto& node : nodes_) {
        twins[node.get()] = copy->add(node->operation, {});
        twins[node.get()]->enabled = node->enabled;
        twins[node.get()]->id = node->id;
        twins[node.get()]->attributes = node->attributes;
    }
    for (const auto& node : nodes_)
        for (Node* dependency : node->dependencies)
            twins[node.get()]->dependencies.push_back(twins.at(dependency));
    copy->next_id_ = next_id_;
    copy->original_ = this;
    copy->objects = objects;
    return copy;
}

std::vector<const Node*> Graph::order() const {
    std::unordered_map<const Node*, std::size_t> open;
    std::unordered_map<const Node*, std::vector<const Node*>> dependents;
    std::vector<const Node*> ready;
    for (const auto& node : nodes_) {
        open[node.get()] = node->dependencies.size();
        for (const Node* dependency : node->dependencies)
            dependents[dependency].push_back(node.get());
        if (node->dependencies.empty())
            ready.push_back(node.get());
    }
    for (std::size_t i = 0; i < ready.size(); ++i) // `ready` grows while it is walked.
        for (const Node* dependent : dependents[ready[i]])
            if (--open[dependent] == 0)
                ready.push_back(dependent);
    if (ready.size() != nodes_.size())
        ready.clear();
    return ready;
}

Error Graph::run(State& state) const {
    if (frees_on_launch)
        for (const auto& node : nodes_)
            if (const auto* allocation = std::get_if<AllocationOperation>(&node->operation))
                state.device().memory().release(allocation->base);
    for (const Node* node : order())
        if (node->enabled)
            if (const Error error = perform(state, node->operation); error != Error::success)
                return error;
    return Error::success;
}

Node& Graph::twin(const Node& original) const {
    const auto found = std::ranges::find(nodes_, original.id, [](const auto& each) { return each->id; });
    if (original.graph != original_ || found == nodes_.end())
        throw ApiError(Error::invalid_value);
    return **found;
}

Graph* Graphs::create() { return adopt(std::make_shared<Graph>()); }

Graph* Graphs::adopt(std::shared_ptr<Graph> graph) {
    const std::lock_guard lock(mutex_);
    Graph* raw = graph.get();
    graphs_[raw] = std::move(graph);
    return raw;
}

Graph& Graphs::graph(const void* handle) {
    const std::lock_guard lock(mutex_);
    const auto found = graphs_.find(handle);
    if (found == graphs_.end())
        throw ApiError(Error::invalid_value);
    return *found->second;
}

void Graphs::destroy(const void* handle) {
    const std::lock_guard lock(mutex_);
    if (graphs_.erase(handle) == 0)
        throw ApiError(Error::invalid_value);
}

Node& Graphs::node(const void* handle) {
    const std::lock_guard lock(mutex_);
    for (const auto& [key, graph] : graphs_)
        if (const auto index = graph->index_of(static_cast<const Node*>(handle)))
            return *graph->nodes()[*index];
    throw ApiError(Error::invalid_value);
}

GraphExec* Graphs::instantiate(const Graph& graph, unsigned long long flags) {
    if (!graph.nodes().empty() && graph.order().empty())
        throw ApiError(Error::invalid_value, "the graph's dependencies form a cycle");
    auto exec = std::make_unique<GraphExec>(GraphExec{graph.clone(), flags});
    exec->graph->frees_on_launch = flags & 1; // cudaGraphInstantiateFlagAutoFreeOnLaunch
    const std::lock_guard lock(mutex_);
    GraphExec* raw = exec.get();
    execs_[raw] = std::move(exec);
    return raw;
}

GraphExec& Graphs::exec(const void* handle) {
    const std::lock_guard lock(mutex_);
    const auto found = execs_.find(handle);
    if (found == execs_.end())
        throw ApiError(Error::invalid_value);
    return *found->second;
}

void Graphs::destroy_exec(const void* handle) {
    const std::lock_guard lock(mutex_);
    if (execs_.erase(handle) == 0)
        throw ApiError(Error::invalid_value);
}

} // namespace emu::cuda
