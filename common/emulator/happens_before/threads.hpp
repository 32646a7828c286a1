#pragma once
/// \file
/// The clocks of a cluster's threads and of their asynchronous operations, and the edges between them.

#include "happens_before/global_sync.hpp"
#include "happens_before/records.hpp"
#include "happens_before/vector_clock.hpp"
#include "machine/block.hpp"
#include "machine/events.hpp"
#include "machine/warp.hpp"

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace emu::check {

/// Asynchronous operations of one thread complete in order of their groups, so one number tells how many are
/// known to be done. `Stream` is the kind of knowledge.
enum class Stream : std::uint8_t {
    cp_async,   ///< cp.async has landed.
    bulk_read,  ///< Bulk operations have read their source (wait_group.read).
    bulk_write, ///< Bulk operations have landed (wait_group).
    wgmma,      ///< Products of the warp are done, for which lane 0 stands.
    count_
};
/// What a wait for groups of a kind tells: that sources were read, that destinations are written.
constexpr Stream read_stream(CompletionKind kind) {
    return kind == CompletionKind::bulk_group    ? Stream::bulk_read
           : kind == CompletionKind::wgmma_group ? Stream::wgmma
                                                 : Stream::cp_async;
}
constexpr Stream write_stream(CompletionKind kind) {
    return kind == CompletionKind::bulk_group ? Stream::bulk_write : read_stream(kind);
}
inline constexpr unsigned stream_count = static_cast<unsigned>(Stream::count_);

/// Asynchronous streams of the threads of one warp. Sequence numbers grow with commits, not with operations.
struct WarpStreams {
    struct One {
        Component first = 0;                          ///< Component of lane 0; the other lanes follow.
        Epoch now = 1;                                ///< Sequence number of the next operation.
        std::array<Epoch, warp_size> seen{};          ///< What the lane has observed itself.
        std::array<Epoch, warp_size> fenced_shared{}; ///< … and then fenced for the async proxy.
        std::array<Epoch, warp_size> fenced_global{};
    };
    std::array<One, stream_count> of;
    /// The last wait_group of a lane.
    struct Wait {
        bool any = false;
        std::uint32_t pc = 0;
        std::uint32_t operations = 0; ///< How many the cluster had issued then.
        std::uint64_t pending = 0;    ///< Newest groups that it lets go on,
        std::uint64_t groups = 0;     ///< of so many.
        Epoch epoch = 0;              ///< Of the warp then.
        bool no_news = false;         ///< None was committed since the same line waited before, for as many.
    };
    /// Groups of one kind, by lane.
    struct Groups {
        std::array<std::vector<Epoch>, warp_size> commits; ///< Sequence number at each commit.
        std::array<Wait, warp_size> waits;
    };
    Groups cp_async, bulk, wgmma;

    One& stream(Stream s) { return of[static_cast<unsigned>(s)]; }
    const One& stream(Stream s) const { return of[static_cast<unsigned>(s)]; }
    Groups& groups(CompletionKind kind) {
        return kind == CompletionKind::bulk_group    ? bulk
               : kind == CompletionKind::wgmma_group ? wgmma
                                                     : cp_async;
    }
    const Groups& groups(CompletionKind kind) const { return const_cast<WarpStreams&>(*this).groups(kind); }
};

/// A release fence (PTX ISA 8.8.1): what a later strong write publishes.
struct FenceRelease {
    ClockRef clock;
    Epoch epoch = 0;
    Scope scope = Scope::cta;
};

/// What a lane read with relaxed operations: it becomes known at the next fence.
struct LaneSync {
    FenceRelease release;
    std::shared_ptr<Accumulator> pending;
    /// The same by atomics of release order: whoever writes an order down means it, so that no barrier stands
    /// in for what it lacks.
    std::shared_ptr<Accumulator> pending_of_release;
    bool fenced = false; ///< It has executed a fence since its last strong write.
    // The last that was read, so that a loop which reads the same again and again costs nothing.
    std::uint64_t seen_clock = 0;
    std::shared_ptr<const Foreign> seen_foreign;
};

/// The clocks of one warp.
struct WarpClock {
    Warp* warp = nullptr;
    Component first = 0; ///< Component of lane 0.
    Epoch now = 1;       ///< Of the accesses the warp makes now. Any release by any lane ends an epoch.
    std::array<ClockRef, warp_size> base;
    std::array<Epoch, warp_size> fenced_shared{}; ///< Own accesses up to here passed a proxy fence.
    std::array<Epoch, warp_size> fenced_global{};
    std::unique_ptr<WarpStreams> streams;
    std::unique_ptr<std::array<LaneSync, warp_size>> sync;

    /// Recent records by instruction: same pc, flags and epoch give the same record.
    struct Recent {
        std::uint32_t pc = ~0u;
        std::uint32_t flags = 0;
        Epoch epoch = 0;
        std::uint32_t record = 0;
    };
    std::array<Recent, 32> recent;
    /// The aligned barriers that lanes have passed.
    struct PassedBarrier {
        std::uint32_t pc = 0;
        LaneMask lanes = 0;
    };
    std::vector<PassedBarrier> passed_barriers;
    std::array<Recent, 8> recent_cp_async; ///< `record` is the index of an operation.
};

class Threads {
  public:
    /// `several_blocks`: the cluster has more than one.
    Threads(std::uint32_t cluster, bool several_blocks, GlobalSync& global);
    ~Threads();

    void add_block(Block& block);
    WarpClock& of(const Warp& warp) { return *warps_[warp.block().rank() * 32 + warp.index()]; }
    std::uint32_t cluster() const { return cluster_; }
    bool several_blocks() const { return several_blocks_; }
    ClockSpace& space() { return space_; }
    Component new_component(unsigned count) {
        const Component first = next_component_;
        next_component_ += count;
        return first;
    }
    WarpStreams& streams(WarpClock& warp);

    /// Whether the access `record`, made for byte k of a word by `ref`, happened before what `lane` of
    /// `viewer` does now; in the proxy parts: and is visible to the async proxy.
    bool sees(const WarpClock& viewer, unsigned lane, const Record& record, Component component,
              Part part = order) const;
    static Component component_of(const Record& record, Ref ref, unsigned k) {
        return record.component + (record.is(Record::by_lane) ? lane_at(ref, record, k) : 0);
    }

    // -- edges
    /// Adds all that `lane` knows, itself included.
    void gather(Accumulator& into, WarpClock& warp, unsigned lane);
    void gather(Accumulator& into, const WarpLanes& lanes);
    /// Ends the warp's epoch: later accesses are not covered by what was gathered.
    void advance(WarpClock& warp);
    void learn(WarpClock& warp, unsigned lane, const ClockRef& clock) {
        if (clock)
            warp.base[lane] = space_.join(warp.base[lane], clock);
    }
    void learn(const WarpLanes& lanes, const ClockRef& clock);

    void proxy_fence(const FenceEvent& event);
    void memory_fence(const FenceEvent& event);
    /// A strong access: an edge from releases to acquires at its location. True if it published something.
    /// `poll`: it is a load that waits for a value.
    bool strong_access(WarpClock& warp, unsigned lane, Address location, const AccessEvent& event,
                       Poll* poll = nullptr);
    /// A block or cluster barrier completes what relaxed reads began, as a fence would, and carries an
    /// earlier release fence of the lane forward.
    void settle(WarpClock& warp, unsigned lane);
    /// A relaxed arrival publishes what the lane's last release fence covered, if there was one (and its
    /// scope is no narrower than `scope`).
    void gather_fenced(Accumulator& into, WarpClock& warp, unsigned lane, Scope scope = Scope::cta);

    /// A lane observed the operations of a stream up to sequence number `epoch`.
    void observe(WarpClock& warp, unsigned lane, Stream stream, Epoch epoch);

  private:
    struct Location {
        Accumulator clock;
        ClockRef frozen;
    };
    void release_at(WarpClock& warp, unsigned lane, Address location, const FenceRelease& what);
    void acquire_from(WarpClock& warp, unsigned lane, Address location, const AccessEvent& event, Poll* poll);
    std::shared_ptr<const Foreign> published_at(WarpClock& warp, unsigned lane, Address location, Poll* poll);
    void note_write(const WarpClock& warp, unsigned lane, Address location, const AccessEvent& event,
                    Epoch epoch);
    void raise_own(Accumulator& into, const WarpClock& warp, unsigned lane, Epoch epoch) const;

    std::uint32_t cluster_;
    bool several_blocks_;
    GlobalSync& global_;
    ClockSpace space_; ///< First member to be made and last to die among those that hold clocks.
    std::vector<std::unique_ptr<WarpClock>> warps_; ///< By rank * 32 + warp in the block.
    void acquire_at(Location& location, WarpClock& warp, unsigned lane, LaneSync& sync, Accumulator& found);
    std::unordered_map<Address, Location> locations_;
    Location anywhere_; ///< What was released at any place that others than this launch may read.
    Component next_component_ = 0;
};

} // namespace emu::check
