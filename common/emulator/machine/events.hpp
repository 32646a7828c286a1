#pragma once
/// \file
/// Events the core emits. Checks, counters and time lines are listeners; the core knows none of them. All
/// events of one cluster (for launches without clusters: of one block) come from one host thread, in the
/// order of emulated execution. What they tell beside the public facts of hopper_emulator/events.hpp is the
/// machine's inside.

#include "hopper_emulator/events.hpp"
#include "machine/program.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace emu {

class Block;
struct Deadlock;
struct Mistake;

/// cp.async, st.async and red.async belong to the generic proxy; bulk and tensor copies to the async proxy
/// (PTX ISA 9.7.9.25).
constexpr bool is_of_async_proxy(AsyncKind kind) {
    return kind != AsyncKind::cp_async && kind != AsyncKind::st_async && kind != AsyncKind::red_async &&
           kind != AsyncKind::cp_async_arrive;
}

/// An access, as checks see it.
struct AccessEvent : Access {
    Warp* warp = nullptr;
    const Op* op = nullptr;
    std::uint32_t pc = 0;
    LaneMask mask = 0;
};

/// One asynchronous operation, as listeners see it. Lives until on_async_retired.
struct AsyncOperation : AsyncCopy {
    Warp* warp = nullptr; ///< That issued it.
};

/// A fence executed by the lanes of `mask`.
struct FenceEvent : Fence {
    Warp* warp = nullptr;
    std::uint32_t pc = 0;
    LaneMask mask = 0;
};

/// An arrival at, or an observation of, an mbarrier.
struct MbarrierEvent : MbarrierUse {
    Warp* warp = nullptr; ///< nullptr when the arrival is the completion of an asynchronous operation.
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
    using BarrierKind = emu::BarrierKind;
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
    /// All threads of a warp have seen that the wgmma of `other`, a warp of its warpgroup or itself, have
    /// read their tiles, up to that group.
    virtual void on_products_read(const WarpLanes&, const Warp& /*other*/, std::uint64_t /*last_group*/) {}
    virtual void on_async_retired(const AsyncOperation&) {} ///< The last event; the operation dies.

    /// tensormap.replace writes the 128 bytes of a map, tensormap.cp_fenceproxy reads one and writes another;
    /// `map` is global or in the shared window.
    virtual void on_tensor_map_access(Warp&, unsigned /*lane*/, std::uint32_t /*pc*/, Address /*map*/,
                                      AccessKind) {}

    /// Lanes have passed griddepcontrol.wait of a launch that began before others had ended.
    virtual void on_grid_wait(const WarpLanes&) {}
    /// A thread of the block executes its first griddepcontrol.launch_dependents.
    virtual void on_grid_trigger(Block&) {}

    /// The machine has met a mistake of the program. True: the listener reports it itself, for it knows more.
    virtual bool on_mistake(const Mistake&) { return false; }
    /// A finding was made, whether or not it is the first of its kind: by the machine or by a listener, at
    /// this moment, about these instructions.
    virtual void on_finding(Finding, std::span<const std::uint32_t> /*pcs*/) {}
    /// Nothing in the cluster can go on, and the launch is about to stop.
    virtual void on_deadlock(const Deadlock&) {}
    virtual void on_thread_exit(const WarpLanes&) {}
    virtual void on_block_start(Block&) {}
    virtual void on_block_exit(Block&) {}
    virtual void on_cluster_end() {}
};

} // namespace emu
