#pragma once
/// \file
/// Events the core emits. Checks, counters and time lines are listeners; the core knows none of them. All
/// events of one cluster (for launches without clusters: of one block) come from one host thread, in the
/// order of emulated execution.

#include "machine/program.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace emu {

class Block;
class Cluster;
class Device;
struct Deadlock;
struct Footprint;
struct GridFacts;
struct LaunchInfo;

enum class AccessKind : std::uint8_t { read, write, atomic };
/// Memory semantics (PTX ISA 8.4). `weak` is the default of ld/st; `volatile_` is relaxed at system scope.
enum class Semantics : std::uint8_t { weak, relaxed, acquire, release, acq_rel, volatile_ };
enum class Scope : std::uint8_t { cta, cluster, gpu, sys };

/// An access of the generic proxy by the lanes of one warp instruction.
struct AccessEvent {
    Warp* warp = nullptr;
    const Op* op = nullptr;
    std::uint32_t pc = 0;
    LaneMask mask = 0;
    ptx::Space space = ptx::Space::global; ///< global, shared, local, constant: resolved, never generic.
    AccessKind kind = AccessKind::read;
    Semantics semantics = Semantics::weak;
    Scope scope = Scope::cta;
    std::uint32_t bytes = 0; ///< Per lane, vector included.
    const Address* addresses =
        nullptr;               ///< 32 entries, by lane. shared: shared-window address (rank << 24 | offset).
    bool changes_value = true; ///< Writes: false when every lane wrote what was there already.
    LaneMask changing = all_lanes; ///< Writes: the lanes that did change a value.
    /// Lanes whose access begins in an array and ends behind it, and how many of their bytes lie inside.
    /// Only aligned vector loads and strong accesses of a word may, as on hardware: nvcc reads four floats
    /// where the program wants three.
    LaneMask overhanging = 0;
    const std::uint8_t* inside = nullptr; ///< By lane, of those.
    bool noncoherent = false;             ///< ld.global.nc
    /// Weak writes: two lanes that write different values to the same address, if there are such; else equal.
    std::uint8_t clash[2] = {0, 0};
};

/// Kinds of asynchronous operations.
enum class AsyncKind : std::uint8_t {
    cp_async,    ///< cp.async, non-bulk, generic proxy.
    bulk_load,   ///< global to shared, async proxy.
    bulk_store,  ///< shared to global.
    bulk_shared, ///< shared to shared of the cluster.
    bulk_reduce, ///< cp.reduce.async.bulk.
    tensor_load,
    tensor_store,
    tensor_reduce,
    st_async,
    red_async,
    prefetch,
    /// cp.async.mbarrier.arrive: moves nothing; its arrival (count 1, tx 0) at `barrier` follows the landing
    /// of all cp_async operations of the same thread with a smaller id. Issued, landed and retired like the
    /// others.
    cp_async_arrive,
};
enum class CompletionKind : std::uint8_t { cp_async_group, bulk_group, mbarrier, none };

/// A contiguous piece of memory an asynchronous operation touches. Tensor copies have one per row of the box.
struct AsyncPiece {
    Address global = 0;       ///< 0 when the bytes are filled, not copied.
    std::uint32_t shared = 0; ///< Shared-window address.
    std::uint32_t bytes = 0;
    /// The last so many of these bytes lie behind the tensor's row: a store takes them along in its 16 bytes.
    std::uint32_t padding = 0;
};

/// One asynchronous operation, as listeners see it. Lives until on_async_retired.
struct AsyncOperation {
    std::uint64_t id = 0; ///< Counts from 1 within the cluster, in order of issue.
    AsyncKind kind = AsyncKind::bulk_load;
    CompletionKind completion = CompletionKind::mbarrier;
    Warp* warp = nullptr; ///< Issuing warp, lane and instruction.
    unsigned lane = 0;
    std::uint32_t pc = 0;
    std::uint32_t barrier = 0;  ///< Shared-window address of the mbarrier, when completion == mbarrier.
    std::uint32_t tx_bytes = 0; ///< Bytes counted at that barrier.
    /// Blocks that get the data of one multicast instruction, 0 if it is none. Each destination block has an
    /// operation of its own; the global source is read once, by the operation for the lowest rank.
    std::uint16_t multicast = 0;
    Address tensor_map = 0; ///< Tensor copies: where their 128-byte tensor map was read, at the issue.
    std::uint32_t sectors =
        0; ///< Tensor loads and stores: what they move of global memory, in sectors of 32 bytes.
    std::uint64_t group = 0; ///< Index of the group of the issuing thread (counts from 0), when in a group.
    bool reads_shared = false;
    bool writes_shared = false;
    bool reads_global = false;
    bool writes_global = false;
    bool source_done = false; ///< The source has been read.
    bool landed = false;      ///< The destination has been written.
    std::vector<AsyncPiece> pieces;
    std::vector<AsyncPiece> source_pieces; ///< Only bulk_shared: where it reads.
};

enum class FenceKind : std::uint8_t {
    membar,      ///< membar / fence.sc / fence.acq_rel, generic proxy.
    proxy_async, ///< fence.proxy.async of any or all spaces.
    proxy_alias,
    proxy_tensormap,
    mbarrier_init,               ///< fence.mbarrier_init.release.cluster
    proxy_async_acquire_release, ///< fence.proxy.async::generic.acquire/release…sync_restrict
};

/// A fence executed by the lanes of `mask`.
struct FenceEvent {
    Warp* warp = nullptr;
    std::uint32_t pc = 0;
    LaneMask mask = 0;
    FenceKind kind = FenceKind::membar;
    Scope scope = Scope::cta;
    bool covers_shared = true; ///< For proxy_async: which spaces.
    bool covers_global = true;
    bool acquire = true; ///< Direction, where the fence has one.
    bool release = true;
    const Address* addresses = nullptr; ///< An acquire of the tensormap proxy: the map, 32 entries by lane.
};

/// An arrival at, or an observation of, an mbarrier.
struct MbarrierEvent {
    Warp* warp = nullptr; ///< nullptr when the arrival is the completion of an asynchronous operation.
    unsigned lane = 0;
    std::uint32_t pc = 0;
    std::uint32_t address = 0; ///< Shared-window address.
    std::uint64_t phase = 0;   ///< Number of the phase since init, from 0.
    std::uint32_t count = 0;   ///< Arrivals.
    std::int64_t tx = 0;       ///< Change of the tx-count (positive: expected; negative: completed).
    Semantics semantics = Semantics::release;
    Scope scope = Scope::cta;
    const AsyncOperation* operation =
        nullptr; ///< The operation that completed, if this is a complete_tx of one.
};

/// Lanes of a shuffle that got the value of a lane which took no part.
struct ShuffleEvent {
    Warp* warp = nullptr;
    std::uint32_t pc = 0;
    LaneMask lanes = 0;
    LaneMask members = 0;               ///< The mask of the instruction.
    const std::uint8_t* from = nullptr; ///< 32 entries, by lane: whose value it got.
};

/// Lanes of one warp.
struct WarpLanes {
    Warp* warp = nullptr;
    LaneMask mask = 0;
    std::uint32_t pc = 0;
};

/// Listens to one cluster. Every function has an empty default, so a listener overrides only what it needs.
class ClusterListener {
  public:
    virtual ~ClusterListener() = default;
    virtual void on_instruction(Warp&, std::uint32_t /*pc*/, LaneMask) {}
    /// The guard of the instruction is false for every lane of the group.
    virtual void on_skipped(Warp&, std::uint32_t /*pc*/) {}
    virtual void on_access(const AccessEvent&) {}
    virtual void on_fence(const FenceEvent&) {}

    /// A barrier (`bar`/`barrier`, `barrier.cluster`, `bar.warp.sync` and other warp-synchronous
    /// instructions) completed. `arrived` released before, `waiting` acquire after; sync barriers have all
    /// lanes in both. Lanes that come to barrier.cluster.wait after the completion give an event of their
    /// own, with nobody in `arrived`: they acquire what the last completion of that barrier released.
    enum class BarrierKind : std::uint8_t { block, cluster, warp };
    virtual void on_barrier_arrive(BarrierKind, unsigned /*id*/, const WarpLanes&, Semantics) {}
    virtual void on_barrier_complete(BarrierKind, unsigned /*id*/, std::span<const WarpLanes> /*arrived*/,
                                     std::span<const WarpLanes> /*waiting*/) {}

    virtual void on_shuffle_from_absent(const ShuffleEvent&) {}

    virtual void on_mbarrier_init(const MbarrierEvent&) {}
    virtual void on_mbarrier_inval(const MbarrierEvent&) {}
    virtual void on_mbarrier_arrive(const MbarrierEvent&) {
    } ///< arrive, expect_tx, complete_tx; before the phase ends.
    virtual void on_mbarrier_phase(const MbarrierEvent&) {} ///< Phase `phase` completed.
    virtual void on_mbarrier_observed(const MbarrierEvent&) {
    } ///< A test or try_wait on `phase` returned true.
    /// A test or try_wait for parity 1 returned true although no phase has ended yet: on a fresh barrier it
    /// means the phase before the first. `phase` is 0.
    virtual void on_mbarrier_passed_fresh(const MbarrierEvent&) {}

    virtual void on_async_issue(const AsyncOperation&) {}
    virtual void on_async_source_read(const AsyncOperation&) {} ///< Now it has read its source.
    virtual void on_async_landed(const AsyncOperation&) {
    } ///< Now its bytes are written (before the arrival, if any).
    virtual void on_async_commit(Warp&, unsigned /*lane*/, CompletionKind, std::uint64_t /*group*/) {}
    /// A wait_group that lets the `pending` newest of `groups` committed groups of this thread go on.
    virtual void on_async_wait(Warp&, unsigned /*lane*/, CompletionKind, std::uint64_t /*pending*/,
                               std::uint64_t /*groups*/, std::uint32_t /*pc*/) {}
    /// A wait_group observed all groups of this thread up to and including `last_group`; `read_only` for
    /// `.read`.
    virtual void on_async_group_observed(Warp&, unsigned /*lane*/, CompletionKind,
                                         std::uint64_t /*last_group*/, bool /*read_only*/,
                                         std::uint32_t /*pc*/) {}
    virtual void on_async_retired(const AsyncOperation&) {} ///< The last event; the operation dies.

    /// tensormap.replace writes the 128 bytes of a map, tensormap.cp_fenceproxy reads one and writes another;
    /// `map` is global or in the shared window.
    virtual void on_tensor_map_access(Warp&, unsigned /*lane*/, std::uint32_t /*pc*/, Address /*map*/,
                                      AccessKind) {}

    /// Lanes have passed griddepcontrol.wait of a launch that began before others had ended.
    virtual void on_grid_wait(const WarpLanes&) {}
    /// A thread of the block executes its first griddepcontrol.launch_dependents.
    virtual void on_grid_trigger(Block&) {}

    /// Nothing in the cluster can go on, and the launch is about to stop.
    virtual void on_deadlock(const Deadlock&) {}
    virtual void on_thread_exit(const WarpLanes&) {}
    virtual void on_block_start(Block&) {}
    virtual void on_block_exit(Block&) {}
    virtual void on_cluster_end() {}
};

/// Makes one ClusterListener per cluster and sees the launch as a whole. Functions may be called from several
/// host threads.
class Observer {
  public:
    virtual ~Observer() = default;
    virtual void on_launch_begin(const LaunchInfo&) {}
    virtual std::unique_ptr<ClusterListener> listen(Cluster&) = 0;
    virtual void on_launch_end(const LaunchInfo&) {}
    /// Asked before on_launch_end() of a launch that wishes for it: what its blocks read and wrote.
    virtual std::shared_ptr<const Footprint> footprint(const LaunchInfo&) { return nullptr; }
    /// Asked before on_launch_end(): what it did with griddepcontrol.
    virtual std::shared_ptr<const GridFacts> grid_facts(const LaunchInfo&) { return nullptr; }
};

} // namespace emu
