#include "rules/rule.hpp"

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
