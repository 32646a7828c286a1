#pragma once
/// \file
/// Vector clocks (Fidge/Mattern; epochs as in FastTrack, Flanagan and Freund 2009): who has seen how much of
/// whom. A component belongs to a thread or to an "agent", a stand-in for asynchronous work. Component c of
/// the clock of thread t is the epoch up to which everything c did happens before what t does next.
///
/// After a block barrier all threads know the same, so they share one immutable clock and keep apart only
/// what each knows of itself. Joins of shared clocks are remembered.

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace emu::check {

using Epoch = std::uint32_t;
using Component = std::uint32_t;

/// What a clock says. `order` is happens-before. The other two tell which of that order has also passed a
/// proxy fence (PTX ISA 8.8, fence.proxy.async) for the shared or global space: an async-proxy access may
/// rely only on these. The last is kept in clusters of several blocks only: what of that order rests on no
/// synchronisation of block scope between threads of different blocks.
enum Part : unsigned { order, shared_proxy, global_proxy, across_blocks, part_count };

/// A clock as a value. Missing components are 0: nothing seen.
class Clock {
  public:
    Epoch get(Part part, Component c) const {
        const auto& p = parts_[part];
        return c < p.size() ? p[c] : 0;
    }
    void raise(Part part, Component c, Epoch epoch);
    void join(const Clock& other);
    /// Everything ordered counts as fenced for the given parts.
    void fence(bool shared, bool global);
    /// Everything ordered counts across blocks too.
    void widen();
    void forget(Part part) { parts_[part].clear(); }
    void clear();
    /// True when this clock says at least what `other` says.
    bool includes(const Clock& other) const;
    bool operator==(const Clock&) const = default;

  private:
    std::array<std::vector<Epoch>, part_count> parts_;
};

/// What a thread knows of other clusters: their clocks, by linear cluster index. Components of different
/// clusters never meet in one Clock.
using Foreign = std::map<std::uint32_t, std::shared_ptr<const Clock>>;
std::shared_ptr<const Foreign> join_foreign(const std::shared_ptr<const Foreign>& a,
                                            const std::shared_ptr<const Foreign>& b);

/// An immutable clock shared by many threads of one cluster. Not thread-safe: a cluster runs on one host
/// thread at a time.
struct SharedClock {
    Clock clock;
    std::shared_ptr<const Foreign> foreign;
    std::shared_ptr<const Foreign> fenced_foreign; ///< The part of it that has passed a global proxy fence.
    std::array<std::uint64_t, 4> includes{};       ///< Some clocks this one is known to include.
    std::uint64_t id = 0;
    std::uint32_t references = 0;

    bool knows(std::uint64_t other) const {
        return id == other || includes[0] == other || includes[1] == other || includes[2] == other ||
               includes[3] == other;
    }
};

class ClockSpace;

/// Counted reference to a SharedClock; never empty once made by a ClockSpace.
class ClockRef {
  public:
    ClockRef() = default;
    ClockRef(SharedClock* clock, ClockSpace* space) : clock_(clock), space_(space) { ++clock_->references; }
    ClockRef(const ClockRef& other) : clock_(other.clock_), space_(other.space_) {
        if (clock_)
            ++clock_->references;
    }
    ClockRef(ClockRef&& other) noexcept
        : clock_(std::exchange(other.clock_, nullptr)), space_(other.space_) {}
    ClockRef& operator=(ClockRef other) noexcept {
        std::swap(clock_, other.clock_);
        std::swap(space_, other.space_);
        return *this;
    }
    ~ClockRef() {
        if (clock_ && --clock_->references == 0)
            recycle();
    }
    const SharedClock* operator->() const { return clock_; }
    const SharedClock& operator*() const { return *clock_; }
    explicit operator bool() const { return clock_ != nullptr; }
    friend bool operator==(const ClockRef& a, const ClockRef& b) { return a.clock_ == b.clock_; }

  private:
    void recycle();
    SharedClock* clock_ = nullptr;
    ClockSpace* space_ = nullptr;
};

/// A clock that grows: what arrived at a barrier so far.
class Accumulator {
  public:
    /// Adds a shared clock; adding one that is included already costs a few compares.
    void join(const ClockRef& clock);
    void raise(Part part, Component c, Epoch epoch) { clock_.raise(part, c, epoch); }
    const Clock& clock() const { return clock_; }
    const std::shared_ptr<const Foreign>& foreign() const { return foreign_; }
    void join_foreign(const std::shared_ptr<const Foreign>& other) {
        foreign_ = check::join_foreign(foreign_, other);
    }
    bool empty() const { return empty_; }
    void forget(Part part) {
        clock_.forget(part);
        includes_ = {};
    }

  private:
    friend class ClockSpace;
    Clock clock_;
    std::shared_ptr<const Foreign> foreign_, fenced_foreign_;
    std::array<std::uint64_t, 4> includes_{};
    unsigned next_ = 0;
    bool empty_ = true;
};

/// Makes, joins and recycles the shared clocks of one cluster.
class ClockSpace {
  public:
    ClockSpace();
    ClockSpace(const ClockSpace&) = delete;
    ClockSpace& operator=(const ClockSpace&) = delete;
    /// References must not outlive the space.
    ~ClockSpace();

    /// The clock that knows nothing.
    const ClockRef& bottom() const { return bottom_; }
    ClockRef freeze(const Accumulator& accumulator);
    /// The least clock that includes both; remembers recent results.
    ClockRef join(const ClockRef& a, const ClockRef& b);
    /// `a` after a proxy fence for the given spaces; remembers recent results.
    ClockRef fenced(const ClockRef& a, bool shared, bool global);
    /// `a` after a fence of cluster scope or wider.
    ClockRef widened(const ClockRef& a);
    /// Number of joins that had to be computed (for tests and tuning).
    std::uint64_t computed() const { return computed_; }
    void recycle(SharedClock* clock);

  private:
    struct Memo {
        std::uint64_t a = 0, b = 0;
        ClockRef result;
    };
    SharedClock* make();
    Memo& memo(std::uint64_t a, std::uint64_t b);
    ClockRef completed(const ClockRef& a, bool shared, bool global, bool all_blocks);

    std::vector<std::unique_ptr<SharedClock>> all_;
    std::vector<SharedClock*> free_;
    std::uint64_t next_id_ = 16; ///< Smaller ids mean fences in memo keys.
    std::uint64_t computed_ = 0;
    std::array<Memo, 64> memos_;
    ClockRef bottom_;
};

} // namespace emu::check
