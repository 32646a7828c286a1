// Phases of an mbarrier that end although a copy which belongs to them has not landed.

#include "findings/places.hpp"
#include "findings/words/accesses.hpp"
#include "hopper_emulator/finding_kinds.hpp"
#include "machine/mistake.hpp"
#include "rules/rule.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

namespace emu::check {
namespace {

class TxCount final : public Rule {
  public:
    using Rule::Rule;
    void on_mbarrier_init(const MbarrierEvent& event) override { expected_.erase(event.address); }
    void on_mbarrier_arrive(const MbarrierEvent& event) override {
        if (!event.operation && event.warp && event.tx > 0 && mbarriers_.contains(event.address))
            expected_[event.address] = {event.warp, event.lane, event.pc};
    }
    void on_mbarrier_phase(const MbarrierEvent& event) override;
    bool on_mistake(const Mistake& mistake) override;
    void tell_the_rest() override;

  private:
    /// Who announced bytes last.
    struct Expected {
        Warp* warp = nullptr;
        unsigned lane = 0;
        std::uint32_t pc = 0;
    };
    /// A phase that ended before its copies had landed.
    struct Unfinished {
        std::vector<std::uint32_t> operations; ///< Those copies.
        Diagnostic finding;                    ///< About the first of them.
    };
    bool is_told(const Unfinished& unfinished) const;
    void unfinished_phase(std::uint32_t index, std::uint32_t address, std::uint64_t phase);

    std::unordered_map<std::uint32_t, Expected> expected_; ///< By address of the mbarrier.
    /// By mbarrier and phase: told at the end, unless somebody read too early.
    std::map<std::pair<std::uint32_t, std::uint64_t>, Unfinished> unfinished_;
};

void TxCount::on_mbarrier_phase(const MbarrierEvent& event) {
    const auto found = mbarriers_.find(event.address);
    if (found == mbarriers_.end())
        return;
    for (const std::uint32_t index : found->second.pending)
        if (operations_[index].issued_in == event.phase && !operations_[index].reported)
            unfinished_phase(index, event.address, event.phase);
}

void TxCount::unfinished_phase(std::uint32_t index, std::uint32_t address, std::uint64_t phase) {
    Operation& operation = operations_[index];
    if (operation.surplus)
        return;
    findings_.note_upset_phases();
    Unfinished& unfinished = unfinished_[{address, phase}];
    unfinished.operations.push_back(index);
    if (unfinished.operations.size() > 1)
        return;
    const std::string what = name_of(operation.kind);
    const std::string issuer = thread_name(*operation.warp, operation.lane);
    std::vector<SourceLine> lines;
    if (const auto by = expected_.find(address); by != expected_.end())
        lines.push_back(
            line(by->second.pc, "bytes expected by " + thread_name(*by->second.warp, by->second.lane)));
    lines.push_back(line(operation.pc, what + " issued by " + issuer));
    unfinished.finding = make(
        Finding::tx_count_mismatch,
        "Phase " + std::to_string(phase) + " of mbarrier " +
            shared_name(cluster_.info(), shared_offset(address)) + " ended although a " + what + " of " +
            count_of(operation.bytes, "byte") + " that belongs to it has not landed (issued by " + issuer +
            "): the barrier was told to expect too few bytes, so waiting threads go on too early.",
        "expect_tx must announce the bytes of all copies of the phase, edges included: the full box of a "
        "tensor copy.",
        std::move(lines));
}

/// The machine sees at the block's end that more bytes came than were expected, and stops: the phase that
/// ended without them says more of the same mistake.
bool TxCount::on_mistake(const Mistake& mistake) {
    const auto fact = std::ranges::find(mistake.facts, "barrier", &Fact::name);
    if (mistake.finding != Finding::tx_count_mismatch || fact == mistake.facts.end())
        return false;
    const auto* const barrier = std::get_if<SharedPlace>(&fact->value);
    const auto found = std::ranges::find_if(unfinished_, [&](const auto& each) {
        return barrier && each.first.first == barrier->address && !is_told(each.second);
    });
    if (found == unfinished_.end())
        return false;
    Diagnostic finding = std::move(found->second.finding);
    unfinished_.erase(found);
    cluster_.report(std::move(finding), mistake.fatal);
    return true;
}

/// Somebody has read too early: that was told.
bool TxCount::is_told(const Unfinished& unfinished) const {
    return std::ranges::any_of(unfinished.operations,
                               [&](std::uint32_t index) { return operations_[index].reported; });
}

void TxCount::tell_the_rest() {
    for (auto& [where, each] : unfinished_)
        if (!is_told(each))
            publish(std::move(each.finding));
    unfinished_.clear();
}

} // namespace

std::unique_ptr<Rule> make_tx_count(const Desk& desk) { return std::make_unique<TxCount>(desk); }

} // namespace emu::check
