#pragma once
/// \file
/// Memory of the host that an operation uses while the host goes on: did the host change it?

#include "hopper_emulator/address.hpp"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace emu::cuda {

/// Remembers what bytes were like by a checksum for each 4 KiB of them.
class HostWatch {
  public:
    /// `written`: the operation writes them; else it reads them.
    HostWatch(Address begin, Address end, bool written);

    Address begin() const { return begin_; }
    Address end() const { return end_; }
    bool written() const { return written_; }
    bool overlaps(Address begin, Address end) const { return begin < end_ && begin_ < end; }
    /// The first stretch whose bytes differ from what they were.
    std::optional<std::pair<Address, Address>> changed() const;

  private:
    std::vector<std::uint64_t> sums() const;

    Address begin_, end_;
    bool written_;
    std::vector<std::uint64_t> sums_;
};

} // namespace emu::cuda
