// Two threads use the same bytes, and nothing orders one before the other.

#include "findings/source_text.hpp"
#include "findings/words/accesses.hpp"
#include "findings/words/flags.hpp"
#include "findings/words/hand_overs.hpp"
#include "findings/words/waits.hpp"
#include "hopper_emulator/finding_kinds.hpp"
#include "machine/device.hpp"
#include "rules/analysis/carved_array.hpp"
#include "rules/rule.hpp"

#include <algorithm>
#include <functional>
#include <string_view>

namespace emu::check {
namespace {

/// Atomic arithmetic without an order of its own: a counter or a sum, no lock and no flag.
bool only_counts(const ptx::Instruction& i) {
    constexpr std::string_view sums[] = {"add", "min", "max", "and", "or", "xor", "inc", "dec"};
    return (i.opcode == "atom" || i.opcode == "red") && !i.has("acquire") && !i.has("release") &&
           !i.has("acq_rel") && std::ranges::any_of(sums, [&](std::string_view each) { return i.has(each); });
}

/// The kernel calls grid.sync().
bool uses_grid_barrier(const Kernel& kernel) {
    for (std::uint32_t pc = 0; pc < kernel.sources.size(); ++pc)
        if (is_inlined_from(kernel, pc, "/cooperative_groups/details/sync.h"))
            return true;
    return false;
}

class Race final : public Rule {
  public:
    explicit Race(const Desk& desk) : Rule(desk), waits_(engine_), hand_overs_(engine_), flags_(engine_) {}
    bool on_conflict(const Meeting& meeting) override;
    void tell_the_rest() override;

  private:
    /// A finding whose words depend on what comes.
    struct Undecided {
        Diagnostic finding;
        std::function<Hint()> words;
    };

    bool is_out_of_sight(const Actor& actor) const;
    bool is_weak_handover(const Record& old, const Record& mine) const;
    std::string how_to_order(const Meeting& meeting);
    std::string how_to_order_in_cluster(const Meeting& meeting) const;
    static std::string and_fence(const Meeting& meeting);
    std::string if_two_arrays(const Access& first, const Access& second) const;
    bool works_on_older_copy(const Meeting& meeting) const;
    HandOverFault hand_over_of(const Meeting& meeting) const;
    void tell(const Meeting& meeting);

    Waits waits_;
    HandOverWords hand_overs_;
    FlagWords flags_;
    std::vector<Undecided> undecided_; ///< Told at the end.
    bool has_narrow_flag_ = false;     ///< Atomics of block scope in several blocks have been told.
};

bool Race::on_conflict(const Meeting& meeting) {
    const auto& [old, ref, k, n, actor] = meeting;
    const Record& mine = *actor.record;
    findings_.note_raced(old.pc);
    findings_.note_raced(mine.pc);
    if (is_out_of_sight(actor) ||
        !first_time(actor.shared ? Finding::race_shared : Finding::race_global, old.pc, mine.pc))
        return true;
    if (mine.is(Record::async)) // Whoever reads after the issue makes the same mistake.
        operations_[mine.operation].reported = true;
    tell(meeting);
    return true;
}

/// The order of free and malloc inside a kernel is not followed.
bool Race::is_out_of_sight(const Actor& actor) const {
    if (actor.shared)
        return false;
    const auto a = cluster_.launch().device().memory().find(actor.word);
    return a && (a->kind == Allocation::Kind::heap || a->kind == Allocation::Kind::parameters);
}

void Race::tell(const Meeting& meeting) {
    const auto& [old, ref, k, n, actor] = meeting;
    const Record& mine = *actor.record;
    const std::string what = old.is(Record::write)
                                 ? (actor.is_write ? "Two writes to " : "A write and a read of ")
                                 : "A read and a write of ";
    const std::string other = who(cluster_, old, ref, k);
    const bool product = mine.is(Record::async) && operations_[mine.operation].kind == AsyncKind::wgmma;
    const std::string later = (product                  ? "a wgmma issued by "
                               : mine.is(Record::async) ? "an asynchronous operation issued by "
                                                        : "") +
                              who(cluster_, actor, k);
    Diagnostic finding =
        make(actor.shared ? Finding::race_shared : Finding::race_global,
             what + place(cluster_, actor, k, n) +
                 " by two threads, and nothing orders one before the other: first " + other + ", then " +
                 later + ". In another run it can be the other way round.",
             how_to_order(meeting),
             {line(old.pc, verb(old) + " " + other), line_of(cluster_, actor, verb(mine) + " " + later)});
    Hint hint = waits_.relaxed_order(old, ref, k, actor);
    if (!hint)
        hint = waits_.unfenced_flag(old, ref, k, actor);
    if (hint) {
        hint.extend(finding);
        return publish(std::move(finding));
    }
    const HandOverFault fault = hand_over_of(meeting);
    if (fault.step && fault.teller != HandOverFault::Teller::itself) {
        undecided_.push_back(
            {std::move(finding), [this, fault] { return hand_overs_.told_by_other(fault); }});
        return;
    }
    Diagnostic plain = finding;
    fault.hint.extend(finding);
    const auto first = hand_overs_.earlier(meeting);
    if (!fault.hint && first && first->warp == actor.clock->warp &&
        !(mine.is(Record::async) && actor.is_write) && !is_weak_handover(old, mine)) {
        // Other warps may come there too.
        undecided_.push_back(
            {std::move(finding),
             [this, one = *first, two = HandOverWords::later(actor), fence = and_fence(meeting)] {
                 return Hint{" ", if_two_arrays(one, two) + hand_overs_.order_between(one, two) + fence};
             }});
        return;
    }
    // Who reads a flag, or sets it, may come later.
    if (!fault.step && (old.cluster != mine.cluster || launch_.flags.is_used()))
        if (std::function<Hint()> words = flags_.of(meeting)) {
            undecided_.push_back({std::move(plain), [words, known = fault.hint] {
                                      const Hint hint = words();
                                      return hint ? hint : known;
                                  }});
            return;
        }
    publish(std::move(finding));
}

void Race::tell_the_rest() {
    for (Undecided& each : undecided_) {
        Hint hint = each.words();
        if (hint.message == " ")
            each.finding.advice = hint.advice;
        else
            hint.extend(each.finding);
        publish(std::move(each.finding));
    }
    undecided_.clear();
}

/// What one of the two had told the other before it was done.
HandOverFault Race::hand_over_of(const Meeting& meeting) const {
    const auto first = hand_overs_.earlier(meeting);
    if (!first)
        return {};
    const Actor& actor = meeting.actor;
    const Access second = HandOverWords::later(actor);
    const WarpClock& mine = *actor.clock;
    HandOverFault fault = hand_overs_.handed_over_early(*first, *mine.base[second.lane], second);
    if (!fault.step && !second.issues)
        fault = hand_overs_.told_before(second, *first);
    if (!fault.step && second.issues && actor.is_write && actor.shared &&
        hand_overs_.differ(*first, second)) {
        const Operation& copy = operations_[actor.record->operation];
        fault.hint = hand_overs_.unguarded_refill(second, copy.barrier,
                                                  shared_rank(static_cast<std::uint32_t>(actor.word)));
    }
    if (!fault.step && !second.issues)
        fault.hint = hand_overs_.passed_barriers(*first, second);
    return fault;
}

/// An ordinary store meets an atomic access (or a volatile, relaxed, acquire or release one) of another
/// thread.
bool Race::is_weak_handover(const Record& old, const Record& mine) const {
    const auto stores = [](const Record& r) {
        return r.is(Record::write) && !r.is(Record::strong) && !r.is(Record::async);
    };
    const auto strong = [&](const Record& r) {
        return r.is(Record::strong) && !r.is(Record::async) &&
               (old.cluster != mine.cluster || !only_counts(instruction(r.pc)));
    };
    return (stores(old) && strong(mine)) || (strong(old) && stores(mine));
}

std::string Race::how_to_order(const Meeting& meeting) {
    const auto& [old, ref, k, n, actor] = meeting;
    const Record& mine = *actor.record;
    if (old.is(Record::strong) && mine.is(Record::strong)) { // Else they would be no race.
        has_narrow_flag_ = true;
        return "An atomic of block scope (atomicAdd_block, cuda::thread_scope_block, .cta in PTX) is atomic "
               "for the threads of one block only, and these are of two. Use device scope: atomicAdd, "
               "cuda::thread_scope_device, .gpu.";
    }
    if (is_weak_handover(old, mine))
        return std::string("If the store releases a lock or sets a flag: an ordinary store takes no part in "
                           "the order that atomics make, not even after __threadfence(). Write "
                           "atomicExch(&lock, 0) after the __threadfence(), or cuda::atomic_ref<int, ") +
               (old.cluster != mine.cluster ? "cuda::thread_scope_device" : "cuda::thread_scope_block") +
               ">(lock).store(0, cuda::memory_order_release) (st.release in PTX)." +
               (old.cluster != mine.cluster
                    ? " Otherwise set it before the launch, or with an atomic."
                    : " If it gives the first value: put a __syncthreads() between the two lines.");
    if (old.cluster != mine.cluster && cluster_.info().config.cooperative && uses_grid_barrier(kernel()))
        return "Put a grid.sync() between the two lines, or let each round use memory of its own (two arrays "
               "in turn).";
    if (old.cluster != mine.cluster && has_narrow_flag_)
        return "Blocks are not ordered inside a launch, and an atomic of block scope does not order them: "
               "give "
               "the one that is told above device scope, where it is written and where it is read.";
    if (old.cluster != mine.cluster && old.is(Record::write) && !actor.is_write && actor.clock->sync)
        return "Blocks are not ordered inside a launch. If a flag or counter tells the reader that the data "
               "is "
               "there, fences are missing: the writer needs __threadfence() between the data and the flag, "
               "the "
               "reader between the flag and the data; or the flag is stored with "
               "cuda::memory_order_release and loaded with cuda::memory_order_acquire, both of device scope.";
    if (old.cluster != mine.cluster)
        return "Blocks are not ordered inside a launch. Use atomics, give each block its own memory, or use "
               "two launches.";
    return how_to_order_in_cluster(meeting);
}

/// The reader of a place has not waited for so many groups of cp.async that it could mean the one which fills
/// the place now. (Its own groups count: the threads do the same.)
bool Race::works_on_older_copy(const Meeting& meeting) const {
    const auto& [old, ref, k, n, actor] = meeting;
    const auto first = hand_overs_.earlier(meeting);
    if (!first || operations_[actor.record->operation].completion != CompletionKind::cp_async_group)
        return false;
    const auto& streams = threads_.of(*first->warp).streams;
    if (!streams || !actor.clock->streams || !streams->cp_async.waits[first->lane].any)
        return false;
    const WarpStreams::Wait& wait = streams->cp_async.waits[first->lane];
    const std::uint64_t waited_for = wait.groups - std::min(wait.groups, wait.pending);
    return actor.clock->streams->cp_async.commits[lane_of(actor.ref)].size() > waited_for;
}

/// Where two lines mean two arrays that a program laid out in dynamic shared memory, these overlap.
std::string Race::if_two_arrays(const Access& first, const Access& second) const {
    const auto one = carved_array(kernel(), first.pc), other = carved_array(kernel(), second.pc);
    if (!one || !other || one->begin == other->begin || &first.warp->block() != &second.warp->block())
        return {};
    const SourceLine here = line(first.pc, {}), there = line(second.pc, {});
    const std::string name = only_array_of(source_text(here.file, here.line));
    const std::string other_name = only_array_of(source_text(there.file, there.line));
    if (name.empty() || other_name.empty() || name == other_name)
        return {};
    const auto at = [](const CarvedArray& array) {
        return "dynamic shared memory" + (array.begin ? " + " + std::to_string(array.begin) : std::string());
    };
    return "If " + name + " (which line " + std::to_string(here.line) + " counts from " + at(*one) +
           ") and " + other_name + " (line " + std::to_string(there.line) + ", from " + at(*other) +
           ") are two arrays: the two arrays overlap. Let the second begin after the last byte of the "
           "first, "
           "padding included. If they are one: ";
}

/// What an ordinary store leaves in shared memory for a bulk or tensor copy needs more than a barrier (PTX
/// ISA 9.7.13.4, proxies).
std::string Race::and_fence(const Meeting& meeting) {
    const auto& [old, ref, k, n, actor] = meeting;
    if (!actor.shared || actor.is_write || !actor.record->is(Record::async) || old.is(Record::async))
        return {};
    return " Before that barrier each thread that wrote executes fence.proxy.async "
           "(cuda::ptx::fence_proxy_async), unless it does so already.";
}

std::string Race::how_to_order_in_cluster(const Meeting& meeting) const {
    const auto& [old, ref, k, n, actor] = meeting;
    const Record& mine = *actor.record;
    if (old.rank() == mine.rank() && mine.is(Record::async) && actor.is_write) {
        const std::string barrier = "put a __syncthreads() between its access and the issue of the copy.";
        if (works_on_older_copy(meeting))
            return "The reader works on what was there before: " + barrier;
        return "If the thread works on what the copy brings: " +
               waits_.how_to_wait(operations_[mine.operation], false) +
               " If it used the place before: " + barrier;
    }
    if (old.rank() == mine.rank() && findings_.has_shared_barrier())
        return "Give each group of threads a barrier number of its own first (see the barrier-overlap that "
               "is "
               "told): one that two groups share orders nothing.";
    if (const auto first = hand_overs_.earlier(meeting))
        return if_two_arrays(*first, HandOverWords::later(actor)) +
               hand_overs_.order_between(*first, HandOverWords::later(actor)) + and_fence(meeting);
    return "Put a barrier that both threads pass between the two lines.";
}

} // namespace

std::unique_ptr<Rule> make_race(const Desk& desk) { return std::make_unique<Race>(desk); }

} // namespace emu::check
