#include "findings/words/waits.hpp"

#include "findings/lines.hpp"
#include "findings/places.hpp"
#include "findings/words/accesses.hpp"

#include <algorithm>

namespace emu::check {
namespace {

/// The interface by which a program asked for a copy; its words for 'wait' are those a reader looks for.
enum class Library { none, pipeline, barrier, groups, primitives };

Library library_of(const Kernel& kernel, std::uint32_t pc) {
    constexpr std::pair<std::string_view, Library> headers[] = {
        {"/cuda/pipeline", Library::pipeline},
        {"/cooperative_groups/memcpy_async.h", Library::groups}, // Made of the primitives.
        {"/cooperative_groups/details/async.h", Library::groups},
        {"/cuda_pipeline_primitives.h", Library::primitives},
        {"/__memcpy_async/memcpy_async_barrier.h", Library::barrier},
    };
    for (const auto& [file, library] : headers)
        if (is_inlined_from(kernel, pc, file))
            return library;
    return Library::none;
}

/// How the program's own interface waits; nullptr when it wrote the instruction itself.
const char* wait_in_words_of(Library library) {
    switch (library) {
    case Library::pipeline:
        return "consumer_wait() of the pipeline, or cuda::pipeline_consumer_wait_prior";
    case Library::barrier:
        return "wait() or arrive_and_wait() of the cuda::barrier that the copy was given";
    case Library::groups:
        return "cooperative_groups::wait or wait_prior";
    case Library::primitives:
        return "__pipeline_commit() and __pipeline_wait_prior()";
    case Library::none:
        break;
    }
    return nullptr;
}

/// What the names of the instructions for such groups begin with.
std::string family_of(CompletionKind kind) {
    return kind == CompletionKind::bulk_group    ? "cp.async.bulk."
           : kind == CompletionKind::wgmma_group ? "wgmma."
                                                 : "cp.async.";
}

/// How that interface lets `pending` groups go on.
std::string wait_for_all_but(std::uint64_t pending, Library library, CompletionKind kind) {
    const std::string n = std::to_string(pending);
    switch (library) {
    case Library::pipeline:
        return "cuda::pipeline_consumer_wait_prior<" + n + ">";
    case Library::groups:
        return pending == 0 ? "cg::wait(group)" : "cg::wait_prior<" + n + ">(group)";
    case Library::primitives:
        return "__pipeline_wait_prior(" + n + ")";
    default:
        return family_of(kind) + "wait_group " + n;
    }
}

} // namespace

std::string Waits::how_to_wait(const Operation& operation, bool reading_source) const {
    const std::string others = ", and put a __syncthreads() between the wait and accesses by other threads.";
    if (const char* words = wait_in_words_of(library_of(*cluster_.info().kernel, operation.pc))) {
        const bool group = operation.completion == CompletionKind::cp_async_group;
        return std::string("Wait with ") + words + (group ? " (cp.async.wait_group in PTX)" : "") + others;
    }
    switch (operation.completion) {
    case CompletionKind::cp_async_group:
        return "Wait with cp.async.wait_group (after cp.async.commit_group) or cp.async.wait_all" + others;
    case CompletionKind::bulk_group:
        return reading_source
                   ? "The thread that issued it must execute cp.async.bulk.commit_group and "
                     "cp.async.bulk.wait_group.read; then a __syncthreads() tells the others that the source "
                     "may be overwritten."
                   : "The thread that issued it must execute cp.async.bulk.commit_group and "
                     "cp.async.bulk.wait_group (not with .read, which only says that the source was read); "
                     "then a barrier must tell the others.";
    case CompletionKind::wgmma_group:
        return "The warpgroup that issued it must execute wgmma.commit_group and wgmma.wait_group; then an "
               "arrival at an mbarrier, or a barrier, tells the others that the tiles may be overwritten.";
    default:
        return "Wait for the phase of the mbarrier that the operation completes (try_wait until it returns "
               "true) in every thread that uses the bytes; or in one thread, with a barrier of all that use "
               "them between its wait and their accesses (__syncwarp() in a warp, __syncthreads() in a "
               "block).";
    }
}

void Hint::extend(Diagnostic& finding) const {
    if (message.empty())
        return;
    finding.message += message;
    finding.advice = advice;
    finding.locations.insert(finding.locations.end(), lines.begin(), lines.end());
}

// -- barriers that were passed and publish nothing

Hint Waits::relaxed_arrival(const Withheld& withheld, const std::string& barrier, const std::string& instead,
                            const Record& old, Component component, const Actor& actor) {
    Record passed;
    passed.cluster = engine_.threads().cluster();
    passed.epoch = withheld.phase;
    if (withheld.phase == 0 || withheld.clock->clock.get(order, component) < old.epoch ||
        !engine_.threads().sees(*actor.clock, actor.lane, passed, withheld.agent))
        return {};
    // The thread's own arrival; or, if another thread arrived in its place, any.
    const auto own = withheld.arrivals.find(component);
    const Withheld::Arrival& arrival =
        own != withheld.arrivals.end() ? own->second : withheld.arrivals.begin()->second;
    const std::string thread = thread_name(*arrival.warp, arrival.lane);
    return {" Both passed " + barrier + ", but " + thread +
                " arrived there with .relaxed, which counts the thread and publishes nothing it wrote.",
            "Arrive at " + barrier + " with .release (" + instead +
                "), or put a fence.acq_rel.cluster before the relaxed arrival.",
            {source_line(cluster_, arrival.pc, "relaxed arrival of " + thread)}};
}

Hint Waits::relaxed_order(const Record& old, Ref ref, unsigned k, const Actor& actor) {
    if (old.cluster != engine_.threads().cluster() || old.epoch == 0)
        return {};
    const Component component = Threads::component_of(old, ref, k);
    if (engine_.cluster_withheld())
        if (Hint hint = relaxed_arrival(*engine_.cluster_withheld(), "the cluster barrier",
                                        "the default of barrier.cluster.arrive and cluster.barrier_arrive()",
                                        old, component, actor))
            return hint;
    const Component viewer = actor.clock->first + actor.lane;
    for (const auto& [address, barrier] : engine_.mbarriers()) {
        const std::string name = "mbarrier " + shared_name(cluster_.info(), shared_offset(address));
        if (barrier.withheld)
            if (Hint hint = relaxed_arrival(*barrier.withheld, name, "the default of mbarrier.arrive", old,
                                            component, actor))
                return hint;
        const BarrierState::Passed* passed = barrier.passed_by(viewer);
        if (passed && passed->unseen && passed->unseen->clock.get(order, component) >= old.epoch)
            return {" " + who(cluster_, actor) + " waited at " + name +
                        " with .relaxed, which tells that the phase ended and nothing of what was written.",
                    "Wait at " + name + " with .acquire (the default of mbarrier.try_wait).",
                    {source_line(cluster_, passed->pc, "relaxed wait of " + who(cluster_, actor))}};
    }
    return {};
}

/// The reader has read a flag that was released behind the write, but did not acquire it.
Hint Waits::unfenced_flag(const Record& old, Ref ref, unsigned k, const Actor& actor) {
    if (!actor.clock->sync || old.epoch == 0)
        return {};
    const auto& pending = (*actor.clock->sync)[actor.lane].pending;
    if (!pending)
        return {};
    const Component component = Threads::component_of(old, ref, k);
    const Clock* known = &pending->clock();
    if (old.cluster != engine_.threads().cluster()) {
        if (!pending->foreign())
            return {};
        const auto found = pending->foreign()->find(old.cluster);
        if (found == pending->foreign()->end())
            return {};
        known = found->second.get();
    }
    if (known->get(order, component) < old.epoch)
        return {};
    return {
        " " + who(cluster_, actor) +
            " has read a flag that is set after the write, but by a relaxed or volatile read, with no fence "
            "between the flag and the data.",
        "Put a __threadfence() between the read of the flag and the read of the data, or load the flag with "
        "cuda::memory_order_acquire (ld.acquire in PTX).",
        {}};
}

// -- waits that did not wait for this operation

Hint Waits::short_wait(const Operation& operation, const Record& record, Ref ref, const Actor& reader) {
    if (operation.completion != CompletionKind::mbarrier) {
        Hint hint = short_group_wait(operation, record, ref);
        return hint ? hint : foreign_group_wait(operation, record, ref);
    }
    const Component thread = reader.clock->first + reader.lane;
    Hint hint = ignored_wait(operation, *reader.clock->warp, reader.lane);
    if (!hint)
        hint = wrong_phase(operation, thread, !(reader.record->is(Record::async) && reader.is_write));
    return hint ? hint : other_barrier(operation, thread);
}

bool Waits::reader_waits_as_much(const Operation& operation, const Record& record, Ref ref,
                                 const Actor& reader) {
    const WarpClock& issuer = engine_.threads().of(*operation.warp);
    if (operation.completion != CompletionKind::cp_async_group || reader.record->is(Record::async) ||
        !reader.clock->streams || !issuer.streams || (reader.clock == &issuer && reader.lane == lane_of(ref)))
        return false;
    const WarpStreams::Wait& wait = reader.clock->streams->cp_async.waits[reader.lane];
    const auto& commits = issuer.streams->cp_async.commits[lane_of(ref)];
    const auto group =
        static_cast<std::uint64_t>(std::ranges::lower_bound(commits, record.epoch) - commits.begin());
    return wait.any && wait.groups > wait.pending && wait.groups - wait.pending > group;
}

Hint Waits::short_group_wait(const Operation& operation, const Record& record, Ref ref) {
    WarpClock& issuer = engine_.threads().of(*operation.warp);
    if (!issuer.streams)
        return {};
    const unsigned lane = lane_of(ref);
    const CompletionKind kind = operation.completion;
    const bool wgmma = kind == CompletionKind::wgmma_group;
    const std::string copy = wgmma ? "the wgmma" : "the copy";
    const std::string issued_by = wgmma ? " The issuing warp" : " The issuing thread";
    const WarpStreams& streams = *issuer.streams;
    const WarpStreams::Wait& wait = streams.groups(kind).waits[lane];
    if (!wait.any || record.operation >= wait.operations)
        return {}; // It was issued after that wait.
    const auto& commits = streams.groups(kind).commits[lane];
    const auto group =
        static_cast<std::uint64_t>(std::ranges::lower_bound(commits, record.epoch) - commits.begin());
    std::vector<SourceLine> lines{
        source_line(cluster_, wait.pc,
                    (wgmma ? "wait of the warp of " : "wait of ") + thread_name(*operation.warp, lane))};
    if (group >= wait.groups)
        return {issued_by + " did wait, but had not committed " + copy +
                    " to a group before; a wait covers committed groups only.",
                "Put " + family_of(kind) + "commit_group between " + copy + " and the wait.",
                std::move(lines)};
    const std::uint64_t later = wait.groups - 1 - group;
    if (later >= wait.pending)
        return {};
    // An interface that has its own words for waiting: rather those of the wait than those of the copy.
    Library library = library_of(*cluster_.info().kernel, wait.pc);
    if (library == Library::none)
        library = library_of(*cluster_.info().kernel, operation.pc);
    const std::string total = " of " + std::to_string(wait.groups) + " pending, and " + copy + " is in ";
    const std::uint64_t newest = std::min(wait.pending, wait.groups);
    const std::string left = ": that leaves the " + (newest == 1 ? "newest group" + total + "it."
                                                                 : std::to_string(newest) + " newest groups" +
                                                                       total + "one of them.");
    const std::string instead = wait_for_all_but(later, library, kind);
    const std::string all = wait_for_all_but(0, library, kind);
    if (wait.no_news)
        return {issued_by + " did wait, but with N = " + std::to_string(wait.pending) + left +
                    " No group was committed since its wait of the round before, so N counts other copies "
                    "now.",
                library == Library::groups
                    ? "In the rounds that commit no newer copy wait with " + all + "."
                    : "Commit a group in every round, an empty one too: put the commit outside of the if "
                      "round the copy. Or wait with " +
                          all + " in the rounds that commit no newer copy.",
                std::move(lines)};
    return {issued_by + " did wait, but with N = " + std::to_string(wait.pending) + left,
            "Wait with " + instead + ": " +
                (later == 0   ? "no group was"
                 : later == 1 ? "one group was"
                              : std::to_string(later) + " groups were") +
                " committed after " + copy + "'s own.",
            std::move(lines)};
}

/// Groups belong to the thread that committed them; that others wait is a common misunderstanding.
Hint Waits::foreign_group_wait(const Operation& operation, const Record& record, Ref ref) {
    if (operation.completion != CompletionKind::bulk_group)
        return {};
    const auto wait_of = [&](const Warp& warp, unsigned lane) {
        const WarpClock& clock = engine_.threads().of(warp);
        return clock.streams ? clock.streams->bulk.waits[lane] : WarpStreams::Wait{};
    };
    const WarpStreams::Wait own = wait_of(*operation.warp, lane_of(ref));
    if (own.any && record.operation < own.operations)
        return {};
    for (const Warp* warp : cluster_.warps())
        for (unsigned lane = 0; lane < warp_size; ++lane) {
            const WarpStreams::Wait wait = wait_of(*warp, lane);
            if (!wait.any || (warp == operation.warp && lane == lane_of(ref)))
                continue;
            const bool none = wait.groups == 0;
            const std::string other = thread_name(*warp, lane);
            return {" " + other +
                        (none ? " waited, but groups belong to the thread that committed them, and "
                                "it has none."
                              : " waited, but for its own groups: groups belong to the thread that "
                                "committed them."),
                    how_to_wait(operation, !record.is(Record::write)),
                    {source_line(cluster_, wait.pc, "wait of " + other)}};
        }
    return {};
}

Hint Waits::wrong_phase(const Operation& operation, Component reader, bool may_wait_for_it) {
    const auto found = engine_.mbarriers().find(operation.barrier);
    if (found == engine_.mbarriers().end())
        return {};
    // The reader's own wait, or that of the thread that waits for others.
    const BarrierState::Passed* passed = found->second.passed_by(reader);
    if (!passed && may_wait_for_it)
        passed = found->second.passed_by(found->second.last_passed);
    if (!passed || passed->phases > operation.issued_in)
        return {};
    const std::string thread = thread_name(*passed->warp, passed->lane);
    const std::string phase = std::to_string(operation.issued_in);
    const std::string parity = std::to_string(operation.issued_in & 1);
    std::string saw = " The last wait of " + thread + " at the mbarrier ";
    saw += passed->phases == 0
               ? "passed at once: until the first phase has ended, parity 1 means the phase before it."
               : "saw the end of phase " + std::to_string(passed->phases - 1) + ".";
    return {saw + " The copy completes phase " + phase + ".",
            "Wait until phase " + phase + " has ended (parity " + parity +
                "); the parity to wait for changes with every phase and begins with 0 (in a ring of stages: "
                "once in each lap, and on from tile to tile).",
            {source_line(cluster_, passed->pc, "wait of " + thread)}};
}

/// The reader asked whether the phase had ended, and did not wait until it had.
Hint Waits::ignored_wait(const Operation& operation, const Warp& reader, unsigned lane) {
    const Warp::FailedTest test = reader.failed_test(lane);
    if (test.address != operation.barrier)
        return {};
    const std::string thread = thread_name(reader, lane);
    return {" " + thread +
                " only asked whether the phase had ended and went on without a yes: test_wait does not wait "
                "at all, and try_wait may return false after some time.",
            "Ask in a loop until the answer is true: while (!mbarrier_try_wait_parity(&bar, parity)) {}.",
            {source_line(cluster_, test.pc, "asked by " + thread)}};
}

/// Nobody waits at the copy's barrier, but the reader waits at another one.
Hint Waits::other_barrier(const Operation& operation, Component reader) {
    const auto own = engine_.mbarriers().find(operation.barrier);
    if (own == engine_.mbarriers().end() || own->second.passed_by(own->second.last_passed))
        return {};
    for (const auto& [address, barrier] : engine_.mbarriers()) {
        const BarrierState::Passed* passed = barrier.passed_by(reader);
        if (!passed)
            continue;
        const std::string thread = thread_name(*passed->warp, passed->lane);
        return {
            " The copy completes at " + barrier_name(cluster_, operation.barrier) + ", and " + thread +
                " waited at " + barrier_name(cluster_, address) + ".",
            "Wait at the mbarrier that the copy was given, or give the copy the mbarrier that is waited for.",
            {source_line(cluster_, passed->pc, "wait of " + thread)}};
    }
    return {};
}

} // namespace emu::check
