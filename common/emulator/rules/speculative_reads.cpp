// Reads of values that nobody needs so far: what is wrong with such a read is told once it is used.

#include "rules/analysis/speculative.hpp"
#include "rules/rule.hpp"

namespace emu::check {
namespace {

class SpeculativeReads final : public Rule {
  public:
    explicit SpeculativeReads(const Desk& desk)
        : Rule(desk), loads_(launch_.shelf.get<SpeculativeSites>([this] {
              return std::make_shared<SpeculativeSites>(find_speculative_loads(kernel()));
          })) {
        if (!loads_.any())
            return;
        engine_.watch(*this, Watch::instructions);
        engine_.watch(*this, Watch::accesses);
    }
    void on_instruction(Warp& warp, std::uint32_t pc, LaneMask mask) override {
        loads_.before_instruction(warp, pc, mask);
    }
    void on_skipped(Warp& warp, std::uint32_t pc) override { loads_.before_instruction(warp, pc, 0); }
    void on_access(const AccessEvent& event) override {
        if (loads_.is_site(event.pc) && event.kind == AccessKind::read)
            loads_.read(*event.warp, event.pc, event.mask, threads_.of(*event.warp).now);
    }
    bool on_conflict(const Meeting& meeting) override;

  private:
    SpeculativeLoads loads_;
};

/// True if the read among the two is of a value that nobody needs so far.
bool SpeculativeReads::on_conflict(const Meeting& meeting) {
    const Record& mine = *meeting.actor.record;
    const bool old_reads = !meeting.old.is(Record::write);
    const Record& read = old_reads ? meeting.old : mine;
    if (!loads_.is_site(read.pc) || !read.is(Record::by_lane) || read.is(Record::write) ||
        read.cluster != threads_.cluster())
        return false;
    const unsigned lane = lane_at(old_reads ? meeting.ref : meeting.actor.ref, read, meeting.k);
    const std::uint32_t other = old_reads ? mine.pc : meeting.old.pc;
    return loads_.when_used(read.warp, read.pc, read.epoch, lane, other,
                            [this, meeting] { engine_.ask_next(*this, meeting); });
}

} // namespace

std::unique_ptr<Rule> make_speculative_reads(const Desk& desk) {
    return std::make_unique<SpeculativeReads>(desk);
}

} // namespace emu::check
