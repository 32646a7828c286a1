// Shuffles that read from a lane which takes no part: the value is undefined (PTX ISA 9.7.9.6). Reductions of
// part of a warp read such values and drop them, so only a use is told.

#include "findings/lines.hpp"
#include "findings/places.hpp"
#include "findings/words/uses.hpp"
#include "hopper_emulator/finding_kinds.hpp"
#include "rules/analysis/values.hpp"
#include "rules/rule.hpp"

#include <bit>
#include <cstdio>
#include <map>

namespace emu::check {
namespace {

std::string hexadecimal(LaneMask mask) {
    char text[16];
    std::snprintf(text, sizeof text, "0x%08x", mask);
    return text;
}

class Shuffles final : public Rule, private UseListener {
  public:
    using Rule::Rule;
    void on_shuffle_from_absent(const ShuffleEvent& event) override;
    void on_instruction(Warp& warp, std::uint32_t pc, LaneMask mask) override {
        if (!values_.empty()) [[unlikely]]
            values_.before_instruction(warp, pc, mask);
    }
    void on_skipped(Warp& warp, std::uint32_t pc) override { on_instruction(warp, pc, 0); }
    void after_access(const AccessEvent& event) override {
        if (!values_.empty()) [[unlikely]]
            values_.access(event);
    }
    void on_block_start(Block& block) override { values_.start_block(block.rank()); }
    void tell_the_rest() override;

  private:
    Diagnostic describe(const ShuffleEvent& event) const;
    void on_use(OriginId origin, Use use, const Warp& warp, unsigned lane, std::uint32_t pc) override;

    Values values_{*this};
    std::map<OriginId, Diagnostic> undefined_; ///< Told at the end, of those that were used.
};

void Shuffles::on_shuffle_from_absent(const ShuffleEvent& event) {
    const OriginId origin = values_.origin_of(event.pc);
    if (cluster_.stopped() || values_.origin(origin).used)
        return;
    if (!undefined_.contains(origin))
        undefined_[origin] = describe(event);
    engine_.watch(*this, Watch::instructions);
    engine_.watch(*this, Watch::results);
    for_lanes(event.lanes,
              [&](unsigned lane) { values_.taint_register(*event.warp, event.pc, lane, 0, origin); });
}

Diagnostic Shuffles::describe(const ShuffleEvent& event) const {
    const auto lane = static_cast<unsigned>(std::countr_zero(event.lanes));
    const unsigned from = event.from[lane];
    const std::string reader = thread_name(*event.warp, lane);
    const bool named = event.members >> from & 1;
    std::string advice =
        "Read from lanes of the mask only, or name in the mask all lanes that are read from.";
    if (named)
        advice =
            "All lanes of the mask must reach the shuffle: keep all lanes of the mask until the shuffle "
            "(guard "
            "the load with the if, and let lanes without an element give the neutral value: 0 for a sum), "
            "or name in the mask those that come and use no other's value";
    if (named)
        advice += is_inlined_from(kernel(), event.pc, "cooperative_groups.h")
                      ? ". For these: Form the group inside the branch (coalesced_threads()), where its "
                        "threads are."
                      : ".";
    return make(
        Finding::shuffle_inactive_lane,
        reader + " reads by shuffle from lane " + std::to_string(from) +
            " of its warp, which takes no part in the shuffle: it " +
            (named ? std::string("has exited.") : "is not in the mask " + hexadecimal(event.members) + "."),
        std::move(advice), {line(event.pc, "shuffle of " + reader)});
}

void Shuffles::on_use(OriginId origin, Use use, const Warp& warp, unsigned lane, std::uint32_t pc) {
    const auto found = undefined_.find(origin);
    if (found == undefined_.end())
        return;
    Diagnostic& finding = found->second;
    finding.message += " The value that it gets is not defined, and it, or what was computed from it, is " +
                       std::string(deed(use)) + ".";
    SourceLine use_line = line(pc, "used by " + thread_name(warp, lane));
    const SourceLine& read = finding.locations.front();
    if (use_line.file != read.file || use_line.line != read.line)
        finding.locations.push_back(std::move(use_line));
}

void Shuffles::tell_the_rest() {
    for (auto& [id, diagnostic] : undefined_)
        if (values_.origin(id).used && first_time(diagnostic.finding, values_.origin(id).pc, 0))
            publish(std::move(diagnostic));
    undefined_.clear();
}

} // namespace

std::unique_ptr<Rule> make_shuffles(const Desk& desk) { return std::make_unique<Shuffles>(desk); }

} // namespace emu::check
