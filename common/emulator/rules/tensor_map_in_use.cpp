// A tensor map in global memory that changes while a copy which reads it is under way.

#include "findings/lines.hpp"
#include "findings/places.hpp"
#include "findings/words/accesses.hpp"
#include "hopper_emulator/finding_kinds.hpp"
#include "rules/analysis/tensor_map_history.hpp"
#include "rules/rule.hpp"

#include <algorithm>
#include <vector>

namespace emu::check {
namespace {

class TensorMapInUse final : public Rule {
  public:
    using Rule::Rule;
    void after_issue(const AsyncOperation& operation) override;
    void on_access(const AccessEvent& event) override;
    void on_tensor_map_access(Warp& warp, unsigned lane, std::uint32_t pc, Address map,
                              AccessKind kind) override;
    void on_async_wait(Warp& warp, unsigned lane, CompletionKind kind, std::uint64_t pending, std::uint64_t,
                       std::uint32_t) override;

  private:
    struct Use {
        Address map = 0;
        std::uint32_t operation = 0;
    };
    bool is_done(const Use& use, const Warp& warp, unsigned lane) const;
    void check(const Warp& warp, unsigned lane, std::uint32_t pc, Address address, Address bytes);

    std::vector<Use> uses_; ///< By copies that may be under way.
};

void TensorMapInUse::after_issue(const AsyncOperation& operation) {
    if (!operation.tensor_map || !is_map_in_global_memory(cluster_, operation.tensor_map))
        return;
    engine_.watch(*this, Watch::accesses);
    std::erase_if(uses_, [&](const Use& use) { return is_done(use, *operation.warp, operation.lane); });
    uses_.push_back({operation.tensor_map, static_cast<std::uint32_t>(operations_.size() - 1)});
}

/// The thread knows that the copy has completed. (One that another thread waited for: it was told.)
bool TensorMapInUse::is_done(const Use& use, const Warp& warp, unsigned lane) const {
    const Operation& copy = operations_[use.operation];
    const bool shared = copy.writes ? copy.writes_shared : copy.reads_shared;
    const Record& record =
        engine_.store(shared)[copy.reads && !copy.writes_shared ? copy.reads : copy.writes];
    return threads_.sees(threads_.of(warp), lane, record,
                         Threads::component_of(record, make_ref(0, copy.lane), 0));
}

/// CUTLASS waits for all bulk groups of the issuing thread before it changes a map, also where the copies
/// were loads, which complete at mbarriers: it takes that for the end of the reads of the map.
void TensorMapInUse::on_async_wait(Warp& warp, unsigned, CompletionKind kind, std::uint64_t pending,
                                   std::uint64_t, std::uint32_t) {
    if (kind == CompletionKind::bulk_group && pending == 0)
        std::erase_if(uses_, [&](const Use& use) { return operations_[use.operation].warp == &warp; });
}

void TensorMapInUse::on_access(const AccessEvent& event) {
    if (uses_.empty() || event.space != ptx::Space::global || event.kind == AccessKind::read)
        return;
    for_lanes(event.mask & event.changing,
              [&](unsigned lane) { check(*event.warp, lane, event.pc, event.addresses[lane], event.bytes); });
}

void TensorMapInUse::on_tensor_map_access(Warp& warp, unsigned lane, std::uint32_t pc, Address map,
                                          AccessKind kind) {
    if (kind == AccessKind::write && !uses_.empty() && !in_shared_window(map))
        check(warp, lane, pc, map, TensorMapHistory::map_bytes);
}

void TensorMapInUse::check(const Warp& warp, unsigned lane, std::uint32_t pc, Address address,
                           Address bytes) {
    const bool whole_warp = instruction(pc).has("cp_fenceproxy");
    for (const Use& use : uses_) {
        if (address >= use.map + TensorMapHistory::map_bytes || use.map >= address + bytes ||
            is_done(use, warp, lane))
            continue;
        bool known = false;
        for (unsigned i = 0; whole_warp && i < warp_size; ++i)
            known |= is_done(use, warp, i);
        const Operation& copy = operations_[use.operation];
        if (known || !first_time(Finding::overwrite_in_flight, copy.pc, pc))
            continue;
        const std::string writer = thread_name(warp, lane);
        const std::string issuer = thread_name(*copy.warp, copy.lane);
        const std::string what = name_of(copy.kind);
        publish(Finding::overwrite_in_flight,
                writer + " changes a tensor map in global memory; the " + what + " that " + issuer +
                    " issued with it is under way and may still read the tensor map.",
                "Keep a map of its own for each stage, or wait for the copy before the change.",
                {line(copy.pc, what + " issued by " + issuer), line(pc, "changed by " + writer)});
        return;
    }
}

} // namespace

std::unique_ptr<Rule> make_tensor_map_in_use(const Desk& desk) {
    return std::make_unique<TensorMapInUse>(desk);
}

} // namespace emu::check
