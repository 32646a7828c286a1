#include "findings/words/hand_overs.hpp"

#include "findings/lines.hpp"
#include "findings/places.hpp"
#include "findings/words/accesses.hpp"
#include "findings/words/paths.hpp"

#include <algorithm>

namespace emu::check {
namespace {

using Kind = Step::Kind;

/// A step by which a thread says that it is done, and does not wait itself.
bool is_arrival(const Step& step) {
    const bool barrier = step.kind == Kind::block_barrier || step.kind == Kind::cluster_barrier ||
                         step.kind == Kind::mbarrier || step.kind == Kind::cp_async_arrival;
    return step.gives && !step.takes && (barrier || step.kind == Kind::flag);
}

std::string thread_of(const Access& access) { return thread_name(*access.warp, access.lane); }

const char* arrive_word(const Step& step) {
    switch (step.kind) {
    case Kind::block_barrier:
        return "bar.arrive";
    case Kind::cluster_barrier:
        return "barrier.cluster.arrive";
    case Kind::flag:
        return "release of the flag";
    default:
        return "arrive";
    }
}

} // namespace

std::optional<Access> HandOverWords::earlier(const Meeting& meeting) const {
    const auto& [old, ref, k, n, actor] = meeting;
    if (old.is(Record::async) || old.cluster != engine_.threads().cluster() || old.epoch == 0)
        return {};
    Warp& warp = *cluster_.block(old.rank())->warps()[old.warp_in_block()];
    return Access{&warp,  lane_at(ref, old, k), Threads::component_of(old, ref, k), old.epoch,
                  old.pc, old.is(Record::write)};
}

Access HandOverWords::later(const Actor& actor) {
    return {actor.clock->warp, actor.lane,     actor.clock->first + actor.lane, actor.clock->now,
            actor.record->pc,  actor.is_write, actor.record->is(Record::async)};
}

std::string HandOverWords::line_number(std::uint32_t pc) const {
    const SourceLine line = source_line(cluster_, pc, "");
    return "line " + std::to_string(line.callers.empty() ? line.line : line.callers.back().line);
}

std::string HandOverWords::name_of(const Step& step, bool with_place) const {
    switch (step.kind) {
    case Kind::block_barrier:
        return "block barrier " + std::to_string(step.where);
    case Kind::cluster_barrier:
        return "the cluster barrier";
    case Kind::flag:
        return "its flag";
    default:
        break;
    }
    const auto address = static_cast<std::uint32_t>(step.where);
    return with_place ? barrier_name(cluster_, address)
                      : "mbarrier " + shared_name(cluster_.info(), shared_offset(address));
}

std::vector<SourceLine> HandOverWords::lines(const Step& give, const std::string& giver,
                                             const Access& other) const {
    std::vector<SourceLine> all{
        source_line(cluster_, give.pc,
                    (give.kind == Kind::flag ? "release by " + giver
                                             : "arrival of " + giver + " at " + name_of(give, true)))};
    if (const Step* const wait = engine_.hand_overs().last_wait(*other.warp, other.lane, other.epoch))
        if (wait->kind == give.kind && wait->where == give.where)
            all.push_back(source_line(cluster_, wait->pc, "wait of " + thread_of(other)));
    return all;
}

// -- told before it was done

HandOverFault HandOverWords::handed_over_early(const Access& early, const SharedClock& knower,
                                               const Access& other) const {
    if (early.issues || early.warp == nullptr)
        return {};
    HandOverFault fault = by_own_step(early, knower, other);
    if (!fault.step && early.warp != other.warp)
        fault = by_lane(early, knower, other);
    if (!fault.step && early.warp != other.warp)
        fault = by_other_warp(early, knower, other);
    return fault;
}

HandOverFault HandOverWords::by_own_step(const Access& early, const SharedClock& knower,
                                         const Access& other) const {
    const HandOvers& steps = engine_.hand_overs();
    const Epoch told = knower.clock.get(order, early.thread);
    const Step* const give = told ? steps.ended(*early.warp, early.lane, told) : nullptr;
    if (!give || !is_arrival(*give) || give->first >= early.epoch)
        return {};
    // Who has waited since then begins another round: that one is not handed over yet.
    const Step* const wait = steps.last_wait(*early.warp, early.lane, early.epoch);
    if (wait && wait->first > told)
        return {};
    const std::string who = thread_of(early), deed = early.deed();
    HandOverFault fault;
    fault.step = *give;
    fault.early = early;
    fault.other = other;
    fault.hint.lines = lines(*give, who, other);
    if (give->kind == Kind::cluster_barrier) {
        fault.hint.message = " " + who + (early.is_write ? " wrote" : " read") +
                             " after its arrival at the cluster barrier and before its wait: the arrival " +
                             (early.is_write ? "publishes only what comes before it."
                                             : "tells that it is done with what comes before it.");
        fault.hint.advice = "Move the " + deed +
                            " before barrier.cluster.arrive (cluster.barrier_arrive()); between arrive and "
                            "wait belongs only what no other block uses.";
        return fault;
    }
    fault.hint.message = " " + who + (give->kind == Kind::flag ? " had released " : " had arrived at ") +
                         name_of(*give, false) + " before its " + deed +
                         ", and with that told the others that it was done.";
    fault.hint.advice = std::string("The hand-over comes too early. Move the ") + arrive_word(*give) +
                        " after the last " + deed + " (" + line_number(early.pc) + ") of what it hands over.";
    return fault;
}

/// The giver was in the same round as the thread that it speaks for: its wait before was for the same.
bool HandOverWords::is_same_round(const Access& early, const Warp& giver, unsigned lane,
                                  const Step& give) const {
    const HandOvers& steps = engine_.hand_overs();
    const auto is_begin = [](const Step& step) { return step.takes && step.kind != Kind::warp_barrier; };
    const Step* const mine = steps.last(*early.warp, early.lane, early.epoch, is_begin);
    if (!mine)
        return !steps.last(giver, lane, give.last, is_begin);
    const Step* const its = steps.last(giver, lane, give.last, [&](const Step& step) {
        return is_begin(step) && step.kind == mine->kind && step.where == mine->where;
    });
    if (!its || its->phase < mine->phase || its->fresh != mine->fresh)
        return false;
    // What only the giver waited for before it told begins a round too.
    const Step* const newest = steps.last(giver, lane, give.last, is_begin);
    return newest->kind == its->kind && newest->where == its->where;
}

bool HandOverWords::in_one_round(const Access& first, const Access& second) const {
    const auto begin = [this](const Access& access) {
        return engine_.hand_overs().last(*access.warp, access.lane, access.epoch, [](const Step& step) {
            return step.takes && step.kind != Kind::warp_barrier;
        });
    };
    const Step* const a = begin(first);
    const Step* const b = begin(second);
    return a && b && a->kind == b->kind && a->where == b->where && a->round == b->round;
}

bool HandOverWords::tells_itself(const Step& step, const Warp& warp) const {
    const HandOvers& steps = engine_.hand_overs();
    const auto arrives = [&](const Warp& each) {
        const BarrierUse* const use = steps.use_of(each, step.kind, step.where);
        return use && use->arrived;
    };
    if (arrives(warp))
        return true;
    // The launch has stopped before it came there: others of several warps did.
    const auto arriving =
        std::ranges::count_if(warp.block().warps(), [&](const auto& each) { return arrives(*each); });
    return !warp.finished() && arriving > 1;
}

Hint HandOverWords::too_many_arrivals(const Step& step, const Warp& warp) const {
    const auto address = static_cast<std::uint32_t>(step.where);
    const Mbarrier* const barrier = step.kind == Kind::mbarrier ? cluster_.mbarrier(address) : nullptr;
    if (!barrier || barrier->expected == 0)
        return {};
    // Warps that have not come there yet will arrive like their mates.
    std::uint32_t arriving = 0, warps = 0, mates = 0;
    for (const auto& each : warp.block().warps()) {
        std::uint32_t lanes = 0;
        for (unsigned lane = 0; lane < warp_size; ++lane)
            lanes += barrier->history.of(warp_in_cluster(*each), lane).arrivals != 0;
        arriving += lanes;
        warps += lanes != 0;
        mates += !engine_.hand_overs().have_roles(warp, *each);
    }
    if (warps && mates > warps)
        arriving = arriving / warps * mates;
    if (arriving <= barrier->expected)
        return {};
    const std::string count = std::to_string(barrier->expected), all = std::to_string(arriving);
    std::string message = " Phase " + std::to_string(step.phase) + " of " + name_of(step, false) +
                          " ended with " + count_of(barrier->expected, "arrival") + ", before the warp of " +
                          thread_name(warp, 0) + " had arrived";
    const std::uint32_t phases = arriving / barrier->expected;
    if (arriving % barrier->expected == 0 && phases > 1)
        message += ": " + all + " arrivals, which ended " + (phases == 2 ? "two" : std::to_string(phases)) +
                   " phases, come in a round";
    return {message + ".",
            "The number of arrivals in each phase must equal the count given to mbarrier.init: it is " +
                count + ", and " + all + " arrive in a round.",
            {source_line(cluster_, step.pc, "arrival of another thread"),
             source_line(cluster_, barrier->init_pc, "initialised")}};
}

Hint HandOverWords::told_by_other(const HandOverFault& fault) const {
    const Step& step = *fault.step;
    const HandOvers& steps = engine_.hand_overs();
    Warp& mine = *fault.early.warp;
    if (fault.teller == HandOverFault::Teller::other_warp)
        return tells_itself(step, mine) ? too_many_arrivals(step, mine) : told_by_warp(fault);
    // Does it speak for more than its warp?
    const bool for_others = std::ranges::any_of(mine.block().warps(), [&](const auto& each) {
        return each.get() != &mine && each.get() != fault.other.warp && !steps.have_roles(mine, *each) &&
               !tells_itself(step, *each);
    });
    return for_others ? told_by_warp(fault) : told_by_lane(fault);
}

bool HandOverWords::tells_again(const Access& access, const Step& told) const {
    const Step* const last =
        engine_.hand_overs().last(*access.warp, access.lane, ~Epoch{0}, [&](const Step& step) {
            return step.gives && step.kind == told.kind && step.where == told.where;
        });
    return access.warp->finished() || (last && last->first >= access.epoch);
}

HandOverFault HandOverWords::told_before(const Access& early, const Access& other) const {
    const Step* const wait = engine_.hand_overs().last_wait(*other.warp, other.lane, other.epoch);
    if (!wait)
        return {};
    const WarpClock& knower = engine_.threads().of(*other.warp);
    HandOverFault fault = handed_over_early(early, *knower.base[other.lane], other);
    const bool waited = fault.step && fault.step->kind == wait->kind && fault.step->where == wait->where &&
                        fault.step->phase <= wait->phase;
    return waited ? fault : HandOverFault{};
}

/// Another lane of its warp told it.
HandOverFault HandOverWords::by_lane(const Access& early, const SharedClock& knower,
                                     const Access& other) const {
    const HandOvers& steps = engine_.hand_overs();
    const Component first = early.thread - early.lane;
    const Step* found = nullptr;
    Epoch newest = 0;
    unsigned lane = 0;
    for (unsigned each = 0; each < warp_size; ++each) {
        const Epoch told = each == early.lane ? 0 : knower.clock.get(order, first + each);
        const Step* const give = told > newest ? steps.ended(*early.warp, each, told) : nullptr;
        if (!give || !is_arrival(*give) || give->lanes >> early.lane & 1)
            continue;
        found = give;
        newest = told;
        lane = each;
    }
    if (!found || !is_same_round(early, *early.warp, lane, *found))
        return {};
    HandOverFault fault;
    fault.step = *found;
    fault.teller = HandOverFault::Teller::other_lane;
    fault.teller_warp = early.warp;
    fault.teller_lane = lane;
    fault.early = early;
    fault.other = other;
    return fault;
}

Hint HandOverWords::told_by_lane(const HandOverFault& fault) const {
    const Step& give = *fault.step;
    const Access& early = fault.early;
    const std::string giver = thread_name(*fault.teller_warp, fault.teller_lane), deed = early.deed();
    Hint hint;
    hint.lines = lines(give, giver, fault.other);
    if (give.last >= early.epoch) {
        hint.message = " " + thread_of(fault.other) + " waited for " +
                       (give.kind == Kind::flag ? "what " + giver + " released, which spoke"
                                                : "the arrival of " + giver + ", which arrived") +
                       " for its warp; nothing orders what " + thread_of(early) +
                       " did before that: lanes of a warp do not run in lockstep.";
        hint.advice = std::string("Put a __syncwarp() before the ") + arrive_word(give) + " of " +
                      line_number(give.pc) + ", after the last " + deed + " of all lanes" +
                      (give.kind == Kind::mbarrier
                           ? "; or let each lane arrive, and give mbarrier.init as many arrivals."
                           : ".");
        return hint;
    }
    hint.message = " " + giver + (give.kind == Kind::flag ? " had released " : " had arrived at ") +
                   name_of(give, false) + " for its warp before the " + deed + " by " + thread_of(early) +
                   ", and with that told the others that the warp was done.";
    hint.advice = std::string("The hand-over comes too early. Move the ") + arrive_word(give) +
                  " after the last " + deed + " (" + line_number(early.pc) +
                  ") by any lane of the warp, with a __syncwarp() between them.";
    return hint;
}

/// A thread of another warp told it for its block or its role.
HandOverFault HandOverWords::by_other_warp(const Access& early, const SharedClock& knower,
                                           const Access& other) const {
    const HandOvers& steps = engine_.hand_overs();
    for (const auto& warp : early.warp->block().warps()) {
        if (warp.get() == early.warp || warp.get() == other.warp)
            continue;
        const Component first = engine_.threads().of(*warp).first;
        for (unsigned lane = 0; lane < warp_size; ++lane) {
            const Epoch told = knower.clock.get(order, first + lane);
            const Step* const give = told ? steps.ended(*warp, lane, told) : nullptr;
            if (!give || !is_arrival(*give) || give->kind == Kind::cluster_barrier ||
                !is_same_round(early, *warp, lane, *give))
                continue;
            // It must be what the other one waited for.
            const Step* const wait = steps.last_wait(*other.warp, other.lane, other.epoch);
            if (!wait || wait->kind != give->kind || wait->where != give->where)
                continue;
            HandOverFault fault;
            fault.step = *give;
            fault.teller = HandOverFault::Teller::other_warp;
            fault.teller_warp = warp.get();
            fault.teller_lane = lane;
            fault.early = early;
            fault.other = other;
            return fault;
        }
    }
    return {};
}

Hint HandOverWords::told_by_warp(const HandOverFault& fault) const {
    const Step& give = *fault.step;
    const HandOvers& steps = engine_.hand_overs();
    const Access& early = fault.early;
    const std::string giver = thread_name(*fault.teller_warp, fault.teller_lane), deed = early.deed();
    const std::string mates = std::to_string(steps.mates(*early.warp));
    const bool roles = std::ranges::any_of(
        early.warp->block().warps(), [&](const auto& each) { return steps.have_roles(*early.warp, *each); });
    return {" " + giver + ", which tells it for others too, arrived at " + name_of(give, false) +
                " before the " + deed + " was known to be done: nothing made it wait for " +
                thread_of(early) + ".",
            std::string("Put ") +
                (roles ? "a barrier of the " + mates + " threads that come here (bar.sync ID, " + mates +
                             ", with an ID from 1 to 15 that no other group uses)"
                       : std::string("__syncthreads()")) +
                " before that " + (give.kind == Kind::mbarrier ? "arrival" : arrive_word(give)) +
                ", so that it comes after every thread's " + deed +
                "; or let each thread arrive, and count all of them in mbarrier.init.",
            lines(give, giver, fault.other)};
}

// -- no hand-over at all

Hint HandOverWords::passed_too_early(const Access& first, const Access& second) const {
    const HandOvers& steps = engine_.hand_overs();
    const Step* const wait = steps.last(*first.warp, first.lane, first.epoch, [](const Step& step) {
        return step.takes && step.kind == Kind::block_barrier && step.where != 0;
    });
    if (!wait)
        return {};
    const BarrierUse* const use = steps.use_of(*second.warp, wait->kind, wait->where);
    const Step* const before = steps.last(*second.warp, second.lane, second.epoch, [&](const Step& step) {
        return step.kind == wait->kind && step.where == wait->where;
    });
    // In as many rounds as the one has passed it, the other must have come. Who has not come there at all may
    // be of another group, unless the instruction lies before it.
    const bool ahead = second.pc < wait->pc && !steps.have_roles(*first.warp, *second.warp);
    if ((!use && !ahead) || (before && before->round >= wait->round))
        return {};
    const std::string barrier = name_of(*wait, false);
    return {
        " At " + barrier + " " + thread_of(second) + " had not arrived when " + thread_of(first) +
            " went on from there" +
            (use ? ", though it comes there too: the barrier waits for fewer threads than come to it." : "."),
        (use ? "Give " : "If the two are to meet there, give ") + barrier +
            " the number of all threads that meet there (bar.sync ID, NUMBER). " +
            (use ? "If those are groups that meet apart, give each group a barrier number of its own."
                 : "Else let them meet at another one between the two lines."),
        {source_line(cluster_, wait->pc, "wait of " + thread_of(first))}};
}

Hint HandOverWords::passed_barriers(const Access& first, const Access& second) const {
    if (first.warp == second.warp || &first.warp->block() != &second.warp->block())
        return {};
    if (Hint hint = passed_too_early(second, first); !hint.message.empty())
        return hint;
    if (Hint hint = passed_too_early(first, second); !hint.message.empty())
        return hint;
    const HandOvers& steps = engine_.hand_overs();
    // The __syncwarp() behind which one of them went on, with no other wait in between.
    const auto passed = [&](const Access& access) {
        const Step* const wait = steps.last_wait(*access.warp, access.lane, access.epoch);
        return wait && wait->kind == Kind::warp_barrier ? wait : nullptr;
    };
    const Access* who = &second;
    const Step* sync = passed(second);
    const auto is_sync = [](const Step& step) { return step.kind == Kind::warp_barrier; };
    const Step* const left = steps.last(*first.warp, first.lane, ~Epoch{0}, is_sync);
    if (sync && (!left || left->last < first.epoch))
        sync = nullptr;
    if (!sync) {
        sync = passed(first);
        who = &first;
    }
    if (!sync)
        return {};
    std::string advice = order_between(first, second);
    if (advice.starts_with("Put __syncthreads()"))
        advice =
            "Put __syncthreads() in its place, where all threads of the block come by; else a barrier of "
            "the warps concerned (bar.sync ID, number of their threads).";
    return {" What lies between is __syncwarp(), but __syncwarp() orders the threads of one warp only, and "
            "these are of two.",
            std::move(advice),
            {source_line(cluster_, sync->pc, "__syncwarp() of " + thread_of(*who))}};
}

std::string HandOverWords::order_between(const Access& first, const Access& second) const {
    // Is there a way back from one line to the other? If not, who came first ran ahead.
    const Kernel& kernel = *cluster_.info().kernel;
    if (second.pc < first.pc && !leads_back(kernel, first.pc, second.pc))
        return order_between(second, first);
    if (second.pc == first.pc && first.is_write && second.is_write && !leads_back(kernel, first.pc, first.pc))
        return "Both threads execute this line, once each: give each a place of its own, or let one of them "
               "write.";
    if (&first.warp->block() == &second.warp->block()) {
        const auto barrier_between = [&](const Access& from, const Access& to) {
            return has_barrier(kernel, from.pc, to.pc, first.warp == second.warp);
        };
        // On the way from one to the other there is a barrier already, so it lacks on the way back.
        if (first.pc < second.pc && leads_back(kernel, second.pc, first.pc) && barrier_between(first, second))
            return order_between(second, first);
        // The earlier line of one round of a loop was late, not the later line's next round too soon.
        if (second.pc < first.pc && in_one_round(first, second) && !barrier_between(second, first))
            return order_between(second, first);
    }
    const std::string from = line_number(first.pc), to = line_number(second.pc);
    const auto shown = [&](std::uint32_t pc) {
        const SourceLine line = source_line(cluster_, pc);
        return line.callers.empty() ? CallSite{line.file, line.line} : line.callers.back();
    };
    const CallSite here = shown(first.pc), there = shown(second.pc);
    // An unrolled loop has a copy of its earlier lines behind its later ones.
    const bool again = second.pc <= first.pc || (here.file == there.file && there.line <= here.line);
    const std::string where =
        " after " + from + " and before " + (from == to ? "it" : to) + (again ? " is reached again." : ".");
    const bool others_too = engine_.is_for_several_warps(first.pc) || engine_.is_for_several_warps(second.pc);
    if (first.warp == second.warp && !others_too)
        return "Put __syncwarp()" + where;
    const HandOvers& steps = engine_.hand_overs();
    if (&first.warp->block() != &second.warp->block())
        return "Put a cluster barrier between the two lines (barrier.cluster, cluster.sync())"
               ", or an mbarrier: " +
               thread_of(first) + " arrives at it after " + from + " with .release.cluster, and " +
               thread_of(second) + " waits for it before " + to + " with .acquire.cluster.";
    if (steps.have_roles(*first.warp, *second.warp))
        return "The two have different parts in the kernel, so they need a hand-over: " + thread_of(first) +
               " arrives at an mbarrier (or at a named barrier, bar.arrive) after " + from + ", and " +
               thread_of(second) + " waits there before " + to + ".";
    const bool roles = std::ranges::any_of(
        first.warp->block().warps(), [&](const auto& each) { return steps.have_roles(*first.warp, *each); });
    const std::string warps =
        first.warp == second.warp ? " __syncwarp() is enough if no other warp uses these bytes." : "";
    if (!roles)
        return "Put __syncthreads()" + where + warps;
    const std::string count = std::to_string(steps.mates(*first.warp));
    return "Put a barrier of the " + count + " threads that come here (bar.sync ID, " + count +
           ", with an ID from 1 to 15 that no other group uses)" + where + warps;
}

} // namespace emu::check
