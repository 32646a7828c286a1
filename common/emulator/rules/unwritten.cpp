// Values that mean nothing: where they are read, and what is said where they are used.

#include "findings/places.hpp"
#include "findings/words/accesses.hpp"
#include "findings/words/uses.hpp"
#include "hopper_emulator/finding_kinds.hpp"
#include "machine/device.hpp"
#include "rules/analysis/values.hpp"
#include "rules/use_rule.hpp"

#include <bit>
#include <map>
#include <string_view>

namespace emu::check {
namespace {

using ptx::Instruction;

/// Why a value means nothing.
enum Reason : unsigned {
    unwritten_shared, ///< From shared memory that nobody has written.
    unwritten_global, ///< From global memory that nobody has written.
    outside,          ///< From behind the end of its array, as part of a wider load.
};

class Unwritten final : public FollowingRule {
  public:
    using FollowingRule::FollowingRule;
    void on_unwritten(unsigned k, unsigned n, const Actor& actor) override;
    void on_unwritten_copied(unsigned k, unsigned n, const Actor& actor) override;
    void on_overhang(const AccessEvent& event) override;
    void tell_the_rest() override;

    void after_issue(const AsyncOperation& operation) override;

  private:
    void taint_lane(Warp& warp, std::uint32_t pc, unsigned lane, std::int64_t offset, OriginId origin) {
        follow_values();
        values_.taint_register(warp, pc, lane, offset, origin);
    }
    Diagnostic describe(Reason reason, unsigned k, unsigned n, const Actor& actor) const;
    void tell_short_copy(Diagnostic& finding, std::uint32_t address) const;
    void on_use(OriginId origin, Use use, const Warp& warp, unsigned lane, std::uint32_t pc) override;

    std::map<OriginId, Diagnostic> meaningless_; ///< Told at the end, of those that were used.
    std::map<std::uint32_t, Diagnostic>
        copied_unwritten_; ///< Copies of memory that nobody wrote, by instruction; told at the end.
};

Diagnostic Unwritten::describe(Reason reason, unsigned k, unsigned n, const Actor& actor) const {
    Diagnostic d;
    const bool shared = reason == unwritten_shared;
    d.finding = shared ? Finding::uninitialised_shared : Finding::uninitialised_global;
    const auto severity = settings_.uninitialised_global;
    d.fault = shared || severity == CheckSettings::Severity::error ? Fault::launch_failure : Fault::none;
    d.message =
        who(cluster_, actor, k) + " reads " + place(cluster_, actor, k, n) +
        (shared ? ", which no thread has written." : ", which nobody has written since it was allocated.");
    d.advice = shared
                   ? "Shared memory starts with arbitrary contents. Write it first, and put a barrier "
                     "between the write and the read."
                   : "cudaMalloc gives memory with arbitrary contents. Copy data into it or call cudaMemset "
                     "before the launch, or store to it before it is read or added to.";
    d.locations.push_back(line_of(cluster_, actor, "read by " + who(cluster_, actor, k)));
    if (shared)
        tell_short_copy(d, static_cast<std::uint32_t>(actor.word));
    return d;
}

/// The name of a place without what follows the array's own name.
std::string array_at(const Cluster& cluster, std::uint32_t address) {
    const std::string name = shared_name(cluster.info(), shared_offset(address));
    return name.substr(0, name.find_first_of(" +[."));
}

/// What was written last in the array before the place that nobody wrote is the end of a copy: its size may
/// have been counted in elements.
void Unwritten::tell_short_copy(Diagnostic& finding, std::uint32_t address) const {
    std::uint32_t end = 0;
    const std::uint32_t block = address - shared_offset(address);
    const Ref ref = engine_.written_below(address, block + shared_reserved, end);
    if (!ref)
        return;
    const Record& last = engine_.store(true)[record_of(ref)];
    if (!last.is(Record::async) || array_at(cluster_, end - 1) != array_at(cluster_, address))
        return;
    const std::string issuer = who(cluster_, last, ref, 0);
    finding.message += " In front of it the copy ends at " +
                       shared_name(cluster_.info(), shared_offset(end)) + ": " + issuer + " issued it.";
    finding.advice =
        "Look at the copy's size: cp.async, bulk copies and memcpy_async take their size in bytes, count * "
        "sizeof(element). If the size is right, read no further than the copy goes, or write the "
        "rest before the barrier.";
    finding.locations.push_back(line(last.pc, "copy issued by " + issuer));
}

void Unwritten::on_unwritten(unsigned k, unsigned n, const Actor& actor) {
    const std::uint32_t pc = actor.record->pc;
    if (cluster_.stopped())
        return;
    if (!actor.shared && settings_.uninitialised_global == CheckSettings::Severity::off)
        return;
    if (!actor.shared && cluster_.launch().has_company())
        return; // A kernel that runs beside this one may have written it; that is noted when it ends.
    if (actor.is_write && cluster_.info().kernel->sources[pc]->has("exch"))
        return; // atomicExch may give a variable its first value.
    if (actor.record->is(Record::strong) && n < 4)
        return; // Atomics of bytes go through the whole word; what lies beside the byte is put back as it
                // was.
    const Reason reason = actor.shared ? unwritten_shared : unwritten_global;
    const OriginId origin = values_.origin_of(pc, reason);
    if (values_.origin(origin).used)
        return; // It will be told; there is no need to know where else it leads.
    if (!meaningless_.contains(origin))
        meaningless_[origin] = describe(reason, k, n, actor);
    if (actor.is_write && !actor.shared) // An atomic: its result is in global memory.
        return values_.use(origin, Use::stored, *actor.clock->warp, actor.lane, pc);
    if (actor.is_write) // What it leaves is as meaningless as what it found.
        return follow_values(), values_.mark(static_cast<std::uint32_t>(actor.word) + k, n, origin);
    Warp& warp = *actor.clock->warp;
    for (unsigned i = k; i < k + n; ++i) {
        const unsigned lane = lane_at(actor.ref, *actor.record, i);
        const Address base = warp.addresses[lane];
        const auto offset =
            static_cast<std::int64_t>(actor.shared ? Address{static_cast<std::uint32_t>(actor.word)} + i -
                                                         static_cast<std::uint32_t>(base)
                                                   : actor.word + i - base);
        taint_lane(warp, pc, lane, offset, origin);
    }
}

/// Elements of a vector that lie behind the end of the array.
void Unwritten::on_overhang(const AccessEvent& event) {
    const Instruction& instruction = *cluster_.info().kernel->sources[event.pc];
    if (cluster_.stopped() || instruction.operands.front().kind != ptx::Operand::Kind::vector)
        return; // A word around a byte.
    const OriginId origin = values_.origin_of(event.pc, outside);
    if (values_.origin(origin).used)
        return;
    const auto first = static_cast<unsigned>(std::countr_zero(event.overhanging));
    if (!meaningless_.contains(origin)) {
        const std::string reader = thread_name(*event.warp, first);
        Diagnostic& d = meaningless_[origin];
        const bool shared = event.space == ptx::Space::shared;
        const std::uint32_t inside = event.inside[first];
        const Address end = event.addresses[first] + inside;
        d.finding = Finding::out_of_bounds;
        d.message = reader + " reads " +
                    (shared ? std::to_string(event.bytes) + " bytes, of which the last " +
                                  std::to_string(event.bytes - inside) + " are " +
                                  shared_name(cluster_.info(), shared_offset(static_cast<std::uint32_t>(end)))
                            : describe_global_address(cluster_.launch().device().memory(),
                                                      event.addresses[first], event.bytes)) +
                    ".";
        d.advice = "Check the index against the size of the array.";
        d.locations.push_back(line(event.pc, "read by " + reader));
    }
    for_lanes(event.overhanging, [&](unsigned lane) {
        for (std::uint32_t offset = event.inside[lane]; offset < event.bytes; ++offset)
            taint_lane(*event.warp, event.pc, lane, offset, origin);
    });
}

/// A copy to global memory spreads bytes that nobody has written.
void Unwritten::on_unwritten_copied(unsigned k, unsigned n, const Actor& actor) {
    const Operation& copy = operations_[actor.record->operation];
    const std::uint32_t pc = actor.record->pc;
    if (actor.padding || copy.completion != CompletionKind::bulk_group || cluster_.stopped() ||
        copied_unwritten_.contains(pc))
        return;
    Diagnostic d;
    d.finding = Finding::uninitialised_shared;
    d.fault = Fault::none;
    d.message = "The copy to global memory that " + who(cluster_, actor) + " issues takes " +
                place(cluster_, actor, k, n) + ", which no thread has written.";
    d.advice = "Write the whole tile before it is stored, with zeros where there is no data, or store only "
               "the part that has been written.";
    d.locations.push_back(line(pc, "copy issued by " + who(cluster_, actor)));
    copied_unwritten_[pc] = std::move(d);
}

/// An asynchronous operation overwrites what was meaningless, or carries it on.
void Unwritten::after_issue(const AsyncOperation& operation) {
    if (values_.empty())
        return;
    if (operation.writes_shared && operation.source_pieces.empty())
        for (const AsyncPiece& piece : operation.pieces)
            values_.clear(piece.shared, piece.bytes);
    for (std::size_t i = 0; i < operation.source_pieces.size() && i < operation.pieces.size(); ++i)
        values_.copy(operation.source_pieces[i].shared, operation.pieces[i].shared,
                     operation.source_pieces[i].bytes);
    if (operation.reads_shared && operation.writes_global)
        for (const AsyncPiece& piece : operation.pieces)
            if (const OriginId origin = values_.marked(piece.shared, piece.bytes - piece.padding))
                values_.use(origin, Use::copied, *operation.warp, operation.lane, operation.pc);
}

void Unwritten::on_use(OriginId origin, Use use, const Warp& warp, unsigned lane, std::uint32_t pc) {
    const auto found = meaningless_.find(origin);
    if (found == meaningless_.end())
        return;
    Diagnostic& finding = found->second;
    finding.message += " That value, or what was computed from it, is " + std::string(deed(use)) + ".";
    SourceLine use_line = line(pc, "used by " + thread_name(warp, lane));
    const SourceLine& read = finding.locations.front();
    if (use_line.file != read.file || use_line.line != read.line)
        finding.locations.push_back(std::move(use_line));
}

void Unwritten::tell_the_rest() {
    for (auto& [pc, diagnostic] : copied_unwritten_)
        if (!findings_.has_raced(pc))
            publish(std::move(diagnostic));
    copied_unwritten_.clear();
    for (auto& [id, diagnostic] : meaningless_)
        if (const Origin& origin = values_.origin(id); origin.used && !findings_.has_raced(origin.pc))
            publish(std::move(diagnostic));
    meaningless_.clear();
}

} // namespace

std::unique_ptr<Rule> make_unwritten(const Desk& desk) { return std::make_unique<Unwritten>(desk); }

} // namespace emu::check
