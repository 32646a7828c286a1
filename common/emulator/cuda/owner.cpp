#include "cuda/owner.hpp"

#include "cuda/thread_state.hpp"

#include <pthread.h>
#include <set>

namespace emu::cuda {
namespace {

/// The states of all threads that have called the API and not ended.
class ThreadStates {
  public:
    ThreadStates() { pthread_key_create(&key_, take_down); }

    ThreadState& add() {
        auto made = std::make_unique<ThreadState>();
        ThreadState* const raw = made.get();
        pthread_setspecific(key_, raw); // So that the end of the thread is told.
        const std::lock_guard lock(mutex_);
        states_.insert(std::move(made));
        return *raw;
    }

  private:
    static void take_down(void* state);

    pthread_key_t key_{};
    std::mutex mutex_;
    std::set<std::unique_ptr<ThreadState>, std::less<>> states_;
};

thread_local ThreadState* mine = nullptr; ///< Has no destructor, see owner.hpp.

/// Called at the end of a thread, behind the destructors of its thread-local objects; not of the thread that
/// ends the process.
void ThreadStates::take_down(void* state) {
    mine = nullptr;
    auto& all = the<ThreadStates>();
    const std::lock_guard lock(all.mutex_);
    std::erase_if(all.states_, [&](const auto& each) { return each.get() == state; });
}

} // namespace

Owner& Owner::get() {
    static Owner* const only = new Owner; // Never destroyed.
    return *only;
}

ThreadState& this_thread() {
    if (!mine)
        mine = &the<ThreadStates>().add();
    return *mine;
}

} // namespace emu::cuda
