// Volatile accesses of lanes to each other's shared memory, once the way to reduce within a warp.

#include "findings/words/accesses.hpp"
#include "hopper_emulator/finding_kinds.hpp"
#include "rules/rule.hpp"

namespace emu::check {
namespace {

class Lockstep final : public Rule {
  public:
    using Rule::Rule;
    bool on_conflict(const Meeting& meeting) override {
        if (!is_morally_strong(meeting) || !counts_on_lockstep(meeting))
            return false;
        tell_lockstep(meeting);
        return true;
    }

  private:
    bool counts_on_lockstep(const Meeting& meeting) const;
    void tell_lockstep(const Meeting& meeting);
};

/// A loop may poll, which is no mistake.
bool Lockstep::counts_on_lockstep(const Meeting& meeting) const {
    const auto& [old, ref, k, n, actor] = meeting;
    const Record& mine = *actor.record;
    if (!actor.shared || actor.is_write || !old.is(Record::write) || !old.is(Record::is_volatile) ||
        !mine.is(Record::is_volatile) || old.warp != mine.warp ||
        Threads::component_of(old, ref, k) == Threads::component_of(mine, actor.ref, k))
        return false;
    const ptx::Instruction* const read = cluster_.info().kernel->sources[mine.pc];
    for (const auto& function : cluster_.info().kernel->functions) {
        const auto& body = function->source->body;
        if (read < body.data() || read >= body.data() + body.size())
            continue;
        const auto at = static_cast<std::size_t>(read - body.data());
        for (std::size_t i = at; i < body.size(); ++i)
            if (body[i].opcode == "bra" && body[i].operands.front().kind == ptx::Operand::Kind::label &&
                body[i].operands.front().index <= at)
                return false;
        return true;
    }
    return false;
}

void Lockstep::tell_lockstep(const Meeting& meeting) {
    const auto& [old, ref, k, n, actor] = meeting;
    if (!first_time(Finding::race_shared, old.pc, actor.record->pc))
        return;
    const std::string writer = who(cluster_, old, ref, k);
    publish(
        Finding::race_shared,
        who(cluster_, actor) + " reads " + place(cluster_, actor, k, n) + ", which " + writer +
            ", another lane of its warp, has written, and nothing orders the two. Both are volatile, which "
            "keeps values out of registers and orders nothing; lanes of a warp do not run in lockstep.",
        "Put a __syncwarp() between the write and the read, and one between the read and the next write; or "
        "pass the values by __shfl_down_sync().",
        {line(old.pc, "write by " + writer), line(actor.record->pc, "read by " + who(cluster_, actor))},
        true);
}

} // namespace

std::unique_ptr<Rule> make_lockstep(const Desk& desk) { return std::make_unique<Lockstep>(desk); }

} // namespace emu::check
