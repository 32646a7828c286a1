/// @file owned.hpp
/// A handle that has one owner, and is given back by it.
#pragma once

#include <utility>

namespace workbook {

/// Owns a handle or a pointer, null if there is none; `Free` gives it back. A std::unique_ptr of the least
/// kind: all of <memory> would be a tenth of what nvcc reads, three times, for each program of the workbook.
template <class Handle, class Free>
class Owned {
  public:
    Owned() = default;
    explicit Owned(Handle handle) noexcept : handle_(handle) {}
    Owned(Owned&& other) noexcept : handle_(std::exchange(other.handle_, Handle{})) {}
    Owned& operator=(Owned&& other) noexcept {
        Owned(std::move(other)).swap(*this);
        return *this;
    }
    ~Owned() {
        if (handle_ != Handle{})
            Free{}(handle_);
    }

    [[nodiscard]] Handle get() const noexcept { return handle_; }

  private:
    void swap(Owned& other) noexcept { std::swap(handle_, other.handle_); }

    Handle handle_{};
};

} // namespace workbook
