#include "cuda/streams.hpp"

#include "cuda/graph.hpp"
#include "cuda/state.hpp"
#include "cuda/thread_state.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace emu::cuda {
namespace {

/// Handles of the legacy default stream: null, cudaStreamLegacy.
bool is_legacy(const void* handle) { return reinterpret_cast<std::uintptr_t>(handle) <= 1; }
/// cudaStreamPerThread.
bool is_per_thread(const void* handle) { return reinterpret_cast<std::uintptr_t>(handle) == 2; }

/// Waits for an event that is recorded, or records one, when the graph is launched.
bool is_external(const EventOperation& operation) { return operation.external; }

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

Error wait_for_device(State& state) {
    if (const Error error = state.streams().check_device_wait(); error != Error::success)
        return error;
    state.timeline().wait_for_all();
    return state.synchronise();
}

CaptureMode exchange_capture_mode(CaptureMode mode) {
    return std::exchange(this_thread().capture_mode, mode);
}

Streams::Streams() = default;

Stream* Streams::create_stream(unsigned flags, int priority) {
    auto stream = std::make_unique<Stream>();
    stream->flags = flags;
    stream->priority = std::clamp(priority, greatest_priority, least_priority);
    const std::lock_guard lock(mutex_);
    stream->id = ++next_id_;
    stream->ordinal = ++stream_count_;
    Stream* raw = stream.get();
    streams_[raw] = std::move(stream);
    return raw;
}

Stream& Streams::stream(void* handle) {
    if (is_legacy(handle))
        return default_stream_;
    if (is_per_thread(handle))
        return this_thread().stream;
    const std::lock_guard lock(mutex_);
    const auto found = streams_.find(handle);
    if (found == streams_.end())
        throw ApiError(Error::invalid_handle);
    return *found->second;
}

void Streams::destroy_stream(void* handle) {
    const std::lock_guard lock(mutex_);
    const auto found = streams_.find(handle);
    if (found == streams_.end())
        throw ApiError(Error::invalid_handle);
    const Stream& gone = *found->second;
    if (gone.capture) {
        // A stream that forked off may go before the capture ends; it must have been joined all the same.
        gone.capture->invalidated |= gone.capture->origin == &gone;
        gone.capture->abandoned.insert(gone.capture->abandoned.end(), gone.last.begin(), gone.last.end());
    }
    streams_.erase(found);
}

Event* Streams::create_event(unsigned flags) {
    auto event = std::make_shared<Event>();
    event->flags = flags;
    const std::lock_guard lock(mutex_);
    Event* raw = event.get();
    events_[raw] = std::move(event);
    return raw;
}

std::shared_ptr<Event> Streams::event(void* handle) {
    const std::lock_guard lock(mutex_);
    const auto found = events_.find(handle);
    if (found == events_.end())
        throw ApiError(Error::invalid_handle);
    return found->second;
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

Error Streams::wait_in_capture(Stream& stream, Event& event) {
    if (!event.capture || event.capture->ended) {
        // Work from outside a capture cannot become part of it (cudaErrorStreamCaptureIsolation).
        if (!stream.capture || !event.recorded)
            return Error::success;
        stream.capture->invalidated = true;
        return Error::capture_isolation;
    }
    if (stream.capture && stream.capture != event.capture) {
        stream.capture->invalidated = event.capture->invalidated = true;
        return Error::capture_merge;
    }
    stream.capture = event.capture;
    append_missing(stream.last, event.captured);
    return Error::success;
}

void order_event(const EventOperation& operation, const TaskRef& task, std::vector<TaskRef>& before) {
    if (!operation.record) {
        before.push_back(operation.event->task());
        return;
    }
    operation.event->recorded = true;
    const std::lock_guard lock(operation.event->mutex);
    operation.event->last = task;
}

TaskStyle Streams::style_of(void* handle, const Stream& stream) const {
    const std::string name = is_legacy(handle)       ? "the default stream"
                             : is_per_thread(handle) ? "the thread's default stream"
                                                     : "stream " + std::to_string(stream.ordinal);
    return {&stream, !(stream.flags & stream_non_blocking), is_legacy(handle), name};
}

/// What a task that the stream gets now stands behind (CUDA runtime API, "Stream synchronization behavior").
std::vector<TaskRef> Streams::place(State& state, void* handle, Stream& stream, const TaskStyle& style) {
    std::vector<TaskRef> before{stream.tail};
    if (is_legacy(handle))
        std::ranges::move(state.timeline().blocking(), std::back_inserter(before));
    else if (style.blocking)
        before.push_back(default_stream_.tail);
    return before;
}

std::vector<TaskRef> Streams::pending(State& state, void* handle) {
    Stream& target = stream(handle);
    if (is_legacy(handle))
        return state.timeline().blocking();
    const std::lock_guard lock(order_);
    return {target.tail};
}

void Streams::wait(State& state, void* handle) {
    state.timeline().wait(pending(state, handle));
    saw_end(state, handle);
}

void Streams::saw_end(State& state, void* handle) {
    if (is_legacy(handle)) // pending() tells only of what is still under way.
        state.timeline().order().host_saw_blocking();
    else
        state.timeline().order().host_saw(pending(state, handle));
}

Error Streams::submit_task(State& state, void* handle, const TaskRef& task, const EventOperation* event) {
    Stream& target = stream(handle);
    const TaskStyle style = style_of(handle, target);
    style.apply(*task);
    {
        const std::lock_guard lock(order_);
        std::vector<TaskRef> before = place(state, handle, target, style);
        if (task->programmatic && target.tail && target.tail->is_kernel()) {
            task->primary = target.tail;
            state.timeline().drop_outlasting(*task, before);
        }
        if (event)
            order_event(*event, task, before);
        state.timeline().place(task, before);
        target.tail = task;
    }
    return state.timeline().start(task);
}

/// A graph has many tasks; what comes behind it in the stream stands behind one that stands for their end.
Error Streams::submit_graph(State& state, void* handle, Stream& target, const Graph& graph) {
    TaskStyle style = style_of(handle, target);
    const TaskRef first = empty_task(), end = empty_task();
    style.apply(*first);
    style.apply(*end);
    {
        const std::lock_guard lock(order_);
        state.timeline().place(first, place(state, handle, target, style));
        state.timeline().hold(end);
        target.tail = end;
    }
    state.timeline().start(first);
    if (graph.nodes().size() > 1)
        state.device().wish_for(FootprintWish::all);
    style.graph = ++graph_launches_;
    const Graph::Launched launched = graph.launch(state, {first}, style);
    state.timeline().release(end, {launched.last});
    return launched.error;
}

/// Puts an operation that is not captured into its stream.
Error Streams::run(State& state, void* handle, Stream& target, Operation& operation) {
    if (const auto* graph = std::get_if<GraphOperation>(&operation))
        return submit_graph(state, handle, target, *graph->graph);
    auto* const copy = std::get_if<CopyOperation>(&operation);
    const bool synchronous = copy && is_synchronous(state, *copy);
    if (copy && !synchronous && !state.timeline().all_done(pending(state, handle)))
        stage(state, *copy);
    const TaskRef task = task_of(state, operation);
    const Error error = submit_task(state, handle, task, std::get_if<EventOperation>(&operation));
    if (synchronous)
        state.timeline().wait(task);
    return synchronous && error == Error::success ? task->error : error;
}

Error Streams::submit(State& state, void* handle, Operation operation) {
    Stream& target = stream(handle);
    if (target.capture && target.capture->invalidated)
        return Error::capture_invalidated;
    if (is_per_thread(handle))
        state.device().wish_for(FootprintWish::all);
    if (is_legacy(handle))
        if (const Error error = check_legacy(); error != Error::success)
            return error;
    const auto* const event = std::get_if<EventOperation>(&operation);
    if (event && !(target.capture && is_external(*event))) {
        if (event->record)
            record(target, *event->event);
        else if (target.capture || (event->event->capture && !event->event->capture->ended))
            return wait_in_capture(target, *event->event);
        if (target.capture)
            return Error::success;
    }
    if (!target.capture)
        return run(state, handle, target, operation);
    Node* const node = target.capture->graph->add(std::move(operation), target.last);
    node->captured = true;
    if (const auto* kernel = std::get_if<KernelOperation>(&node->operation); kernel && kernel->programmatic)
        if (target.last.size() == 1) // Joined streams are waited for as a whole.
            node->programmatic = target.last;
    target.last = {node};
    return Error::success;
}

Error Streams::begin_capture(State& state, void* handle, CaptureMode mode, Graph* into,
                             std::vector<Node*> dependencies) {
    if (is_legacy(handle))
        return Error::capture_unsupported;
    Stream& origin = stream(handle);
    if (origin.capture)
        return Error::illegal_state;
    auto capture = std::make_shared<Capture>();
    capture->owns_graph = into == nullptr;
    capture->graph = into ? into : state.graphs().create();
    capture->mode = mode;
    capture->thread = std::this_thread::get_id();
    capture->origin = &origin;
    {
        const std::lock_guard lock(mutex_);
        capture->id = ++next_id_;
        captures_.push_back(capture);
        ++capture_count_;
    }
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
    if (capture->mode != CaptureMode::relaxed && capture->thread != std::this_thread::get_id())
        return Error::capture_wrong_thread;
    // Every other stream of this capture must have been joined: its last nodes lie before the origin's.
    const auto loose = [&](Node* node) { return !contains(origin.last, node) && is_leaf(*node); };
    bool unjoined = std::ranges::any_of(capture->abandoned, loose);
    const std::lock_guard lock(mutex_);
    for (const auto& [key, other] : streams_) {
        if (other->capture != capture || other.get() == &origin)
            continue;
        unjoined |= std::ranges::any_of(other->last, loose);
        other->capture.reset();
        other->last.clear();
    }
    origin.capture.reset();
    origin.last.clear();
    capture->ended = true;
    capture_count_ -= std::erase(captures_, capture);
    if (unjoined || capture->invalidated) {
        if (capture->owns_graph)
            state.graphs().destroy(capture->graph);
        return capture->invalidated ? Error::capture_invalidated : Error::capture_unjoined;
    }
    *graph = capture->graph;
    return Error::success;
}

/// Invalidates the captures for which `forbidden(capture)` holds; tells whether there was one.
template <class Forbidden>
bool Streams::invalidate_if(Forbidden&& forbidden) {
    bool any = false;
    const std::lock_guard lock(mutex_);
    for (const auto& capture : captures_)
        if (forbidden(*capture)) {
            capture->invalidated = true;
            any = true;
        }
    return any;
}

Error Streams::check_unsafe_call() {
    if (capture_count_ == 0 || this_thread().capture_mode == CaptureMode::relaxed)
        return Error::success;
    const CaptureMode mode = this_thread().capture_mode;
    const bool refused = invalidate_if([mode](const Capture& capture) {
        const bool own = capture.thread == std::this_thread::get_id();
        return own ? capture.mode != CaptureMode::relaxed
                   : capture.mode == CaptureMode::global && mode == CaptureMode::global;
    });
    return refused ? Error::capture_unsupported : Error::success;
}

Error Streams::check_device_wait() {
    if (capture_count_ == 0)
        return Error::success;
    return invalidate_if([](const Capture&) { return true; }) ? Error::capture_unsupported : Error::success;
}

Error Streams::check_legacy(bool only_ask) {
    if (capture_count_ == 0)
        return Error::success;
    std::vector<std::shared_ptr<Capture>> blocking;
    const auto add = [&](const Stream& stream) {
        if (stream.capture && !(stream.flags & stream_non_blocking))
            blocking.push_back(stream.capture);
    };
    add(this_thread().stream);
    const std::lock_guard lock(mutex_);
    for (const auto& [handle, stream] : streams_)
        add(*stream);
    for (const auto& capture : blocking)
        capture->invalidated |= !only_ask;
    return blocking.empty() ? Error::success : Error::capture_implicit;
}

Error Streams::check_wait(Stream& stream) {
    if (!stream.capture)
        return Error::success;
    if (std::exchange(stream.capture->invalidated, true))
        return Error::capture_invalidated;
    return Error::capture_unsupported;
}

Error Streams::check_wait(Event& event) {
    if (!event.capture)
        return Error::success;
    if (!event.capture->ended)
        event.capture->invalidated = true;
    return Error::captured_event;
}

} // namespace emu::cuda
