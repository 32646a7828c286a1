#pragma once
/// \file
/// The owner of everything that lives as long as the process. Destructors of a program's global and
/// thread-local objects, and threads that it has left running, may call the API until the very end, so none
/// of it is ever destroyed: it is left to the end of the process, reachable from one pointer, which leak
/// checkers understand. Nothing else in these libraries may have a destructor that runs at exit or at a
/// thread's end (tests/emulator/lifetime.py looks for the calls by which such destructors are registered).

#include <memory>
#include <mutex>
#include <vector>

namespace emu::cuda {

class Owner {
  public:
    static Owner& get();

    /// Makes a T and keeps it.
    template <class T>
    T& make() {
        const auto made = std::make_shared<T>();
        const std::lock_guard lock(mutex_);
        kept_.push_back(made);
        return *made;
    }

  private:
    std::mutex mutex_;
    std::vector<std::shared_ptr<void>> kept_;
};

/// The one T of the process, made when it is first asked for.
template <class T>
T& the() {
    static T& only = Owner::get().make<T>();
    return only;
}

} // namespace emu::cuda
