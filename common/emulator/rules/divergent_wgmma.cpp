// wgmma that not all warps of a warpgroup execute (PTX ISA 9.7.15.5.2: "all threads in the warpgroup must
// execute the same wgmma.mma_async instruction").

#include "findings/places.hpp"
#include "hopper_emulator/finding_kinds.hpp"
#include "machine/instructions/matrix/wgmma_forms.hpp"
#include "rules/rule.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <map>

namespace emu::check {
namespace {

using matrix::warpgroup_warps;

class DivergentWgmma final : public Rule {
  public:
    explicit DivergentWgmma(const Desk& desk) : Rule(desk) {
        if (kernel().has_wgmma)
            engine_.watch(*this, Watch::instructions);
    }
    void on_instruction(Warp& warp, std::uint32_t pc, LaneMask mask) override;
    void on_thread_exit(const WarpLanes& lanes) override;

  private:
    /// What the warps of a warpgroup have executed: of those that are ahead of others, from the slowest on.
    struct Group {
        std::deque<std::uint32_t> ahead;
        std::uint64_t first = 0; ///< Number of the first of these.
        std::array<std::uint64_t, warpgroup_warps> executed{};
        std::array<const Warp*, warpgroup_warps> ended{};
        bool told = false;
    };
    using Key = std::pair<const Block*, unsigned>;

    bool is_same(std::uint32_t a, std::uint32_t b) const {
        return a == b || instruction(a).modifiers == instruction(b).modifiers;
    }
    /// `fault`: an H200 stops a kernel whose wgmma lacks a warp, and no other one.
    void tell(const Warp& warp, Group& group, std::uint32_t pc, std::string other,
              Fault fault = Fault::illegal_instruction);

    std::map<Key, Group> groups_;
};

std::string without_it(const Warp& warp) {
    return "the warp of " + thread_name(warp, 0) + " has ended without it.";
}

void DivergentWgmma::on_instruction(Warp& warp, std::uint32_t pc, LaneMask mask) {
    if (mask == 0 || instruction(pc).opcode != "wgmma" || !instruction(pc).has("mma_async")) [[likely]]
        return;
    Group& group = groups_[{&warp.block(), warp.index() / warpgroup_warps}];
    if (warp.block().thread_count() < (warp.index() / warpgroup_warps + 1) * warpgroup_warps * warp_size)
        return tell(warp, group, pc,
                    "the block has " + std::to_string(warp.block().thread_count()) +
                        " threads, and the last warpgroup is not complete.");
    std::uint64_t& mine = group.executed[warp.index() % warpgroup_warps];
    const std::uint64_t number = mine++;
    if (number - group.first == group.ahead.size())
        group.ahead.push_back(pc);
    else if (!is_same(group.ahead[number - group.first], pc))
        tell(warp, group, pc,
             "another warp executed that of " + line(group.ahead[number - group.first], "").file + ":" +
                 std::to_string(line(group.ahead[number - group.first], "").line) + " in its place.",
             Fault::launch_failure);
    for (const Warp* ended : group.ended)
        if (ended && group.executed[ended->index() % warpgroup_warps] <= number)
            tell(warp, group, pc, without_it(*ended));
    const std::uint64_t slowest = std::ranges::min(group.executed);
    for (; group.first < slowest; ++group.first)
        group.ahead.pop_front();
}

void DivergentWgmma::on_thread_exit(const WarpLanes& lanes) {
    const Warp& warp = *lanes.warp;
    const auto found = groups_.find({&warp.block(), warp.index() / warpgroup_warps});
    if (!warp.finished() || cluster_.stopped())
        return;
    if (found == groups_.end()) {
        if (kernel().has_wgmma)
            groups_[{&warp.block(), warp.index() / warpgroup_warps}].ended[warp.index() % warpgroup_warps] =
                &warp;
        return;
    }
    Group& group = found->second;
    group.ended[warp.index() % warpgroup_warps] = &warp;
    const std::uint64_t mine = group.executed[warp.index() % warpgroup_warps];
    if (mine - group.first < group.ahead.size())
        tell(warp, group, group.ahead[mine - group.first], without_it(warp));
}

void DivergentWgmma::tell(const Warp& warp, Group& group, std::uint32_t pc, std::string other, Fault fault) {
    if (std::exchange(group.told, true) || !first_time(Finding::divergent_wgmma, pc, pc))
        return;
    const unsigned first = warp.index() / warpgroup_warps * warpgroup_warps;
    Diagnostic finding =
        make(Finding::divergent_wgmma,
             "This wgmma was not executed by all four warps of its warpgroup (warps " +
                 std::to_string(first) + " to " + std::to_string(first + warpgroup_warps - 1) + "); " + other,
             "Let all four warps of a warpgroup execute the same wgmma, equally often: launch a "
             "multiple of 128 threads, and let roles be whole warpgroups (threadIdx.x / 128).",
             {line(pc, "wgmma")});
    finding.fault = fault;
    publish(std::move(finding));
}

} // namespace

std::unique_ptr<Rule> make_divergent_wgmma(const Desk& desk) {
    return std::make_unique<DivergentWgmma>(desk);
}

} // namespace emu::check
