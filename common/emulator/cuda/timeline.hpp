#pragma once
/// \file
/// What the streams have been asked to do and has not ended. An operation begins when those end that it
/// stands behind; operations of different streams run side by side.

#include "cuda/errors.hpp"
#include "cuda/order.hpp"
#include "hopper_emulator/launch.hpp"

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <variant>
#include <vector>

namespace emu::cuda {

class State;
class Task;
using TaskRef = std::shared_ptr<Task>;

/// The kinds of work.
struct KernelWork {
    std::shared_ptr<Launch> launch;
};
/// Done at once by whoever ends the last operation before it: copies, fills, events.
using QuickWork = std::function<Error()>;
/// A function of the program, which may take its time and wait for the program.
struct HostWork {
    std::function<void()> function;
};
/// Ends when it returns true; asked again and again.
struct PollWork {
    std::function<bool()> ready;
};
using Work = std::variant<QuickWork, KernelWork, HostWork, PollWork>;

/// One operation of a stream. Its members belong to the timeline.
class Task {
  public:
    explicit Task(Work work) : work(std::move(work)) {}

    Work work;
    std::string name;             ///< Of a kernel.
    OperationPlace order;         ///< Belongs to Order.
    OperationFacts facts;         ///< Complete when the task ends.
    const void* stream = nullptr; ///< For words about it.
    bool blocking = false; ///< Of a stream that the legacy default stream waits for, or of that stream.
    bool legacy = false;   ///< Of the legacy default stream.

    enum class Stage : std::uint8_t { queued, begun, done };
    Stage stage = Stage::queued;
    Error error = Error::success;
    std::vector<TaskRef> before; ///< That it waits for.
    std::vector<TaskRef> behind; ///< That wait for it.
    std::size_t open = 0;        ///< How many of `before` have not ended.

    // -- programmatic dependent launch
    bool programmatic = false; ///< A kernel that may begin before the one before it in its stream has ended.
    /// That kernel, until this task has ended. It begins when all blocks of that have let it.
    TaskRef primary;
    std::vector<TaskRef> dependents;  ///< Whose primary this is and that have not been let begin,
    std::vector<TaskRef> followers;   ///< … that have begun before its launch ended,
    std::vector<TaskRef> ended_early; ///< … and whose launch has ended before.
    std::uint64_t chain = 0;          ///< The same for all that may run beside each other so; 0: none.
    bool triggered = false;
    bool launch_ended = false;

    bool is_kernel() const { return !name.empty(); }
};

/// What the stream gives to its tasks.
struct TaskStyle {
    const void* stream = nullptr;
    bool blocking = false, legacy = false;
    std::string name = {};   ///< Of the stream, in words.
    std::uint64_t graph = 0; ///< Number of the graph launch whose tasks they are; 0: none.
    void apply(Task& task) const {
        task.stream = stream;
        task.blocking = blocking;
        task.legacy = legacy;
        task.facts.stream = name;
        task.facts.non_blocking = !blocking;
        task.facts.legacy = legacy;
        task.facts.graph = graph;
    }
};

/// A task that only has its place between others.
inline TaskRef empty_task() {
    return std::make_shared<Task>(QuickWork([] { return Error::success; }));
}

/// Thread-safe.
class Timeline {
  public:
    explicit Timeline(State& state);

    /// Puts a task behind others, which may have ended (or be null), and returns when the task has ended or
    /// waits for something that others must do: a kernel that waits for a flag, a function of the program. So
    /// programs whose kernels need nothing from each other run in the order of their calls.
    Error add(const TaskRef& task, const std::vector<TaskRef>& behind);
    /// The two halves of add(): the task gets its place; it begins as soon as it may.
    void place(const TaskRef& task, const std::vector<TaskRef>& behind);
    Error start(const TaskRef& task);
    /// In a stream a task does not itself stand behind kernels that may outlast its primary.
    void drop_outlasting(const Task& task, std::vector<TaskRef>& behind);
    /// For a task whose predecessors come later: it has its place, but does not begin before release().
    void hold(const TaskRef& task);
    Error release(const TaskRef& task, const std::vector<TaskRef>& behind);
    /// Waits for the end.
    void wait(const TaskRef& task);
    void wait(const std::vector<TaskRef>& tasks);
    void wait_for_all();
    bool is_done(const TaskRef& task) const;
    bool all_done(const std::vector<TaskRef>& tasks) const;
    /// All that have not ended and that an operation of the legacy default stream waits for.
    std::vector<TaskRef> blocking() const;

    Order& order() { return order_; }

    /// At the end of the process: waits as long as anything can still go on, and begins nothing more.
    void close();
    /// What stands behind a kernel, and what runs beside it, for a deadlock report.
    std::vector<NearbyKernel> nearby(const Task& task) const;

  private:
    void put_behind(const TaskRef& task, const std::vector<TaskRef>& behind);
    void begin(std::deque<TaskRef> ready);
    void begin_kernel(const TaskRef& task, const KernelWork& work);
    void hand_to_host(const TaskRef& task);
    void hand_to_poller(const TaskRef& task);
    void run_host_functions();
    void poll();
    std::vector<TaskRef> finish(const TaskRef& task, Error error);
    std::vector<TaskRef> finish_all(const TaskRef& task, Error error);
    void end_launch(const TaskRef& task, LaunchResult result);
    bool outlasts(const TaskRef& task);
    void depend_on_primary(const TaskRef& task, Launch& launch);
    void trigger(const TaskRef& task);
    static bool is_stalled(const Task& task);

    State& state_;
    Order order_;
    mutable std::mutex mutex_;
    mutable std::condition_variable changed_;
    std::set<TaskRef> open_;
    bool closed_ = false;
    std::condition_variable host_wanted_, poll_wanted_;
    std::deque<TaskRef> host_queue_;
    std::vector<TaskRef> polled_;
    std::uint64_t last_chain_ = 0;
    bool host_thread_ = false, poll_thread_ = false; ///< They exist; they never end.
};

} // namespace emu::cuda
