// What led to a mistake that the machine meets, where the steps that threads took before tell it: the machine
// sees only that an arrival is one too many, or that a block is gone.

#include "findings/places.hpp"
#include "findings/words/hand_overs.hpp"
#include "findings/words/words.hpp"
#include "hopper_emulator/finding_kinds.hpp"
#include "machine/mistake.hpp"
#include "rules/rule.hpp"

#include <algorithm>
#include <variant>
#include <vector>

namespace emu::check {
namespace {

class MistakeCauses final : public Rule {
  public:
    explicit MistakeCauses(const Desk& desk) : Rule(desk), hand_overs_(engine_) {}
    bool on_mistake(const Mistake& mistake) override;
    void on_barrier_complete(BarrierKind kind, unsigned id, std::span<const WarpLanes> arrived,
                             std::span<const WarpLanes> waiting) override;

  private:
    Hint cause(const Mistake& mistake) const;
    Hint too_early_refill(const Mistake& mistake) const;
    Hint early_return(const Mistake& mistake) const;

    HandOverWords hand_overs_;
    std::vector<bool> absent_; ///< By rank: a cluster barrier has ended without a thread of the block.
};

template <class T>
const T* fact(const Mistake& mistake, std::string_view name) {
    const auto found = std::ranges::find(mistake.facts, name, &Fact::name);
    return found == mistake.facts.end() ? nullptr : std::get_if<T>(&found->value);
}

bool MistakeCauses::on_mistake(const Mistake& mistake) {
    const Hint hint = cause(mistake);
    if (!hint)
        return false;
    Diagnostic finding = put_into_words(mistake);
    hint.extend(finding);
    cluster_.report(std::move(finding), mistake.fatal);
    return true;
}

Hint MistakeCauses::cause(const Mistake& mistake) const {
    if (mistake.finding == Finding::arrival_count_mismatch)
        return too_early_refill(mistake);
    if (mistake.finding == Finding::remote_block_exited)
        return early_return(mistake);
    return {};
}

/// Whoever announces a copy in the phase of the copy before has not waited for the readers, or for too
/// little.
Hint MistakeCauses::too_early_refill(const Mistake& mistake) const {
    const auto* const barrier = fact<SharedPlace>(mistake, "barrier");
    if (!barrier)
        return {};
    // Two lines of one round that arrive both are another mistake; an unrolled loop has a line several times.
    if (mistake.other_pc && !line(*mistake.other_pc, {}).is_same_place(line(mistake.pc, {})))
        return {};
    const WarpClock& clock = threads_.of(*mistake.warp);
    const Access announcement{mistake.warp, mistake.lane, clock.first + mistake.lane, clock.now, mistake.pc,
                              true,         true};
    const Hint refill =
        hand_overs_.unguarded_refill(announcement, barrier->address, shared_rank(barrier->address));
    return refill ? refill : hand_overs_.readers_not_counted(announcement, barrier->address);
}

/// A cluster barrier counts the threads of a block that has ended as arrived.
void MistakeCauses::on_barrier_complete(BarrierKind kind, unsigned, std::span<const WarpLanes> arrived,
                                        std::span<const WarpLanes>) {
    if (kind != BarrierKind::cluster || arrived.empty())
        return;
    absent_.resize(cluster_.blocks().size());
    std::vector<bool> here(absent_.size());
    for (const WarpLanes& lanes : arrived)
        here[lanes.warp->block().rank()] = true;
    for (std::size_t rank = 0; rank < here.size(); ++rank)
        if (!here[rank])
            absent_[rank] = true;
}

Hint MistakeCauses::early_return(const Mistake& mistake) const {
    const auto* const rank = fact<std::uint64_t>(mistake, "rank");
    const auto* const place = fact<SharedPlace>(mistake, "place");
    if (!rank && !place)
        return {};
    const std::uint64_t owner = rank ? *rank : shared_rank(place->address);
    if (owner >= absent_.size() || !absent_[owner])
        return {};
    const WarpClock& clock = threads_.of(*mistake.warp);
    const Step* const wait =
        engine_.hand_overs().last(*mistake.warp, mistake.lane, clock.now, [](const Step& step) {
            return step.takes && step.kind == Step::Kind::cluster_barrier;
        });
    if (!wait)
        return {};
    const std::string user = thread_name(*mistake.warp, mistake.lane);
    return {
        " It has ended before the cluster barrier that " + user +
            " passed: its threads returned early, and a barrier counts threads that have ended as arrived.",
        "Do not return before the last cluster barrier: keep the block in the kernel and guard only its "
        "work.",
        {line(wait->pc, "cluster barrier passed by " + user)}};
}

} // namespace

std::unique_ptr<Rule> make_mistake_causes(const Desk& desk) { return std::make_unique<MistakeCauses>(desk); }

} // namespace emu::check
