#include "findings/words/deadlock.hpp"

#include "findings/lines.hpp"
#include "findings/places.hpp"
#include "hopper_emulator/finding_kinds.hpp"

#include <map>
#include <utility>

namespace emu {
namespace {

/// The list of waits, one line for each kind, that of the root first.
void list_waits(const DeadlockFacts& facts, const Root& root, Diagnostic& d) {
    struct Line {
        ThreadSet threads;
        const WaitGroup* group; ///< Whose first thread tells the calls.
    };
    std::map<std::pair<std::uint32_t, std::string>, Line> lines;
    const std::pair first(root.group->pc, describe_wait(facts, *root.group, root.cause));
    for (const WaitGroup& group : facts.groups()) {
        const auto [line, added] = lines.try_emplace({group.pc, describe_wait(facts, group, root.cause)},
                                                     Line{group.threads, &group});
        if (!added)
            line->second.threads = line->second.threads | group.threads;
    }
    const auto add = [&](const auto& key, const Line& line) {
        const std::string who = describe_threads(facts, line.threads);
        d.message += "\n  " + who + ": " + key.second + ".";
        d.locations.push_back(
            source_line(facts.warp(line.group->warp), line.group->lane, key.first, "wait of " + who));
    };
    add(first, lines.at(first));
    for (const auto& [key, line] : lines)
        if (key != first)
            add(key, line);
}

const char* reason_for(NearbyKernel::Place place) {
    switch (place) {
    case NearbyKernel::Place::behind_in_stream:
        return "both are in the same stream";
    case NearbyKernel::Place::behind_by_default_stream:
        return "the default stream and streams made without cudaStreamNonBlocking wait for each other";
    case NearbyKernel::Place::behind_by_edge:
        return "an event or an edge of a graph orders it after this one";
    case NearbyKernel::Place::beside:
        break;
    }
    return nullptr;
}

/// True if a kernel that might end the wait stands behind this one: that is the cause then.
bool tell_nearby(const Launch& launch, Diagnostic& d) {
    bool behind = false;
    for (const NearbyKernel& each : launch.nearby ? launch.nearby() : std::vector<NearbyKernel>()) {
        const char* const reason = reason_for(each.place);
        behind |= reason != nullptr;
        d.message += "\n  Kernel " + each.name +
                     (reason ? std::string(" was launched later and cannot begin before this one ends: ") +
                                   reason + "."
                             : " runs beside it, and waits too.");
    }
    if (behind)
        d.advice = "If one of the kernels after it is to end the wait, launch that one first, or in another "
                   "stream that is made with cudaStreamNonBlocking and waits for no event after this kernel.";
    return behind;
}

} // namespace

Diagnostic put_into_words(const Deadlock& deadlock) {
    const DeadlockFacts& facts = deadlock.facts;
    const Root& root = deadlock.root;
    const Cluster& cluster = facts.cluster();
    Diagnostic d;
    d.finding = Finding::deadlock;
    d.fault = Fault::timeout;
    d.message = "Every thread that is left waits, and nothing that is under way can end a wait.";
    list_waits(facts, root, d);
    if (const std::uint64_t ended = facts.ended().count())
        d.message += "\n  " + count_of(ended, "thread") + " of this " +
                     (cluster.block_count() > 1 ? "cluster" : "block") + " already ended.";
    bool polling = false;
    for (const WaitGroup& group : facts.groups())
        polling |= group.what == WaitGroup::For::nothing;
    if (cluster.outside_uses() > 0 && polling && tell_nearby(cluster.launch(), d))
        return d;
    if (const std::string cause = describe_cause(facts, root); !cause.empty())
        d.message += "\n  " + cause;
    d.advice = advice_for(facts, root);
    return d;
}

} // namespace emu
