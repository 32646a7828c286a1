// Sums of wgmma that begin with what nobody wrote: it adds to accumulators (scale-d is true) that no
// instruction has set. A result that is dropped is no mistake, so only a use is told.

#include "findings/places.hpp"
#include "hopper_emulator/finding_kinds.hpp"
#include "machine/instructions/matrix/wgmma_task.hpp"
#include "rules/analysis/wgmma_uses.hpp"
#include "rules/use_rule.hpp"

#include <algorithm>
#include <bit>
#include <map>

namespace emu::check {
namespace {

using UseKind = WgmmaUse::Kind;

/// Registers of a warp, by their place in its frames.
class Registers {
  public:
    bool contains(std::uint32_t place) const { return place / 4 < known_.size() && known_[place / 4]; }
    void set(std::uint32_t place, bool known) {
        if (known_.size() <= place / 4)
            known_.resize(place / 4 + 64);
        known_[place / 4] = known;
    }

  private:
    std::vector<bool> known_;
};

class UnwrittenSums final : public UseRule {
  public:
    explicit UnwrittenSums(const Desk& desk)
        : UseRule(desk),
          uses_(launch_.shelf.get<WgmmaUses>([this] { return std::make_shared<WgmmaUses>(kernel()); })) {
        if (uses_.any())
            engine_.watch(*this, Watch::instructions);
    }
    void on_instruction(Warp& warp, std::uint32_t pc, LaneMask mask) override {
        UseRule::on_instruction(warp, pc, mask);
        if (mask && uses_.of(pc).kind != UseKind::none) [[unlikely]]
            look_at(warp, pc, mask);
    }

  private:
    void look_at(Warp& warp, std::uint32_t pc, LaneMask mask);
    Diagnostic describe(const Warp& warp, LaneMask lanes, std::uint32_t pc) const;
    std::string_view reason() const override { return "The sum begins with an arbitrary value"; }

    const WgmmaUses& uses_;
    std::map<const Warp*, Registers> written_;
};

void UnwrittenSums::look_at(Warp& warp, std::uint32_t pc, LaneMask mask) {
    const WgmmaUse& use = uses_.of(pc);
    Registers& written = written_[&warp];
    const auto is_known = [&](std::uint32_t place) { return written.contains(warp.frame() + place); };
    if (use.kind == UseKind::multiply && matrix::adds_to_sums(warp, kernel().code[pc], mask)) {
        const auto finding = [&] { return describe(warp, mask, pc); };
        for (unsigned i = 0; i < use.writes.size(); ++i)
            if (!is_known(use.writes[i]))
                follow(warp, pc, mask, finding, i);
    }
    const bool known = use.kind != UseKind::copy || std::ranges::all_of(use.reads, is_known);
    for (const std::uint32_t place : use.writes)
        written.set(warp.frame() + place, known);
}

Diagnostic UnwrittenSums::describe(const Warp& warp, LaneMask lanes, std::uint32_t pc) const {
    const std::string who = thread_name(warp, static_cast<unsigned>(std::countr_zero(lanes)));
    return make(
        Finding::uninitialised_register,
        "A wgmma of the warp of " + who +
            " adds its product to accumulators (scale-d is true) that nobody has written.",
        "Let the first wgmma of a sum overwrite the accumulators: scale-d false in the first step, true "
        "in all others. Or set them to zero before wgmma.fence.",
        {line(pc, "wgmma")});
}

} // namespace

std::unique_ptr<Rule> make_unwritten_sums(const Desk& desk) { return std::make_unique<UnwrittenSums>(desk); }

} // namespace emu::check
