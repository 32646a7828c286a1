#include "cuda/graph.hpp"

#include "cuda/state.hpp"
#include "cuda/streams.hpp"

#include <algorithm>
#include <unordered_map>

namespace emu::cuda {

Node* Graph::add(Operation operation, std::vector<Node*> dependencies) {
    nodes_.push_back(
        std::make_unique<Node>(Node{std::move(operation), std::move(dependencies), this, next_id_++}));
    return nodes_.back().get();
}

void Graph::remove(Node* node) {
    for (const auto& each : nodes_) {
        std::erase(each->dependencies, node);
        std::erase(each->programmatic, node);
    }
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
        twins[node.get()]->captured = node->captured;
        twins[node.get()]->id = node->id;
        twins[node.get()]->attributes = node->attributes;
    }
    for (const auto& node : nodes_) {
        for (Node* dependency : node->dependencies)
            twins[node.get()]->dependencies.push_back(twins.at(dependency));
        for (Node* dependency : node->programmatic)
            twins[node.get()]->programmatic.push_back(twins.at(dependency));
    }
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

/// Memory that the last launch left is freed when the next begins.
TaskRef Graph::free_allocations(State& state) const {
    std::vector<Address> left;
    for (const auto& node : nodes_)
        if (const auto* allocation = std::get_if<AllocationOperation>(&node->operation))
            left.push_back(allocation->base);
    return std::make_shared<Task>(QuickWork([&state, left] {
        for (const Address base : left)
            state.device().memory().release(base);
        return Error::success;
    }));
}

Error Graph::launch_nodes(State& state, const std::vector<TaskRef>& behind, const TaskStyle& style,
                          std::vector<TaskRef>& all) const {
    std::unordered_map<const Node*, TaskRef> tasks;
    for (const Node* node : order()) {
        std::vector<TaskRef> before;
        for (const Node* dependency : node->dependencies)
            before.push_back(tasks[dependency]);
        if (before.empty())
            before = behind;
        TaskRef task;
        if (const auto* child = std::get_if<GraphOperation>(&node->operation); child && node->enabled) {
            const Launched inner = child->graph->launch(state, before, style);
            if (inner.error != Error::success)
                return inner.error;
            task = inner.last;
        } else {
            task = node->enabled ? task_of(state, node->operation) : empty_task();
            if (const auto* event = std::get_if<EventOperation>(&node->operation); event && node->enabled)
                order_event(*event, task, before);
            style.apply(*task);
            task->facts.captured = node->captured;
            if (task->is_kernel() && !node->programmatic.empty()) // Of several, the others end before.
                if (const TaskRef& primary = tasks[node->programmatic.front()]; primary->is_kernel()) {
                    state.device().wish_for(FootprintWish::all);
                    task->primary = primary;
                }
            if (const Error error = state.timeline().add(task, before); error != Error::success)
                return error;
        }
        all.push_back(tasks[node] = task);
    }
    return Error::success;
}

Graph::Launched Graph::launch(State& state, std::vector<TaskRef> behind, const TaskStyle& style) const {
    behind.push_back(last_launch_); // A graph does not run beside itself.
    std::vector<TaskRef> all;
    if (frees_on_launch) {
        const TaskRef freeing = free_allocations(state);
        style.apply(*freeing);
        state.timeline().add(freeing, behind);
        behind = {freeing};
    }
    Launched done;
    done.error = launch_nodes(state, behind, style, all);
    all.insert(all.end(), behind.begin(), behind.end());
    done.last = empty_task();
    style.apply(*done.last);
    state.timeline().add(done.last, all);
    last_launch_ = done.last;
    return done;
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
