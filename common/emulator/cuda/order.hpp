#pragma once
/// \file
/// Which operations of the streams are ordered one behind the other, and whether those that are not use the
/// same bytes. An operation is ordered behind another by its stream, by events, by edges of a graph, by the
/// rules of the legacy default stream, and by a host that waited for the one before it asked for the other.

#include "cuda/host_guard.hpp"
#include "cuda/host_watch.hpp"
#include "hopper_emulator/footprint.hpp"

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace emu::cuda {

class State;
class Task;

/// What is known to have ended. Operations form lines, in which each stands behind the one before; a clock
/// has the number of the last one known of each line.
class OperationClock {
  public:
    /// 0: nothing of that line.
    std::uint32_t at(std::uint64_t line) const;
    void raise(std::uint64_t line, std::uint32_t number);
    void join(const OperationClock& other);
    /// Forgets lines for which `gone(line)` holds.
    template <class Gone>
    void forget_if(Gone&& gone) {
        std::erase_if(entries_, [&](const auto& entry) { return gone(entry.first); });
    }

  private:
    std::vector<std::pair<std::uint64_t, std::uint32_t>> entries_; ///< By line, ascending.
};

/// An operation behind which another stands in its stream, but that may not have ended yet.
struct Unfinished {
    std::uint64_t line = 0;
    std::uint32_t number = 0;
    /// Kernels between the two that never wait: would they, it had ended.
    std::vector<std::string> careless;
};

/// The place of an operation among the others.
struct OperationPlace {
    std::uint64_t line = 0; ///< 0: it has none yet.
    std::uint32_t number = 0;
    OperationClock clock; ///< Itself and all that it stands behind.

    // Of a kernel that may begin before its primary ends.
    OperationClock known; ///< What has ended all the same when it begins.
    /// Of its clock, what may be under way when it begins, and what behind its griddepcontrol.wait. Known
    /// when it has ended; the latest first.
    std::vector<Unfinished> at_start, behind_wait;
};

enum class OperationKind : std::uint8_t { other, kernel, copy, fill, free, record };

/// What is to be known of an operation, for comparing it and for words about it.
struct OperationFacts {
    OperationKind kind = OperationKind::other;
    std::string what;   ///< "kernel f", "the copy from device to host memory".
    std::string stream; ///< "stream 2", "the default stream".
    std::shared_ptr<const Footprint> footprint = nullptr; ///< Null: not known, or nothing.
    std::shared_ptr<const GridFacts> grids = nullptr;     ///< Of a kernel with griddepcontrol.
    bool non_blocking = false;                            ///< Its stream was made with cudaStreamNonBlocking.
    bool legacy = false;
    std::uint64_t graph = 0; ///< Number of the graph launch that it belongs to; 0: none.
    bool captured = false;   ///< Its node came from a stream capture.
    /// It may have been ordered with others by what they wrote to memory, or its place is not known.
    bool unsure = false;
    bool tells_host = false; ///< The host may have learnt of its end without waiting for it.
    bool watched = false;    ///< The host must leave alone what it reads and writes until it has waited.
};

/// Thread-safe. Does nothing when checks are off.
class Order {
  public:
    explicit Order(State& state);

    /// Gives a task its place behind others (null: none).
    void place(Task& task, const std::vector<std::shared_ptr<Task>>& behind);
    /// The task is done; its facts are complete. Compares it with all that it is not ordered with.
    void ended(Task& task);
    /// The task is about to change these bytes of memory that the host reaches: the host's own changes come
    /// before.
    void before_write(Address begin, Address end);

    /// The host has waited for them, or was told that they have ended.
    void host_saw(const std::vector<std::shared_ptr<Task>>& tasks);
    /// The same for all that the legacy default stream waits for, and for everything.
    void host_saw_blocking();
    void host_saw_all();
    /// The process ends.
    void finish();
    /// The host frees memory without waiting for anything.
    void host_frees(Address begin, Address end);
    /// This memory of the host is about to go: nobody looks at it any more, and its pages are open.
    void forget(Address begin, Address end);

  private:
    /// An operation that others may still have to be compared with.
    struct Operation {
        OperationFacts facts;
        OperationPlace place;
        std::vector<HostWatch> watches;
    };
    struct Line {
        std::uint32_t tail = 0;
        unsigned pending = 0;               ///< Placed, and not yet done.
        std::deque<Operation> live;         ///< In ascending order of number.
        std::vector<std::uint32_t> unsure;  ///< Numbers of operations that may know more than is known.
        std::deque<std::uint32_t> recorded; ///< Numbers of events.
    };
    /// The bytes that two operations share.
    struct Clash {
        const FootprintPiece *earlier = nullptr, *later = nullptr;
        Address begin = 0, end = 0;
    };
    struct Relation {
        Clash clash;               ///< Null pointers: none.
        bool communicates = false; ///< One saw what the other stored to tell others.
    };
    /// `matters`: which two pieces to compare at all.
    using Matters = std::function<bool(const FootprintPiece& earlier, const FootprintPiece& later)>;
    static Relation relate(const Footprint& earlier, const Footprint& later, const Matters& matters = {});
    bool compare(const Operation& later);
    const Operation* find(const Unfinished& operation) const;

    // order_programmatic.cpp
    static void find_unfinished(Task& task);
    bool compare_programmatic(const Operation& later);
    /// An operation that may be under way while a later kernel has not waited, or has waited in vain.
    struct Overlap {
        const Operation *earlier = nullptr, *later = nullptr;
        const Footprint* footprint = nullptr; ///< Of the later one, meanwhile.
        bool early = true;                    ///< It has not waited.
        std::vector<std::string> careless;    ///< Kernels between them, but for which its wait would help.
        Clash clash;
    };
    std::vector<Overlap> overlaps(const Operation& later) const;
    void tell_overlap(const Overlap& overlap);
    static std::string why_not_waited(const Overlap& overlap);
    static std::string how_to_wait(const Overlap& overlap);
    bool is_unsure(const OperationClock& clock) const;
    bool stores_for_host(const OperationFacts& facts) const;
    void watch(Operation& operation);
    void guard(const Operation& operation);
    void open_guards();
    void drop_guard(std::size_t slot);
    void close_guards();
    void drop_watches(const Footprint& written);
    void see(const OperationClock& clock);
    OperationClock everything() const;
    void tell_changes(Operation& operation);
    void drop_oldest(Line& line);
    void prune();

    // order_report.cpp
    void tell_race(const Operation& earlier, const Operation& later, const Clash& clash);
    void tell_freed(const Operation& user, const std::string& freeing, const std::string& why,
                    const std::string& advice, const Clash& clash);
    void tell_host_access(const OperationFacts& facts, const HostGuard::Touched& touched);
    void tell_host_write(const Operation& operation, const HostWatch& watch, Address begin, Address end);
    std::string why_unordered(const Operation& earlier, const Operation& later) const;
    std::string how_to_order(const Operation& earlier, const Operation& later) const;
    bool waits_for_early_event(const Operation& earlier, const Operation& later) const;
    std::string describe(Address begin, Address end) const;
    void tell(Finding kind, const std::string& key, std::string message, std::string advice,
              std::vector<SourceLine> lines);

    State& state_;
    const bool enabled_;
    std::mutex mutex_;
    std::map<std::uint64_t, Line> lines_;
    std::uint64_t last_line_ = 0;
    std::size_t live_ = 0, pieces_ = 0; ///< Operations that are kept, and the pieces of their footprints.
    std::size_t pending_ = 0;
    OperationClock host_;     ///< What the host has waited for.
    OperationClock blocking_; ///< All that an operation of the legacy default stream stands behind.
    std::set<std::string> told_;
    /// Who writes the pages of a slot of HostGuard.
    struct Guarded {
        OperationFacts facts;
        std::uint64_t line = 0;
        std::uint32_t number = 0;
    };
    std::array<std::optional<Guarded>, HostGuard::slots> guarded_;
    std::size_t next_guard_ = 0;
};

} // namespace emu::cuda
