#pragma once
/// \file
/// Reads whose value is only a guess, because an atomic update of the same place decides afterwards.

#include "machine/program.hpp"

#include <cstdint>
#include <unordered_map>

namespace emu::check {

/// Finds loads behind which the same thread updates the same place atomically: the compare-and-swap loop that
/// begins with an ordinary load (CUDA Programming Guide, atomicAdd for double), `if (x > *max) atomicMax(max,
/// x)`, `while (hits < n) atomicAdd(&hits, 1)`. A load behind the update, where only a barrier is missing, is
/// none.
class GuessedReads {
  public:
    /// Whether a path without a barrier leads from the load at `pc` to an `atom` or `red` with the same
    /// address.
    bool contains(const Kernel& kernel, std::uint32_t pc);

  private:
    std::unordered_map<std::uint32_t, bool> known_;
};

} // namespace emu::check
