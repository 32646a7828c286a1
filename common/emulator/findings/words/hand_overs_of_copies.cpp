// Hand-overs of what an asynchronous operation reads or writes, and of the place that it fills again.

#include "findings/lines.hpp"
#include "findings/places.hpp"
#include "findings/words/accesses.hpp"
#include "findings/words/hand_overs.hpp"
#include "machine/instructions/matrix/wgmma_forms.hpp"

#include <algorithm>

namespace emu::check {
namespace {

using Kind = Step::Kind;

bool in_one_warpgroup(const Warp& a, const Warp& b) {
    return &a.block() == &b.block() &&
           a.index() / matrix::warpgroup_warps == b.index() / matrix::warpgroup_warps;
}

} // namespace

/// The issuing thread told others before it had waited for its operation.
Hint HandOverWords::told_before_waiting(const Operation& operation, const Record& record, Ref ref,
                                        const Actor& actor) const {
    if (operation.completion == CompletionKind::mbarrier || record.cluster != engine_.threads().cluster())
        return {};
    const unsigned lane = lane_of(ref);
    WarpClock& issuer = engine_.threads().of(*operation.warp);
    const bool bulk = operation.completion == CompletionKind::bulk_group;
    const std::string who = thread_name(*operation.warp, lane);
    const bool wgmma = operation.completion == CompletionKind::wgmma_group;
    const std::string wait =
        wgmma   ? "execute wgmma.commit_group and wgmma.wait_group 0"
        : !bulk ? "execute cp.async.commit_group and cp.async.wait_group"
                : std::string("execute cp.async.bulk.commit_group and cp.async.bulk.wait_group") +
                      (record.is(Record::write) ? "" : ".read");
    if (actor.clock == &issuer && actor.lane == lane)
        return bulk && actor.record->is(Record::async)
                   ? Hint{" ", who + " must " + wait +
                                   " between the two lines. It is the same thread: no barrier is needed."}
                   : Hint{};
    const Component thread = issuer.first + lane;
    const Epoch told = actor.clock->base[actor.lane]->clock.get(order, thread);
    const Step* const give =
        told >= operation.epoch ? engine_.hand_overs().ended(*operation.warp, lane, told) : nullptr;
    if (!give || !give->gives)
        return {};
    if (issuer.streams) {
        const auto& waits = issuer.streams->groups(operation.completion).waits;
        if (waits[lane].any && waits[lane].operations > record.operation && waits[lane].epoch <= give->last)
            return {}; // It has waited before, for too little.
    }
    const std::string at = line_number(give->pc);
    std::vector<SourceLine> lines{source_line(cluster_, give->pc, "arrival of " + who)};
    if (give->kind == Kind::mbarrier && !bulk && !wgmma)
        return {" " + who + " arrived at " + name_of(*give, false) +
                    ", but a plain arrival does not wait for its cp.async.",
                "Arrive with cp.async.mbarrier.arrive.noinc in place of mbarrier.arrive (" + at +
                    "): it counts as the thread's arrival, and comes when its copies have landed. Or "
                    "cp.async.wait_all before the arrive.",
                std::move(lines)};
    const std::string done = std::string("its ") + emu::check::name_of(operation.kind) +
                             (record.is(Record::write) ? " was complete" : " had read the bytes");
    const std::string all = wgmma ? "All warps of the warpgroup" : who;
    if (give->kind == Kind::mbarrier)
        return {" " + who + " arrived at the mbarrier without having waited until " + done + ": " +
                    name_of(*give, true) + ".",
                all + " must " + wait + " before the arrive of " + at + ".", std::move(lines)};
    if (give->kind == Kind::flag)
        return {" " + who + " set the flag without having waited until " + done + ".",
                all + " must " + wait + " before the release of " + at + ".", std::move(lines)};
    if (give->kind != Kind::block_barrier)
        return {};
    Hint hint = came_to_barrier(*give, who, wait, done, bulk);
    if (wgmma)
        hint.advice = all + " must " + wait + " before the " + (give->takes ? "barrier" : "bar.arrive") +
                      " of " + at + ".";
    return hint;
}

/// The same at a block barrier.
Hint HandOverWords::came_to_barrier(const Step& give, const std::string& who, const std::string& wait,
                                    const std::string& done, bool bulk) const {
    const std::string at = line_number(give.pc);
    const std::string barrier = give.takes ? "barrier" : "bar.arrive";
    Hint hint;
    hint.message = " " + who + (give.takes ? " came to " : " arrived at ") + name_of(give, false) + " (" +
                   at + ") without having waited until " + done +
                   "; a wait after the barrier tells the others nothing.";
    if (!bulk) // How to wait is known already, and then comes a barrier.
        return hint;
    hint.advice = "The thread that issued it must " + wait;
    if (give.takes && give.where == 0)
        hint.advice += "; then a __syncthreads() tells the others: move the wait before that of " + at + ".";
    else
        hint.advice += " before the " + barrier + " of " + at + ".";
    return hint;
}

/// The announcement of the copy that is issued now, or nullptr if it comes behind the copy.
const Step* HandOverWords::announcement(const Access& issue, std::uint32_t barrier) const {
    return engine_.hand_overs().last(*issue.warp, issue.lane, issue.epoch, [&](const Step& step) {
        return step.kind == Kind::mbarrier && step.gives && !step.takes && step.where == barrier;
    });
}

/// The last copy that the thread issued for the same mbarrier and the same place: a stage may be filled by
/// several.
const Operation* HandOverWords::last_copy(const Access& issue, std::uint32_t barrier) const {
    const auto& operations = engine_.operations();
    const Operation* now = nullptr;
    for (std::size_t i = operations.size(); i-- > 1;) {
        const Operation& each = operations[i];
        if (each.completion != CompletionKind::mbarrier || each.barrier != barrier ||
            each.warp != issue.warp || each.lane != issue.lane)
            continue;
        if (each.epoch == issue.epoch && each.pc == issue.pc)
            now = &each;
        else if (each.epoch < issue.epoch && (!now || now->into == each.into))
            return &each;
    }
    return nullptr;
}

Hint HandOverWords::readers_not_counted(const Access& issue, std::uint32_t barrier) const {
    const HandOvers& steps = engine_.hand_overs();
    const Step* const wait = steps.last_wait(*issue.warp, issue.lane, issue.epoch);
    if (!wait || wait->kind != Kind::mbarrier)
        return {};
    const Mbarrier* const released = cluster_.mbarrier(static_cast<std::uint32_t>(wait->where));
    for (const auto& warp : issue.warp->block().warps()) {
        const BarrierUse* const reads = steps.use_of(*warp, Kind::mbarrier, barrier);
        if (!released || !reads || !reads->waited)
            continue;
        std::uint32_t arrived = 0;
        for (unsigned lane = 0; lane < warp_size; ++lane)
            arrived = std::max(arrived, released->history.of(warp_in_cluster(*warp), lane).arrived);
        if (arrived <= wait->phase)
            return too_many_arrivals(*wait, *warp);
    }
    return {};
}

std::string HandOverWords::after_product(const Operation& product, const Access& write) const {
    if (product.kind != AsyncKind::wgmma || &product.warp->block() != &write.warp->block() ||
        in_one_warpgroup(*product.warp, *write.warp))
        return {};
    return "Each warpgroup waits with wgmma.wait_group for its own wgmma, and a barrier after that tells "
           "the "
           "others. " +
           order_between({product.warp, product.lane, product.issuer, product.epoch, product.pc}, write);
}

std::function<Hint()> HandOverWords::product_not_released(const Operation& product,
                                                          const Actor& actor) const {
    const Access issue = later(actor);
    const Step* const wait =
        engine_.hand_overs().last(*issue.warp, issue.lane, issue.epoch,
                                  [](const Step& s) { return s.takes && s.kind == Kind::mbarrier; });
    if (product.kind != AsyncKind::wgmma || !issue.issues || !wait || wait->fresh || wait->repeated)
        return {};
    const Mbarrier* const released = cluster_.mbarrier(static_cast<std::uint32_t>(wait->where));
    std::vector<const Warp*> group;
    for (const auto& warp : product.warp->block().warps())
        if (in_one_warpgroup(*warp, *product.warp))
            group.push_back(warp.get());
    for (const Warp* warp : group)
        for (unsigned lane = 0; released && lane < warp_size; ++lane)
            if (released->history.of(warp_in_cluster(*warp), lane).arrived > wait->phase)
                return {};
    return [this, step = *wait, group, who = thread_name(*issue.warp, issue.lane)]() -> Hint {
        for (const Warp* warp : group)
            if (tells_itself(step, *warp))
                return too_many_arrivals(step, *warp);
        return {
            " Before the copy " + who + " waited at " + name_of(step, false) + ", of which phase " +
                std::to_string(step.phase) + " ended without an arrival of the wgmma's warpgroup.",
            "wgmma.wait_group tells only the warpgroup that executes it. Let each warpgroup that reads the "
            "stage arrive at " +
                name_of(step, false) +
                " after its wgmma.wait_group, and give mbarrier.init the number of these arrivals.",
            {source_line(cluster_, step.pc, "wait of " + who)}};
    };
}

/// The thread has waited, then arrived at another mbarrier than that of its copy: the wait was for what it
/// handed over there, as for the number of the next tile. Unless it waits there before each copy of the
/// place.
bool HandOverWords::is_for_another_place(const Step& wait, const Access& issue, Epoch begin,
                                         std::uint32_t barrier, const Operation& before) const {
    const HandOvers& steps = engine_.hand_overs();
    const Step* const arrival = steps.last(*issue.warp, issue.lane, begin, [&](const Step& step) {
        return step.kind == Kind::mbarrier && step.gives && !step.takes && step.where != barrier;
    });
    if (!arrival || arrival->first <= wait.last)
        return false;
    const Step* const earlier = steps.last(*issue.warp, issue.lane, before.epoch, [](const Step& step) {
        return step.takes && step.kind != Kind::warp_barrier;
    });
    return !earlier || earlier->kind != wait.kind || earlier->where != wait.where;
}

/// Whoever fills a stage again had not waited for its readers, or that wait was none.
Hint HandOverWords::unguarded_refill(const Access& issue, std::uint32_t barrier, unsigned rank) const {
    const HandOvers& steps = engine_.hand_overs();
    const Operation* const before = last_copy(issue, barrier);
    const BarrierUse* const use = steps.use_of(*issue.warp, Kind::mbarrier, barrier);
    if (!before || (use && use->waited))
        return {}; // It waits for its copies itself: it is one of their readers.
    const Step* const announced = announcement(issue, barrier);
    const Epoch begin = announced && announced->last > before->epoch ? announced->first : issue.epoch;
    const Step* const wait = steps.last(*issue.warp, issue.lane, begin, [](const Step& step) {
        return step.takes && step.kind != Kind::warp_barrier;
    });
    const std::string who = thread_name(*issue.warp, issue.lane);
    if (!wait || wait->last < before->epoch || is_for_another_place(*wait, issue, begin, barrier, *before))
        return {" " + who + " has not waited for the readers of the stage since it issued the copy of " +
                    line_number(before->pc) + " for the same mbarrier.",
                who +
                    " must wait until the readers have released the stage (their arrivals at an mbarrier) "
                    "before it announces and issues the next copy there: in a ring of S stages from round S "
                    "on, that is from the first round of the second lap.",
                {}};
    if (wait->kind != Kind::mbarrier)
        return {};
    const auto address = static_cast<std::uint32_t>(wait->where);
    const std::string name = name_of(*wait, false);
    std::vector<SourceLine> lines{source_line(cluster_, wait->pc, "wait of " + who)};
    if (wait->repeated || wait->fresh) {
        const std::uint64_t next = wait->fresh ? 0 : wait->phase + 1;
        return {
            " The wait of " + who + " at " + name +
                " returned at once: a phase of that parity had ended before" +
                (wait->fresh ? " (parity 1 on a barrier of which no phase has ended)."
                             : " (phase " + std::to_string(wait->phase) +
                                   "), and no arrival has ended another since."),
            "Wait for phase " + std::to_string(next) + " of it (parity " + std::to_string(next & 1) +
                "): the parity to wait for flips in each lap round the stages, for its parity changes with "
                "every phase, and stage and parity go on from tile to tile: do not set them back.",
            std::move(lines)};
    }
    if (rank == issue.warp->block().rank())
        return {};
    Block* const written = cluster_.block(rank);
    const auto arrives = [&](const auto& warp) {
        const BarrierUse* const its = steps.use_of(*warp, Kind::mbarrier, address);
        return its && its->arrived;
    };
    if (!written || std::ranges::any_of(written->warps(), arrives))
        return {};
    return {" Before the copy " + who + " waited at " + barrier_name(cluster_, address) +
                ": no thread of the block that is written has arrived at " + name +
                "; whoever reads the stage in cluster block " + std::to_string(rank) +
                " has released the stage in its own block only.",
            "Let the readers of every block of the mask arrive at it: each reader must arrive at the empty "
            "mbarrier of every block that multicasts into its stage (mapa, "
            "mbarrier.arrive.release.cluster.shared::cluster). Give mbarrier.init their number, and let the "
            "issuer wait with .acquire.cluster.",
            std::move(lines)};
}

} // namespace emu::check
