// Shared memory of another block of the cluster, used before that block has started or behind its end; and
// that of a block which ends although nothing has told it that a copy to another block has read it.

#include "findings/places.hpp"
#include "hopper_emulator/finding_kinds.hpp"
#include "rules/rule.hpp"

#include <functional>
#include <map>

namespace emu::check {
namespace {

class RemoteBlock final : public Rule {
  public:
    explicit RemoteBlock(const Desk& desk) : Rule(desk) { engine_.watch(*this, Watch::accesses); }
    void on_access(const AccessEvent& event) override;
    void on_async_issue(const AsyncOperation& operation) override;
    void on_mbarrier_arrive(const MbarrierEvent& event) override;
    void on_barrier_complete(BarrierKind kind, unsigned, std::span<const WarpLanes> arrived,
                             std::span<const WarpLanes>) override {
        all_started_ |= kind == BarrierKind::cluster && !arrived.empty();
    }
    void on_block_exit(Block& block) override;
    void tell_the_rest() override;

  private:
    /// The last access of a thread to the shared memory of another block of its cluster.
    struct RemoteUse {
        const Warp* warp = nullptr; ///< nullptr: none.
        unsigned lane = 0;
        std::uint32_t pc = 0;
        Epoch epoch = 0;
    };
    void check_started(Warp& warp, unsigned lane, std::uint32_t pc, unsigned rank);
    void check_sent(const Block& block, const std::function<bool(Component, Epoch)>& knows);
    void note_remote_use(const Warp& warp, unsigned lane, std::uint32_t pc, unsigned rank);

    bool all_started_ = false; ///< A cluster barrier completed, so every block runs.
    std::map<std::uint32_t, Diagnostic>
        not_started_; ///< By instruction; told at the end, unless a race says more.
    std::vector<std::vector<RemoteUse>> remote_uses_; ///< By rank of the other block, then by component.
    std::map<std::uint32_t, Diagnostic> left_early_;  ///< By instruction; told at the end, unless an access
                                                      ///< comes behind the other block's end.
};

void RemoteBlock::on_access(const AccessEvent& event) {
    if (event.space != ptx::Space::shared || cluster_.blocks().size() <= 1)
        return;
    const unsigned own = event.warp->block().rank();
    for_lanes(event.mask, [&](unsigned lane) {
        const unsigned rank = shared_rank(static_cast<std::uint32_t>(event.addresses[lane]));
        if (rank == own)
            return;
        check_started(*event.warp, lane, event.pc, rank);
        note_remote_use(*event.warp, lane, event.pc, rank);
    });
}

void RemoteBlock::on_async_issue(const AsyncOperation& operation) {
    if (operation.kind == AsyncKind::cp_async_arrive || !operation.writes_shared || operation.pieces.empty())
        return;
    if (const unsigned rank = shared_rank(operation.pieces.front().shared);
        rank != operation.warp->block().rank())
        check_started(*operation.warp, operation.lane, operation.pc, rank);
}

void RemoteBlock::on_mbarrier_arrive(const MbarrierEvent& event) {
    if (event.operation || !event.warp || !mbarriers_.contains(event.address))
        return;
    const unsigned rank = shared_rank(event.address);
    if (rank == event.warp->block().rank())
        return;
    check_started(*event.warp, event.lane, event.pc, rank);
    if (event.semantics != Semantics::relaxed)
        note_remote_use(*event.warp, event.lane, event.pc, rank);
}

void RemoteBlock::check_started(Warp& warp, unsigned lane, std::uint32_t pc, unsigned rank) {
    if (all_started_ || rank >= cluster_.blocks().size())
        return;
    // Whoever knows of anything that a thread of the other block did knows that the block has started.
    Record any;
    any.cluster = threads_.cluster();
    any.epoch = 1;
    const WarpClock& clock = threads_.of(warp);
    for (const auto& other : cluster_.block(rank)->warps())
        for (unsigned i = 0; i < warp_size; ++i)
            if (threads_.sees(clock, lane, any, threads_.of(*other).first + i))
                return;
    if (not_started_.contains(pc))
        return;
    not_started_[pc] =
        make(Finding::remote_block_not_started,
             thread_name(warp, lane) + " uses the shared memory of cluster block " + std::to_string(rank) +
                 ", and nothing has told it that this block has started.",
             "Put a cluster barrier (cluster.sync(), barrier.cluster) before the first access to the shared "
             "memory of another block.",
             {line(pc, "by " + thread_name(warp, lane))});
}

void RemoteBlock::note_remote_use(const Warp& warp, unsigned lane, std::uint32_t pc, unsigned rank) {
    if (remote_uses_.size() <= rank)
        remote_uses_.resize(cluster_.blocks().size());
    if (rank >= remote_uses_.size())
        return;
    const WarpClock& clock = threads_.of(warp);
    auto& uses = remote_uses_[rank];
    if (uses.size() <= clock.first + lane)
        uses.resize(clock.first + warp_size);
    uses[clock.first + lane] = {&warp, lane, pc, clock.now};
}

/// Whoever uses the shared memory of another block must have told it so before it ends.
void RemoteBlock::on_block_exit(Block& block) {
    if (cluster_.blocks().size() <= 1 || cluster_.stopped())
        return;
    Accumulator known;
    for (const auto& warp : block.warps())
        threads_.gather(known, {warp.get(), warp->present(), 0});
    const auto knows = [&](Component thread, Epoch epoch) {
        if (known.clock().get(order, thread) >= epoch)
            return true;
        // A relaxed arrival publishes nothing, but it comes behind the access.
        return engine_.cluster_withheld() && engine_.cluster_withheld()->phase != 0 &&
               engine_.cluster_withheld()->clock->clock.get(order, thread) >= epoch &&
               known.clock().get(order, engine_.cluster_withheld()->agent) >=
                   engine_.cluster_withheld()->phase;
    };
    check_sent(block, knows);
    if (block.rank() >= remote_uses_.size())
        return;
    const auto& uses = remote_uses_[block.rank()];
    for (Component thread = 0; thread < uses.size(); ++thread) {
        const RemoteUse& use = uses[thread];
        if (!use.warp || knows(thread, use.epoch) ||
            !first_time(Finding::remote_block_exited, use.pc, use.pc))
            continue;
        const std::string user = thread_name(*use.warp, use.lane);
        left_early_[use.pc] = make(
            Finding::remote_block_exited,
            user + " uses the shared memory of cluster block " + std::to_string(block.rank()) +
                ", which has ended, and nothing made it wait for that use: in another run it ends before.",
            "Put a cluster barrier (cluster.sync(), barrier.cluster) after the last access to the shared "
            "memory of another block, before any block ends.",
            {line(use.pc, "by " + user)});
    }
}

/// A copy from the block's memory to another block completes there: only who waited there knows that the
/// source has been read. One that has not completed, or that nobody has seen, is told by the machine.
void RemoteBlock::check_sent(const Block& block, const std::function<bool(Component, Epoch)>& knows) {
    for (const Operation& copy : operations_) {
        if (!copy.warp || &copy.warp->block() != &block || !copy.reads_shared || !copy.writes_shared ||
            !copy.completed || shared_rank(copy.barrier) == block.rank())
            continue;
        const Record& source = engine_.store(true)[copy.reads];
        if (knows(source.component, source.epoch) ||
            !first_time(Finding::exited_with_copies_in_flight, copy.pc, copy.pc))
            continue;
        const std::string sender = thread_name(*copy.warp, copy.lane);
        left_early_[copy.pc] = make(
            Finding::exited_with_copies_in_flight,
            "The copy that " + sender + " issued reads the shared memory of cluster block " +
                std::to_string(block.rank()) +
                ", which has ended, and nothing made that block wait until the copy was complete: in another "
                "run it ends before.",
            "Let the block that receives the copy tell it, behind its wait: by a cluster barrier "
            "(cluster.sync(), barrier.cluster), or by an arrival at an mbarrier for which the sender waits.",
            {line(copy.pc, "issued by " + sender)});
    }
}

void RemoteBlock::tell_the_rest() {
    for (auto& [pc, diagnostic] : not_started_)
        if (!findings_.has_raced(pc))
            publish(std::move(diagnostic));
    not_started_.clear();
    for (auto& [pc, diagnostic] : left_early_)
        if (!cluster_.stopped())
            publish(std::move(diagnostic));
    left_early_.clear();
}

} // namespace

std::unique_ptr<Rule> make_remote_block(const Desk& desk) { return std::make_unique<RemoteBlock>(desk); }

} // namespace emu::check
