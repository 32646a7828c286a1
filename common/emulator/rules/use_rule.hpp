#pragma once
/// \file
/// What rules about values that mean nothing share: to compute one and drop it is no mistake, to use it is.

#include "findings/words/uses.hpp"
#include "rules/analysis/values.hpp"
#include "rules/rule.hpp"

#include <map>
#include <string>

namespace emu::check {

/// Follows values of one cluster from where they come to where they are used.
class FollowingRule : public Rule, protected UseListener {
  public:
    explicit FollowingRule(const Desk& desk) : Rule(desk) {}
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

  protected:
    /// Values must be followed from now on.
    void follow_values() {
        engine_.watch(*this, Watch::instructions);
        engine_.watch(*this, Watch::results);
    }

    Values values_{*this};
};

/// Tells at the end of those values that were used.
class UseRule : public FollowingRule {
  public:
    using FollowingRule::FollowingRule;
    void tell_the_rest() override;

  protected:
    /// `lanes` get such a value from the instruction at `pc`, which executes. Of its first time `describe`
    /// makes the finding, whose first line is that instruction. `element`: of a result that has several.
    template <class Describe>
    void follow(Warp& warp, std::uint32_t pc, LaneMask lanes, Describe&& describe, unsigned element = 0) {
        const OriginId origin = values_.origin_of(pc);
        if (values_.origin(origin).used)
            return;
        if (!found_.contains(origin))
            found_[origin] = describe();
        follow_values();
        for_lanes(lanes, [&](unsigned lane) { values_.taint_result(warp, pc, lane, element, origin); });
    }

  private:
    /// Why the value means nothing; ", and it, or what was computed from it, is …" follows.
    virtual std::string_view reason() const = 0;
    void on_use(OriginId origin, Use use, const Warp& warp, unsigned lane, std::uint32_t pc) override;

    std::map<OriginId, Diagnostic> found_;
};

} // namespace emu::check
