#pragma once
/// \file
/// Memory of the host that an operation writes, closed to the host until it has waited: whoever touches it
/// faults, is remembered, and goes on.

#include "hopper_emulator/address.hpp"

#include <cstddef>
#include <optional>

namespace emu::cuda {

/// The whole process has one table of guarded pages, for its signal handler reads it. Not thread-safe but for
/// the handler. Only for memory that stays readable and writable when nobody guards it.
class HostGuard {
  public:
    static constexpr std::size_t slots = 16;
    struct Touched {
        Address address = 0;
        bool write = false;
    };

    /// Guards the pages begin … end-1 from the next close() on. Both are multiples of the page size.
    static void set(std::size_t slot, Address begin, Address end);
    static void clear(std::size_t slot);
    /// Takes all rights from the pages of all slots that nobody has touched.
    static void close();
    /// Gives them back.
    static void open();
    /// Whether a slot guards any of these pages.
    static bool overlaps(std::size_t slot, Address begin, Address end);
    /// Somebody faulted here: opens the pages of the slots that keep it closed, and remembers that. False if
    /// no slot did. For a signal handler.
    static bool touch(Address at, bool write);
    /// Whether a slot ever guarded this page. For a signal handler.
    static bool knows(Address at);
    /// The first touch since set().
    static std::optional<Touched> touched(std::size_t slot);

    static constexpr Address page_bytes = 4096;
};

} // namespace emu::cuda
