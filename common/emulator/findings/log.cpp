#include "findings/log.hpp"

#include "findings/words/deadlock.hpp"
#include "findings/words/library.hpp"
#include "findings/words/words.hpp"
#include "hopper_emulator/finding_kinds.hpp"
#include "machine/launch.hpp"

#include <algorithm>
#include <span>

namespace emu {
namespace {

constexpr std::ptrdiff_t max_findings =
    10; ///< Distinct errors after which a launch stops; of warnings and of notes, what is told as text.

/// The lines of what happened; those behind them say why, as the wait that was too short. A deadlock is all
/// of its waits.
std::span<const SourceLine> events_of(const Diagnostic& d) {
    constexpr std::size_t two = 2;
    const std::span all(d.locations);
    return d.finding == Finding::deadlock ? all : all.first(std::min(all.size(), two));
}

std::vector<std::uint32_t> instructions_of(const Diagnostic& d) {
    std::vector<std::uint32_t> all;
    for (const SourceLine& line : events_of(d))
        all.push_back(line.pc);
    std::ranges::sort(all);
    return all;
}

/// A role without the numbers of threads, blocks and places.
std::string without_numbers(std::string role) {
    std::erase_if(role, [](char c) { return c >= '0' && c <= '9'; });
    return role;
}

bool is_error(const Diagnostic& d) { return d.fault != Fault::none; }

bool is_as_severe(const Diagnostic& a, const Diagnostic& b) {
    return is_error(a) == is_error(b) && (is_error(a) || a.note == b.note);
}

bool is_explained(const Diagnostic& d) { return d.locations.size() > events_of(d).size(); }

/// What two findings have in common if they are the same: the events, and the explanations if both have one.
std::span<const SourceLine> compared(const Diagnostic& d, const Diagnostic& other) {
    return is_explained(d) && is_explained(other) ? std::span(d.locations) : events_of(d);
}

/// The same name, and the same happened at the same lines, called in the same way.
bool is_alike(const Diagnostic& a, const Diagnostic& b) {
    const auto is_same = [](const SourceLine& one, const SourceLine& other) {
        return one.is_same_place(other) && without_numbers(one.role) == without_numbers(other.role);
    };
    return !a.locations.empty() && a.finding == b.finding && a.fault == b.fault && a.note == b.note &&
           std::ranges::equal(compared(a, b), compared(b, a), is_same);
}

bool names(const Diagnostic& told, const SourceLine& line) {
    return std::ranges::any_of(told.locations,
                               [&](const SourceLine& other) { return other.is_same_place(line); });
}

/// Two accesses without an order: what was read there may have been read too early.
bool is_conflict(const Diagnostic& d) {
    constexpr Finding conflicts[] = {Finding::race_shared, Finding::race_global,
                                     Finding::read_before_completion};
    return is_error(d) && std::ranges::find(conflicts, d.finding) != std::end(conflicts);
}

bool is_uninitialised(const Diagnostic& d) {
    return d.finding == Finding::uninitialised_shared || d.finding == Finding::uninitialised_global;
}

/// Whether a finding that was told names what happened in a later one, which then is mostly its consequence:
/// mend the first, then look again. Who reads too early may find memory that nobody has written yet.
bool covers(const Diagnostic& told, const Diagnostic& later) {
    if (later.locations.empty())
        return false;
    if (is_uninitialised(later) && is_conflict(told))
        return names(told, later.locations.front());
    return (is_error(told) || !is_error(later)) &&
           std::ranges::all_of(compared(later, told),
                               [&](const SourceLine& line) { return names(told, line); });
}

class Words final : public Reporter {
    std::unique_ptr<LaunchReporter> begin(Launch& launch) override {
        return std::make_unique<FindingLog>(launch);
    }
    std::string explain(const Flaw& flaw) const override { return put_into_words(flaw); }
};

} // namespace

void FindingLog::report(const Mistake& mistake) { report(put_into_words(mistake), mistake.fatal); }

void FindingLog::report(const Deadlock& deadlock) { report(put_into_words(deadlock), true); }

/// The same finding as one that was told, in another block or in another copy of the lines.
bool FindingLog::count_copy(const Diagnostic& diagnostic) {
    const auto told =
        std::ranges::find_if(diagnostics_, [&](const Diagnostic& d) { return is_alike(d, diagnostic); });
    if (told == diagnostics_.end())
        return false;
    // Another block finds it at the same instructions, which says nothing new.
    if (told_of_[static_cast<std::size_t>(told - diagnostics_.begin())]
            .insert(instructions_of(diagnostic))
            .second)
        ++told->more;
    return true;
}

std::ptrdiff_t FindingLog::known_as_severe_as(const Diagnostic& diagnostic) const {
    return std::ranges::count_if(diagnostics_,
                                 [&](const Diagnostic& d) { return is_as_severe(d, diagnostic); });
}

bool FindingLog::is_news(const Diagnostic& diagnostic, bool fatal) {
    // What ends a launch in which an error was found, a deadlock, a block that leaves copies behind, is a
    // consequence of that error.
    if ((fatal && launch_.fault() != Fault::none) || count_copy(diagnostic))
        return false;
    return std::ranges::none_of(diagnostics_, [&](const Diagnostic& d) { return covers(d, diagnostic); });
}

void FindingLog::report(Diagnostic diagnostic, bool fatal) {
    const std::lock_guard lock(mutex_);
    const Kernel& kernel = *launch_.info().kernel;
    diagnostic.kernel = kernel.name;
    use_names_of_library(diagnostic, kernel);
    diagnostic.lines_of_ptx = !diagnostic.locations.empty() && kernel.program->module().locations.size() <= 1;
    const bool error = is_error(diagnostic);
    const bool news = is_news(diagnostic, fatal);
    launch_.note_fault(diagnostic.fault);
    if (fatal || (error && known_as_severe_as(diagnostic) + (news ? 1 : 0) >= max_findings))
        launch_.stop();
    if (!news)
        return;
    diagnostic.surplus = !error && known_as_severe_as(diagnostic) >= max_findings;
    told_of_.push_back({instructions_of(diagnostic)});
    diagnostics_.push_back(std::move(diagnostic));
}

std::vector<Diagnostic> FindingLog::take() {
    const std::lock_guard lock(mutex_);
    // What was found first in one block may follow from what was found later in another.
    std::vector<Diagnostic> told;
    for (const Diagnostic& each : diagnostics_)
        if (!is_uninitialised(each) || std::ranges::none_of(diagnostics_, [&](const Diagnostic& other) {
                return is_conflict(other) && covers(other, each);
            }))
            told.push_back(each);
    diagnostics_.clear();
    return told;
}

std::shared_ptr<Reporter> make_reporter() { return std::make_shared<Words>(); }

} // namespace emu
