#pragma once
/// \file
/// A warp: 32 threads with a program counter each (independent thread scheduling). Lanes at the same place
/// run as a group.

#include "machine/events.hpp"
#include "machine/lanes.hpp"
#include "machine/local_memory.hpp"
#include "machine/program.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

namespace emu {

class Warp : public Lanes, public LocalMemory {
  public:
    Warp(Block& block, unsigned index, LaneMask present);

    /// Runs groups until every lane waits, a handler yields, a fault stops the cluster, or about `budget`
    /// instructions ran.
    void run(std::uint64_t budget);

    // -- identity
    Block& block() const { return block_; }
    Cluster& cluster() const;
    unsigned index() const { return index_; } ///< In the block.
    unsigned thread_of(unsigned lane) const {
        return index_ * warp_size + lane;
    } ///< Linear thread in the block.

    // -- operands
    /// The 32 values of a row. T must have the operand's size.
    template <class T>
    T* row(Row r) {
        return reinterpret_cast<T*>(bases_[static_cast<unsigned>(r.base)] + r.offset);
    }
    /// A predicate register: one bit a lane.
    LaneMask& predicate(Row r) { return *row<LaneMask>(r); }
    /// Writes `bits` into a predicate for the lanes of `mask`.
    void set_predicate(Row r, LaneMask mask, LaneMask bits) {
        LaneMask& p = predicate(r);
        p = (p & ~mask) | (bits & mask);
    }
    /// The lanes of `active` for which the guard of `op` holds.
    LaneMask guarded(const Op& op, LaneMask active) {
        if (!op.guarded)
            return active;
        const LaneMask p = predicate(op.guard);
        return active & (op.guard_negated ? ~p : p);
    }

    // -- control, for handlers
    LaneMask active() const { return active_; } ///< The current group, whatever the guard says.
    std::uint32_t pc() const { return pc_; }    ///< Of the instruction being executed.
    std::uint32_t frame() const { return frame_; }
    std::uint32_t jump_target() const { return jump_target_; }
    /// The whole group continues at `target`. Returns Flow::jump.
    Flow jump(std::uint32_t target) {
        jump_target_ = target;
        return Flow::jump;
    }
    /// Lanes of `taken` continue at `target`, the rest of the group behind the instruction.
    Flow branch(LaneMask taken, std::uint32_t target);
    /// Each lane of `mask` continues at its own target; the rest of the group behind the instruction.
    Flow scatter(LaneMask mask, const std::array<std::uint32_t, warp_size>& targets);
    /// Lanes of `mask` wait at this instruction; the rest of the group continues behind it. `tag` says for
    /// what (barrier number or shared-window address); `phase` is kept for reports.
    Flow block_lanes(LaneMask mask, Wait why, std::uint64_t tag, std::uint64_t phase = 0);
    /// Lanes of `mask` execute this instruction again later; the rest of the group that does not wait
    /// continues behind it.
    Flow retry(LaneMask mask);
    /// After a handler that moved part of the group: these lanes stay at the instruction.
    void hold(LaneMask mask) {
        for_lanes(mask, [&](unsigned lane) { lane_pc_[lane] = pc_; });
    }
    /// Where a lane returns to; nullptr in the outermost frame.
    struct Return {
        std::uint32_t pc, frame, local_base, local_top;
    };
    const Return* return_of(unsigned lane) const {
        return returns_[lane].empty() ? nullptr : &returns_[lane].back();
    }
    /// The call instructions that brought the lane to `pc`, innermost first; nothing if it is not there now.
    std::optional<std::vector<std::uint32_t>> calls_to(unsigned lane, std::uint32_t pc) const;
    /// Bytes of any frame of this warp.
    std::byte* frame_storage(std::uint32_t frame) { return frames_.data() + frame; }
    /// Where the frame of `callee` begins when it is called from the current frame: behind that, and behind
    /// frames in which other lanes are still busy with something else.
    std::uint32_t next_frame(const DecodedFunction& caller, const DecodedFunction& callee) const;
    /// Lanes of `mask` end.
    Flow exit_lanes(LaneMask mask);
    /// Lanes of `mask` call `function`: a new frame, same registers rows for lanes that call from the same
    /// frame.
    Flow call(LaneMask mask, const DecodedFunction& caller, const DecodedFunction& callee);
    /// Lanes of `mask` return; lanes in the outermost frame end.
    Flow ret(LaneMask mask);
    /// Warp-synchronous instructions (PTX ISA 9.7.13, .sync with a member mask): lanes wait until all members
    /// that have not exited have come to such an instruction, then `action` runs once for all of them.
    /// Lanes may come from different places, with registers of their own; see meeting().
    using MeetingAction = void (*)(Warp& warp, const Op& op, LaneMask lanes);
    Flow meet(const Op& op, LaneMask mask, LaneMask members, MeetingAction action);
    /// Where lanes wait for a meeting.
    struct MeetingPlace {
        const Op* op;
        std::uint32_t frame;
        LaneMask lanes;
    };
    /// For an action: the places of its lanes, or none when all use the rows of the op it was given.
    std::span<const MeetingPlace> meeting() const { return meeting_; }
    /// Lanes that have come to the meeting at which this lane waits, itself among them; none without one.
    LaneMask met(unsigned lane) const;
    /// A row as row() gives it to lanes of another frame.
    template <class T>
    T* row_in(std::uint32_t frame, Row r) {
        std::byte* base =
            r.base == Row::Base::frame ? frames_.data() + frame : bases_[static_cast<unsigned>(r.base)];
        return reinterpret_cast<T*>(base + r.offset);
    }
    /// The group gives way: other warps run before it goes on behind this instruction. Used by failed polls
    /// and nanosleep.
    void yield() {
        yielded_ = true;
        stop_pc_ = 0;
    }
    /// A strong access that changed nothing: `what` stands for the instruction, the place and the value. A
    /// loop that does nothing else gives way, see spins().
    void note_poll(std::uint64_t what) { poll_.now = (poll_.now ^ what) * 0x9e3779b97f4a7c15ull + 1; }
    /// True when the last run() ended because a group gave way.
    bool yielded() const { return yielded_; }

    // -- memory of the threads; see also LocalMemory
    /// Bytes of a `.param` variable of the current frame. Storage is lane-major: lane i starts at i * size.
    std::byte* frame_bytes(std::uint32_t offset) { return bases_[0] + offset; }
    /// Counts executed instructions of this warp, one per thread (for %clock and the speed benchmark).
    std::uint64_t instructions() const { return instructions_; }

    /// Stands for the registers, the places and the waits of the threads, so that a loop is noticed which
    /// comes back to where it was. Memory is no part of it: whoever writes memory gets on.
    std::uint64_t state_hash(bool with_clocks) const;

    /// The condition code CC.CF of the lanes, for carry chains (PTX ISA 9.7.2).
    LaneMask carry = 0;
    /// How often %clock and %globaltimer were read (PTX ISA 10).
    std::uint64_t clock_reads = 0;

    /// Scratch of 32 addresses that memory handlers fill.
    std::array<Address, warp_size> addresses{};
    /// Of an instruction that accesses memory several times (wmma.load, wmma.store): the element of its
    /// vector that the access at hand is for.
    unsigned accessed_element = 0;

    /// State of this warp that belongs to async copies and barriers: groups per lane. Owned by the async
    /// engine.
    struct LaneGroups {
        std::uint64_t cp_async_committed = 0; ///< Number of committed groups; the open group has this index.
        std::uint64_t bulk_committed = 0;
        std::uint64_t wgmma_committed = 0; ///< Of the warp: lane 0 has them.
    };
    std::array<LaneGroups, warp_size> groups{};
    unsigned wgmma_in_flight = 0; ///< That have not landed. Owned by the async engine, too.

    /// Phase of the cluster barrier at which each lane last arrived.
    std::array<std::uint64_t, warp_size> cluster_phase{};

  private:
    /// A called function's rows, and the lanes that have not left it.
    struct LiveFrame {
        std::uint32_t begin, end;
        const DecodedFunction* function;
        LaneMask lanes;
    };
    struct Meeting {
        const Op* op = nullptr;
        LaneMask members = 0;
        LaneMask arrived = 0;
        MeetingAction action = nullptr;
        std::vector<MeetingPlace> places;
    };
    /// Polls since the last backward jump, and whether the loops before it polled the same in vain.
    struct Polls {
        std::uint64_t now = 0;
        std::uint64_t last = 0;
        std::uint64_t progress = 0; ///< Of the cluster, then.
        unsigned repeated = 0;
    };
    bool spins();
    void leave_frame(std::uint32_t frame, LaneMask lanes);
    bool select_group();
    void run_group(std::uint64_t& budget);
    void leave_group(std::uint32_t next_pc);
    void set_frame(std::uint32_t frame);
    void fill_specials();
    void fill_address_rows();
    void meet_again();
    template <class T>
    void fill(Row row, T value);

    Block& block_;
    unsigned index_;
    LaneMask deferred_ = 0; ///< Lanes that used up their slice while others could run.

    LaneMask active_ = 0;
    std::uint32_t pc_ = 0;
    std::uint32_t frame_ = 0;
    std::uint32_t stop_pc_ = 0; ///< Where another group of the same frame waits to be joined.
    std::uint32_t jump_target_ = 0;
    bool yielded_ = false;
    Polls poll_;
    std::uint64_t diverged_for_ = 0; ///< Instructions since all runnable lanes last ran together.
    std::uint64_t instructions_ = 0;

    std::array<std::byte*, 3> bases_{};
    std::vector<std::byte> frames_;
    std::vector<std::byte> specials_;

    std::array<std::vector<Return>, warp_size> returns_;
    std::vector<LiveFrame> live_frames_; ///< Without the kernel's own.
    std::vector<Meeting> meetings_;
    std::span<const MeetingPlace> meeting_;
};

/// Applies `f(lane)` for the lanes of `mask` and stores the results in `d`. With a full mask the loop has no
/// branches and vectorises; source rows may be `d` itself (lane i only ever touches element i).
template <class T, class F>
inline void map_lanes(LaneMask mask, T* d, F&& f) {
    if (mask == all_lanes) {
#pragma GCC ivdep
        for (unsigned i = 0; i < warp_size; ++i)
            d[i] = f(i);
    } else {
        for_lanes(mask, [&](unsigned i) { d[i] = f(i); });
    }
}

} // namespace emu
