// Accesses that meet a copy which nobody has waited for: reads before it has landed, writes to what it still
// reads or writes, the same copy twice.

#include "findings/lines.hpp"
#include "findings/places.hpp"
#include "findings/words/accesses.hpp"
#include "findings/words/hand_overs.hpp"
#include "findings/words/one_thread.hpp"
#include "findings/words/paths.hpp"
#include "findings/words/waits.hpp"
#include "hopper_emulator/finding_kinds.hpp"
#include "rules/analysis/early_readers.hpp"
#include "rules/rule.hpp"

#include <algorithm>

namespace emu::check {
namespace {

/// A finding whose name depends on whether the issuing thread will wait for its group itself.
struct Undecided {
    Diagnostic if_waited, if_not;
    Component agent = 0; ///< Of the issuing lane's stream.
    Epoch epoch = 0;
    bool waited = false;
};

/// An access that meets a copy, or two copies that meet, and the words for its parts.
struct Conflict {
    const Meeting& meeting;
    Finding is;
    const Operation& operation; ///< The earlier one.
    const Operation* second;    ///< The later one, if it is a copy too.
    bool theirs;                ///< The earlier one is of another cluster: little is known of it.
    std::string place;          ///< With a colon.
    std::string what;           ///< The earlier one.
    std::string issuer;         ///< Who issued it.
    std::string deed;           ///< Who does the later.
};

class AsyncConflict final : public Rule {
  public:
    explicit AsyncConflict(const Desk& desk)
        : Rule(desk), waits_(engine_), hand_overs_(engine_), early_(hand_overs_) {}
    bool on_conflict(const Meeting& meeting) override;
    void on_async_group_observed(Warp& warp, unsigned lane, CompletionKind kind, std::uint64_t last_group,
                                 bool read_only, std::uint32_t pc) override;
    void on_mbarrier_observed(const MbarrierEvent& event) override { early_.on_mbarrier_observed(event); }
    void on_mbarrier_arrive(const MbarrierEvent& event) override { early_.on_mbarrier_arrive(event); }
    void on_barrier_arrive(BarrierKind kind, unsigned id, const WarpLanes& lanes, Semantics) override {
        early_.on_barrier_arrive(kind, id, lanes);
    }
    void on_thread_exit(const WarpLanes& lanes) override { early_.on_thread_exit(lanes); }
    void tell_the_rest() override;

  private:
    void conflict_with_operation(const Meeting& meeting);
    void tell_conflict(const Conflict& conflict);
    std::string message_of(const Conflict& conflict) const;
    std::string advice_of(const Conflict& conflict) const;
    static std::string overwritten(const Conflict& conflict);
    bool was_handed_over_early(const Conflict& conflict, const Diagnostic& not_waited);
    Hint came_too_early(const Conflict& conflict) const;
    bool somebody_reads_again(const Operation& copy) const;
    bool explain(Diagnostic& finding, const Meeting& meeting, const Operation& operation,
                 const Operation* second);
    Finding finding_of_conflict(const Record& old, Ref ref, const Operation& operation,
                                const Operation* second, const Actor& actor);
    bool saw_issue(const Operation& operation, Ref ref, const Actor& actor) const;
    bool read_too_early(const Record& old, Component reader, const Actor& actor);
    bool multiplied_too_early(const Meeting& meeting);
    void race_with_early_read(const Meeting& meeting);
    void publish_or_hold(Diagnostic finding);
    void decide(std::vector<SourceLine> lines, const std::string& message, const Record& operation, Ref ref,
                const Access& read, bool shared);
    Diagnostic not_ordered(std::vector<SourceLine> lines, const std::string& message, const Record& operation,
                           const Access& read, bool shared);

    bool tells_early_hand_over(const Access& reader, const SharedClock& issuer_knew, const Access& issue,
                               const Operation& copy, const Diagnostic& not_waited,
                               const std::string& message);

    Waits waits_;
    HandOverWords hand_overs_;
    std::vector<Undecided> undecided_;     ///< Told at the end.
    EarlyReaders early_;                   ///< Told at the end.
    std::vector<Diagnostic> consequences_; ///< Told at the end, unless they follow from something else.
    /// Told at the end, with words that are known then.
    std::vector<std::pair<Diagnostic, std::function<Hint()>>> unexplained_;
};

bool AsyncConflict::on_conflict(const Meeting& meeting) {
    const auto& [old, ref, k, n, actor] = meeting;
    if (old.is(Record::async) && !multiplied_too_early(meeting)) {
        conflict_with_operation(meeting);
        return true;
    }
    if (!old.is(Record::async) &&
        (is_morally_strong(meeting) || !read_too_early(old, Threads::component_of(old, ref, k), actor)))
        return false;
    findings_.note_raced(old.pc);
    findings_.note_raced(actor.record->pc);
    if (first_time(actor.shared ? Finding::race_shared : Finding::race_global, old.pc, actor.record->pc)) {
        operations_[actor.record->operation].reported = true; // Whoever reads after the issue errs alike.
        race_with_early_read(meeting);
    }
    return true;
}

/// The same of a wgmma: it was issued before the copy, whose issuing thread knows nothing of it.
bool AsyncConflict::multiplied_too_early(const Meeting& meeting) {
    const auto& [old, ref, k, n, actor] = meeting;
    if (old.cluster != threads_.cluster() || !actor.record->is(Record::async))
        return false;
    Operation& product = operations_[old.operation];
    if (product.kind != AsyncKind::wgmma || product.reported ||
        operations_[actor.record->operation].completion != CompletionKind::mbarrier ||
        saw_issue(product, ref, actor) || !read_too_early(old, product.issuer, actor))
        return false;
    return product.reported = true;
}

bool AsyncConflict::read_too_early(const Record& old, Component reader, const Actor& actor) {
    // A read, then the copy that writes the bytes, unordered. Either the reader should have waited for this
    // copy and only happened to come before its issue, or the copy should have waited for the reader.
    if (!actor.shared || old.is(Record::write) || !actor.record->is(Record::async))
        return false;
    if (actor.first_write)
        return true; // There was nothing else to read.
    const Operation& copy = operations_[actor.record->operation];
    const auto barrier = mbarriers_.find(copy.barrier);
    if (copy.completion != CompletionKind::mbarrier || barrier == mbarriers_.end())
        return false;
    // The issuing thread knows that the reader had seen the last phase, so this read belongs to the next.
    const BarrierState::Passed* passed = barrier->second.passed_by(reader);
    if (!passed || passed->phases == 0)
        return false;
    Record last;
    last.cluster = threads_.cluster();
    last.epoch = passed->epoch;
    return threads_.sees(*actor.clock, actor.lane, last, reader);
}

bool AsyncConflict::saw_issue(const Operation& operation, Ref ref, const Actor& actor) const {
    Record issue;
    issue.cluster = threads_.cluster();
    issue.epoch = operation.epoch;
    const Component issuer = operation.issuer + (operation.kind == AsyncKind::cp_async ? lane_of(ref) : 0);
    return threads_.sees(*actor.clock, actor.lane, issue, issuer);
}

Finding AsyncConflict::finding_of_conflict(const Record& old, Ref ref, const Operation& operation,
                                           const Operation* second, const Actor& actor) {
    const bool group = operation.completion != CompletionKind::mbarrier;
    if (!old.is(Record::write))
        return group ? Finding::reuse_before_read_done : Finding::overwrite_in_flight;
    if (actor.is_write) {
        const auto issuer = [](const Operation& o, Ref r) {
            return o.issuer + (o.kind == AsyncKind::cp_async ? lane_of(r) : 0);
        };
        const bool by_two = second && (old.cluster != threads_.cluster() ||
                                       issuer(operation, ref) != issuer(*second, actor.ref));
        return by_two && old.pc == actor.record->pc ? Finding::duplicate_copy : Finding::overwrite_in_flight;
    }
    // Only the issuing thread can wait for a group. A reader that not even the issue is ordered before lacks
    // the barrier; one behind such a barrier lacks the wait.
    if (group && (old.cluster != threads_.cluster() || !saw_issue(operation, ref, actor) ||
                  waits_.reader_waits_as_much(operation, old, ref, actor)))
        return actor.shared ? Finding::race_shared : Finding::race_global;
    const Mbarrier* barrier = group ? nullptr : cluster_.mbarrier(operation.barrier);
    return operation.surplus || (barrier && barrier->tx < 0) ? Finding::tx_count_mismatch
                                                             : Finding::read_before_completion;
}

void AsyncConflict::conflict_with_operation(const Meeting& meeting) {
    const auto& [old, ref, k, n, actor] = meeting;
    if (old.is(Record::strong) && actor.record->is(Record::strong))
        return; // Reductions are atomic.
    if (actor.record->is(Record::init))
        return;
    findings_.note_raced(actor.record->pc);
    const bool theirs = old.cluster != threads_.cluster();
    Operation none;
    none.kind = old.is(Record::write) ? AsyncKind::bulk_store : AsyncKind::bulk_load;
    none.completion = CompletionKind::bulk_group;
    Operation& operation = theirs ? none : operations_[old.operation];
    Operation* const second =
        actor.record->is(Record::async) ? &operations_[actor.record->operation] : nullptr;
    if (operation.reported || (second && second->reported))
        return;
    const Finding is = finding_of_conflict(old, ref, operation, second, actor);
    operation.reported = true;
    if (second)
        second->reported = true;
    if (first_time(is, old.pc, actor.record->pc))
        tell_conflict(
            {meeting, is, operation, second, theirs, place(cluster_, actor, k, n) + ": ",
             name_of(operation.kind), who(cluster_, old, ref, k),
             second ? std::string("a ") + name_of(second->kind) + " issued by " + who(cluster_, actor, k)
                    : who(cluster_, actor, k)});
}

void AsyncConflict::tell_conflict(const Conflict& conflict) {
    const auto& [old, ref, k, n, actor] = conflict.meeting;
    std::vector<SourceLine> lines{
        line(old.pc, conflict.what + " issued by " + conflict.issuer),
        line_of(cluster_, actor, std::string(actor.is_write ? "written by " : "read by ") + conflict.deed)};
    if (conflict.is == Finding::race_shared && !conflict.theirs)
        return decide(std::move(lines),
                      conflict.place + conflict.deed + " reads what a " + conflict.what + " issued by " +
                          conflict.issuer + " writes.",
                      old, ref, HandOverWords::later(actor), actor.shared);
    if (const Hint early = came_too_early(conflict)) {
        Diagnostic finding = make(Finding::race_shared, overwritten(conflict), "", std::move(lines));
        early.extend(finding);
        return publish_or_hold(std::move(finding));
    }
    Diagnostic finding = make(conflict.is, message_of(conflict), advice_of(conflict), std::move(lines));
    if (!conflict.theirs && conflict.is != Finding::duplicate_copy &&
        conflict.is != Finding::tx_count_mismatch)
        if (!explain(finding, conflict.meeting, conflict.operation, conflict.second))
            if (auto words = hand_overs_.product_not_released(conflict.operation, actor))
                return static_cast<void>(unexplained_.emplace_back(std::move(finding), std::move(words)));
    if (conflict.is != Finding::read_before_completion || !was_handed_over_early(conflict, finding))
        publish_or_hold(std::move(finding));
}

/// Where several blocks copy into each other, wrong bytes of one phase let readers of all later ones go on
/// too early: that is told if no such cause is found.
void AsyncConflict::publish_or_hold(Diagnostic finding) {
    if (finding.finding == Finding::tx_count_mismatch)
        findings_.note_upset_phases();
    if (finding.finding == Finding::read_before_completion && threads_.several_blocks())
        consequences_.push_back(std::move(finding));
    else
        publish(std::move(finding));
}

std::string AsyncConflict::message_of(const Conflict& conflict) const {
    const auto& [old, ref, k, n, actor] = conflict.meeting;
    const auto& [meeting, is, operation, second, theirs, place, what, issuer, deed] = conflict;
    if (is == Finding::duplicate_copy)
        return place + issuer + " and " + who(cluster_, actor, k) + " both issued this " + what +
               " to the same bytes, and the first is still under way.";
    if (is == Finding::tx_count_mismatch)
        return place + "the " + what + " issued by " + issuer +
               " brings more bytes than its mbarrier was told to expect, so the phase that was waited for "
               "ended before it landed; " +
               deed + " reads too early.";
    if (!actor.is_write)
        return place + deed + " reads what a " + what + " issued by " + issuer +
               " writes, without having seen that operation complete. It may read the old bytes.";
    const bool source = !old.is(Record::write);
    return place + deed + (source ? " overwrites what a " : " writes where a ") + what + " issued by " +
           issuer + (source ? " may still read." : " may still write.");
}

std::string AsyncConflict::advice_of(const Conflict& conflict) const {
    const Meeting& meeting = conflict.meeting;
    const bool two_blocks = conflict.theirs || meeting.old.rank() != meeting.actor.record->rank();
    if (conflict.is == Finding::duplicate_copy && two_blocks)
        return "These are of two blocks: give each block bytes of its own (look at the block's offset), let "
               "one "
               "of them copy, or add with a bulk reduction (cp.reduce.async.bulk).";
    if (conflict.is == Finding::duplicate_copy)
        return "One thread of the block issues a bulk copy for the whole tile: " +
               one_thread_of(cluster_.info().config.block) +
               ", or elect.sync in one warp. For a load that thread alone also announces the bytes, and the "
               "mbarrier expects "
               "its one arrival.";
    if (conflict.is == Finding::tx_count_mismatch)
        return "expect_tx must announce the bytes of all copies of the phase.";
    const std::string wait = waits_.how_to_wait(conflict.operation, !meeting.old.is(Record::write));
    const bool refills = conflict.second && conflict.second->completion == CompletionKind::mbarrier;
    if (!refills || conflict.operation.kind != AsyncKind::wgmma ||
        saw_issue(conflict.operation, meeting.ref, meeting.actor))
        return wait;
    return "If the wgmma works on what the copy brings: " + waits_.how_to_wait(*conflict.second, false) +
           " If it used the place before: " + wait;
}

/// A wait for the copy's mbarrier has returned at once, for a phase that the thread had seen: then that
/// parity is the mistake, and the arrivals are too many only because of it.
bool AsyncConflict::somebody_reads_again(const Operation& copy) const {
    const Mbarrier* const barrier = cluster_.mbarrier(copy.barrier);
    return barrier && std::ranges::any_of(copy.warp->block().warps(), [&](const auto& warp) {
               for (unsigned lane = 0; lane < warp_size; ++lane)
                   if (barrier->history.of(warp_in_cluster(*warp), lane).repeated != 0)
                       return true;
               return false;
           });
}

/// The reader has waited for the phase before the copy's, and the thread that issued the copy for a phase
/// that other readers ended: the copy comes too early, and not the read.
Hint AsyncConflict::came_too_early(const Conflict& conflict) const {
    const Operation& copy = conflict.operation;
    const Actor& reader = conflict.meeting.actor;
    const auto barrier = mbarriers_.find(copy.barrier);
    if (conflict.is != Finding::read_before_completion || conflict.theirs ||
        reader.record->is(Record::async) || copy.completion != CompletionKind::mbarrier ||
        copy.warp == reader.clock->warp || barrier == mbarriers_.end())
        return {};
    const BarrierState::Passed* passed = barrier->second.passed_by(reader.clock->first + reader.lane);
    if (!passed || passed->phases == 0 || passed->phases != copy.issued_in || somebody_reads_again(copy))
        return {};
    return hand_overs_.readers_not_counted(
        {copy.warp, copy.lane, copy.issuer, copy.epoch, copy.pc, true, true}, copy.barrier);
}

std::string AsyncConflict::overwritten(const Conflict& conflict) {
    return conflict.place + conflict.deed + " reads it after a " + conflict.what + " issued by " +
           conflict.issuer + " may have overwritten it; nothing orders the two.";
}

/// The reader, or a lane for it, had told the issuing thread before it read: then the finding is held back,
/// until it shows which of the two is the mistake.
bool AsyncConflict::was_handed_over_early(const Conflict& conflict, const Diagnostic& not_waited) {
    const Operation& copy = conflict.operation;
    if (!copy.clock)
        return false;
    const Access issue{copy.warp, copy.lane, copy.issuer, copy.epoch, copy.pc, true, true};
    return tells_early_hand_over(HandOverWords::later(conflict.meeting.actor), *copy.clock, issue, copy,
                                 not_waited, overwritten(conflict));
}

/// Which wait or hand-over the program has in place of the one that it needs. False if none is known.
bool AsyncConflict::explain(Diagnostic& finding, const Meeting& meeting, const Operation& operation,
                            const Operation* second) {
    const auto& [old, ref, k, n, actor] = meeting;
    Hint hint = waits_.relaxed_order(old, ref, k, actor);
    if (!hint && second && actor.is_write && second->completion == CompletionKind::mbarrier)
        hint = hand_overs_.unguarded_refill(HandOverWords::later(actor), second->barrier,
                                            shared_rank(static_cast<std::uint32_t>(actor.word)));
    if (!hint)
        hint = waits_.short_wait(operation, old, ref, actor);
    hint.extend(finding);
    if (!hint && !second)
        if (const std::string advice = hand_overs_.after_product(operation, HandOverWords::later(actor));
            !advice.empty())
            finding.advice = advice;
    const Hint told = hand_overs_.told_before_waiting(operation, old, ref, actor);
    if (!told)
        return static_cast<bool>(hint);
    const std::string advice = told.advice.empty() ? finding.advice : told.advice;
    if (!hint && told.message != " ")
        told.extend(finding);
    finding.advice = advice;
    return true;
}

void AsyncConflict::race_with_early_read(const Meeting& meeting) {
    const auto& [old, ref, k, n, actor] = meeting;
    const Operation& copy = operations_[actor.record->operation];
    const Operation* const product = old.is(Record::async) ? &operations_[old.operation] : nullptr;
    const std::string reader = (product ? "a wgmma issued by " : "") + who(cluster_, old, ref, k);
    const std::string what = name_of(copy.kind);
    const std::string message = place(cluster_, actor, k, n) + ": " + reader + " read it before a " + what +
                                " issued by " + who(cluster_, actor) + " wrote it; nothing orders the two.";
    std::vector<SourceLine> lines{line(actor.record->pc, what + " issued by " + who(cluster_, actor)),
                                  line(old.pc, "read by " + reader)};
    if (copy.completion != CompletionKind::mbarrier)
        return decide(std::move(lines), message, *actor.record, actor.ref,
                      hand_overs_.earlier(meeting).value_or(Access{}), actor.shared);
    Diagnostic finding =
        make(Finding::read_before_completion, message + " The reader has not waited for the copy.",
             waits_.how_to_wait(copy, false), std::move(lines));
    Hint hint = waits_.wrong_phase(copy, product ? product->issuer : Threads::component_of(old, ref, k));
    if (!hint && old.cluster == threads_.cluster())
        hint = waits_.ignored_wait(copy, *cluster_.block(old.rank())->warps()[old.warp_in_block()],
                                   product ? product->lane : lane_at(ref, old, k));
    hint.extend(finding);
    const auto early = product ? Access{product->warp, product->lane, product->issuer, product->epoch, old.pc}
                               : hand_overs_.earlier(meeting);
    if (early && tells_early_hand_over(*early, *actor.clock->base[actor.lane], HandOverWords::later(actor),
                                       copy, finding, message))
        return;
    publish(std::move(finding));
}

/// Holds the finding back if the reader, or a lane for it, had told the issuing thread before that the bytes
/// may be overwritten.
bool AsyncConflict::tells_early_hand_over(const Access& reader, const SharedClock& issuer_knew,
                                          const Access& issue, const Operation& copy,
                                          const Diagnostic& not_waited, const std::string& message) {
    const HandOverFault fault = hand_overs_.handed_over_early(reader, issuer_knew, issue);
    if (!fault.step || fault.teller == HandOverFault::Teller::other_warp)
        return false;
    Diagnostic handed_over = not_waited;
    handed_over.finding = Finding::race_shared;
    handed_over.message = message;
    handed_over.locations = {line(reader.pc, reader.deed() + " by " + thread_name(*reader.warp, reader.lane)),
                             line(issue.pc, std::string(name_of(copy.kind)) + " issued by " +
                                                thread_name(*issue.warp, issue.lane))};
    early_.add({std::move(handed_over), not_waited, fault, copy.barrier, copy.issued_in});
    return true;
}

/// The issuing thread waits for its copy. What is missing is a barrier behind that wait; or, where there is
/// one already, a barrier before the copy of a later round.
Diagnostic AsyncConflict::not_ordered(std::vector<SourceLine> lines, const std::string& message,
                                      const Record& operation, const Access& read, bool shared) {
    const Finding is = shared ? Finding::race_shared : Finding::race_global;
    if (shared && read.warp &&
        lacks_barrier_on_way_back(*cluster_.info().kernel, operation.pc, read.pc,
                                  read.warp == operations_[operation.operation].warp))
        return make(
            is,
            message + " Between the issuing thread's wait for such a copy and the read stands a "
                      "barrier already. So the copy is one of a later round, and nothing orders the "
                      "read before it.",
            "The reader works on what was there before: put a __syncthreads() between its access and the "
            "issue of the copy.",
            std::move(lines));
    return make(is,
                message + " The issuing thread waits for its copy, but nothing orders that wait before the "
                          "read by another thread.",
                "Put a barrier (__syncthreads()) between the wait and reads by other threads.",
                std::move(lines));
}

void AsyncConflict::decide(std::vector<SourceLine> lines, const std::string& message, const Record& operation,
                           Ref ref, const Access& read, bool shared) {
    Undecided finding;
    finding.if_waited = not_ordered(lines, message, operation, read, shared);
    finding.if_not =
        make(Finding::read_before_completion, message + " Nobody has waited for the copy before that read.",
             waits_.how_to_wait(operations_[operation.operation], false), std::move(lines));
    Hint hint = waits_.short_group_wait(operations_[operation.operation], operation, ref);
    if (!hint)
        hint = waits_.foreign_group_wait(operations_[operation.operation], operation, ref);
    hint.extend(finding.if_not);
    finding.agent = Threads::component_of(operation, ref, 0);
    finding.epoch = operation.epoch;
    if (WarpClock& issuer = threads_.of(*operations_[operation.operation].warp); issuer.streams)
        finding.waited =
            threads_.sees(issuer, lane_of(ref), operation, finding.agent); // It may have waited already.
    undecided_.push_back(std::move(finding));
}

void AsyncConflict::on_async_group_observed(Warp& warp, unsigned lane, CompletionKind kind,
                                            std::uint64_t last_group, bool, std::uint32_t) {
    if (undecided_.empty())
        return;
    WarpStreams& streams = threads_.streams(threads_.of(warp));
    const auto& groups = streams.groups(kind).commits[lane];
    if (last_group >= groups.size())
        return;
    const Component agent = streams.stream(write_stream(kind)).first + lane;
    for (Undecided& finding : undecided_)
        finding.waited |= finding.agent == agent && finding.epoch <= groups[last_group];
}

/// A read that came too early is a race or a missing wait, which says more.
void AsyncConflict::tell_the_rest() {
    for (Undecided& finding : undecided_)
        publish(std::move(finding.waited ? finding.if_waited : finding.if_not));
    undecided_.clear();
    for (Diagnostic& each : consequences_)
        if (!findings_.has_upset_phases())
            publish(std::move(each));
    consequences_.clear();
    for (auto& [finding, words] : unexplained_) {
        words().extend(finding);
        publish(std::move(finding));
    }
    unexplained_.clear();
    for (Diagnostic& each : early_.decided())
        publish(std::move(each));
}

} // namespace

std::unique_ptr<Rule> make_async_conflict(const Desk& desk) { return std::make_unique<AsyncConflict>(desk); }

} // namespace emu::check
