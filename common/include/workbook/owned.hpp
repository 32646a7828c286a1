/// @file owned.hpp
/// A handle that has one owner, and is given back by it.
#pragma once

#include <utility>

namespace workbook {

/// Owns a handle or a pointer, null if there is none; `Free` gives it back. The least that a std::unique_ptr
/// does: the header of that was one in fifteen of the lines that nvcc reads, three times, for a chapter's
/// program.
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
