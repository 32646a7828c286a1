#pragma once
/// \file
/// The threads of the program itself, as far as a deadlock report must know of them: a kernel that polls
/// memory may be helped by any thread that still runs. A program that calls Device::launch() needs nothing of
/// it.

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#pragma GCC visibility push(default)
namespace emu {

/// What threads of the host do, as they say it and as the system tells. Thread-safe.
class HostThreads {
  public:
    /// Why a thread will do nothing that a kernel waits for.
    enum class Role : std::uint8_t {
        passive, ///< Does nothing for the program: it belongs to the emulator, or ends the process.
        waiting, ///< Waits for the emulator. Where the system tells what threads do, it knows better: a
                 ///< thread that has been woken will act.
    };
    /// While it lives, the calling thread has that role.
    class As {
      public:
        /// `owner` must outlive it.
        As(Role role, HostThreads& owner);
        ~As();
        As(const As&) = delete;
        As& operator=(const As&) = delete;

      private:
        HostThreads& owner_;
        int thread_; ///< Its number in the system.
    };

    /// Nothing if a thread may act. Else what all are doing, with how long each has run: two equal answers
    /// mean that none ran in between. A thread may act unless it is passive, or waits without a time limit
    /// for other threads of the process (a condition variable, a lock, a join).
    std::optional<std::string> standstill() const;

  private:
    mutable std::mutex mutex_;
    std::map<int, Role> roles_;
};

} // namespace emu
#pragma GCC visibility pop
