// Accesses that nothing orders and that are no mistake all the same.

#include "rules/analysis/deliberate.hpp"
#include "rules/analysis/guess.hpp"
#include "rules/rule.hpp"

namespace emu::check {
namespace {

class Harmless final : public Rule {
  public:
    using Rule::Rule;
    bool on_conflict(const Meeting& meeting) override;

  private:
    bool is_guess(const Record& one, const Record& other);
    bool stores_the_same(const Record& old, const Actor& actor);
};

bool Harmless::on_conflict(const Meeting& meeting) {
    const auto& [old, ref, k, n, actor] = meeting;
    const Record& mine = *actor.record;
    if (is_guess(old, mine) || is_morally_strong(meeting))
        return true;
    // A write of the value that was there cannot be told from none, unless another thread then writes another
    // value: in the other order that one would be lost.
    if (mine.is(Record::same_value) || old.is(Record::init) || mine.is(Record::init) ||
        (old.is(Record::same_value) && !(actor.is_write && mine.is(Record::by_lane))))
        return true;
    // All threads write the same pointer, and each reads it: it finds what it wrote itself.
    if (!actor.is_write && old.is(Record::write) && engine_.wrote_it_too(record_of(ref), actor))
        return true;
    return stores_the_same(old, actor);
}

/// Of a read and an atomic update: what was read decides how the reading thread updates the place itself.
bool Harmless::is_guess(const Record& one, const Record& other) {
    const Record& read = one.is(Record::write) ? other : one;
    const Record& update = one.is(Record::write) ? one : other;
    return update.is(Record::update) && read.is(Record::by_lane) && !read.is(Record::write) &&
           !read.is(Record::async) &&
           launch_.shelf.get<GuessedReads>(std::make_shared<GuessedReads>).contains(kernel(), read.pc);
}

/// Two blocks on different host threads may both find the old value before either writes the new one: then
/// neither write counts as one that changes nothing, though they write the same.
bool Harmless::stores_the_same(const Record& old, const Actor& actor) {
    return old.is(Record::write) && actor.is_write && old.cluster != actor.record->cluster &&
           !((old.flags | actor.record->flags) & (Record::async | Record::strong | Record::init)) &&
           launch_.shelf.get<Deliberate>(std::make_shared<Deliberate>)
               .same_value(kernel(), old.pc, actor.record->pc);
}

} // namespace

std::unique_ptr<Rule> make_harmless(const Desk& desk) { return std::make_unique<Harmless>(desk); }

} // namespace emu::check
