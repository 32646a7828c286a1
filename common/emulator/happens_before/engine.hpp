#pragma once
/// \file
/// The happens-before engine of one cluster: who knows of what. It follows every access, barrier, fence and
/// asynchronous operation, and tells its listeners, the rules, what it finds: accesses that nothing orders,
/// bytes that nobody wrote. It knows no mistake. One file per kind of event: engine_access.cpp,
/// engine_async.cpp, engine_mbarrier.cpp; engine.cpp has the other edges.

#include "happens_before/facts.hpp"
#include "happens_before/hand_overs.hpp"
#include "happens_before/launch_state.hpp"
#include "happens_before/poll_sites.hpp"
#include "machine/cluster.hpp"

#include <array>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

namespace emu::check {

/// What comes often, and so only to those who want it.
enum class Watch : std::uint8_t {
    instructions,      ///< on_instruction, on_skipped
    accesses,          ///< on_access, of shared and global memory
    results,           ///< after_access, of all memory
    overwritten_reads, ///< on_overwritten_read
    count_
};

class Engine : public ClusterListener {
  public:
    Engine(Cluster& cluster, LaunchState& launch);
    ~Engine() override;

    /// Listeners are asked and told in the order in which they were added.
    void add(std::unique_ptr<FactListener> listener);
    /// May be called while a fact is told, but not for what is being told.
    void watch(FactListener& listener, Watch what);
    /// Asks those behind `listener` about a conflict that it held back.
    void ask_next(const FactListener& listener, const Meeting& meeting);
    void tell_the_rest();

    // -- what is known
    Cluster& cluster() { return cluster_; }
    LaunchState& launch() { return launch_; }
    Threads& threads() { return threads_; }
    /// What threads told others and waited for.
    const HandOvers& hand_overs() const { return hand_overs_; }
    /// By the number in Record::operation; [0] is unused.
    std::vector<Operation>& operations() { return operations_; }
    /// By shared-window address.
    std::unordered_map<std::uint32_t, BarrierState>& mbarriers() { return mbarriers_; }
    /// Relaxed arrivals at the cluster barrier; nullptr if there were none.
    const std::unique_ptr<Withheld>& cluster_withheld() const { return cluster_withheld_; }
    RecordStore& store(bool shared) { return shared ? *local_records_ : launch_.records; }
    /// Warps of several numbers have accessed memory at this instruction.
    bool is_for_several_warps(std::uint32_t pc) const {
        return pc < warps_at_.size() && warps_at_[pc] == several_warps;
    }
    /// The last writes of a range of global memory.
    std::vector<Ref> writes_of(Address address, std::uint32_t bytes);
    /// One of the lanes knows that the last use of the block barrier came to its end, or there was none.
    bool knows_last_use(unsigned id, const WarpLanes& lanes);
    /// The last write of the nearest word below a shared-window address that has been written, down to
    /// `limit`; 0 if there is none. `end`: where that word ends.
    Ref written_below(std::uint32_t address, std::uint32_t limit, std::uint32_t& end);
    /// The thread wrote what record `write` left there itself.
    bool wrote_it_too(std::uint32_t write, const Actor& actor) const;
    /// The thread comes behind mbarrier.init, as `part` of its clock knows it.
    bool sees_init(const BarrierState& barrier, const WarpClock& clock, unsigned lane, Part part) const;

    // -- events
    void on_instruction(Warp& warp, std::uint32_t pc, LaneMask mask) override;
    void on_skipped(Warp& warp, std::uint32_t pc) override;
    void on_access(const AccessEvent& event) override;
    void on_fence(const FenceEvent& event) override;
    void on_barrier_arrive(BarrierKind kind, unsigned id, const WarpLanes& lanes,
                           Semantics semantics) override;
    void on_barrier_complete(BarrierKind kind, unsigned id, std::span<const WarpLanes> arrived,
                             std::span<const WarpLanes> waiting) override;
    bool on_mistake(const Mistake& mistake) override;
    void on_mbarrier_init(const MbarrierEvent& event) override;
    void on_mbarrier_inval(const MbarrierEvent& event) override;
    void on_mbarrier_arrive(const MbarrierEvent& event) override;
    void on_mbarrier_phase(const MbarrierEvent& event) override;
    void on_mbarrier_observed(const MbarrierEvent& event) override;
    void on_mbarrier_passed_fresh(const MbarrierEvent& event) override;
    void on_async_wait(Warp& warp, unsigned lane, CompletionKind kind, std::uint64_t pending,
                       std::uint64_t groups, std::uint32_t pc) override;
    void on_async_issue(const AsyncOperation& operation) override;
    void on_async_retired(const AsyncOperation& operation) override;
    void on_async_commit(Warp& warp, unsigned lane, CompletionKind kind, std::uint64_t group) override;
    void on_products_read(const WarpLanes& lanes, const Warp& other, std::uint64_t last_group) override;
    void on_async_group_observed(Warp& warp, unsigned lane, CompletionKind kind, std::uint64_t last_group,
                                 bool read_only, std::uint32_t pc) override;
    void on_tensor_map_access(Warp& warp, unsigned lane, std::uint32_t pc, Address map,
                              AccessKind kind) override;
    void on_thread_exit(const WarpLanes& lanes) override;
    void on_block_start(Block& block) override;
    void on_block_exit(Block& block) override;
    void on_cluster_end() override;

    // -- events that the engine learns nothing from
    void on_shuffle_from_absent(const ShuffleEvent& event) override {
        tell(&ClusterListener::on_shuffle_from_absent, event);
    }
    void on_async_source_read(const AsyncOperation& operation) override {
        tell(&ClusterListener::on_async_source_read, operation);
    }
    void on_async_landed(const AsyncOperation& operation) override {
        tell(&ClusterListener::on_async_landed, operation);
    }
    void on_grid_wait(const WarpLanes& lanes) override { tell(&ClusterListener::on_grid_wait, lanes); }
    void on_grid_trigger(Block& block) override { tell(&ClusterListener::on_grid_trigger, block); }
    void on_deadlock(const Deadlock& deadlock) override { tell(&ClusterListener::on_deadlock, deadlock); }

  private:
    /// Threads of a warp that wrote what another thread had written there, in record `write`.
    struct CoWriters {
        std::uint32_t write = 0;
        Component first = 0;
        LaneMask lanes = 0;
    };
    struct BarrierKey {
        BarrierKind kind;
        unsigned rank;
        unsigned id;
        auto operator<=>(const BarrierKey&) const = default;
    };
    struct BlockBarrierState {
        Accumulator arrived;
        Component agent = 0; ///< Its epoch is the number of uses that have ended; 0 until the first has.
        Epoch uses = 0;
    };

    /// Sends an event or a fact to every listener.
    template <class Base, class... Params, class... Args>
    void tell(void (Base::*event)(Params...), Args&&... args) {
        for (const auto& listener : listeners_)
            (listener.get()->*event)(args...);
    }
    const std::vector<FactListener*>& watchers(Watch what) const {
        return watchers_[static_cast<std::size_t>(what)];
    }

    // engine_access.cpp
    std::uint32_t record_for(WarpClock& warp, std::uint32_t pc, unsigned flags);
    std::uint32_t add_record(const Record& r) {
        return (r.is(Record::local) ? local_source_ : source_).add(r);
    }
    const Record& record(Ref ref, const Actor& actor) { return store(actor.shared)[record_of(ref)]; }
    void check_access(const AccessEvent& event);
    FlagEnd flag_end(const AccessEvent& event, const WarpClock& clock) const;
    bool synchronise(const AccessEvent& event, WarpClock& clock);
    void log_flag(const AccessEvent& event, WarpClock& clock, bool published);
    template <class Visit>
    void by_words(Address address, std::uint32_t bytes, Visit&& visit);
    void access_lanes(const AccessEvent& event, WarpClock& clock, LaneMask lanes, std::uint32_t flags);
    void access_one(Actor& actor, Address address, std::uint32_t bytes);
    /// Keeps the last page of global memory that it used in `lock`.
    void access_one(Actor& actor, Address address, std::uint32_t bytes, GlobalShadow::Lock& lock);
    void touch(Region& region, Cell& cell, unsigned k, unsigned n, Actor& actor);
    void touch_read(Region& region, Cell& cell, unsigned k, unsigned n, Actor& actor);
    void touch_write(Region& region, Cell& cell, unsigned k, unsigned n, Actor& actor);
    ReadPair with_reader(Region& region, ReadPair readers, unsigned k, unsigned n, const Actor& actor);
    bool keeps_weak_write(const Cell& cell, unsigned k, const Actor& actor);
    void note_co_writers(std::uint32_t write, const Actor& actor);
    bool is_ordered(Ref old, const Record& record, unsigned k, unsigned n, const Actor& actor) const;
    void conflict(const Record& old, Ref ref, unsigned k, unsigned n, const Actor& actor);
    void check_scope(const Record& old, Ref ref, unsigned k, unsigned n, const Actor& actor);
    void check_path(const Record& old, Ref ref, unsigned k, unsigned n, const Actor& actor);
    void check_visible(const Record& old, Ref ref, unsigned k, unsigned n, const Actor& actor);
    const WrittenWords* gaps_at(Address address);

    // engine_async.cpp
    void issue_cp_async(const AsyncOperation& operation, WarpClock& clock);
    void touch_pieces(const AsyncOperation& operation, const Operation& known, WarpClock& clock);
    void touch_range(Actor& actor, Address address, std::uint32_t bytes, bool shared);
    bool is_plain_read(Ref write, unsigned k, unsigned n, const Actor& actor);
    std::uint32_t add_operation(const AsyncOperation& operation, WarpClock& clock);

    // engine.cpp
    /// Ends the warp's epoch with a step of `lanes`.
    void end_epoch(WarpClock& warp, LaneMask lanes, Step step);
    void acquire(std::span<const WarpLanes> waiting, const ClockRef& clock);
    void note_cluster_wait(std::span<const WarpLanes> waiting);
    void note_passed_barrier(std::span<const WarpLanes> waiting);

    // engine_mbarrier.cpp
    void complete(const MbarrierEvent& event, BarrierState& barrier);
    void withhold(std::unique_ptr<Withheld>& withheld, WarpClock& clock, unsigned lane, std::uint32_t pc);
    void arrive_across(BarrierState& barrier, WarpClock& clock, const MbarrierEvent& event);
    void learn_across(const BarrierState& barrier, WarpClock& clock, const MbarrierEvent& event);
    BarrierState::Passed& pass(BarrierState& barrier, const MbarrierEvent& event);
    void keep_clock(std::uint32_t operation);

    Cluster& cluster_;
    LaunchState& launch_;
    Threads threads_;
    RecordSource source_;
    std::unique_ptr<RecordStore> local_records_;
    RecordSource local_source_;
    static constexpr std::uint8_t several_warps = 255;
    std::vector<std::uint8_t> warps_at_; ///< By instruction: 1 + the number of the warp that came there.
    PageCache pages_;
    std::vector<Region> shared_;
    std::unordered_map<Address, std::vector<CoWriters>> co_writers_; ///< By word, where there are any.
    std::map<BarrierKey, BlockBarrierState> barriers_;
    HandOvers hand_overs_;
    PollSites poll_sites_;
    ClockRef cluster_barrier_; ///< What the last completed cluster barrier published.
    std::unique_ptr<Withheld> cluster_withheld_;
    std::unordered_map<std::uint32_t, BarrierState> mbarriers_;
    std::vector<Operation> operations_;
    Answers answers_; ///< To the operation whose bytes are being touched.
    std::unordered_map<std::uint64_t, std::uint32_t> live_; ///< Operation id to index, while not retired.
    std::array<std::uint32_t, 64> landed_{}; ///< The last that have landed, whose clock is still there.
    unsigned next_landed_ = 0;
    /// Allocations that were used lately.
    struct Known {
        Address base = 0;
        std::shared_ptr<const WrittenWords> written; ///< nullptr: not tracked.
    };
    std::array<Known, 4> known_written_;
    unsigned next_known_ = 0;
    std::vector<std::unique_ptr<FactListener>> listeners_;
    std::array<std::vector<FactListener*>, static_cast<std::size_t>(Watch::count_)> watchers_;
};

/// Morally strong accesses do not race (PTX ISA 8.7.1): atomics, if their scope includes both threads.
inline bool is_morally_strong(const Meeting& meeting) {
    const Record& one = meeting.old;
    const Record& other = *meeting.actor.record;
    const bool same_block = one.cluster == other.cluster && one.rank() == other.rank();
    return one.is(Record::strong) && other.is(Record::strong) &&
           (same_block || !(one.is(Record::narrow) || other.is(Record::narrow)));
}

} // namespace emu::check
