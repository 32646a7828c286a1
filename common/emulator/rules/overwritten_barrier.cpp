// Ordinary data over an mbarrier that is used after that.

#include "findings/places.hpp"
#include "findings/words/accesses.hpp"
#include "hopper_emulator/finding_kinds.hpp"
#include "rules/rule.hpp"

#include <unordered_map>

namespace emu::check {
namespace {

class OverwrittenBarrier final : public Rule {
  public:
    using Rule::Rule;
    void on_barrier_overwritten(const Actor& actor) override;
    void on_mbarrier_init(const MbarrierEvent& event) override { overwritten_.erase(event.address); }
    void on_mbarrier_arrive(const MbarrierEvent& event) override { check_overwritten(event); }
    void on_mbarrier_observed(const MbarrierEvent& event) override { check_overwritten(event); }
    void on_mbarrier_passed_fresh(const MbarrierEvent& event) override { check_overwritten(event); }

  private:
    struct Write {
        std::string writer;
        std::uint32_t pc = 0;
    };
    void check_overwritten(const MbarrierEvent& event);

    std::unordered_map<std::uint32_t, Write> overwritten_; ///< By address of the mbarrier.
};

void OverwrittenBarrier::on_barrier_overwritten(const Actor& actor) {
    const auto address = static_cast<std::uint32_t>(actor.word) & ~7u;
    const auto found = mbarriers_.find(address);
    const Mbarrier* const object = cluster_.mbarrier(address);
    if (found == mbarriers_.end() || !object || object->invalidated || overwritten_.contains(address))
        return;
    overwritten_[address] = {who(cluster_, actor), actor.record->pc};
}

/// Memory of an mbarrier may serve something else when nobody uses the barrier any more. Told when somebody
/// does.
void OverwrittenBarrier::check_overwritten(const MbarrierEvent& event) {
    const auto found = overwritten_.find(event.address);
    if (found == overwritten_.end())
        return;
    const auto& [writer, written_pc] = found->second;
    if (!first_time(Finding::barrier_uninitialised, event.pc, written_pc))
        return;
    const std::string name = "mbarrier " + shared_name(cluster_.info(), shared_offset(event.address));
    const std::string user =
        event.warp ? thread_name(*event.warp, event.lane) : std::string("an asynchronous copy");
    std::vector<SourceLine> lines{line(written_pc, "written by " + writer)};
    if (event.warp)
        lines.push_back(line(event.pc, "used by " + user));
    publish(Finding::barrier_uninitialised,
            writer + " wrote ordinary data over " + name + ", which " + user +
                " uses after that. The object is destroyed; what the barrier does now is not defined.",
            "Only mbarrier instructions may touch the 8 bytes between mbarrier.init and mbarrier.inval. "
            "Check the index of the write: an array that lies before the barrier may have been overrun.",
            std::move(lines));
}

} // namespace

std::unique_ptr<Rule> make_overwritten_barrier(const Desk& desk) {
    return std::make_unique<OverwrittenBarrier>(desk);
}

} // namespace emu::check
