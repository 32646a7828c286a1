#include "cuda/streams.hpp"

#include "cuda/graph.hpp"
#include "cuda/state.hpp"

#include <algorithm>

namespace emu::cuda {
namespace {

/// Handles of the default stream: null, cudaStreamLegacy, cudaStreamPerThread.
bool is_default(const void* handle) { return reinterpret_cast<std::uintptr_t>(handle) <= 2; }

bool contains(const std::vector<Node*>& nodes, const Node* node) {
    return std::ranges::find(nodes, node) != nodes.end();
}

void append_missing(std::vector<Node*>& to, const std::vector<Node*>& from) {
    for (Node* node : from)
        if (!contains(to, node))
            to.push_back(node);
}

/// No other node of its graph depends on it.
bool is_leaf(const Node& node) {
    return std::ranges::none_of(node.graph->nodes(),
                                [&](const auto& each) { return contains(each->dependencies, &node); });
}

} // namespace

Streams::Streams() = default;

Stream* Streams::create_stream(unsigned flags, int priority) {
    auto stream = std::make_unique<Stream>();
    stream->flags = flags;
    stream->priority = std::clamp(priority, greatest_priority, least_priority);
    const std::lock_guard lock(mutex_);
    stream->id = ++next_id_;
    Stream* raw = stream.get();
    streams_[raw] = std::move(stream);
    return raw;
}

Stream& Streams::stream(void* handle) {
    if (is_default(handle))
        return default_stream_;
    const std::lock_guard lock(mutex_);
    const auto found = streams_.find(handle);
    if (found == streams_.end())
        throw ApiError(Error::invalid_handle);
    return *found->second;
}

void Streams::destroy_stream(void* handle) {
    const std::lock_guard lock(mutex_);
    if (streams_.erase(handle) == 0)
        throw ApiError(Error::invalid_handle);
}

Event* Streams::create_event(unsigned flags) {
    auto event = std::make_unique<Event>();
    event->flags = flags;
    const std::lock_guard lock(mutex_);
    Event* raw = event.get();
    events_[raw] = std::move(event);
    return raw;
}

Event& Streams::event(void* handle) {
    const std::lock_guard lock(mutex_);
    const auto found = events_.find(handle);
    if (found == events_.end())
        throw ApiError(Error::invalid_handle);
    return *found->second;
}

void Streams::destroy_event(void* handle) {
    const std::lock_guard lock(mutex_);
    if (events_.erase(handle) == 0)
        throw ApiError(Error::invalid_handle);
}

Error Streams::record(Stream& stream, Event& event) {
    event.capture = stream.capture;
    event.captured = stream.last;
    return Error::success;
}

Error Streams::wait(Stream& stream, Event& event) {
    if (!event.capture || event.capture->ended) {
        // Work from outside a capture cannot become part of it (cudaErrorStreamCaptureIsolation).
        return stream.capture && event.recorded ? Error::capture_isolation : Error::success;
    }
    if (stream.capture && stream.capture != event.capture)
        return Error::capture_merge;
    stream.capture = event.capture;
    append_missing(stream.last, event.captured);
    return Error::success;
}

Error Streams::submit(State& state, void* handle, Operation operation) {
    Stream& target = stream(handle);
    if (const auto* event = std::get_if<EventOperation>(&operation)) {
        if (event->record) {
            record(target, *event->event);
        } else if (target.capture || (event->event->capture && !event->event->capture->ended)) {
            return wait(target, *event->event);
        }
        if (target.capture)
            return Error::success;
    }
    if (!target.capture)
        return perform(state, operation);
    target.last = {target.capture->graph->add(std::move(operation), target.last)};
    return Error::success;
}

Error Streams::begin_capture(State& state, void* handle, Graph* into, std::vector<Node*> dependencies) {
    if (is_default(handle) && reinterpret_cast<std::uintptr_t>(handle) != 2)
        return Error::capture_unsupported; // The legacy stream cannot be captured.
    Stream& origin = stream(handle);
    if (origin.capture)
        return Error::illegal_state;
    auto capture = std::make_shared<Capture>();
    {
        const std::lock_guard lock(mutex_);
        capture->id = ++next_id_;
    }
    capture->owns_graph = into == nullptr;
    capture->graph = into ? into : state.graphs().create();
    capture->origin = &origin;
    origin.capture = std::move(capture);
    origin.last = std::move(dependencies);
    return Error::success;
}

Error Streams::end_capture(State& state, void* handle, Graph** graph) {
    Stream& origin = stream(handle);
    *graph = nullptr;
    if (!origin.capture)
        return Error::illegal_state;
    if (origin.capture->origin != &origin)
        return Error::capture_unmatched;
    const std::shared_ptr<Capture> capture = origin.capture;
    // Every other stream of this capture must have been joined: its last nodes lie before the origin's.
    bool unjoined = false;
    const std::lock_guard lock(mutex_);
    for (const auto& [key, other] : streams_) {
        if (other->capture != capture || other.get() == &origin)
            continue;
        unjoined |= std::ranges::any_of(
            other->last, [&](Node* node) { return !contains(origin.last, node) && is_leaf(*node); });
        other->capture.reset();
        other->last.clear();
    }
    origin.capture.reset();
    origin.last.clear();
    capture->ended = true;
    if (unjoined) {
        if (capture->owns_graph)
            state.graphs().destroy(capture->graph);
        return Error::capture_unjoined;
    }
    *graph = capture->graph;
    return Error::success;
}

} // namespace emu::cuda
