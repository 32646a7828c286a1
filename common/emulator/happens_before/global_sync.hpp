#pragma once
/// \file
/// What threads publish at places in global memory for threads of other clusters.

#include "happens_before/vector_clock.hpp"
#include "hopper_emulator/address.hpp"

#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace emu::check {

/// Who wrote a place.
struct Writer {
    std::uint32_t cluster = 0;
    Component thread = 0;
    Epoch epoch = 0; ///< 0: nobody of this launch.
};

/// A load in a loop that waits for a value (PollSite): it may have got any value that would have ended the
/// loop, as long as nothing that the thread knows of has overwritten it.
struct Poll {
    std::function<bool(std::uint64_t)> ends; ///< The loop ends with this value of the eight bytes.
    bool is_stale = false; ///< Set: the value with which its last wait here ended would do as well.
};

/// Clocks published at a memory location by releases of gpu or system scope. A location is eight bytes.
class GlobalSync {
  public:
    using Clocks = std::shared_ptr<const Foreign>;

    void release(Address location, std::uint32_t cluster, const Clock& clock, const Clocks& foreign);
    /// All that has been published at the place.
    Clocks acquire(Address location) const;
    /// All that was published anywhere.
    Clocks acquire_all() const;

    /// The place, where somebody has released or does, is about to be written; `before` is what it holds.
    void note_write(Address location, const Writer& writer, std::uint64_t before);
    /// Several threads write it at once, in an order that is not known.
    void note_writes(Address location);
    /// What the thread got from the oldest value that would have ended its loop; all if none does.
    /// `knows(writer)`: the thread comes behind that write.
    Clocks acquire(Address location, const Writer& reader, std::uint64_t now, Poll& poll,
                   const std::function<bool(const Writer&)>& knows);

  private:
    /// A value that the place has held.
    struct Held {
        Writer writer;
        std::uint64_t value = 0; ///< Of the last one: not yet known.
        Clocks clocks;           ///< Published by then.
    };
    /// The values that a thread got, by their numbers.
    struct Position {
        std::uint64_t read = 0, passed = 0;
        bool has_passed = false;
    };
    struct Location {
        Clocks clocks;
        std::deque<Held> history;
        std::uint64_t dropped = 0; ///< Number of the first value in `history`.
        std::map<std::pair<std::uint32_t, Component>, Position> readers;
    };
    static constexpr std::size_t kept = 256, kept_locations = 4096;
    static void push(Location& location, Held held);

    std::atomic<bool> used_{false}; ///< Most launches never release across clusters.
    mutable std::mutex mutex_;
    std::unordered_map<Address, Location> locations_;
    mutable Clocks all_; ///< Null when it must be put together anew.
};

} // namespace emu::check
