// Global memory that a bulk store writes, used by somebody who has been told of cp.async.bulk.wait_group.read
// only: that wait speaks of the source (PTX ISA 9.7.9.25, cp.async.bulk.wait_group).

#include "findings/lines.hpp"
#include "findings/places.hpp"
#include "findings/words/accesses.hpp"
#include "hopper_emulator/finding_kinds.hpp"
#include "rules/rule.hpp"

#include <map>
#include <mutex>
#include <utility>

namespace emu::check {
namespace {

/// Where threads of the launch executed their last wait_group.read.
struct ReadWaits {
    std::mutex mutex;
    std::map<std::pair<std::uint32_t, Component>, std::uint32_t> pc; ///< By cluster and stream.
};

class ReadDone final : public Rule {
  public:
    explicit ReadDone(const Desk& desk)
        : Rule(desk), waits_(launch_.shelf.get<ReadWaits>([] { return std::make_shared<ReadWaits>(); })) {}
    void on_async_group_observed(Warp& warp, unsigned lane, CompletionKind kind, std::uint64_t,
                                 bool read_only, std::uint32_t pc) override;
    void on_fence(const FenceEvent& event) override;
    bool on_conflict(const Meeting& meeting) override;

  private:
    /// A fence of gpu scope behind a wait_group.read.
    struct Fenced {
        Epoch source_read = 0; ///< What the thread had waited for,
        Epoch epoch = 0;       ///< its epoch then.
    };
    bool counts_as_written(const Meeting& meeting) const;
    void tell(const Meeting& meeting, Component source);

    ReadWaits& waits_;
    std::map<Component, Fenced> fenced_; ///< By thread: the first fence behind its last wait.
};

/// The stream of what a bulk store has read, from that of what it has written: see Threads::streams.
Component source_of(Component written) { return written - warp_size; }

void ReadDone::on_async_group_observed(Warp& warp, unsigned lane, CompletionKind kind, std::uint64_t,
                                       bool read_only, std::uint32_t pc) {
    if (kind != CompletionKind::bulk_group || !read_only)
        return;
    const auto& stream = threads_.streams(threads_.of(warp)).of[static_cast<unsigned>(Stream::bulk_read)];
    const std::lock_guard lock(waits_.mutex);
    waits_.pc[{threads_.cluster(), stream.first + lane}] = pc;
}

void ReadDone::on_fence(const FenceEvent& event) {
    if (event.kind != FenceKind::membar || event.scope < Scope::gpu)
        return;
    const WarpClock& clock = threads_.of(*event.warp);
    if (!clock.streams)
        return;
    for_lanes(event.mask, [&](unsigned lane) {
        const Epoch seen = clock.streams->of[static_cast<unsigned>(Stream::bulk_read)].seen[lane];
        if (Fenced& fenced = fenced_[clock.first + lane]; seen > fenced.source_read)
            fenced = {seen, clock.now};
    });
}

bool ReadDone::on_conflict(const Meeting& meeting) {
    const auto& [old, ref, k, n, actor] = meeting;
    constexpr unsigned bulk_store = Record::async | Record::write | Record::by_lane;
    if (actor.shared || (old.flags & bulk_store) != bulk_store || old.epoch == 0 ||
        (old.is(Record::strong) && actor.record->is(Record::strong)))
        return false;
    const Component source = source_of(Threads::component_of(old, ref, k));
    if (!threads_.sees(*actor.clock, actor.lane, old, source))
        return false; // It has not been told of any wait.
    findings_.note_raced(actor.record->pc);
    if (!counts_as_written(meeting) || wants_notes())
        tell(meeting, source);
    return true;
}

/// NVIDIA's own tests (libcu++, cp_async_bulk) read the result in the same block behind wait_group.read, a
/// __threadfence() and a barrier, and hardware does what they count on.
bool ReadDone::counts_as_written(const Meeting& meeting) const {
    const auto& [old, ref, k, n, actor] = meeting;
    if (old.cluster != threads_.cluster() || old.rank() != actor.record->rank())
        return false;
    const Component issuer = operations_[old.operation].issuer;
    const auto fenced = fenced_.find(issuer);
    if (fenced == fenced_.end() || fenced->second.source_read < old.epoch)
        return false;
    Record fence;
    fence.cluster = threads_.cluster();
    fence.epoch = fenced->second.epoch;
    return threads_.sees(*actor.clock, actor.lane, fence, issuer);
}

void ReadDone::tell(const Meeting& meeting, Component source) {
    const auto& [old, ref, k, n, actor] = meeting;
    const bool theirs = old.cluster != threads_.cluster();
    if (!theirs && std::exchange(operations_[old.operation].reported, true))
        return;
    const Finding is = theirs           ? Finding::race_global
                       : actor.is_write ? Finding::overwrite_in_flight
                                        : Finding::read_before_completion;
    if (!first_time(is, old.pc, actor.record->pc))
        return;
    const std::string issuer = who(cluster_, old, ref, k), other = who(cluster_, actor, k);
    const std::string what = theirs ? "bulk store" : name_of(operations_[old.operation].kind);
    std::vector<SourceLine> lines{
        line(old.pc, what + " issued by " + issuer),
        line_of(cluster_, actor, std::string(actor.is_write ? "written by " : "read by ") + other)};
    {
        const std::lock_guard lock(waits_.mutex);
        if (const auto wait = waits_.pc.find({old.cluster, source}); wait != waits_.pc.end())
            lines.push_back(line(wait->second, "wait of " + issuer));
    }
    const std::string message =
        place(cluster_, actor, k, n) + ": " + other +
        (actor.is_write ? " writes where a " + what + " issued by " + issuer + " writes"
                        : " reads what a " + what + " issued by " + issuer + " writes") +
        ", without having seen that operation complete. " + issuer +
        " waited for it with cp.async.bulk.wait_group.read, but wait_group.read speaks of the source only: "
        "the bytes need "
        "not "
        "be in global memory yet.";
    const std::string advice = issuer +
                               " must wait with cp.async.bulk.wait_group without .read before it tells "
                               "others that the bytes are there.";
    if (counts_as_written(meeting))
        return note(is, message, advice, std::move(lines));
    publish(is, message, advice, std::move(lines));
}

} // namespace

std::unique_ptr<Rule> make_read_done(const Desk& desk) { return std::make_unique<ReadDone>(desk); }

} // namespace emu::check
