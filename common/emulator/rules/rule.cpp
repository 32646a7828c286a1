#include "rules/rule.hpp"

#include <algorithm>
#include <utility>

namespace emu::check {

#define RULE(name) std::unique_ptr<Rule> make_##name(const Desk& desk);
#include "findings/list.inc"
#undef RULE

std::vector<std::unique_ptr<Rule>> make_rules(const Desk& desk) {
    std::vector<std::unique_ptr<Rule>> rules;
#define RULE(name) rules.push_back(make_##name(desk));
#include "findings/list.inc"
#undef RULE
    return rules;
}

bool Findings::first_time(Finding finding, std::uint32_t pc_a, std::uint32_t pc_b) {
    return told_.emplace(finding, std::min(pc_a, pc_b), std::max(pc_a, pc_b)).second;
}

bool Findings::was_told(Finding finding, std::uint32_t pc_a, std::uint32_t pc_b) const {
    return told_.contains({finding, std::min(pc_a, pc_b), std::max(pc_a, pc_b)});
}

void Findings::note_raced(std::uint32_t pc) { raced_.insert(pc); }

Diagnostic Rule::make(Finding finding, std::string message, std::string advice, std::vector<SourceLine> lines,
                      bool warning) {
    Diagnostic d;
    d.finding = finding;
    d.fault = warning ? Fault::none : Fault::launch_failure;
    d.message = std::move(message);
    d.advice = std::move(advice);
    d.locations = std::move(lines);
    return d;
}

void Rule::note(Finding finding, std::string message, std::string advice, std::vector<SourceLine> lines) {
    if (!wants_notes())
        return;
    Diagnostic d = make(finding, std::move(message), std::move(advice), std::move(lines), true);
    d.note = true;
    publish(std::move(d));
}

} // namespace emu::check
