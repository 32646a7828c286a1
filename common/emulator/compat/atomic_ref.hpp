#pragma once
/// \file
/// std::atomic_ref (C++20, 31.7), as far as the emulator uses it.

#include <atomic>

#ifndef __cpp_lib_atomic_ref
namespace std {

/// Atomic access to an object that is not atomic itself.
template <class T>
class atomic_ref {
  public:
    explicit atomic_ref(T& object) : object_(&object) {}
    T load(memory_order order = memory_order_seq_cst) const noexcept {
        T value;
        __atomic_load(object_, &value, static_cast<int>(order));
        return value;
    }
    void store(T value, memory_order order = memory_order_seq_cst) const noexcept {
        __atomic_store(object_, &value, static_cast<int>(order));
    }
    T exchange(T value, memory_order order = memory_order_seq_cst) const noexcept {
        T old;
        __atomic_exchange(object_, &value, &old, static_cast<int>(order));
        return old;
    }
    T fetch_or(T bits, memory_order order = memory_order_seq_cst) const noexcept {
        return __atomic_fetch_or(object_, bits, static_cast<int>(order));
    }
    bool compare_exchange_weak(T& expected, T desired,
                               memory_order order = memory_order_seq_cst) const noexcept {
        return __atomic_compare_exchange(object_, &expected, &desired, true, static_cast<int>(order),
                                         __ATOMIC_RELAXED);
    }

  private:
    T* object_;
};

} // namespace std
#endif
