#pragma once
/// \file
/// What the happens-before engine knows and tells: asynchronous operations, mbarriers, accesses that meet.

#include "happens_before/answers.hpp"
#include "happens_before/shadow.hpp"
#include "happens_before/threads.hpp"
#include "machine/events.hpp"
#include "machine/written.hpp"

#include <array>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace emu::check {

/// An asynchronous operation, or all cp.async of one instruction and epoch.
struct Operation {
    AsyncKind kind = AsyncKind::bulk_load;
    CompletionKind completion = CompletionKind::mbarrier;
    Warp* warp = nullptr;
    unsigned lane = 0;
    std::uint32_t pc = 0;
    std::uint32_t barrier = 0;
    std::uint64_t issued_in = 0; ///< Phase of the barrier at issue.
    std::uint32_t bytes = 0;     ///< tx_bytes.
    std::int16_t swizzle = -1;   ///< Of a tensor load, see AsyncCopy.
    std::uint32_t into = 0;      ///< Where in the shared window what it writes there begins.
    std::uint32_t reads = 0;     ///< Record of its source, 0 if none.
    std::uint32_t writes = 0;    ///< Record of its destination.
    bool reads_shared = false, writes_shared = false;
    bool completed = false; ///< Its complete_tx has arrived at the barrier.
    bool surplus = false;   ///< The phase it belongs to ended without it.
    bool reported = false;  ///< For the rules: a mistake is told once per operation.
    /// What the issuing thread knew, for operations that complete at an mbarrier; kept for a while behind
    /// the end.
    ClockRef clock;
    Component issuer = 0; ///< The issuing thread (for cp.async: lane 0 of its warp)
    Epoch epoch = 0;      ///< … and its epoch then.
};

/// An access that is being checked: its record, who makes it, and where.
struct Actor {
    WarpClock* clock = nullptr;
    unsigned lane = 0;
    Ref ref = 0;
    const Record* record = nullptr;
    bool is_write = false;
    bool shared = false;
    bool padding = false;                  ///< Bytes that belong to nobody, see AsyncPiece.
    Address word = 0;                      ///< Address of the word: shared-window or global.
    bool first_write = false;              ///< Nobody has written the word before.
    const WrittenWords* written = nullptr; ///< Before the launch, of an allocation with gaps.
    Answers* answers = nullptr;            ///< Of an asynchronous operation: what it has asked.
    LaneMask together = 0; ///< All lanes that write the same value to the same place in this instruction.
};

/// Two accesses of the same bytes: an earlier one, which the shadow remembers, and one that is made now.
struct Meeting {
    const Record& old;
    Ref ref = 0;           ///< Of the earlier access.
    unsigned k = 0, n = 0; ///< Bytes k … k + n - 1 of the word.
    Actor actor;           ///< The later one.
};

/// What relaxed arrivals at a barrier would have published if they were releases.
struct Withheld {
    Accumulator arriving; ///< In the phase that is under way.
    ClockRef clock;       ///< In the phases that have ended.
    Component agent = 0;  ///< Its epoch `phase` is known to whoever passed the last of these phases.
    Epoch phase = 0;
    struct Arrival {
        Warp* warp = nullptr;
        unsigned lane = 0;
        std::uint32_t pc = 0;
    };
    std::map<Component, Arrival> arrivals; ///< The last of each thread.

    /// `published` is what the barrier hands to those who wait.
    void end_phase(ClockSpace& space, Accumulator& published);
};

/// What an mbarrier hands to threads of any block of the cluster. (What it hands on in order is more: a
/// release or acquire of block scope covers the threads of one block only, PTX ISA 8.5.)
struct HandedAcross {
    struct Share {
        Accumulator arrived;
        ClockRef completed;
    };
    std::vector<Share> of_rank; ///< Arrivals by threads of a block, for waiters of that block.
    Share of_cluster;           ///< Arrivals of cluster scope, for waits of that scope.
    Share of_copies;            ///< Copies, for everybody.
};

/// What is known of an mbarrier.
struct BarrierState {
    /// The last wait of a thread that returned true.
    struct Passed {
        Warp* warp = nullptr; ///< nullptr: there was none.
        unsigned lane = 0;
        std::uint32_t pc = 0;
        Epoch epoch = 0;          ///< Of the thread, since it first saw the last of these phases.
        std::uint64_t phases = 0; ///< That it saw end; 0: it passed a fresh barrier.
        ClockRef unseen;          ///< What a relaxed wait did not acquire.
    };

    Component agent = 0; ///< Component whose epoch is the number of completed phases.
    Accumulator arrived;
    ClockRef completed;
    Warp* init_warp = nullptr;
    unsigned init_lane = 0;
    std::uint32_t init_pc = 0;
    Component init_component = 0;
    Epoch init_epoch = 0;
    std::vector<std::uint32_t> pending; ///< Operations that will complete here.
    std::vector<Passed> passed;         ///< By thread component.
    Component last_passed = 0;          ///< The thread that passed last.
    bool invalidated = false;
    std::unique_ptr<Withheld> withheld;
    std::unique_ptr<HandedAcross> across; ///< In clusters of several blocks.

    const Passed* passed_by(Component thread) const {
        return thread < passed.size() && passed[thread].warp ? &passed[thread] : nullptr;
    }
};

/// Gets every event of the machine before the engine has drawn its conclusions from it, and what the engine
/// finds out. Of the events, on_instruction, on_skipped and on_access come only to who has asked for them
/// (Engine::watch()).
class FactListener : public ClusterListener {
  public:
    /// Nothing orders the two accesses, and at least one of them writes. True: it is explained, by a finding
    /// or because it is no mistake, and nobody else is asked.
    virtual bool on_conflict(const Meeting&) { return false; }
    /// An ordinary read of what a thread of another block of the cluster wrote by an ordinary store, or a
    /// write over what it read, ordered by arrivals or waits of block scope only.
    virtual void on_narrow_order(const Meeting&) {}
    /// A write through the generic proxy comes before an access through the async proxy, but no fence makes
    /// it visible there.
    virtual void on_unfenced(const Meeting&) {}
    /// A read by ld.global.nc comes behind a write of this launch, which it need not see.
    virtual void on_noncoherent_read(const Meeting&) {}
    /// A read of shared memory through the generic proxy comes before a write through the async proxy. Only
    /// for who has asked.
    virtual void on_overwritten_read(const Meeting&) {}
    /// A read of bytes that nobody has written.
    virtual void on_unwritten(unsigned /*k*/, unsigned /*n*/, const Actor&) {}
    /// The same, by an asynchronous operation that takes them from shared memory.
    virtual void on_unwritten_copied(unsigned /*k*/, unsigned /*n*/, const Actor&) {}
    /// An access reads bytes behind the end of its array: see AccessEvent::overhanging.
    virtual void on_overhang(const AccessEvent&) {}
    /// Lanes of one instruction write different values to the same place: see AccessEvent::clash.
    virtual void on_clash(const AccessEvent&) {}
    /// An access that is no mbarrier instruction writes where an mbarrier was initialised.
    virtual void on_barrier_overwritten(const Actor&) {}
    /// The engine has taken in the access (only for who has asked), the operation.
    virtual void after_access(const AccessEvent&) {}
    virtual void after_issue(const AsyncOperation&) {}
    /// The cluster has ended or dies with a launch that was stopped: what was held back is told now.
    virtual void tell_the_rest() {}
};

} // namespace emu::check
