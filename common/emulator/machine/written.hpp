#pragma once
/// \file
/// Which words of an allocation anybody has written, so that reads of the others can be told.

#include "hopper_emulator/address.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace emu {

/// One bit for each 4-byte word. Host threads may add words at the same time.
class WrittenWords {
  public:
    WrittenWords(Address base, std::uint64_t size);
    /// As bits() had them.
    WrittenWords(Address base, std::uint64_t size, std::span<const std::uint64_t> bits);

    /// Every word has been written.
    bool all() const { return left_.load(std::memory_order_relaxed) == 0; }
    /// Whether the word at `address` has been written; true outside the allocation.
    bool contains(Address address) const;
    void add(Address address, std::uint64_t bytes);
    /// All bits, for the constructor.
    std::vector<std::uint64_t> bits() const;

  private:
    struct Free {
        void operator()(std::uint64_t* bits) const;
    };
    Address base_;
    std::uint64_t words_;
    std::unique_ptr<std::uint64_t[], Free> bits_; ///< Zero pages of the host until a word is written.
    std::atomic<std::uint64_t> left_;
};

} // namespace emu
