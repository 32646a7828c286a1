// cuda::pipeline used unequally: more threads take part than make_pipeline was told; a consumer that skips
// consumer_release() waits for an older stage than the one it reads.

#include "findings/lines.hpp"
#include "findings/places.hpp"
#include "findings/words/accesses.hpp"
#include "hopper_emulator/finding_kinds.hpp"
#include "rules/rule.hpp"

#include <deque>
#include <list>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

namespace emu::check {
namespace {

class LibraryPipelines final : public Rule {
  public:
    using Rule::Rule;
    void on_mbarrier_init(const MbarrierEvent& event) override { stages_.erase(event.address); }
    void on_mbarrier_arrive(const MbarrierEvent& event) override;
    void on_mbarrier_passed_fresh(const MbarrierEvent& event) override;
    void on_mbarrier_observed(const MbarrierEvent& event) override;
    void on_async_issue(const AsyncOperation& operation) override;
    bool on_conflict(const Meeting& meeting) override;
    void on_cluster_end() override;

  private:
    /// Each stage has a barrier at which producers arrive and one at which consumers do, each thread once in
    /// each phase.
    struct Stage {
        std::set<Component> arrivers;
        bool of_consumers = false; ///< It is waited for before its first phase has ended.
    };
    /// A phase of a stage.
    struct Turn {
        std::uint32_t barrier = 0;
        std::uint64_t phase = 0;
        std::uint32_t pc = 0; ///< Of the wait or the arrival.
        Epoch epoch = 0;      ///< Of the copies that a commit covers.
    };
    /// A conflict of a reader, who waited for `waited` last, with a copy that its thread has not committed
    /// yet.
    struct Held {
        Meeting meeting;
        Turn waited;
        Component copier = 0;
        Epoch epoch = 0;
    };
    bool is_of_pipeline(std::uint32_t pc);
    void tell_too_many(const MbarrierEvent& event, const Stage& stage, std::uint32_t count);
    const Turn* wait_of(Component reader) const;
    const Turn* commit_of(Component copier, Epoch epoch) const;
    bool tell_earlier_stage(const Meeting& meeting, const Turn& waited, const Turn& committed);

    std::unordered_map<std::uint32_t, Stage> stages_; ///< By address of the mbarrier.
    std::vector<std::int8_t> of_pipeline_;            ///< By instruction: 1 yes, -1 no, 0 not yet known.
    std::unordered_map<Component, Turn> waits_;       ///< The last consumer_wait() of each thread.
    std::unordered_map<Component, std::deque<Turn>> commits_; ///< By stream of cp.async: the last of them.
    std::list<Held> held_;
};

bool LibraryPipelines::is_of_pipeline(std::uint32_t pc) {
    of_pipeline_.resize(kernel().sources.size());
    if (of_pipeline_[pc] == 0)
        of_pipeline_[pc] = is_inlined_from(kernel(), pc, "/cuda/pipeline") ? 1 : -1;
    return of_pipeline_[pc] > 0;
}

void LibraryPipelines::on_mbarrier_arrive(const MbarrierEvent& event) {
    if (event.operation || !event.warp || event.count == 0 || !is_of_pipeline(event.pc))
        return;
    const Mbarrier* const barrier = cluster_.mbarrier(event.address);
    if (!barrier)
        return;
    Stage& stage = stages_[event.address];
    const bool is_new = stage.arrivers.insert(threads_.of(*event.warp).first + event.lane).second;
    if (is_new && stage.arrivers.size() == barrier->expected + std::size_t{1})
        tell_too_many(event, stage, barrier->expected);
}

void LibraryPipelines::on_mbarrier_passed_fresh(const MbarrierEvent& event) {
    if (is_of_pipeline(event.pc))
        stages_[event.address].of_consumers = true;
}

void LibraryPipelines::on_mbarrier_observed(const MbarrierEvent& event) {
    if (is_of_pipeline(event.pc) && !stages_[event.address].of_consumers)
        waits_[threads_.of(*event.warp).first + event.lane] = {event.address, event.phase, event.pc};
}

/// producer_commit(): the stage's barrier gets an arrival behind the thread's copies so far.
void LibraryPipelines::on_async_issue(const AsyncOperation& operation) {
    const Mbarrier* const barrier = cluster_.mbarrier(operation.barrier);
    if (operation.kind != AsyncKind::cp_async_arrive || !barrier || !is_of_pipeline(operation.pc))
        return;
    constexpr std::size_t kept = 16;
    const auto& stream =
        threads_.streams(threads_.of(*operation.warp)).of[static_cast<unsigned>(Stream::cp_async)];
    const Component copier = stream.first + operation.lane;
    auto& commits = commits_[copier];
    commits.push_back({operation.barrier, barrier->phase, operation.pc, stream.now});
    if (commits.size() > kept)
        commits.pop_front();
    for (auto held = held_.begin(); held != held_.end();) {
        if (held->copier != copier || held->epoch > stream.now) {
            ++held;
            continue;
        }
        const Held decided = *held;
        held = held_.erase(held);
        if (!tell_earlier_stage(decided.meeting, decided.waited, commits.back()))
            engine_.ask_next(*this, decided.meeting);
    }
}

const LibraryPipelines::Turn* LibraryPipelines::wait_of(Component reader) const {
    const auto found = waits_.find(reader);
    return found == waits_.end() ? nullptr : &found->second;
}

const LibraryPipelines::Turn* LibraryPipelines::commit_of(Component copier, Epoch epoch) const {
    const auto found = commits_.find(copier);
    if (found != commits_.end())
        for (const Turn& commit : found->second)
            if (commit.epoch >= epoch)
                return &commit;
    return nullptr;
}

bool LibraryPipelines::on_conflict(const Meeting& meeting) {
    const auto& [old, ref, k, n, actor] = meeting;
    if (waits_.empty() || !actor.shared || old.cluster != threads_.cluster())
        return false;
    const bool copy_first = old.is(Record::async);
    const Record& copy = copy_first ? old : *actor.record;
    const Record& read = copy_first ? *actor.record : old;
    if (!copy.is(Record::async) || !copy.is(Record::write) || read.is(Record::async) ||
        read.is(Record::write) || operations_[copy.operation].kind != AsyncKind::cp_async)
        return false;
    const Turn* const waited = wait_of(Threads::component_of(read, copy_first ? actor.ref : ref, k));
    if (!waited)
        return false;
    const Component copier = Threads::component_of(copy, copy_first ? ref : actor.ref, k);
    if (const Turn* const committed = commit_of(copier, copy.epoch))
        return tell_earlier_stage(meeting, *waited, *committed);
    for (const Held& held : held_)
        if (held.meeting.old.pc == old.pc && held.meeting.actor.record->pc == actor.record->pc)
            return true; // Told once.
    held_.push_back({meeting, *waited, copier, copy.epoch});
    return true;
}

/// The reader's last wait was for another stage than the one that the copy fills, or for one that was filled
/// two rounds before it. (One that waited for the round before has read too late: the producer did not wait.)
bool LibraryPipelines::tell_earlier_stage(const Meeting& meeting, const Turn& waited, const Turn& committed) {
    const auto& [old, ref, k, n, actor] = meeting;
    if (waited.barrier == committed.barrier && waited.phase + 1 >= committed.phase)
        return false;
    const bool copy_first = old.is(Record::async);
    Operation& copy = operations_[(copy_first ? old : *actor.record).operation];
    findings_.note_raced(old.pc);
    findings_.note_raced(actor.record->pc);
    if (std::exchange(copy.reported, true) ||
        !first_time(Finding::read_before_completion, old.pc, actor.record->pc))
        return true;
    const std::string first = who(cluster_, old, ref, k), second = who(cluster_, actor, k);
    const std::string& reader = copy_first ? second : first;
    const std::string& copier = copy_first ? first : second;
    publish(
        Finding::read_before_completion,
        place(cluster_, actor, k, n) + ": " + reader + " reads what a cp.async issued by " + copier +
            " writes, and has waited for an earlier stage only: for phase " + std::to_string(waited.phase) +
            " of " + barrier_name(cluster_, waited.barrier) + ". The copy completes phase " +
            std::to_string(committed.phase) + " of " + barrier_name(cluster_, committed.barrier) + ".",
        "consumer_wait() waits for one stage, the oldest that has not been released: call it once for each "
        "stage, before the stage is read, and consumer_release() on every path, also where a stage is "
        "skipped.",
        {line(copy.pc, "cp.async issued by " + copier),
         line((copy_first ? *actor.record : old).pc, "read by " + reader),
         line(waited.pc, "wait of " + reader)});
    return true;
}

void LibraryPipelines::tell_too_many(const MbarrierEvent& event, const Stage& stage, std::uint32_t count) {
    if (!first_time(Finding::arrival_count_mismatch, event.pc, event.pc))
        return;
    const std::string thread = thread_name(*event.warp, event.lane);
    const char* const who = stage.of_consumers ? "consumers" : "producers";
    const char* const call = stage.of_consumers ? "consumer_release()" : "producer_commit()";
    publish(Finding::arrival_count_mismatch,
            barrier_name(cluster_, event.address) + " of a cuda::pipeline expects " +
                count_of(count, "arrival") + " in a phase, and " + thread +
                " is one more than that, with those that "
                "arrived before: a stage counts as done before all have come.",
            std::string("Give make_pipeline the number of threads that really are ") + who +
                ", that is of those that call " + call +
                ", or let only as many call it as make_pipeline was told.",
            {line(event.pc, "arrival of " + thread)});
}

/// What was never committed. (Not where the launch was stopped: its threads are gone.)
void LibraryPipelines::on_cluster_end() {
    for (const Held& held : std::exchange(held_, {}))
        engine_.ask_next(*this, held.meeting);
}

} // namespace

std::unique_ptr<Rule> make_library_pipelines(const Desk& desk) {
    return std::make_unique<LibraryPipelines>(desk);
}

} // namespace emu::check
