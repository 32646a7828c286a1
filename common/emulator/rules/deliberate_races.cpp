// Races that look meant are warnings; and different values that lanes write to one place by one instruction.

#include "findings/places.hpp"
#include "findings/words/accesses.hpp"
#include "hopper_emulator/finding_kinds.hpp"
#include "rules/analysis/deliberate.hpp"
#include "rules/rule.hpp"

namespace emu::check {
namespace {

std::string looks_like(Deliberate::Kind kind) {
    return " It looks meant: " + std::string(describe(kind)) + ".";
}

std::string how_to_say(Deliberate::Kind kind, bool shared) {
    const std::string scope = shared ? "cuda::thread_scope_block" : "cuda::thread_scope_device";
    return "If it is meant, say so: let each of these accesses be a load or a store of cuda::atomic_ref<T, " +
           scope +
           "> with cuda::memory_order_relaxed, T the type of the variable (st.relaxed and ld.relaxed in "
           "PTX)." +
           (kind == Deliberate::Kind::winner
                ? " If one certain thread must win, use atomicMin, atomicMax or atomicCAS."
            : kind == Deliberate::Kind::flag ? " If all threads must decide alike, put a barrier between the "
                                               "store and the load, or use two "
                                               "launches."
                                             : " With atomicMin or atomicMax no value gets lost on the way.");
}

class DeliberateRaces final : public Rule {
  public:
    using Rule::Rule;
    bool on_conflict(const Meeting& meeting) override;
    void on_clash(const AccessEvent& event) override;

  private:
    Deliberate::Kind meant(const Record& old, const Actor& actor);
    void tell_deliberate(Deliberate::Kind kind, const Meeting& meeting);
};

bool DeliberateRaces::on_conflict(const Meeting& meeting) {
    const auto& [old, ref, k, n, actor] = meeting;
    const Finding finding = actor.shared ? Finding::race_shared : Finding::race_global;
    if (findings_.was_told(finding, old.pc, actor.record->pc))
        return false;
    const Deliberate::Kind kind = meant(old, actor);
    if (kind == Deliberate::Kind::none || !first_time(finding, old.pc, actor.record->pc))
        return false;
    findings_.note_raced(old.pc);
    findings_.note_raced(actor.record->pc);
    tell_deliberate(kind, meeting);
    return true;
}

Deliberate::Kind DeliberateRaces::meant(const Record& old, const Actor& actor) {
    const Record& mine = *actor.record;
    constexpr unsigned other_kinds = Record::strong | Record::async | Record::update | Record::init;
    if ((old.flags | mine.flags) & other_kinds)
        return Deliberate::Kind::none;
    return launch_.shelf.get<Deliberate>(std::make_shared<Deliberate>)
        .of(kernel(), {old.pc, old.is(Record::write)}, {mine.pc, mine.is(Record::write)},
            old.cluster == mine.cluster);
}

void DeliberateRaces::tell_deliberate(Deliberate::Kind kind, const Meeting& meeting) {
    const auto& [old, ref, k, n, actor] = meeting;
    const bool both = old.is(Record::write) && actor.is_write;
    const std::string first = who(cluster_, old, ref, k), second = who(cluster_, actor, k);
    const auto deed = [](bool writes) { return std::string(writes ? "write by " : "read by "); };
    publish(actor.shared ? Finding::race_shared : Finding::race_global,
            (both ? "Two writes to " : "A write and a read of ") + place(cluster_, actor, k, n) +
                " by two threads, and nothing orders one before the other: " + first + " and " + second +
                "." + looks_like(kind),
            how_to_say(kind, actor.shared),
            {line(old.pc, deed(old.is(Record::write)) + first),
             line(actor.record->pc, deed(actor.is_write) + second)},
            true);
}

void DeliberateRaces::on_clash(const AccessEvent& event) {
    const bool shared = event.space == ptx::Space::shared;
    const Finding name = shared ? Finding::race_shared : Finding::race_global;
    if (!first_time(name, event.pc, event.pc))
        return;
    findings_.note_raced(event.pc);
    Actor actor;
    actor.shared = shared;
    actor.word = event.addresses[event.clash[0]];
    const std::string first = thread_name(*event.warp, event.clash[0]);
    const Deliberate::Kind meant = launch_.shelf.get<Deliberate>(std::make_shared<Deliberate>)
                                       .of(kernel(), {event.pc, true}, {event.pc, true}, shared);
    if (meant != Deliberate::Kind::none)
        return publish(name,
                       first + " and " + thread_name(*event.warp, event.clash[1]) +
                           " write different values to " + place(cluster_, actor, 0, event.bytes) +
                           " by the same instruction." + looks_like(meant),
                       how_to_say(meant, shared), {line(event.pc, "write by both threads")}, true);
    publish(name,
            first + " and " + thread_name(*event.warp, event.clash[1]) + " write different values to " +
                place(cluster_, actor, 0, event.bytes) +
                " by the same instruction. Which of them stays there is not defined.",
            "Check the index, or let one thread write. If each thread should add its part, use an atomic "
            "(atomicAdd, atomicOr, atomicMax): an ordinary read, change and write loses all but one.",
            {line(event.pc, "write by both threads")});
}

} // namespace

std::unique_ptr<Rule> make_deliberate_races(const Desk& desk) {
    return std::make_unique<DeliberateRaces>(desk);
}

} // namespace emu::check
