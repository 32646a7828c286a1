#pragma once
/// \file
/// What happens in a launch, for listeners of your own. Derive from Listener and from ClusterEvents, and
/// attach the listener: `device.add_observer(listen_with(std::make_shared<MyListener>()))`. The events of one
/// cluster (for launches without clusters: of one block) come from one host thread, in the order of emulated
/// execution; the emulator has no clock. What an event points to lives as long as the call. An exception of a
/// listener stops the launch, and Device::launch() throws it; LaunchResult::error has it otherwise. Nothing
/// here may call the device.

#include "hopper_emulator/address.hpp"
#include "hopper_emulator/launch.hpp"
#include "hopper_emulator/observer.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)
namespace emu {

/// What an access does.
enum class AccessKind : std::uint8_t { read, write, atomic };
/// Memory semantics (PTX ISA 8.4). `weak` is the default of ld/st; `volatile_` is relaxed at system scope.
enum class Semantics : std::uint8_t { weak, relaxed, acquire, release, acq_rel, volatile_ };
/// Of strong operations (PTX ISA 8.5).
enum class Scope : std::uint8_t { cta, cluster, gpu, sys };

/// Where in a launch something happened: some lanes of a warp at one instruction.
struct EventPlace {
    Dim3 block = {0, 0, 0}; ///< blockIdx
    unsigned rank = 0;      ///< Of the block in its cluster.
    unsigned warp = 0;      ///< In the block, from 0.
    LaneMask lanes = 0;     ///< Those that take part.
    std::uint32_t pc = 0;   ///< Number of the instruction in the kernel, see LaunchFacts.
};

/// threadIdx of a lane in a block of that size.
constexpr Dim3 thread_index(Dim3 block_size, unsigned warp, unsigned lane) {
    const std::uint32_t linear = warp * warp_size + lane;
    return {linear % block_size.x, linear / block_size.x % block_size.y,
            linear / block_size.x / block_size.y};
}

/// An access of the generic proxy by the lanes of one warp instruction.
struct Access {
    Space space = Space::global;           ///< global, shared, local, constant: resolved, never generic.
    AccessKind kind = AccessKind::read;    ///< What it does.
    Semantics semantics = Semantics::weak; ///< Its order.
    Scope scope = Scope::cta;              ///< Whom that concerns, if it is not weak.
    std::uint32_t bytes = 0;               ///< Per lane, vector included.
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
    /// wgmma.mma_async of one warp: reads the tiles of A (its rows) and B, by the async proxy. Its end is
    /// told in groups of the warp, for which lane 0 stands.
    wgmma,
};
/// How the end of an asynchronous operation is told.
enum class CompletionKind : std::uint8_t { cp_async_group, bulk_group, mbarrier, none, wgmma_group };

/// A contiguous piece of memory an asynchronous operation touches. Tensor copies have one per row of the box.
struct AsyncPiece {
    Address global = 0;       ///< 0 when the bytes are filled, not copied.
    std::uint32_t shared = 0; ///< Shared-window address.
    std::uint32_t bytes = 0;  ///< Of both.
    /// The last so many of these bytes lie behind the tensor's row: a store takes them along in its 16 bytes.
    std::uint32_t padding = 0;
};

/// One asynchronous operation.
struct AsyncCopy {
    std::uint64_t id = 0;                  ///< Counts from 1 within the cluster, in order of issue.
    AsyncKind kind = AsyncKind::bulk_load; ///< What it does.
    CompletionKind completion = CompletionKind::mbarrier; ///< How its end is told.
    unsigned lane = 0;                                    ///< That issued it.
    std::uint32_t pc = 0;                                 ///< The instruction.
    std::uint32_t barrier = 0;  ///< Shared-window address of the mbarrier, when completion == mbarrier.
    std::uint32_t tx_bytes = 0; ///< Bytes counted at that barrier.
    /// Blocks that get the data of one multicast instruction, 0 if it is none. Each destination block has an
    /// operation of its own; the global source is read once, by the operation for the lowest rank.
    std::uint16_t multicast = 0;
    Address tensor_map = 0; ///< Tensor copies: where their 128-byte tensor map was read, at the issue.
    std::uint32_t sectors =
        0; ///< Tensor loads and stores: what they move of global memory, in sectors of 32 bytes.
    std::uint64_t group = 0;   ///< Index of the group of the issuing thread (counts from 0), when in a group.
    bool reads_shared = false; ///< Shared memory is read.
    bool writes_shared = false; ///< Shared memory is written.
    bool reads_global = false;  ///< Global memory is read.
    bool writes_global = false; ///< Global memory is written.
    bool source_done = false;   ///< The source has been read.
    bool landed = false;        ///< The destination has been written.
    /// Width in bytes of the pattern in which 16-byte units change places, 0 for none; tensor loads: of the
    /// tile that is written (first); wgmma: of A and B as their descriptors say; else unknown_swizzle.
    static constexpr std::int16_t unknown_swizzle = -1;
    std::array<std::int16_t, 2> swizzle{unknown_swizzle, unknown_swizzle};
    std::vector<AsyncPiece> pieces; ///< What it reads and writes.
    /// bulk_shared: where it reads. wgmma: where A lies, if in shared memory; `pieces` is B.
    std::vector<AsyncPiece> source_pieces;
};

/// Kinds of fences (PTX ISA 9.7.13).
enum class FenceKind : std::uint8_t {
    membar,      ///< membar / fence.sc / fence.acq_rel, generic proxy.
    proxy_async, ///< fence.proxy.async of any or all spaces.
    proxy_alias,
    proxy_tensormap,
    mbarrier_init,               ///< fence.mbarrier_init.release.cluster
    proxy_async_acquire_release, ///< fence.proxy.async::generic.acquire/release…sync_restrict
};

/// A fence.
struct Fence {
    FenceKind kind = FenceKind::membar; ///< What it orders.
    Scope scope = Scope::cta;           ///< For whom.
    bool covers_shared = true;          ///< For proxy_async: accesses of shared memory.
    bool covers_global = true;          ///< For proxy_async: accesses of global memory.
    bool acquire = true;                ///< One direction, where the fence has one.
    bool release = true;                ///< The other.
    const Address* addresses = nullptr; ///< An acquire of the tensormap proxy: the map, 32 entries by lane.
};

/// An arrival at, or an observation of, an mbarrier.
struct MbarrierUse {
    unsigned lane = 0;         ///< Of the place.
    std::uint32_t pc = 0;      ///< Of the place.
    std::uint32_t address = 0; ///< Shared-window address.
    std::uint64_t phase = 0;   ///< Number of the phase since init, from 0.
    std::uint32_t count = 0;   ///< Arrivals of this event, not of the whole phase.
    std::int64_t tx = 0;       ///< Its change of the tx-count (positive: expected; negative: completed).
    Semantics semantics = Semantics::release; ///< Its order.
    Scope scope = Scope::cta;                 ///< Whom that concerns.
};

/// `bar`/`barrier`, `barrier.cluster`, and `bar.warp.sync` with the other warp-synchronous instructions.
enum class BarrierKind : std::uint8_t { block, cluster, warp };

/// What is known of a launch, for the time of a call. Any thread may ask.
class LaunchFacts {
  public:
    /// The library makes them.
    explicit LaunchFacts(const LaunchInfo& info) : info_(info) {}
    std::string_view kernel() const;    ///< Demangled name.
    const LaunchConfig& config() const; ///< As launched, with the cluster that the kernel requires.
    std::uint64_t serial() const;       ///< Number of the launch in its device, from 1.
    std::uint32_t shared_bytes() const; ///< Per block, the reserved KiB included.
    /// Instructions of the kernel and of what it calls: each `pc` is less.
    std::uint32_t instruction_count() const;
    /// "ld.global.f32", without operands and guard. Throws std::out_of_range, as line() does.
    std::string instruction(std::uint32_t pc) const;
    /// The line of the program's source that an instruction belongs to, with its callers as far as they are
    /// known; the line of the PTX where the PTX names none.
    /// The `ret` that is put behind the text of a function has no line: what is told of it means nothing.
    SourceLine line(std::uint32_t pc) const;

  private:
    const LaunchInfo& info_;
};

/// The events of one cluster. Every function has an empty default: override what you need.
class ClusterEvents {
  public:
    virtual ~ClusterEvents() = default;
    /// Before the instruction; with all lanes that execute it.
    virtual void on_instruction(const EventPlace&) {}
    /// A load, a store or an atomic, when it has happened.
    virtual void on_access(const EventPlace&, const Access&) {}
    /// A fence.
    virtual void on_fence(const EventPlace&, const Fence&) {}

    /// Lanes have come to a barrier. `id`: of the 16 of a block.
    virtual void on_barrier_arrive(BarrierKind, unsigned /*id*/, const EventPlace&) {}
    /// A barrier completed. `arrived` released before, `waiting` acquire after; who does both is in both.
    /// Lanes that come to barrier.cluster.wait after the completion give an event of their own, with nobody
    /// in `arrived`: they acquire what the last completion of that barrier released.
    virtual void on_barrier_complete(BarrierKind, unsigned /*id*/, std::span<const EventPlace> /*arrived*/,
                                     std::span<const EventPlace> /*waiting*/) {}

    /// mbarrier.init; `count`: arrivals of a phase.
    virtual void on_mbarrier_init(const EventPlace&, const MbarrierUse&) {}
    /// mbarrier.inval.
    virtual void on_mbarrier_inval(const EventPlace&, const MbarrierUse&) {}
    /// arrive, expect_tx, complete_tx; before the phase ends. No lanes and the id of the operation where an
    /// asynchronous operation arrives by its end; else 0.
    virtual void on_mbarrier_arrive(const EventPlace&, const MbarrierUse&, std::uint64_t /*copy*/) {}
    /// Phase `phase` completed, once for each. The place, `count` and `tx` are those of the event that
    /// completed it; no lanes if that was an operation's.
    virtual void on_mbarrier_phase(const EventPlace&, const MbarrierUse&) {}
    /// A test or try_wait on `phase` returned true.
    virtual void on_mbarrier_observed(const EventPlace&, const MbarrierUse&) {}
    /// A test or try_wait for parity 1 returned true although no phase has ended yet: on a fresh barrier it
    /// means the phase before the first. `phase` is 0.
    virtual void on_mbarrier_passed_fresh(const EventPlace&, const MbarrierUse&) {}

    /// A thread has issued an asynchronous operation of any kind: AsyncCopy::kind tells bulk copies from the
    /// others. An instruction with several lanes gives an event for each, a multicast one for each
    /// destination.
    virtual void on_copy_issued(const EventPlace&, const AsyncCopy&) {}
    virtual void on_copy_source_read(const AsyncCopy&) {} ///< Now it has read its source.
    virtual void on_copy_landed(const AsyncCopy&) {
    } ///< Now its bytes are written, before the arrival, if any.
    virtual void on_copy_retired(const AsyncCopy&) {} ///< The last event about it.
    /// One thread has committed its group number `group`, from 0.
    virtual void on_group_committed(const EventPlace&, CompletionKind, std::uint64_t /*group*/) {}
    /// A wait_group of one thread saw all its groups up to and including `last`; `read_only` for `.read`.
    virtual void on_group_observed(const EventPlace&, CompletionKind, std::uint64_t /*last*/,
                                   bool /*read_only*/) {}

    /// Lanes have passed griddepcontrol.wait of a launch that began before others had ended.
    virtual void on_grid_wait(const EventPlace&) {}
    /// A thread of the block executes its first griddepcontrol.launch_dependents.
    virtual void on_grid_trigger(Dim3 /*block*/, unsigned /*rank*/) {}

    /// Nothing in the cluster can go on, and the launch is about to stop.
    virtual void on_deadlock() {}
    /// Threads have ended.
    virtual void on_thread_exit(const EventPlace&) {}
    /// Before the first instruction of a block.
    virtual void on_block_start(Dim3 /*block*/, unsigned /*rank*/) {}
    /// All threads of a block have ended.
    virtual void on_block_exit(Dim3 /*block*/, unsigned /*rank*/) {}
    /// The last event of a cluster that came to its end. None comes when the launch is stopped, by an error
    /// or by an exception: what is to be told in any case belongs into the destructor, which runs in the
    /// cluster's thread and before on_launch_end().
    virtual void on_cluster_end() {}
};

/// Sees launches and makes a ClusterEvents for each cluster. Functions may be called by several host threads;
/// launches of different streams overlap.
class Listener {
  public:
    virtual ~Listener() = default;
    /// Before its first cluster, in the thread that starts the launch.
    virtual void on_launch_begin(const LaunchFacts&) {}
    /// Before the cluster's first instruction. `cluster`: its number in the grid. nullptr: no events of it.
    virtual std::unique_ptr<ClusterEvents> on_cluster_begin(const LaunchFacts&, std::uint64_t cluster) = 0;
    /// All its clusters have ended, and their ClusterEvents are destroyed.
    virtual void on_launch_end(const LaunchFacts&) {}
};

/// What Device::add_observer() takes of a listener, which must not be null.
std::unique_ptr<Observer> listen_with(std::shared_ptr<Listener> listener);

} // namespace emu
#pragma GCC visibility pop
