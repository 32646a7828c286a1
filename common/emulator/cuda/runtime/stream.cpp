/// \file
/// CUDA runtime: streams, events, host functions, stream capture.

#include "cuda/graph.hpp"
#include "cuda/state.hpp"
#include "cuda/streams.hpp"
#include "cuda/timeline.hpp"

#include <memory>
#include <utility>

using namespace emu::cuda;

namespace {

/// cudaStreamCallback_t
using StreamCallback = void (*)(void* stream, Error status, void* user_data);

struct CallbackCall {
    StreamCallback function;
    void* stream;
    void* user_data;
};

void run_callback(void* call) {
    const std::unique_ptr<CallbackCall> owned(static_cast<CallbackCall*>(call));
    owned->function(owned->stream, Error::success, owned->user_data);
}

template <class Body>
Error with_stream(const char* function, void* stream, Body&& body) {
    return runtime_call(function, [&](State& state) { return body(state, state.streams().stream(stream)); });
}

abi::CaptureStatus status_of(const Stream& stream) {
    if (!stream.capture)
        return abi::CaptureStatus::none;
    return stream.capture->invalidated ? abi::CaptureStatus::invalidated : abi::CaptureStatus::active;
}

/// An error that a kernel left behind comes first.
Error query(State& state, const std::vector<TaskRef>& tasks) {
    const Error error = state.synchronise();
    if (error != Error::success)
        return error;
    if (!state.timeline().all_done(tasks))
        return Error::not_ready;
    return state.synchronise();
}

} // namespace

extern "C" {

Error cudaStreamCreateWithPriority(void** stream, unsigned flags, int priority) {
    return runtime_call(__func__, [&](State& state) {
        if (!stream || flags > stream_non_blocking)
            return Error::invalid_value;
        *stream = state.streams().create_stream(flags, priority);
        state.device().wish_for(emu::FootprintWish::all);
        return Error::success;
    });
}
Error cudaStreamCreate(void** stream) { return cudaStreamCreateWithPriority(stream, 0, 0); }
Error cudaStreamCreateWithFlags(void** stream, unsigned flags) {
    return cudaStreamCreateWithPriority(stream, flags, 0);
}
Error cudaStreamDestroy(void* stream) {
    return runtime_call(__func__, [&](State& state) {
        state.streams().destroy_stream(stream);
        return Error::success;
    });
}
Error cudaStreamSynchronize(void* stream) {
    return with_stream(__func__, stream, [&](State& state, Stream& target) {
        if (const Error error = Streams::check_wait(target); error != Error::success)
            return error;
        state.streams().wait(state, stream);
        return state.synchronise();
    });
}
Error cudaStreamQuery(void* stream) {
    return with_stream(__func__, stream, [&](State& state, Stream& target) {
        if (const Error error = Streams::check_wait(target); error != Error::success)
            return error;
        const Error error = query(state, state.streams().pending(state, stream));
        if (error == Error::success)
            state.streams().saw_end(state, stream);
        return error;
    });
}
Error cudaStreamGetPriority(void* stream, int* priority) {
    return with_stream(__func__, stream, [&](State&, Stream& s) { return put(priority, s.priority); });
}
Error cudaStreamGetFlags(void* stream, unsigned* flags) {
    return with_stream(__func__, stream, [&](State&, Stream& s) { return put(flags, s.flags); });
}
Error cudaStreamGetId(void* stream, unsigned long long* id) {
    return with_stream(__func__, stream,
                       [&](State&, Stream& s) { return put(id, static_cast<unsigned long long>(s.id)); });
}
Error cudaStreamGetDevice(void* stream, int* device) {
    return with_stream(__func__, stream, [&](State&, Stream&) { return put(device, 0); });
}
Error cudaStreamWaitEvent(void* stream, void* event, unsigned flags) {
    return runtime_call(__func__, [&](State& state) {
        if (flags > event_external)
            return Error::invalid_value;
        return state.streams().submit(
            state, stream, EventOperation{state.streams().event(event), false, flags == event_external});
    });
}
Error cudaStreamAddCallback(void* stream, StreamCallback callback, void* user_data, unsigned flags) {
    return with_stream(__func__, stream, [&](State& state, Stream& target) {
        if (!callback || flags != 0)
            return Error::invalid_value;
        if (target.capture) // The call's data are used up by one execution, so it cannot become a node.
            return Error::capture_unsupported;
        return state.streams().submit(
            state, stream, HostOperation{run_callback, new CallbackCall{callback, stream, user_data}});
    });
}
Error cudaLaunchHostFunc(void* stream, abi::HostFunction function, void* user_data) {
    return runtime_call(__func__, [&](State& state) {
        if (!function)
            return Error::invalid_value;
        return state.streams().submit(state, stream, HostOperation{function, user_data});
    });
}
Error cudaStreamCopyAttributes(void* to, void* from) {
    return runtime_call(__func__, [&](State& state) {
        state.streams().stream(to).attributes = state.streams().stream(from).attributes;
        return Error::success;
    });
}
Error cudaStreamGetAttribute(void* stream, int attribute, abi::LaunchAttributeValue* value) {
    return with_stream(__func__, stream, [&](State&, Stream& s) {
        if (!value)
            return Error::invalid_value;
        const auto found = s.attributes.find(attribute);
        if (found != s.attributes.end())
            *value = found->second;
        else
            *value = {};
        return Error::success;
    });
}
Error cudaStreamSetAttribute(void* stream, int attribute, const abi::LaunchAttributeValue* value) {
    return with_stream(__func__, stream, [&](State&, Stream& s) {
        if (!value)
            return Error::invalid_value;
        s.attributes[attribute] = *value; // Kept for the query; they only guide speed.
        return Error::success;
    });
}

Error cudaEventCreateWithFlags(void** event, unsigned flags) {
    return runtime_call(__func__, [&](State& state) {
        const bool interprocess_needs_no_timing =
            (flags & event_interprocess) && !(flags & event_disable_timing);
        if (!event || flags > 7 || interprocess_needs_no_timing)
            return Error::invalid_value;
        *event = state.streams().create_event(flags);
        return Error::success;
    });
}
Error cudaEventCreate(void** event) { return cudaEventCreateWithFlags(event, 0); }
Error cudaEventDestroy(void* event) {
    return runtime_call(__func__, [&](State& state) {
        state.streams().destroy_event(event);
        return Error::success;
    });
}
Error cudaEventRecordWithFlags(void* event, void* stream, unsigned flags) {
    return runtime_call(__func__, [&](State& state) {
        if (flags > event_external)
            return Error::invalid_value;
        return state.streams().submit(
            state, stream, EventOperation{state.streams().event(event), true, flags == event_external});
    });
}
Error cudaEventRecord(void* event, void* stream) { return cudaEventRecordWithFlags(event, stream, 0); }
Error cudaEventSynchronize(void* event) {
    return runtime_call(__func__, [&](State& state) {
        const auto found = state.streams().event(event);
        if (const Error error = Streams::check_wait(*found); error != Error::success)
            return error;
        state.timeline().wait(found->task());
        return state.synchronise();
    });
}
Error cudaEventQuery(void* event) {
    return runtime_call(__func__, [&](State& state) {
        const auto found = state.streams().event(event);
        if (const Error error = Streams::check_wait(*found); error != Error::success)
            return error;
        const TaskRef task = found->task();
        const Error error = query(state, {task});
        if (error == Error::success)
            state.timeline().order().host_saw({task});
        return error;
    });
}
Error cudaEventElapsedTime(float* milliseconds, void* start, void* end) {
    return runtime_call(__func__, [&](State& state) {
        const auto first = state.streams().event(start), second = state.streams().event(end);
        if (!milliseconds)
            return Error::invalid_value;
        for (Event* const each : {first.get(), second.get()})
            if (const Error error = Streams::check_wait(*each); error != Error::success)
                return error;
        if ((first->flags | second->flags) & event_disable_timing || !first->recorded || !second->recorded)
            return Error::invalid_handle;
        if (!state.timeline().all_done({first->task(), second->task()}))
            return Error::not_ready;
        *milliseconds = 0.0f; // Emulated work takes no GPU time; see the page "How the emulator works".
        return state.synchronise();
    });
}

Error cudaStreamBeginCapture(void* stream, int mode) {
    return runtime_call(__func__, [&](State& state) {
        if (mode < 0 || mode > 2)
            return Error::invalid_value;
        return state.streams().begin_capture(state, stream, static_cast<CaptureMode>(mode), nullptr, {});
    });
}
Error cudaStreamBeginCaptureToGraph(void* stream, void* graph, void* const* dependencies,
                                    const abi::EdgeData*, std::size_t count, int mode) {
    return runtime_call(__func__, [&](State& state) {
        if (mode < 0 || mode > 2 || (count && !dependencies))
            return Error::invalid_value;
        std::vector<Node*> nodes;
        for (std::size_t i = 0; i < count; ++i)
            nodes.push_back(&state.graphs().node(dependencies[i]));
        return state.streams().begin_capture(state, stream, static_cast<CaptureMode>(mode),
                                             &state.graphs().graph(graph), std::move(nodes));
    });
}
Error cudaStreamEndCapture(void* stream, void** graph) {
    return runtime_call(__func__, [&](State& state) {
        if (!graph)
            return Error::invalid_value;
        Graph* captured = nullptr;
        const Error error = state.streams().end_capture(state, stream, &captured);
        *graph = captured;
        return error;
    });
}
Error cudaStreamIsCapturing(void* stream, abi::CaptureStatus* status) {
    return with_stream(__func__, stream, [&](State& state, Stream& s) {
        if (reinterpret_cast<std::uintptr_t>(stream) <= 1)
            if (const Error error = state.streams().check_legacy(true); error != Error::success)
                return error;
        return put(status, status_of(s));
    });
}
Error cudaStreamGetCaptureInfo(void* stream, abi::CaptureStatus* status, unsigned long long* id, void** graph,
                               Node* const** dependencies, const abi::EdgeData** edges, std::size_t* count) {
    return with_stream(__func__, stream, [&](State&, Stream& s) {
        if (!status)
            return Error::invalid_value;
        *status = status_of(s);
        if (*status != abi::CaptureStatus::active)
            return Error::success;
        if (id)
            *id = s.capture->id;
        if (graph)
            *graph = s.capture->graph;
        if (dependencies)
            *dependencies = s.last.data();
        if (edges)
            *edges = nullptr;
        if (count)
            *count = s.last.size();
        return Error::success;
    });
}
Error cudaStreamUpdateCaptureDependencies(void* stream, void** dependencies, const abi::EdgeData*,
                                          std::size_t count, unsigned flags) {
    return with_stream(__func__, stream, [&](State& state, Stream& s) {
        if (!s.capture)
            return Error::illegal_state;
        if (flags > 1 || (count && !dependencies))
            return Error::invalid_value;
        if (flags == 1) // cudaStreamSetCaptureDependencies; 0 adds.
            s.last.clear();
        for (std::size_t i = 0; i < count; ++i)
            s.last.push_back(&state.graphs().node(dependencies[i]));
        return Error::success;
    });
}
Error cudaThreadExchangeStreamCaptureMode(int* mode) {
    return runtime_call(__func__, [&](State&) {
        if (!mode || *mode < 0 || *mode > 2)
            return Error::invalid_value;
        *mode = static_cast<int>(exchange_capture_mode(static_cast<CaptureMode>(*mode)));
        return Error::success;
    });
}

} // extern "C"
