// Shuffles that read from a lane which takes no part: the value is undefined (PTX ISA 9.7.9.6). Reductions of
// part of a warp read such values and drop them, so only a use is told.

#include "findings/lines.hpp"
#include "findings/places.hpp"
#include "hopper_emulator/finding_kinds.hpp"
#include "rules/use_rule.hpp"

#include <bit>
#include <cstdio>

namespace emu::check {
namespace {

std::string hexadecimal(LaneMask mask) {
    char text[16];
    std::snprintf(text, sizeof text, "0x%08x", mask);
    return text;
}

class Shuffles final : public UseRule {
  public:
    using UseRule::UseRule;
    void on_shuffle_from_absent(const ShuffleEvent& event) override {
        if (!cluster_.stopped())
            follow(*event.warp, event.pc, event.lanes, [&] { return describe(event); });
    }

  private:
    Diagnostic describe(const ShuffleEvent& event) const;
    std::string_view reason() const override { return "The value that it gets is not defined"; }
};

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

} // namespace

std::unique_ptr<Rule> make_shuffles(const Desk& desk) { return std::make_unique<Shuffles>(desk); }

} // namespace emu::check
