#pragma once
/// \file
/// The happens-before checks of one cluster: races, missing proxy fences, asynchronous operations that nobody
/// waited for, barriers used before they are visible. One file per kind of event: race_access.cpp (generic
/// accesses), race_async.cpp (asynchronous operations), race_sync.cpp (edges), race_report.cpp (words).

#include "happens_before/shadow.hpp"
#include "happens_before/threads.hpp"
#include "machine/cluster.hpp"
#include "rules/deliberate.hpp"
#include "rules/guess.hpp"
#include "rules/late_reads.hpp"
#include "rules/speculative.hpp"
#include "rules/tensor_maps.hpp"
#include "rules/values.hpp"

#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace emu::check {

/// What the clusters of a launch share.
struct LaunchChecks {
    explicit LaunchChecks(TensorMapHistory& maps) : tensor_maps(maps) {}
    TensorMapHistory& tensor_maps;
    TensorMapReleases tensor_map_releases;
    RecordStore records; ///< Of accesses to global memory.
    std::mutex mutex;
    std::vector<std::unique_ptr<RecordStore>>
        spare; ///< Stores for accesses to shared memory, of clusters that ended.

    std::unique_ptr<RecordStore> take_store();
    void give_back(std::unique_ptr<RecordStore> store);
    /// Of the launch's kernel.
    const LateReadSites& late_reads(const Kernel& kernel);
    const SpeculativeSites& speculative_loads(const Kernel& kernel);
    /// See Deliberate::of.
    Deliberate::Kind deliberate(const Kernel& kernel, Deliberate::Access one, Deliberate::Access other,
                                bool same_cluster);
    bool same_value(const Kernel& kernel, std::uint32_t one, std::uint32_t other);
    /// The launch has ended: what it wrote is known to be written.
    void note_written(GlobalMemory& memory) const;
    GlobalShadow shadow;
    GlobalSync sync;

  private:
    std::once_flag searched_;
    LateReadSites late_reads_;
    std::once_flag searched_speculative_;
    SpeculativeSites speculative_;
    Deliberate deliberate_;
};

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
    std::uint32_t reads = 0;     ///< Record of its source, 0 if none.
    std::uint32_t writes = 0;    ///< Record of its destination.
    bool reads_shared = false, writes_shared = false;
    bool completed = false; ///< Its complete_tx has arrived at the barrier.
    bool surplus = false;   ///< The phase it belongs to ended without it.
    bool reported = false;  ///< A mistake is told once per operation.
    ClockRef clock;         ///< What the issuing thread knew, for operations that complete at an mbarrier.
    Component issuer = 0;   ///< The issuing thread (for cp.async: lane 0 of its warp)
    Epoch epoch = 0;        ///< … and its epoch then.
};

class Checker final : public ClusterListener, private UseListener {
  public:
    Checker(Cluster& cluster, LaunchChecks& launch);
    ~Checker() override;

    void on_instruction(Warp& warp, std::uint32_t pc, LaneMask mask) override;
    void on_skipped(Warp& warp, std::uint32_t pc) override;
    void on_access(const AccessEvent& event) override;
    void on_fence(const FenceEvent& event) override;
    void on_barrier_arrive(BarrierKind kind, unsigned id, const WarpLanes& lanes,
                           Semantics semantics) override;
    void on_barrier_complete(BarrierKind kind, unsigned id, std::span<const WarpLanes> arrived,
                             std::span<const WarpLanes> waiting) override;
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
    void on_async_group_observed(Warp& warp, unsigned lane, CompletionKind kind, std::uint64_t last_group,
                                 bool read_only, std::uint32_t pc) override;
    void on_tensor_map_access(Warp& warp, unsigned lane, std::uint32_t pc, Address map,
                              AccessKind kind) override;
    void on_thread_exit(const WarpLanes& lanes) override;
    void on_block_start(Block& block) override;
    void on_block_exit(Block& block) override;
    void on_cluster_end() override;

  private:
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
        LaneMask together = 0; ///< All lanes that write the same value to the same place in this instruction.
    };
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
    /// The last wait of a thread at an mbarrier that returned true.
    struct Passed {
        Warp* warp = nullptr; ///< nullptr: there was none.
        unsigned lane = 0;
        std::uint32_t pc = 0;
        Epoch epoch = 0;          ///< Of the thread, when it first saw the last of these phases.
        std::uint64_t phases = 0; ///< That it saw end; 0: it passed a fresh barrier.
        ClockRef unseen;          ///< What a relaxed wait did not acquire.
    };
    /// What a thread did last at an mbarrier.
    struct BarrierUse {
        Warp* warp = nullptr; ///< nullptr: nothing.
        std::uint32_t pc = 0;
        Epoch epoch = 0;
        bool arrived = false;    ///< It has arrived, lastly in phase `phase`
        std::uint64_t phase = 0; ///< with the instruction `arrive_pc`.
        std::uint32_t arrive_pc = 0;
    };
    struct BarrierState {
        Component agent = 0; ///< Component whose epoch is the number of completed phases.
        Accumulator arrived;
        ClockRef completed;
        Warp* init_warp = nullptr;
        unsigned init_lane = 0;
        std::uint32_t init_pc = 0;
        Component init_component = 0;
        Epoch init_epoch = 0;
        Epoch init_fence = 0;               ///< Epoch of a fence.mbarrier_init by the same thread.
        bool released = false;              ///< That thread arrived, not relaxed, at a cluster barrier.
        bool published = false;             ///< A cluster barrier followed that fence or is that one.
        std::vector<std::uint32_t> pending; ///< Operations that will complete here.
        std::uint32_t expect_pc = 0;
        Warp* expect_warp = nullptr;
        unsigned expect_lane = 0;
        std::vector<Passed> passed;   ///< By thread component.
        Component last_passed = 0;    ///< The thread that passed last.
        std::vector<BarrierUse> uses; ///< By thread component.
        bool invalidated = false;
        std::string overwritten; ///< The thread that stored into the object, if one did.
        std::uint32_t overwritten_pc = 0;
        std::unique_ptr<Withheld> withheld;

        const Passed* passed_by(Component thread) const {
            return thread < passed.size() && passed[thread].warp ? &passed[thread] : nullptr;
        }
    };
    /// A finding whose name depends on whether the issuing thread will wait for its group itself.
    struct Undecided {
        Diagnostic if_waited, if_not;
        Component agent = 0; ///< Of the issuing lane's stream.
        Epoch epoch = 0;
        bool waited = false;
    };

    // race_access.cpp
    std::uint32_t record_for(WarpClock& warp, std::uint32_t pc, unsigned flags);
    void check_access(const AccessEvent& event);
    template <class Visit>
    void by_words(Address address, std::uint32_t bytes, Visit&& visit);
    void access_lanes(const AccessEvent& event, WarpClock& clock, LaneMask lanes, std::uint32_t record);
    void access_one(Actor& actor, Address address, std::uint32_t bytes);
    void touch(Region& region, Cell& cell, unsigned k, unsigned n, Actor& actor);
    void touch_read(Region& region, Cell& cell, unsigned k, unsigned n, Actor& actor);
    void touch_write(Region& region, Cell& cell, unsigned k, unsigned n, Actor& actor);
    bool keeps_weak_write(const Cell& cell, unsigned k, const Actor& actor);
    void note_co_writers(std::uint32_t write, const Actor& actor);
    bool wrote_it_too(std::uint32_t write, const Actor& actor) const;
    void check_started(const AccessEvent& event);
    void check_started(Warp& warp, unsigned lane, std::uint32_t pc, unsigned rank);
    bool is_ordered(Ref old, const Record& record, unsigned k, unsigned n, const Actor& actor) const;
    RecordStore& store(bool shared) { return shared ? *local_records_ : launch_.records; }
    std::uint32_t add_record(const Record& r) {
        return (r.is(Record::local) ? local_source_ : source_).add(r);
    }
    const Record& record(Ref ref, const Actor& actor) { return store(actor.shared)[record_of(ref)]; }

    // race_async.cpp
    void issue_cp_async(const AsyncOperation& operation, WarpClock& clock);
    void touch_pieces(const AsyncOperation& operation, const Operation& known, WarpClock& clock);
    void touch_range(Actor actor, Address address, std::uint32_t bytes, bool shared);
    std::uint32_t add_operation(const AsyncOperation& operation, WarpClock& clock);

    // race_values.cpp
    void read_unwritten(unsigned k, unsigned n, const Actor& actor);
    void read_outside(const AccessEvent& event);
    const WrittenWords* gaps_at(Address address);
    void copy_unwritten(unsigned k, unsigned n, const Actor& actor);
    void note_copied_values(const AsyncOperation& operation);
    Diagnostic describe(Taint taint, unsigned k, unsigned n, const Actor& actor) const;
    void on_use(OriginId origin, Use use, const Warp& warp, unsigned lane, std::uint32_t pc) override;
    void tell_used_values();

    // race_overtaken.cpp
    void check_late_read(const Record& read, Ref ref, unsigned k, unsigned n, const Actor& actor);
    Diagnostic overtaken(const Record& read, Ref ref, unsigned k, unsigned n, const Actor& actor) const;
    void tell_overtaken(Diagnostic finding, std::uint32_t copy_pc, std::uint32_t use_pc,
                        const std::string& reader);

    // tensor_maps.cpp
    void note_tensor_map_fence(const FenceEvent& event);
    std::vector<Ref> writes_of(Address address, std::uint32_t bytes);
    bool is_released(const Record& write, Component writer, const TensorMapFences::Fence& acquire) const;
    const char* lacking_for_map(const Record& write, Ref ref,
                                std::span<const TensorMapFences::Fence* const> acquires) const;
    void check_tensor_map(const AsyncOperation& operation, const WarpClock& clock);
    void tell_stale_map(const AsyncOperation& operation, const std::string& what,
                        std::optional<SourceLine> change, const char* advice, bool warning);

    // race_deliberate.cpp
    /// Of a read and an atomic update: the reading thread goes on to update the place itself.
    bool is_guess(const Record& one, const Record& other);
    void check_clash(const AccessEvent& event);
    /// Two blocks on different host threads may both find the old value before either writes the new one:
    /// then neither write counts as one that changes nothing, though they write the same.
    bool stores_the_same(const Record& old, const Actor& actor);
    /// Of two accesses that race.
    Deliberate::Kind deliberate(const Record& old, const Actor& actor);
    void tell_deliberate(Deliberate::Kind kind, const Record& old, Ref ref, unsigned k, unsigned n,
                         const Actor& actor);

    // race_sync.cpp
    void acquire(std::span<const WarpLanes> waiting, const ClockRef& clock);
    void check_divergence(std::span<const WarpLanes> arrived);
    void publish_inits(std::span<const WarpLanes> arrived);
    void note_remote_uses(const AccessEvent& event, const WarpClock& clock);
    void note_remote_use(const Warp& warp, unsigned lane, std::uint32_t pc, unsigned rank);
    void tell_skipped_barrier(const WarpLanes& lanes, unsigned waiting, std::uint32_t went_on, bool in_loop);

    // race_mbarrier.cpp
    bool sees_init(const BarrierState& barrier, const WarpClock& clock, unsigned lane, Part part) const;
    Diagnostic init_not_visible(const BarrierState& barrier, std::uint32_t address, Warp& warp, unsigned lane,
                                std::uint32_t pc) const;
    void check_init_visible(const AsyncOperation& operation, const WarpClock& clock);
    void check_use_visible(const MbarrierEvent& event, const BarrierState& barrier);
    void check_overwritten(const MbarrierEvent& event, const BarrierState& barrier);
    BarrierUse& note_use(BarrierState& barrier, const MbarrierEvent& event);
    void check_init_again(const MbarrierEvent& event, const BarrierState& barrier);
    void check_late_arrival(const MbarrierEvent& event, const BarrierState& barrier, const BarrierUse& use);
    void overwrite_mbarrier(const Actor& actor);
    void withhold(std::unique_ptr<Withheld>& withheld, WarpClock& clock, unsigned lane, std::uint32_t pc);
    Passed& pass(BarrierState& barrier, const MbarrierEvent& event);

    // race_hints.cpp
    /// What is wrong with the wait or barrier that the program has; empty if nothing is known.
    struct Hint {
        std::string message; ///< A sentence that follows the finding.
        std::string advice;
        std::vector<SourceLine> lines;
        explicit operator bool() const { return !message.empty(); }
        /// Adds itself to a finding, if there is anything to add.
        void extend(Diagnostic& finding) const;
    };
    std::string how_to_wait(const Operation& operation, bool reading_source) const;
    Hint relaxed_order(const Record& old, Ref ref, unsigned k, const Actor& actor);
    Hint unfenced_flag(const Record& old, Ref ref, unsigned k, const Actor& actor);
    Hint relaxed_arrival(const Withheld& withheld, const std::string& barrier, const std::string& instead,
                         const Record& old, Component component, const Actor& actor);
    Hint short_wait(const Operation& operation, const Record& record, Ref ref, const Actor& reader);
    Hint short_group_wait(const Operation& operation, const Record& record, Ref ref);
    Hint foreign_group_wait(const Operation& operation, const Record& record, Ref ref);
    Hint wrong_phase(const Operation& operation, Component reader);
    Hint ignored_wait(const Operation& operation, const Warp& reader, unsigned lane);
    Hint other_barrier(const Operation& operation, Component reader);
    std::string barrier_name(std::uint32_t address) const;
    /// Of an access that happens now, with the calls that brought its thread there.
    SourceLine line_of(const Actor& actor, std::string role) const;
    bool counts_on_lockstep(const Record& old, Ref ref, unsigned k, const Actor& actor);
    void tell_lockstep(const Record& old, Ref ref, unsigned k, unsigned n, const Actor& actor);

    // race_report.cpp
    void unfinished_phase(const BarrierState& barrier, std::uint32_t index, std::uint32_t address,
                          std::uint64_t phase);
    void conflict(const Record& old, Ref ref, unsigned k, unsigned n, const Actor& actor);
    bool waits_for_use(const Record& old, Ref ref, unsigned k, unsigned n, const Actor& actor);
    void tell_conflict(const Record& old, Ref ref, unsigned k, unsigned n, const Actor& actor);
    bool saw_issue(const Operation& operation, Ref ref, const Actor& actor) const;
    Finding finding_of_conflict(const Record& old, Ref ref, const Operation& operation,
                                const Operation* second, const Actor& actor);
    void conflict_with_operation(const Record& old, Ref ref, unsigned k, unsigned n, const Actor& actor);
    void race(const Record& old, Ref ref, unsigned k, unsigned n, const Actor& actor);
    std::string how_to_order(const Record& old, const Actor& actor) const;
    void race_with_early_read(const Record& old, Ref ref, unsigned k, unsigned n, const Actor& actor);
    bool read_too_early(const Record& old, Ref ref, unsigned k, const Actor& actor);
    void decide(std::vector<SourceLine> lines, const std::string& message, const Record& operation, Ref ref,
                bool shared);
    void missing_fence(const Record& old, Ref ref, unsigned k, unsigned n, const Actor& actor);
    void hold(std::uint32_t operation, Diagnostic diagnostic, std::uint32_t about);
    void publish_held(std::uint32_t operation);
    void tell_the_rest();
    /// True the first time these two instructions get this finding.
    bool first_time(Finding finding, std::uint32_t pc_a, std::uint32_t pc_b);
    static Diagnostic make(Finding finding, std::string message, std::string advice,
                           std::vector<SourceLine> lines, bool warning = false);
    void publish(Finding finding, std::string message, std::string advice, std::vector<SourceLine> lines,
                 bool warning = false);
    /// A warning that is given only where EMULATOR_CHECKS is strict.
    void note(Finding finding, std::string message, std::string advice, std::vector<SourceLine> lines);
    std::string place(const Actor& actor, unsigned k, unsigned n) const;
    std::string who(const Record& record, Ref ref, unsigned k) const;
    std::string who(const Actor& actor, unsigned k = 0) const; ///< Byte `k` of the word: see lane_at().

    Cluster& cluster_;
    const bool strict_; ///< Notes are wanted.
    LaunchChecks& launch_;
    Threads threads_;
    RecordSource source_;
    std::unique_ptr<RecordStore> local_records_;
    RecordSource local_source_;
    PageCache pages_;
    std::vector<Region> shared_;
    std::unordered_map<Address, std::vector<CoWriters>> co_writers_; ///< By word, where there are any.
    GuessedReads guesses_;
    TensorMapFences tensor_map_fences_;
    std::map<BarrierKey, Accumulator> barriers_;
    std::map<std::uint32_t, Diagnostic>
        not_started_; ///< By instruction; told at the end, unless a race says more.
    /// The last access of a thread to the shared memory of another block of its cluster.
    struct RemoteUse {
        const Warp* warp = nullptr; ///< nullptr: none.
        unsigned lane = 0;
        std::uint32_t pc = 0;
        Epoch epoch = 0;
    };
    std::vector<std::vector<RemoteUse>> remote_uses_; ///< By rank of the other block, then by component.
    std::map<std::uint32_t, Diagnostic> left_early_;  ///< By instruction; told at the end, unless an access
                                                      ///< comes behind the other block's end.
    bool all_started_ = false;                        ///< A cluster barrier completed, so every block runs.
    ClockRef cluster_barrier_;                        ///< What the last completed cluster barrier published.
    std::unique_ptr<Withheld> cluster_withheld_;
    std::unordered_map<std::uint32_t, BarrierState> mbarriers_; ///< By shared-window address.
    std::vector<Operation> operations_;                         ///< [0] is unused.
    std::unordered_map<std::uint64_t, std::uint32_t> live_;     ///< Operation id to index, while not retired.
    std::set<std::tuple<Finding, std::uint32_t, std::uint32_t>> told_;
    std::vector<Undecided> undecided_;
    std::map<std::uint32_t, Diagnostic>
        unfinished_;                ///< By operation: told at the end, unless somebody read too early.
    std::set<std::uint32_t> raced_; ///< Instructions that took part in a finding.
    Values values_{*this};
    LateReads late_reads_;
    SpeculativeLoads speculative_loads_;
    /// Allocations that were used lately.
    struct Known {
        Address base = 0;
        std::shared_ptr<const WrittenWords> written; ///< nullptr: not tracked.
    };
    std::array<Known, 4> known_written_;
    unsigned next_known_ = 0;
    std::map<OriginId, Diagnostic> meaningless_; ///< Told at the end, of those that were used.
    std::map<std::uint32_t, Diagnostic>
        copied_unwritten_; ///< Copies of memory that nobody wrote, by instruction; told at the end.
    /// Findings about an operation that depend on what its thread does next, by operation; see hold().
    struct Held {
        Diagnostic diagnostic;
        std::uint32_t about = 0; ///< Instruction it is told of once.
    };
    std::map<std::uint32_t, std::vector<Held>> held_;
};

} // namespace emu::check
