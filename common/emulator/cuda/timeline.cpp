#include "cuda/timeline.hpp"

#include "cuda/diagnostics.hpp"
#include "cuda/launch.hpp"
#include "cuda/state.hpp"
#include "hopper_emulator/grid_dependency.hpp"
#include "hopper_emulator/host_threads.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <random>
#include <thread>
#include <utility>

namespace emu::cuda {

Timeline::Timeline(State& state) : state_(state), order_(state) {
    state.device().on_stall([this] {
        const std::lock_guard lock(mutex_);
        changed_.notify_all();
    });
}

namespace {

/// Its launch has ended, and it will itself when the kernel before does. One that ends with its launch is not
/// stalled in between: the host would go on too early, and what it launches then would begin beside others
/// that stand behind the same end.
bool outlasts_primary(const Task& task) {
    return task.launch_ended && task.primary && task.primary->stage != Task::Stage::done;
}

} // namespace

bool Timeline::is_stalled(const Task& task) {
    switch (task.stage) {
    case Task::Stage::done:
        return true;
    case Task::Stage::begun:
        if (const auto* kernel = std::get_if<KernelWork>(&task.work))
            return outlasts_primary(task) || Device::has_stalled(*kernel->launch);
        return !std::holds_alternative<QuickWork>(task.work);
    case Task::Stage::queued:
        return std::ranges::any_of(task.before, [](const TaskRef& each) {
            return each->stage != Task::Stage::done && is_stalled(*each);
        });
    }
    return false;
}

Error Timeline::add(const TaskRef& task, const std::vector<TaskRef>& behind) {
    place(task, behind);
    return start(task);
}

void Timeline::drop_outlasting(const Task& task, std::vector<TaskRef>& behind) {
    const std::lock_guard lock(mutex_);
    for (const Task* each = task.primary->primary.get(); each; each = each->primary.get())
        std::erase_if(behind, [&](const TaskRef& other) { return other.get() == each; });
}

void Timeline::put_behind(const TaskRef& task, const std::vector<TaskRef>& behind) {
    for (const TaskRef& each : behind) {
        if (!each || each == task || each->stage == Task::Stage::done ||
            std::ranges::find(task->before, each) != task->before.end() ||
            (each == task->primary && each->triggered))
            continue;
        task->before.push_back(each);
        (each == task->primary ? each->dependents : each->behind).push_back(task);
        ++task->open;
    }
    for (const TaskRef& each : behind)
        if (each && each != task->primary && each->stage == Task::Stage::begun && each->is_kernel())
            state_.device().note_question(); // Its end is waited for.
}

void Timeline::place(const TaskRef& task, const std::vector<TaskRef>& behind) {
    order_.place(*task, behind);
    hold(task);
    const std::lock_guard lock(mutex_);
    put_behind(task, behind);
}

void Timeline::hold(const TaskRef& task) {
    const std::lock_guard lock(mutex_);
    task->open = 1; // For start(), which lets it go.
    open_.insert(task);
}

Error Timeline::release(const TaskRef& task, const std::vector<TaskRef>& behind) {
    order_.place(*task, behind);
    {
        const std::lock_guard lock(mutex_);
        put_behind(task, behind);
    }
    return start(task);
}

Error Timeline::start(const TaskRef& task) {
    bool ready = false;
    {
        const std::lock_guard lock(mutex_);
        ready = --task->open == 0;
    }
    if (ready)
        begin({task});
    const HostThreads::As waiting(HostThreads::Role::waiting, state_.device().host_threads());
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return is_stalled(*task); });
    return task->stage == Task::Stage::done ? task->error : Error::success;
}

void Timeline::begin(std::deque<TaskRef> ready) {
    for (; !ready.empty(); ready.pop_front()) {
        const TaskRef task = ready.front();
        {
            const std::lock_guard lock(mutex_);
            if (closed_)
                return;
            task->stage = Task::Stage::begun;
            task->before.clear();
        }
        if (const auto* kernel = std::get_if<KernelWork>(&task->work)) {
            if (!state_.faulted()) { // What was enqueued behind a fault does not run.
                begin_kernel(task, *kernel);
                continue;
            }
        } else if (std::holds_alternative<HostWork>(task->work)) {
            hand_to_host(task);
            continue;
        } else if (std::holds_alternative<PollWork>(task->work)) {
            hand_to_poller(task);
            continue;
        }
        Error error = Error::success;
        if (const auto* quick = std::get_if<QuickWork>(&task->work))
            try {
                error = (*quick)();
            } catch (...) {
                error = translate_exception("");
            }
        std::ranges::move(finish_all(task, error), std::back_inserter(ready));
    }
}

void Timeline::begin_kernel(const TaskRef& task, const KernelWork& work) {
    const std::weak_ptr<Task> weak = task;
    const auto around = [this, weak] {
        const TaskRef about = weak.lock();
        return about ? nearby(*about) : std::vector<NearbyKernel>();
    };
    depend_on_primary(task, *work.launch);
    Device::grids(*work.launch).on_triggered = [this, weak] {
        if (const TaskRef about = weak.lock())
            trigger(about);
    };
    const auto on_end = [this, task](LaunchResult result) { end_launch(task, std::move(result)); };
    try {
        state_.device().start(work.launch, {on_end, around});
    } catch (...) {
        LaunchResult failed;
        failed.error = std::current_exception();
        end_launch(task, std::move(failed));
    }
}

/// What the launch has to know of the kernel before whose end it may begin.
void Timeline::depend_on_primary(const TaskRef& task, Launch& launch) {
    GridDependency& grids = Device::grids(launch);
    const std::lock_guard lock(mutex_);
    if (const TaskRef& primary = task->primary) {
        grids.depend(primary->launch_ended);
        task->chain = primary->chain;
        if (!primary->launch_ended)
            primary->followers.push_back(task);
    } else {
        task->chain = ++last_chain_;
    }
    grids.chain = task->chain;
    const MachineSettings& settings = state_.device().settings();
    const bool random = settings.order == CompletionOrder::random;
    if (settings.order == CompletionOrder::late ||
        (random && std::minstd_rand(static_cast<unsigned>(settings.seed + Device::serial(launch)))() & 64))
        grids.hold_back();
}

/// Every block of the kernel lets others begin.
void Timeline::trigger(const TaskRef& task) {
    std::deque<TaskRef> ready;
    {
        const std::lock_guard lock(mutex_);
        task->triggered = true;
        for (const TaskRef& each : std::exchange(task->dependents, {}))
            if (--each->open == 0)
                ready.push_back(each);
    }
    begin(std::move(ready));
}

/// Its launch has ended. It has itself only when the kernel before has, so that whoever stands behind it
/// stands behind both.
bool Timeline::outlasts(const TaskRef& task) {
    const std::lock_guard lock(mutex_);
    task->launch_ended = true;
    for (const TaskRef& each : std::exchange(task->followers, {}))
        if (const auto* kernel = std::get_if<KernelWork>(&each->work))
            Device::grids(*kernel->launch).end_prerequisites();
    if (!outlasts_primary(*task))
        return true;
    task->primary->ended_early.push_back(task);
    changed_.notify_all();
    return false;
}

void Timeline::end_launch(const TaskRef& task, LaunchResult result) {
    report(state_, result.diagnostics);
    if (result.error)
        try {
            std::rethrow_exception(result.error);
        } catch (...) {
            state_.set_pending(translate_exception(""));
        }
    if (result.fault != Fault::none)
        state_.set_pending(error_of(result.fault));
    task->facts.footprint = std::move(result.footprint);
    task->facts.grids = std::move(result.grids);
    task->facts.unsure |= Device::had_company(*std::get<KernelWork>(task->work).launch);
    if (!outlasts(task))
        return;
    const auto ready = finish_all(task, Error::success);
    begin({ready.begin(), ready.end()});
}

/// The same as finish(), with those that have only waited for the end of this task.
std::vector<TaskRef> Timeline::finish_all(const TaskRef& task, Error error) {
    std::vector<TaskRef> ready, ended{task};
    for (std::size_t i = 0; i < ended.size(); ++i) {
        std::ranges::move(finish(ended[i], error), std::back_inserter(ready));
        const std::lock_guard lock(mutex_);
        std::ranges::move(std::exchange(ended[i]->ended_early, {}), std::back_inserter(ended));
    }
    return ready;
}

/// Returns those that may begin now.
std::vector<TaskRef> Timeline::finish(const TaskRef& task, Error error) {
    order_.ended(*task);
    std::vector<TaskRef> ready;
    Work gone; // Destroyed without the lock.
    TaskRef before;
    const std::lock_guard lock(mutex_);
    task->stage = Task::Stage::done;
    task->error = error;
    task->launch_ended = true;
    gone = std::exchange(task->work, QuickWork());
    before = std::exchange(task->primary, nullptr);
    for (auto* const waiting : {&task->behind, &task->dependents})
        for (const TaskRef& each : std::exchange(*waiting, {}))
            if (--each->open == 0)
                ready.push_back(each);
    open_.erase(task);
    changed_.notify_all();
    return ready;
}

void Timeline::hand_to_host(const TaskRef& task) {
    const std::lock_guard lock(mutex_);
    host_queue_.push_back(task);
    if (!std::exchange(host_thread_, true))
        std::thread([this] { run_host_functions(); }).detach();
    host_wanted_.notify_one();
    changed_.notify_all();
}

/// One thread for all: functions of independent streams may be serialised (CUDA runtime API,
/// cudaLaunchHostFunc).
void Timeline::run_host_functions() {
    while (true) {
        TaskRef task;
        {
            std::unique_lock lock(mutex_);
            host_wanted_.wait(lock, [&] { return !host_queue_.empty(); });
            task = std::move(host_queue_.front());
            host_queue_.pop_front();
        }
        order_.host_saw(
            {task}); // The function may tell the rest of the program that all before it has ended.
        std::get<HostWork>(task->work).function();
        const auto ready = finish(task, Error::success);
        begin({ready.begin(), ready.end()});
        state_.device().note_progress();
    }
}

void Timeline::hand_to_poller(const TaskRef& task) {
    const std::lock_guard lock(mutex_);
    polled_.push_back(task);
    if (!std::exchange(poll_thread_, true))
        std::thread([this] { poll(); }).detach();
    poll_wanted_.notify_one();
    changed_.notify_all();
}

void Timeline::poll() {
    constexpr auto pause = std::chrono::microseconds(100);
    while (true) {
        std::vector<TaskRef> waiting;
        {
            std::unique_lock lock(mutex_);
            poll_wanted_.wait(lock, [&] { return !polled_.empty(); });
            waiting = polled_;
        }
        for (const TaskRef& task : waiting) {
            if (!state_.faulted() && !std::get<PollWork>(task->work).ready())
                continue;
            {
                const std::lock_guard lock(mutex_);
                std::erase(polled_, task);
            }
            const auto ready = finish(task, Error::success);
            begin({ready.begin(), ready.end()});
        }
        std::this_thread::sleep_for(pause);
    }
}

void Timeline::wait(const std::vector<TaskRef>& tasks) {
    const HostThreads::As waiting(HostThreads::Role::waiting, state_.device().host_threads());
    const Device::EndsWanted wanted(state_.device());
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] {
        return std::ranges::all_of(
            tasks, [](const TaskRef& task) { return !task || task->stage == Task::Stage::done; });
    });
    lock.unlock();
    order_.host_saw(tasks);
}

void Timeline::wait(const TaskRef& task) { wait(std::vector{task}); }

void Timeline::wait_for_all() {
    std::vector<TaskRef> all;
    {
        const std::lock_guard lock(mutex_);
        all.assign(open_.begin(), open_.end());
    }
    wait(all);
    order_.host_saw_all();
}

bool Timeline::is_done(const TaskRef& task) const { return all_done({task}); }

bool Timeline::all_done(const std::vector<TaskRef>& tasks) const {
    state_.device().note_question();
    const std::lock_guard lock(mutex_);
    return std::ranges::all_of(tasks,
                               [](const TaskRef& task) { return !task || task->stage == Task::Stage::done; });
}

std::vector<TaskRef> Timeline::blocking() const {
    std::vector<TaskRef> found;
    const std::lock_guard lock(mutex_);
    std::ranges::copy_if(open_, std::back_inserter(found),
                         [](const TaskRef& task) { return task->blocking; });
    return found;
}

void Timeline::close() {
    constexpr auto look = std::chrono::milliseconds(5);
    HostThreads& threads = state_.device().host_threads();
    const HostThreads::As last(HostThreads::Role::passive, threads);
    const Device::EndsWanted wanted(state_.device());
    std::unique_lock lock(mutex_);
    while (!open_.empty()) {
        changed_.wait_for(lock, look);
        const bool all_wait =
            std::ranges::all_of(open_, [](const TaskRef& task) { return is_stalled(*task); });
        // The process ends without the threads that could still help, and so does what waits for them.
        if (all_wait && !threads.standstill())
            break;
    }
    closed_ = true;
    lock.unlock();
    order_.finish();
}

namespace {

NearbyKernel::Place place_behind(const Task& task, const Task& behind) {
    if (behind.stream == task.stream)
        return NearbyKernel::Place::behind_in_stream;
    return task.legacy || behind.legacy ? NearbyKernel::Place::behind_by_default_stream
                                        : NearbyKernel::Place::behind_by_edge;
}

} // namespace

std::vector<NearbyKernel> Timeline::nearby(const Task& task) const {
    constexpr std::size_t most = 3;
    std::vector<NearbyKernel> kernels;
    const std::lock_guard lock(mutex_);
    std::vector<const Task*> seen{&task};
    for (std::size_t i = 0; i < seen.size() && kernels.size() < most; ++i)
        for (const TaskRef& each : seen[i]->behind) {
            if (std::ranges::find(seen, each.get()) != seen.end())
                continue;
            seen.push_back(each.get());
            if (!each->name.empty() && kernels.size() < most)
                kernels.push_back({each->name, place_behind(task, *each)});
        }
    for (const TaskRef& each : open_)
        if (each.get() != &task && each->stage == Task::Stage::begun && !each->name.empty())
            kernels.push_back({each->name, NearbyKernel::Place::beside});
    return kernels;
}

} // namespace emu::cuda
