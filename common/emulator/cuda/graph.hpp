#pragma once
/// \file
/// CUDA graphs: nodes with operations and dependencies. A launch runs the nodes in an order that respects the
/// dependencies.

#include "cuda/operation.hpp"
#include "cuda/user_objects.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace emu::cuda {

struct Node {
    Operation operation;
    std::vector<Node*> dependencies;
    Graph* graph = nullptr;
    std::uint64_t id = 0; ///< Within its graph; a clone's node has the number of its original.
    bool enabled = true;
    bool captured = false;                                    ///< Made by a stream capture.
    std::map<int, abi::LaunchAttributeValue> attributes = {}; ///< Of a kernel; those that only guide speed.
    std::vector<void*> arguments = {};                        ///< What cudaGraphKernelNodeGetParams gave out.
    /// The dependencies before whose end the node's kernel may begin (cudaGraphKernelNodePortProgrammatic).
    std::vector<Node*> programmatic = {};
};

class Graph {
  public:
    Graph() = default;
    Graph(const Graph&) = delete;
    Graph& operator=(const Graph&) = delete;

    Node* add(Operation operation, std::vector<Node*> dependencies);
    void remove(Node* node);
    const std::vector<std::unique_ptr<Node>>& nodes() const { return nodes_; }
    /// Position of a node in nodes(); nothing if it is not here.
    std::optional<std::size_t> index_of(const Node* node) const;
    std::shared_ptr<Graph> clone() const;
    /// The node of this clone that stands for `original`. Throws ApiError if this is no clone of its graph.
    Node& twin(const Node& original) const;

    /// The nodes in an order of execution; empty if the dependencies form a cycle (and there are nodes).
    std::vector<const Node*> order() const;
    /// Makes tasks of all nodes, behind `behind` and an earlier launch of the same graph, and a last one
    /// behind them all. `make` gives each task its stream. Stops at the first error.
    struct Launched {
        Error error = Error::success;
        TaskRef last;
    };
    Launched launch(State& state, std::vector<TaskRef> behind, const TaskStyle& style) const;

    /// Whether memory that an earlier launch left is freed when a launch begins
    /// (cudaGraphInstantiateFlagAutoFreeOnLaunch).
    bool frees_on_launch = false;

    /// References to user objects, dropped with the graph. A clone holds its own.
    ObjectReferences objects;

  private:
    Error launch_nodes(State& state, const std::vector<TaskRef>& behind, const TaskStyle& style,
                       std::vector<TaskRef>& all) const;
    TaskRef free_allocations(State& state) const;

    std::vector<std::unique_ptr<Node>> nodes_;
    mutable TaskRef last_launch_;
    std::uint64_t next_id_ = 0;
    const Graph* original_ = nullptr; ///< Of a clone.
};

/// An instantiated graph: a copy that later changes of the original do not reach.
struct GraphExec {
    std::shared_ptr<Graph> graph;
    unsigned long long flags = 0; ///< Of cudaGraphInstantiate.
};

/// All graphs of the process by handle. Thread-safe; a graph itself is not, as in CUDA.
class Graphs {
  public:
    Graph* create();
    Graph* adopt(std::shared_ptr<Graph> graph);
    Graph& graph(const void* handle);
    void destroy(const void* handle);
    Node& node(const void* handle);
    GraphExec* instantiate(const Graph& graph, unsigned long long flags);
    GraphExec& exec(const void* handle);
    void destroy_exec(const void* handle);

  private:
    std::mutex mutex_;
    std::map<const void*, std::shared_ptr<Graph>> graphs_;
    std::map<const void*, std::unique_ptr<GraphExec>> execs_;
};

} // namespace emu::cuda
