#pragma once
/// \file
/// The local memory of a warp's threads: their stacks.

#include "machine/program.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace emu {

/// Local memory a thread may use (compute capability 9.0: 512 KiB).
inline constexpr std::uint32_t local_limit = 512 * 1024;

/// A part of Warp, whose calls and returns move the stacks.
class LocalMemory {
  public:
    /// Bytes of this lane's local memory at `offset`, or nullptr when outside the lane's stack.
    std::byte* local(unsigned lane, std::uint64_t offset, std::uint32_t bytes);
    std::uint32_t local_base(unsigned lane) const { return local_base_[lane]; }
    /// Grows the lane's local memory by `bytes` (alloca); returns the local-space offset or nothing when the
    /// stack is full.
    bool grow_local(LaneMask mask, std::uint32_t bytes);
    std::uint32_t local_top(unsigned lane) const { return local_top_[lane]; }
    void set_local_top(unsigned lane, std::uint32_t top) { local_top_[lane] = top; }

  protected:
    /// `stride`: bytes that each thread needs at most without recursion; `top`: bytes that are taken at
    /// first.
    LocalMemory(std::uint32_t stride, std::uint32_t top);
    void reserve_local(std::uint32_t bytes);

    std::vector<std::byte> local_;
    std::uint32_t local_stride_ = 0;
    std::array<std::uint32_t, warp_size> local_base_{};
    std::array<std::uint32_t, warp_size> local_top_{};
};

} // namespace emu
