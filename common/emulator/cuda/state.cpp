#include "cuda/state.hpp"

#include "cuda/diagnostics.hpp"
#include "cuda/graph.hpp"
#include "cuda/host_faults.hpp"
#include "cuda/owner.hpp"
#include "cuda/streams.hpp"
#include "cuda/thread_state.hpp"
#include "cuda/timeline.hpp"
#include "hopper_emulator/changed_shared.hpp"
#include "hopper_emulator/finding_kinds.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <pthread.h>
#include <set>
#include <unistd.h>

namespace emu::cuda {
namespace {

/// What the libraries know of the process; see owner.hpp.
struct Process {
    std::mutex mutex;
    std::unique_ptr<State> state;
    std::atomic<bool> closed = false;
    std::atomic<bool> forked = false;
    std::atomic<bool> unobserved = false;
    std::atomic<unsigned> errors = 0, warnings = 0; ///< That were told.
    std::atomic<bool> driver_initialised = false;
    std::atomic<bool> runtime_used = false;
    std::atomic<int> exit_status = 0;
    std::mutex said_mutex;
    std::set<std::string> said;
};

Process& process() { return the<Process>(); }

void after_fork_in_child() {
    Process& p = process();
    if (p.state)
        p.forked = true;
}

void keep_exit_status(int status, void*) { process().exit_status = status; }

std::unique_ptr<State> make_state() {
    static const bool watching = [] {
        pthread_atfork(nullptr, nullptr, after_fork_in_child);
        on_exit(keep_exit_status, nullptr);
        return true;
    }();
    static_cast<void>(watching);
    return std::make_unique<State>();
}

/// Creates the file if it is not there. Before the first launch, or what was found would be lost in the end.
void require_writable(const char* variable, const std::string& file) {
    if (file.empty())
        return;
    errno = 0;
    if (!std::ofstream(file, std::ios::app))
        throw std::runtime_error(std::string(variable) + ": cannot write the file " + file + " (" +
                                 std::strerror(errno) + ")");
}

/// Throws std::runtime_error if a setting cannot be.
std::unique_ptr<Device> device_of(const Settings& settings) {
    auto device = make_device(settings);
    if (asks_for_changed_shared())
        device->add_observer(make_shared_changer());
    return device;
}

/// A wrong EMULATOR_ variable is the user's mistake, not the program's: no API error could say what is wrong.
Settings settings_or_exit() {
    try {
        Settings settings = Settings::from_environment();
        static_cast<void>(asks_for_changed_shared());
        require_writable("EMULATOR_REPORT", settings.report_file);
        if (settings.counters_file != "-")
            require_writable("EMULATOR_COUNTERS", settings.counters_file);
        require_writable("EMULATOR_TRACE", settings.trace_file);
        require_writable("EMULATOR_RECORD", settings.record_file);
        settings.closed_memory = true;
        return settings;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "emulator: %s\n", error.what());
        process().closed = true; // Destructors of the program that still use CUDA get an error.
        std::exit(2);
    }
}

/// A note, no error: the end of the process frees everything.
void tell_leaks(State& state) {
    for (const Allocation& each : state.device().memory().unfreed()) {
        const bool page_locked =
            each.kind != Allocation::Kind::device && each.kind != Allocation::Kind::managed;
        Diagnostic leak;
        leak.finding = Finding::leak;
        leak.fault = Fault::none;
        leak.note = true;
        leak.message = std::to_string(each.size) +
                       (page_locked                              ? " bytes of page-locked host memory"
                        : each.kind == Allocation::Kind::managed ? " bytes of managed memory"
                                                                 : " bytes of device memory") +
                       " were never freed.";
        leak.advice = page_locked ? "Call cudaFreeHost." : "Call cudaFree.";
        report(state, leak);
    }
}

/// Why a program that ends well should not count as one; empty if it should.
std::string why_not_zero(const Process& p) {
    if (has_lost_output())
        return "a file above could not be written";
    if (p.unobserved)
        return "the failure above was never asked for by the program";
    if (!p.state)
        return {};
    using Wish = Settings::ExitStatus;
    const Wish wish = p.state->settings().exit_status;
    const unsigned errors = wish == Wish::program ? 0 : p.errors.load();
    const unsigned warnings = wish == Wish::findings ? p.warnings.load() : 0;
    const auto count = [](unsigned n, const char* what) {
        return n == 0 ? std::string() : std::to_string(n) + " " + what + (n == 1 ? "" : "s");
    };
    const std::string both =
        count(errors, "error") + (errors && warnings ? " and " : "") + count(warnings, "warning");
    return both.empty() ? both : both + " above (--exit-status program keeps the program's own status)";
}

/// Runs at the end of the process, after the program's destructors: what was launched comes to its end, and
/// listeners write what they collected. The state itself stays, for threads that are still in a call.
[[gnu::destructor]] void shut_down() {
    Process& p = process();
    if (p.forked)
        return;
    if (p.state)
        p.state->timeline().close();
    p.closed = true;
    if (p.state && p.state->settings().leaks)
        tell_leaks(*p.state);
    if (p.state)
        p.state->device().finish();
    if (const std::string why = why_not_zero(p); p.exit_status == 0 && !why.empty()) {
        std::fprintf(stderr, "emulator: %s; the exit status becomes 1\n", why.c_str());
        std::fflush(nullptr);
        _exit(1);
    }
}

} // namespace

State::State()
    : settings_(settings_or_exit()), device_(device_of(settings_)), streams_(std::make_unique<Streams>()),
      graphs_(std::make_unique<Graphs>()), timeline_(std::make_unique<Timeline>(*this)) {
    HostFaults::watch(device_->memory(), settings_.report_file);
}

State::~State() = default;

State& State::get() {
    Process& p = process();
    if (p.forked)
        throw ApiError(Error::not_initialised, "a child of fork() cannot use the parent's GPU");
    if (p.closed)
        throw ApiError(Error::unloading);
    const std::lock_guard lock(p.mutex);
    if (!p.state)
        p.state = make_state();
    return *p.state;
}

State* State::existing() {
    Process& p = process();
    if (p.forked || p.closed)
        return nullptr;
    const std::lock_guard lock(p.mutex);
    return p.state.get();
}

void State::set_pending(Error error) {
    Error none = Error::success;
    pending_.compare_exchange_strong(none, error);
    mark_unobserved();
}

Error State::synchronise() {
    if (const Error error = pending_.load(); error != Error::success) {
        sticky_ = error;
        mark_observed();
        return error;
    }
    return Error::success;
}

void say_once(const std::string& text) {
    Process& p = process();
    {
        const std::lock_guard lock(p.said_mutex);
        if (!p.said.insert(text).second)
            return;
    }
    std::fprintf(stderr, "emulator: %s\n", text.c_str());
}

Error remember(Error error) {
    if (error != Error::success)
        this_thread().error = error;
    return error;
}

Error exchange_thread_error(Error error) noexcept { return std::exchange(this_thread().error, error); }

Error last_error(bool clear) {
    mark_observed();
    Error& last = this_thread().error;
    return clear ? std::exchange(last, Error::success) : last;
}

void mark_unobserved() { process().unobserved = true; }
void mark_observed() { process().unobserved = false; }
void note_finding(bool error) { ++(error ? process().errors : process().warnings); }

void mark_runtime_used() {
    process().runtime_used = true;
    use_primary_context();
}
bool runtime_used() { return process().runtime_used; }
bool driver_initialised() { return process().driver_initialised || process().runtime_used; }
void initialise_driver() { process().driver_initialised = true; }

Error to_driver(Error error) {
    switch (error) {
    case Error::invalid_device_function:
        return Error::invalid_handle;
    case Error::invalid_symbol:
        return Error::symbol_not_found;
    default:
        const ErrorText* text = find_error(static_cast<int>(error));
        return text && *text->driver_name ? error : Error::invalid_value;
    }
}

Error translate_exception(std::string_view function) noexcept {
    const auto say = [&](const std::string& text) {
        say_once(function.empty() ? text : std::string(function) + ": " + text);
    };
    try {
        try {
            throw;
        } catch (const ApiError& e) {
            if (!e.explanation.empty())
                say(e.explanation);
            return e.error;
        } catch (const std::bad_alloc&) {
            say("the host has no memory left");
            return Error::memory_allocation;
        } catch (const std::exception& e) {
            say(e.what());
            return Error::unknown;
        }
    } catch (...) {
        return Error::unknown;
    }
}

Error refuse_runtime(const char* function) noexcept {
    mark_unobserved();
    try {
        say_once(std::string(function) + " is not supported");
    } catch (...) {
        std::fprintf(stderr, "emulator: %s is not supported\n", function);
    }
    return remember(Error::not_supported);
}

Error refuse_driver(const char* function) noexcept {
    try {
        say_once(std::string(function) + " is not supported");
    } catch (...) {
        std::fprintf(stderr, "emulator: %s is not supported\n", function);
    }
    return Error::not_supported;
}

} // namespace emu::cuda
