// Copies from one block of a cluster into the shared memory of another: who may say that its bytes are free,
// how many bytes its mbarrier expects, and who learns that the source has been read.

#include "findings/lines.hpp"
#include "findings/places.hpp"
#include "findings/words/accesses.hpp"
#include "hopper_emulator/finding_kinds.hpp"
#include "rules/rule.hpp"

#include <array>
#include <unordered_map>
#include <vector>

namespace emu::check {
namespace {

class ClusterCopies final : public Rule {
  public:
    using Rule::Rule;
    void on_mbarrier_init(const MbarrierEvent& event) override { arrivals_.erase(event.address); }
    void on_mbarrier_arrive(const MbarrierEvent& event) override;
    void on_mbarrier_observed(const MbarrierEvent& event) override;
    bool on_conflict(const Meeting& meeting) override;

  private:
    /// The last wait of a thread.
    struct Wait {
        std::uint32_t barrier = 0; ///< 0: there was none.
        std::uint64_t phase = 0;
        std::uint32_t pc = 0;
    };
    /// Ranks of the blocks whose threads arrived at a barrier, in its last phases.
    using Arrivals = std::array<std::uint16_t, 4>;

    bool is_source_reused(const Meeting& meeting);
    bool is_unannounced(const Meeting& meeting);
    bool is_released_by_others(const Meeting& meeting);
    bool is_news(const Meeting& meeting, Finding finding);
    void tell_source_reused(const Meeting& meeting, const Operation& copy);
    void tell_unannounced(const Meeting& meeting, const BarrierState::Passed& passed);
    void tell_released_by_others(const Meeting& meeting, const Wait& wait);
    const Operation& copy_of(const Actor& actor) const { return operations_[actor.record->operation]; }

    std::unordered_map<std::uint32_t, Arrivals> arrivals_; ///< By address of the mbarrier.
    std::vector<Wait> waits_;                              ///< By thread component.
};

void ClusterCopies::on_mbarrier_arrive(const MbarrierEvent& event) {
    if (!event.operation && event.warp && event.count != 0 && cluster_.blocks().size() > 1)
        arrivals_[event.address][event.phase % 4] |=
            static_cast<std::uint16_t>(1u << event.warp->block().rank());
}

void ClusterCopies::on_mbarrier_observed(const MbarrierEvent& event) {
    if (cluster_.blocks().size() <= 1)
        return;
    const Component thread = threads_.of(*event.warp).first + event.lane;
    if (waits_.size() <= thread)
        waits_.resize(thread + warp_size);
    waits_[thread] = {event.address, event.phase, event.pc};
    // The phase behind the one that is under way begins with nobody.
    arrivals_[event.address][(event.phase + 2) % 4] = 0;
}

bool ClusterCopies::on_conflict(const Meeting& meeting) {
    return cluster_.blocks().size() > 1 && meeting.actor.shared &&
           (is_source_reused(meeting) || is_unannounced(meeting) || is_released_by_others(meeting));
}

/// Notes the conflict. A tile has many words: only of the first are words made.
bool ClusterCopies::is_news(const Meeting& meeting, Finding finding) {
    const auto& [old, ref, k, n, actor] = meeting;
    findings_.note_raced(actor.record->pc);
    if (!old.is(Record::async))
        findings_.note_raced(old.pc);
    bool told = false;
    for (const Record* each : {&old, actor.record})
        if (each->is(Record::async))
            told |= std::exchange(operations_[each->operation].reported, true);
    return !told && first_time(finding, old.pc, actor.record->pc);
}

/// The source of a copy that completes at another block's mbarrier is overwritten.
bool ClusterCopies::is_source_reused(const Meeting& meeting) {
    const auto& [old, ref, k, n, actor] = meeting;
    if (!old.is(Record::async) || old.is(Record::write) || actor.record->is(Record::async))
        return false;
    const Operation& copy = operations_[old.operation];
    const unsigned rank = shared_rank(copy.barrier);
    if (copy.completion != CompletionKind::mbarrier || rank == actor.record->rank())
        return false;
    if (is_news(meeting, Finding::overwrite_in_flight))
        tell_source_reused(meeting, copy);
    return true;
}

void ClusterCopies::tell_source_reused(const Meeting& meeting, const Operation& copy) {
    const auto& [old, ref, k, n, actor] = meeting;
    const std::string issuer = who(cluster_, old, ref, k);
    const std::string what = name_of(copy.kind);
    publish(
        Finding::overwrite_in_flight,
        place(cluster_, actor, k, n) + ": " + who(cluster_, actor, k) + " overwrites what a " + what +
            " issued by " + issuer + " may still read. The copy completes at " +
            barrier_name(cluster_, copy.barrier) + ", where only threads of that block can wait.",
        "Let a thread of that block answer at an mbarrier of this block, and wait for it before the write. "
        "(Where there is such a wait it comes too late, after the write.)",
        {line(old.pc, what + " issued by " + issuer),
         line_of(cluster_, actor, "written by " + who(cluster_, actor, k))});
}

/// Another block's copy comes into a phase for which nobody has announced bytes, and the reader has seen the
/// phase before end without it.
bool ClusterCopies::is_unannounced(const Meeting& meeting) {
    const auto& [old, ref, k, n, actor] = meeting;
    if (old.is(Record::write) || old.is(Record::async) || !actor.record->is(Record::async) ||
        !actor.is_write || !actor.first_write)
        return false;
    const Operation& copy = copy_of(actor);
    const Mbarrier* const barrier = cluster_.mbarrier(copy.barrier);
    const auto known = mbarriers_.find(copy.barrier);
    if (copy.completion != CompletionKind::mbarrier || !barrier || known == mbarriers_.end() ||
        copy.warp->block().rank() == shared_rank(copy.barrier) || barrier->expected_bytes != 0)
        return false;
    const BarrierState::Passed* const passed = known->second.passed_by(Threads::component_of(old, ref, k));
    if (!passed || passed->phases == 0 || passed->phases != copy.issued_in)
        return false;
    if (is_news(meeting, Finding::tx_count_mismatch))
        tell_unannounced(meeting, *passed);
    return true;
}

void ClusterCopies::tell_unannounced(const Meeting& meeting, const BarrierState::Passed& passed) {
    const auto& [old, ref, k, n, actor] = meeting;
    const Operation& copy = copy_of(actor);
    const std::string reader = who(cluster_, old, ref, k);
    const std::string issuer = who(cluster_, actor, k);
    const std::string what = name_of(copy.kind);
    publish(
        Finding::tx_count_mismatch,
        place(cluster_, actor, k, n) + ": " + reader + " waited for phase " +
            std::to_string(passed.phases - 1) + " of " + barrier_name(cluster_, copy.barrier) +
            ", which ended with the bytes that it was told to expect; the " + what + " issued by " + issuer +
            ", which writes the place, brings more bytes than its mbarrier was told to expect.",
        "expect_tx must announce the bytes of all copies of the phase, also of those that other blocks send "
        "or multicast into this block.",
        {line(actor.record->pc, what + " issued by " + issuer), line(old.pc, "read by " + reader),
         line(passed.pc, "wait of " + reader)});
}

/// A copy into another block, whose issuer waited for threads of other blocks only.
bool ClusterCopies::is_released_by_others(const Meeting& meeting) {
    const auto& [old, ref, k, n, actor] = meeting;
    if (!actor.record->is(Record::async) || !actor.is_write || old.cluster != threads_.cluster())
        return false;
    const Operation& copy = copy_of(actor);
    const unsigned own = copy.warp->block().rank();
    const unsigned written = shared_rank(static_cast<std::uint32_t>(actor.word));
    const Component thread = threads_.of(*copy.warp).first + copy.lane;
    if (written == own || thread >= waits_.size() || shared_rank(waits_[thread].barrier) != own)
        return false;
    const Wait& wait = waits_[thread];
    const auto arrivals = arrivals_.find(wait.barrier);
    if (wait.barrier == 0 || arrivals == arrivals_.end() || arrivals->second[wait.phase % 4] == 0 ||
        (arrivals->second[wait.phase % 4] >> written & 1))
        return false;
    findings_.note_upset_phases();
    if (is_news(meeting, old.is(Record::async) ? Finding::overwrite_in_flight : Finding::race_shared))
        tell_released_by_others(meeting, wait);
    return true;
}

void ClusterCopies::tell_released_by_others(const Meeting& meeting, const Wait& wait) {
    const auto& [old, ref, k, n, actor] = meeting;
    const std::string issuer = who(cluster_, actor, k);
    const std::string what = name_of(copy_of(actor).kind);
    const std::string other = who(cluster_, old, ref, k);
    const bool by_copy = old.is(Record::async);
    const std::string what_before = by_copy ? name_of(operations_[old.operation].kind) : "";
    const std::string deed = " writes where " + (by_copy ? "a " + what_before + " issued by " : "") + other +
                             " may still " + (old.is(Record::write) ? "write." : "read.");
    publish(by_copy ? Finding::overwrite_in_flight : Finding::race_shared,
            place(cluster_, actor, k, n) + ": a " + what + " issued by " + issuer + deed + " Before it " +
                issuer + " waited at " + barrier_name(cluster_, wait.barrier) +
                ": no thread of the block that is written has arrived at mbarrier " +
                shared_name(cluster_.info(), shared_offset(wait.barrier)) + " in that phase.",
            "Let the readers of every block of the mask arrive at it (mapa, "
            "mbarrier.arrive.release.cluster.shared::cluster), and give mbarrier.init their number.",
            {line(actor.record->pc, what + " issued by " + issuer),
             line(old.pc, by_copy ? what_before + " issued by " + other : verb(old) + " " + other),
             line(wait.pc, "wait of " + issuer)});
}

} // namespace

std::unique_ptr<Rule> make_cluster_copies(const Desk& desk) { return std::make_unique<ClusterCopies>(desk); }

} // namespace emu::check
