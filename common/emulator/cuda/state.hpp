#pragma once
/// \file
/// The one emulator of a process, shared by libcudart and libcuda, and the frame around every API function:
/// errors, exceptions, shut-down, fork.

#include "cuda/errors.hpp"
#include "hopper_emulator/device.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

namespace emu::cuda {

class Graphs;
class Streams;
class Timeline;

/// The emulated device and what the program has asked of it. Made at the first API call that needs a device;
/// never destroyed, since threads and destructors of the program may still call when the process ends.
class State {
  public:
    /// The process's state. Throws ApiError after shut-down and in a child of fork().
    static State& get();
    /// The state if it exists already and may be used, else nullptr.
    static State* existing();

    Device& device() { return *device_; }
    const Settings& settings() const { return settings_; }
    Streams& streams() { return *streams_; }
    Graphs& graphs() { return *graphs_; }
    Timeline& timeline() { return *timeline_; }

    /// A fault that a launch left behind and nobody has asked for yet (asynchronous error).
    void set_pending(Error error);
    bool faulted() const { return pending_.load() != Error::success; }
    /// What a synchronising call returns: turns a pending fault into a sticky one.
    Error synchronise();
    /// The sticky error: after a fault the context is lost and every call returns it (CUDA runtime API, error
    /// handling; CUDA C++ programming guide).
    Error sticky() const { return sticky_.load(std::memory_order_acquire); }

    /// Process-wide settings that cudaDeviceSetLimit and friends keep.
    struct Limits {
        std::atomic<std::uint64_t> stack = 1024;
        std::atomic<std::uint64_t> printf_fifo = 1 << 20;
        std::atomic<std::uint64_t> heap = 8 << 20;
        std::atomic<std::uint64_t> sync_depth = 2;
        std::atomic<std::uint64_t> pending_launches = 2048;
        std::atomic<std::uint64_t> l2_granularity = 64;
        std::atomic<std::uint64_t> persisting_l2 = 0;
    } limits;
    std::atomic<unsigned> device_flags = 0;
    std::atomic<int> cache_config = 0;

    State();
    ~State();
    State(const State&) = delete;
    State& operator=(const State&) = delete;

  private:
    const Settings settings_;
    std::unique_ptr<Device> device_;
    std::unique_ptr<Streams> streams_;
    std::unique_ptr<Graphs> graphs_;
    std::unique_ptr<Timeline> timeline_;
    std::atomic<Error> pending_ = Error::success;
    std::atomic<Error> sticky_ = Error::success;
};

/// An error with the line that explains it to the reader.
class ApiError {
  public:
    explicit ApiError(Error error, std::string explanation = {})
        : error(error), explanation(std::move(explanation)) {}
    Error error;
    std::string explanation; ///< Printed once to stderr when not empty.
};

/// Prints "emulator: TEXT" to stderr, each text once in a process.
void say_once(const std::string& text);

/// Remembers an error for cudaGetLastError in this thread and returns it.
Error remember(Error error);
/// Replaces what this thread remembers; returns the old value.
Error exchange_thread_error(Error error) noexcept;
/// cudaGetLastError (`clear`) and cudaPeekAtLastError.
Error last_error(bool clear);

/// A failure the program may never have asked about. If it ends with status 0 all the same, the process ends
/// with status 1, so that a wrong result cannot pass for a right one.
void mark_unobserved();
void mark_observed();
/// A mistake was told; EMULATOR_EXIT_STATUS says what that means for the exit status.
void note_finding(bool error);

/// Handles the exception in flight: prints what explains it and returns its error. `function` is the API
/// function's name.
Error translate_exception(std::string_view function) noexcept;

/// The runtime is used in this thread: its primary context is current here if no other is.
void mark_runtime_used();
bool runtime_used();

/// The body of a runtime function: `body(State&)` returns an Error. No exception leaves it. A sticky error
/// comes before everything else.
template <class Body>
Error runtime_call(std::string_view function, Body&& body) noexcept {
    try {
        State& state = State::get();
        mark_runtime_used();
        if (const Error sticky = state.sticky(); sticky != Error::success) {
            mark_observed();
            return remember(sticky);
        }
        return remember(body(state));
    } catch (...) {
        return remember(translate_exception(function));
    }
}

/// Has cuInit been called, or the runtime been used?
bool driver_initialised();
void initialise_driver();

/// The driver's code for an error: those that only the runtime has become CUDA_ERROR_INVALID_VALUE.
Error to_driver(Error error);

/// Is a context current in this thread? (driver_context.cpp)
bool has_current_context();
/// Makes the primary context current in this thread unless another is, as the runtime does.
void use_primary_context();
/// Undoes that.
void drop_primary_context();

/// The body of a driver function that needs cuInit.
template <class Body>
Error driver_call(std::string_view function, Body&& body) noexcept {
    try {
        if (!driver_initialised())
            return Error::not_initialised;
        State& state = State::get();
        if (const Error sticky = state.sticky(); sticky != Error::success) {
            mark_observed();
            return sticky;
        }
        return to_driver(body(state));
    } catch (...) {
        return to_driver(translate_exception(function));
    }
}

/// The body of a driver function that needs a current context.
template <class Body>
Error context_call(std::string_view function, Body&& body) noexcept {
    return driver_call(
        function, [&](State& state) { return has_current_context() ? body(state) : Error::invalid_context; });
}

/// A driver function that does what a runtime function does. The runtime's last error stays as it was.
template <class RuntimeFunction, class... Arguments>
Error forward(RuntimeFunction function, Arguments... arguments) noexcept {
    if (!driver_initialised())
        return Error::not_initialised;
    if (!has_current_context())
        return Error::invalid_context;
    const Error kept = exchange_thread_error(Error::success);
    const Error error = function(arguments...);
    exchange_thread_error(kept);
    return to_driver(error);
}

/// Like forward, for a function whose argument tells the context: it needs none to be current, and leaves
/// it so.
template <class RuntimeFunction, class... Arguments>
Error forward_by_handle(RuntimeFunction function, Arguments... arguments) noexcept {
    if (has_current_context())
        return forward(function, arguments...);
    if (!driver_initialised())
        return Error::not_initialised;
    use_primary_context();
    const Error error = forward(function, arguments...);
    drop_primary_context();
    return error;
}

} // namespace emu::cuda
