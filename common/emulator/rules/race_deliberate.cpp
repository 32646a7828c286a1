// Races that look meant are warnings.

#include "machine/reports.hpp"
#include "rules/race.hpp"

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

} // namespace

Deliberate::Kind LaunchChecks::deliberate(const Kernel& kernel, Deliberate::Access one,
                                          Deliberate::Access other, bool same_cluster) {
    const std::lock_guard lock(mutex);
    return deliberate_.of(kernel, one, other, same_cluster);
}

bool Checker::is_guess(const Record& one, const Record& other) {
    const Record& read = one.is(Record::write) ? other : one;
    const Record& update = one.is(Record::write) ? one : other;
    return update.is(Record::update) && read.is(Record::by_lane) && !read.is(Record::write) &&
           !read.is(Record::async) && guesses_.contains(*cluster_.info().kernel, read.pc);
}

bool LaunchChecks::same_value(const Kernel& kernel, std::uint32_t one, std::uint32_t other) {
    const std::lock_guard lock(mutex);
    return deliberate_.same_value(kernel, one, other);
}

bool Checker::stores_the_same(const Record& old, const Actor& actor) {
    return old.is(Record::write) && actor.is_write && old.cluster != actor.record->cluster &&
           !((old.flags | actor.record->flags) & (Record::async | Record::strong | Record::init)) &&
           launch_.same_value(*cluster_.info().kernel, old.pc, actor.record->pc);
}

Deliberate::Kind Checker::deliberate(const Record& old, const Actor& actor) {
    const Record& mine = *actor.record;
    constexpr unsigned other_kinds = Record::strong | Record::async | Record::update | Record::init;
    if ((old.flags | mine.flags) & other_kinds)
        return Deliberate::Kind::none;
    return launch_.deliberate(*cluster_.info().kernel, {old.pc, old.is(Record::write)},
                              {mine.pc, mine.is(Record::write)}, old.cluster == mine.cluster);
}

void Checker::tell_deliberate(Deliberate::Kind kind, const Record& old, Ref ref, unsigned k, unsigned n,
                              const Actor& actor) {
    const bool both = old.is(Record::write) && actor.is_write;
    const std::string first = who(old, ref, k), second = who(actor, k);
    const auto deed = [](bool writes) { return std::string(writes ? "write by " : "read by "); };
    publish(actor.shared ? Finding::race_shared : Finding::race_global,
            (both ? "Two writes to " : "A write and a read of ") + place(actor, k, n) +
                " by two threads, and nothing orders one before the other: " + first + " and " + second +
                "." + looks_like(kind),
            how_to_say(kind, actor.shared),
            {cluster_.source_line(old.pc, deed(old.is(Record::write)) + first),
             cluster_.source_line(actor.record->pc, deed(actor.is_write) + second)},
            true);
}

void Checker::check_clash(const AccessEvent& event) {
    const bool shared = event.space == ptx::Space::shared;
    const Finding name = shared ? Finding::race_shared : Finding::race_global;
    if (!first_time(name, event.pc, event.pc))
        return;
    raced_.insert(event.pc);
    Actor actor;
    actor.shared = shared;
    actor.word = event.addresses[event.clash[0]];
    const std::string first = thread_name(*event.warp, event.clash[0]);
    const Deliberate::Kind meant =
        launch_.deliberate(*cluster_.info().kernel, {event.pc, true}, {event.pc, true}, shared);
    if (meant != Deliberate::Kind::none)
        return publish(
            name,
            first + " and " + thread_name(*event.warp, event.clash[1]) + " write different values to " +
                place(actor, 0, event.bytes) + " by the same instruction." + looks_like(meant),
            how_to_say(meant, shared), {cluster_.source_line(event.pc, "write by both threads")}, true);
    publish(name,
            first + " and " + thread_name(*event.warp, event.clash[1]) + " write different values to " +
                place(actor, 0, event.bytes) +
                " by the same instruction. Which of them stays there is not defined.",
            "Check the index, or let one thread write. If each thread should add its part, use an atomic "
            "(atomicAdd, atomicOr, atomicMax): an ordinary read, change and write loses all but one.",
            {cluster_.source_line(event.pc, "write by both threads")});
}

} // namespace emu::check
