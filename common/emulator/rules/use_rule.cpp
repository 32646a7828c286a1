#include "rules/use_rule.hpp"

#include "findings/lines.hpp"
#include "findings/places.hpp"

namespace emu::check {

void UseRule::on_use(OriginId origin, Use use, const Warp& warp, unsigned lane, std::uint32_t pc) {
    const auto found = found_.find(origin);
    if (found == found_.end())
        return;
    Diagnostic& finding = found->second;
    finding.message += " " + std::string(reason()) + ", and it, or what was computed from it, is " +
                       std::string(deed(use)) + ".";
    SourceLine use_line = line(pc, "used by " + thread_name(warp, lane));
    const SourceLine& made = finding.locations.front();
    if (use_line.file != made.file || use_line.line != made.line)
        finding.locations.push_back(std::move(use_line));
}

void UseRule::tell_the_rest() {
    for (auto& [id, finding] : found_)
        if (values_.origin(id).used && first_time(finding.finding, values_.origin(id).pc, 0))
            publish(std::move(finding));
    found_.clear();
}

} // namespace emu::check
