#pragma once
/// \file
/// Streams and events: which task stands behind which.

#include "cuda/abi.hpp"
#include "cuda/errors.hpp"
#include "cuda/operation.hpp"
#include "cuda/timeline.hpp"

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace emu::cuda {

struct Node;
class State;

/// cudaStreamCaptureMode: which calls that could disturb a capture are refused, and in which threads.
enum class CaptureMode : int { global = 0, thread_local_only = 1, relaxed = 2 };

/// The calling thread's own mode; returns the old one (cudaThreadExchangeStreamCaptureMode).
CaptureMode exchange_capture_mode(CaptureMode mode);

/// One stream capture, shared by the streams that joined it through events.
struct Capture {
    std::uint64_t id = 0;
    Graph* graph = nullptr;
    bool owns_graph = true;
    bool ended = false;
    bool invalidated = false; ///< A call that a capture forbids was made: it ends with an error.
    CaptureMode mode = CaptureMode::global;
    std::thread::id thread; ///< That began it.
    struct Stream* origin = nullptr;
    std::vector<Node*> abandoned; ///< The last nodes of streams that were destroyed meanwhile.
};

struct Event {
    unsigned flags = 0;
    std::atomic<bool> recorded = false;
    std::shared_ptr<Capture> capture; ///< When last recorded in a capturing stream.
    std::vector<Node*> captured;      ///< The nodes it stands for there.

    /// The task of the last record, null if there was none.
    TaskRef task() const {
        const std::lock_guard lock(mutex);
        return last;
    }
    mutable std::mutex mutex;
    TaskRef last;
};

/// Gives a task of an event's record or wait its place: `before` is what it stands behind.
void order_event(const EventOperation& operation, const TaskRef& task, std::vector<TaskRef>& before);

struct Stream {
    unsigned flags = 0;
    int priority = 0;
    std::uint64_t id = 0;
    unsigned ordinal = 0; ///< The program's first stream has 1; 0: a default stream.
    std::shared_ptr<Capture> capture;
    std::vector<Node*> last; ///< While capturing: what the next node depends on.
    TaskRef tail;            ///< Its last task; belongs to Streams.
    std::map<int, abi::LaunchAttributeValue> attributes;
};

/// cudaDeviceSynchronize: waits for all work of all streams.
Error wait_for_device(State& state);

/// All live streams and events. Thread-safe.
class Streams {
  public:
    Streams();

    Stream* create_stream(unsigned flags, int priority);
    /// Null, cudaStreamLegacy and cudaStreamPerThread are the default stream. Throws ApiError.
    Stream& stream(void* handle);
    void destroy_stream(void* handle);

    Event* create_event(unsigned flags);
    std::shared_ptr<Event> event(void* handle);
    void destroy_event(void* handle);

    /// Puts the operation into the stream, or makes it a node when the stream is captured.
    Error submit(State& state, void* stream, Operation operation);
    /// The same for a task of its own kind, which no graph can have.
    Error submit_task(State& state, void* stream, const TaskRef& task, const EventOperation* event = nullptr);
    /// What must end before the stream has done all its work. That of the legacy default stream includes the
    /// work of all that it waits for.
    std::vector<TaskRef> pending(State& state, void* stream);
    void wait(State& state, void* stream);
    /// The host was told that pending(stream) has ended.
    void saw_end(State& state, void* stream);

    Error begin_capture(State& state, void* stream, CaptureMode mode, Graph* into,
                        std::vector<Node*> dependencies);
    /// `graph` gets the captured graph, or null.
    Error end_capture(State& state, void* stream, Graph** graph);

    // What a capture forbids (programming guide, "Prohibited and Unhandled Operations"). Each gives success
    // or the error, and a capture that a forbidden call was made in is invalidated.
    /// Calls that might disturb any capture, such as cudaMalloc: depends on the modes.
    Error check_unsafe_call();
    /// Waiting for the whole device.
    Error check_device_wait();
    /// Work in the legacy stream, which would wait for every capturing stream that is not non-blocking.
    /// `only_ask`: the question itself leaves captures as they are.
    Error check_legacy(bool only_ask = false);
    /// Waiting for, or asking about, one stream or event.
    static Error check_wait(Stream& stream);
    static Error check_wait(Event& event);

  private:
    Error record(Stream& stream, Event& event);
    Error wait_in_capture(Stream& stream, Event& event);
    Error submit_graph(State& state, void* handle, Stream& target, const Graph& graph);
    Error run(State& state, void* handle, Stream& target, Operation& operation);
    std::vector<TaskRef> place(State& state, void* handle, Stream& stream, const TaskStyle& style);
    TaskStyle style_of(void* handle, const Stream& stream) const;
    template <class Forbidden>
    bool invalidate_if(Forbidden&& forbidden);

    std::mutex mutex_;
    std::mutex order_; ///< While a task gets its place.
    Stream default_stream_;
    std::vector<std::shared_ptr<Capture>> captures_; ///< That have not ended.
    std::atomic<std::size_t> capture_count_ = 0;     ///< Their number, so that others need no lock.
    std::map<const void*, std::unique_ptr<Stream>> streams_;
    std::map<const void*, std::shared_ptr<Event>> events_;
    std::uint64_t next_id_ = 1;
    unsigned stream_count_ = 0;
    std::atomic<std::uint64_t> graph_launches_ = 0;
};

inline constexpr int least_priority = 0;
inline constexpr int greatest_priority = -5; ///< As an H200 reports.
inline constexpr unsigned stream_non_blocking = 1;
inline constexpr unsigned event_external = 1; ///< cudaEventRecordExternal, cudaEventWaitExternal
inline constexpr unsigned event_disable_timing = 2;
inline constexpr unsigned event_interprocess = 4;

} // namespace emu::cuda
