#pragma once
/// \file
/// Reads whose value is only a guess, because an atomic update of the same place decides afterwards.

#include "machine/program.hpp"

#include <cstdint>
#include <mutex>
#include <unordered_map>

namespace emu::check {

/// Finds loads whose value decides an atomic update of the same place by the same thread: what is written,
/// whether, or when. Such are the compare-and-swap loop that begins with an ordinary load (CUDA Programming
/// Guide, atomicAdd for double), `if (x > *max) atomicMax(max, x)`, `while (hits < n) atomicAdd(&hits, 1)`. A
/// load behind the update, where only a barrier is missing, is none; nor is one whose value goes elsewhere
/// only.
class GuessedReads {
  public:
    /// Whether a path without a barrier leads from the load at `pc` to an `atom` or `red` with the same
    /// address that depends on the loaded value. Any thread may call.
    bool contains(const Kernel& kernel, std::uint32_t pc);

  private:
    std::mutex mutex_;
    std::unordered_map<std::uint32_t, bool> known_;
};

} // namespace emu::check
