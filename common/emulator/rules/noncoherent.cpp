// Reads by ld.global.nc of what the launch has written.

#include "findings/words/accesses.hpp"
#include "hopper_emulator/finding_kinds.hpp"
#include "rules/rule.hpp"

namespace emu::check {
namespace {

class Noncoherent final : public Rule {
  public:
    using Rule::Rule;
    /// Also behind a barrier: the data must be read-only for the whole launch (PTX ISA 9.7.9.9, ld.global.nc;
    /// CUDA programming guide, read-only data cache load function).
    void on_noncoherent_read(const Meeting& meeting) override {
        const auto& [old, ref, k, n, actor] = meeting;
        if (!first_time(Finding::race_global, old.pc, actor.record->pc))
            return;
        const std::string reader = who(cluster_, actor, k);
        const std::string writer = who(cluster_, old, ref, k);
        publish(Finding::race_global,
                reader + " reads " + place(cluster_, actor, k, n) +
                    " by ld.global.nc (__ldg, or a pointer that is const __restrict__), and " + writer +
                    " has written it in this launch: the read-only path need not see that, not even after a "
                    "barrier.",
                "Read it by an ordinary load: no __ldg(), and no const __restrict__ on a pointer to what the "
                "kernel writes.",
                {line(old.pc, verb(old) + " " + writer), line_of(cluster_, actor, "read by " + reader)});
    }
};

} // namespace

std::unique_ptr<Rule> make_noncoherent(const Desk& desk) { return std::make_unique<Noncoherent>(desk); }

} // namespace emu::check
