// Kernels that may begin before the one before them in their stream has ended: programmatic dependent launch.
//
// Such a kernel begins when all blocks of its primary have executed griddepcontrol.launch_dependents or have
// ended; what the primary has written need not be visible then, in either case, so that the kernel has to
// wait (CUDA programming guide, "Programmatic Dependent Launch and Synchronization"). griddepcontrol.wait
// waits "until all prerequisite grids in flight have completed" (PTX ISA 9.7.13.13), and the one prerequisite
// is the primary. Whether the grids before that have ended, too, is known only if the primary has waited
// itself.

#include "cuda/order.hpp"
#include "cuda/order_words.hpp"
#include "cuda/state.hpp"
#include "cuda/timeline.hpp"
#include "hopper_emulator/finding_kinds.hpp"

#include <algorithm>

namespace emu::cuda {
namespace {

/// Kernels that a later one is compared with; of a longer chain the oldest are taken to have ended.
constexpr std::size_t most_unfinished = 64;

bool waits(const OperationFacts& facts) { return facts.grids && facts.grids->waited; }

/// Its code has griddepcontrol.wait, which it may not have come to.
bool can_wait(const OperationFacts& facts) { return facts.grids && facts.grids->early; }

bool is_read(const FootprintPiece& piece) {
    return piece.touch == Touch::read || piece.touch == Touch::strong_read;
}

/// Whatever a block has read before it let others begin, nobody can change any more under its hands. What it
/// has written is another matter.
bool is_done_at_trigger(const OperationFacts& facts, const FootprintPiece& piece) {
    if (!is_read(piece))
        return false;
    if (!facts.grids || piece.line >= facts.footprint->lines.size())
        return true;
    return !std::ranges::binary_search(facts.grids->behind_trigger, facts.footprint->lines[piece.line].pc);
}

std::string list_of(const std::vector<std::string>& names) {
    std::string text;
    for (std::size_t i = 0; i < names.size(); ++i)
        text += (i == 0 ? "" : i + 1 < names.size() ? ", " : " and ") + names[i];
    return text;
}

/// "the kernel between, kernel f", "the kernels between, …".
std::string between(const std::vector<std::string>& careless) {
    return (careless.size() == 1 ? "the kernel between, " : "the kernels between, ") + list_of(careless);
}

} // namespace

void Order::find_unfinished(Task& task) {
    const Task& primary = *task.primary;
    const OperationPlace& before = primary.order;
    OperationPlace& place = task.order;
    const bool waited = waits(primary.facts);
    const auto add = [&](std::vector<Unfinished>& to, const std::vector<Unfinished>& from) {
        for (const Unfinished& each : from) {
            if (to.size() == most_unfinished || place.known.at(each.line) >= each.number)
                continue;
            to.push_back(each);
            if (!waited)
                to.back().careless.push_back(primary.facts.what);
        }
    };
    if (place.known.at(before.line) < before.number)
        place.at_start.push_back({before.line, before.number, {}});
    // The primary's blocks knew it when they let others begin.
    add(place.at_start, waited && primary.facts.grids->waited_first ? before.behind_wait : before.at_start);
    add(place.behind_wait, waited ? before.behind_wait : before.at_start);
}

/// What the kernel may have disturbed, without regard to what it did.
std::vector<Order::Overlap> Order::overlaps(const Operation& later) const {
    const OperationFacts& facts = later.facts;
    const Footprint* const early = waits(facts) ? facts.grids->early.get() : facts.footprint.get();
    std::vector<Overlap> found;
    for (const Unfinished& each : later.place.at_start) {
        const Operation* const earlier = find(each);
        if (!earlier || !early)
            continue;
        Overlap overlap{earlier, &later, early, true, {}, {}};
        for (const Unfinished& other : later.place.behind_wait)
            if (other.line == each.line && other.number == each.number)
                overlap.careless = other.careless;
        found.push_back(std::move(overlap));
    }
    for (const Unfinished& each : later.place.behind_wait)
        if (const Operation* const earlier = find(each); earlier && waits(facts))
            found.push_back({earlier, &later, facts.footprint.get(), false, each.careless, {}});
    return found;
}

/// True if the kernel may be ordered with others by what it read.
bool Order::compare_programmatic(const Operation& later) {
    if (later.place.at_start.empty() && later.place.behind_wait.empty())
        return false;
    std::vector<Overlap> clashes;
    for (Overlap& each : overlaps(later)) {
        const OperationFacts& earlier = each.earlier->facts;
        const auto matters = [&](const FootprintPiece& first, const FootprintPiece&) {
            return !is_done_at_trigger(earlier, first);
        };
        const Relation found = relate(*earlier.footprint, *each.footprint, matters);
        // They run side by side: each may tell the other.
        if (found.communicates || relate(*each.footprint, *earlier.footprint).communicates)
            return true;
        each.clash = found.clash;
        if (found.clash.earlier && !earlier.unsure)
            clashes.push_back(std::move(each));
    }
    if (!later.facts.unsure)
        std::ranges::for_each(clashes, [this](const Overlap& each) { tell_overlap(each); });
    return false;
}

std::string Order::why_not_waited(const Overlap& overlap) {
    const OperationFacts &a = overlap.earlier->facts, &b = overlap.later->facts;
    if (!overlap.early)
        return ". Its wait covers the kernel before it alone, and the kernel" +
               std::string(overlap.careless.size() == 1 ? " between them never waits: "
                                                        : "s between them never wait: ") +
               list_of(overlap.careless) + " may end before " + a.what + " does.";
    const bool is_primary = overlap.later->place.at_start.front().line == overlap.earlier->place.line &&
                            overlap.later->place.at_start.front().number == overlap.earlier->place.number;
    std::string text = std::string(", and has not waited for the kernel") + (is_primary ? "" : "s") +
                       " before: it may begin before " + (is_primary ? "that one has" : "they have") +
                       " ended (programmatic dependent launch).";
    if (is_primary && !(a.grids && a.grids->triggered))
        text += " No thread of " + a.what +
                " calls cudaTriggerProgrammaticLaunchCompletion(), but the end of its blocks counts as that "
                "call, and what they have written need not be visible then.";
    if (!waits(b))
        text += " " + capitalised(b.what) + (can_wait(b) ? " did not come to its wait." : " never waits.");
    return text;
}

std::string Order::how_to_wait(const Overlap& overlap) {
    const bool reads = is_read(*overlap.clash.later);
    std::string text;
    if (overlap.early && can_wait(overlap.later->facts))
        text = std::string("Move the ") + (reads ? "read" : "write") +
               " after cudaGridDependencySynchronize(), called by the thread itself or by one of its block "
               "before a __syncthreads(). Only what no kernel before it " +
               (reads ? "writes may be read" : "uses may be written") + " earlier.";
    else if (overlap.early)
        text = std::string("Call cudaGridDependencySynchronize() before the ") + (reads ? "read" : "write") +
               ", or launch " + overlap.later->facts.what +
               " without cudaLaunchAttributeProgrammaticStreamSerialization.";
    if (!overlap.careless.empty())
        text += std::string(text.empty() ? "Call" : " And call") + " cudaGridDependencySynchronize() in " +
                between(overlap.careless) +
                (overlap.careless.size() == 1 ? ", before it ends: then its end stands after that of "
                                              : ", before they end: then their ends stand after that of ") +
                overlap.earlier->facts.what + ".";
    return text;
}

void Order::tell_overlap(const Overlap& overlap) {
    const OperationFacts &a = overlap.earlier->facts, &b = overlap.later->facts;
    const Clash& clash = overlap.clash;
    std::vector<SourceLine> lines;
    add_line(lines, b, *overlap.footprint, *clash.later);
    add_line(lines, a, *clash.earlier);
    const std::string how = verb(clash.earlier->touch);
    const auto found = state_.device().memory().find(clash.begin);
    tell(Finding::race_kernels,
         a.what + '\n' + b.what + '\n' + std::to_string(found ? found->base : clash.begin),
         capitalised(with_stream(b)) + " " + verb(clash.later->touch) + " " +
             describe(clash.begin, clash.end) + ", which " + a.what + " before it " + how +
             (how == verb(clash.later->touch) ? " as well" : "") + why_not_waited(overlap),
         how_to_wait(overlap), std::move(lines));
}

} // namespace emu::cuda
