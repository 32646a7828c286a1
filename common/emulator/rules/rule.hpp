#pragma once
/// \file
/// What a rule is, and how it tells what it has found. A rule is a class of its own in a file of its own,
/// NAME.cpp, that gets facts and events from the engine (happens_before/facts.hpp, machine/events.hpp) and
/// ends with
///
///     std::unique_ptr<Rule> make_NAME(const Desk& desk) { return std::make_unique<Name>(desk); }
///
/// Its line in findings/list.inc, RULE(NAME), builds it, gives each cluster one, and says when it is asked:
/// rules are asked in the order of that list.

#include "findings/lines.hpp"
#include "happens_before/engine.hpp"
#include "hopper_emulator/findings.hpp"
#include "hopper_emulator/settings.hpp"

#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace emu::check {

/// The findings of one cluster: what was told already.
class Findings {
  public:
    /// True the first time these two instructions get this finding.
    bool first_time(Finding finding, std::uint32_t pc_a, std::uint32_t pc_b);
    bool was_told(Finding finding, std::uint32_t pc_a, std::uint32_t pc_b) const;
    /// The instruction takes part in a race or a missing wait, which says more than what follows from it.
    void note_raced(std::uint32_t pc);
    bool has_raced(std::uint32_t pc) const { return raced_.contains(pc); }
    /// Phases of mbarriers do not end with the bytes of their round: too few were announced, or a stage was
    /// filled for readers who had not been asked. What threads read too early follows from that.
    void note_upset_phases() { has_upset_phases_ = true; }
    bool has_upset_phases() const { return has_upset_phases_; }
    /// Two groups of threads meet at one number of a block barrier, so that it orders neither.
    void note_shared_barrier() { has_shared_barrier_ = true; }
    bool has_shared_barrier() const { return has_shared_barrier_; }

  private:
    std::set<std::tuple<Finding, std::uint32_t, std::uint32_t>> told_;
    std::set<std::uint32_t> raced_;
    bool has_upset_phases_ = false;
    bool has_shared_barrier_ = false;
};

/// What the rules of one cluster work with.
struct Desk {
    Engine& engine;
    Findings& findings;
    const CheckSettings& settings; ///< Outlives the rules.
};

class Rule : public FactListener {
  public:
    explicit Rule(const Desk& desk)
        : engine_(desk.engine), findings_(desk.findings), settings_(desk.settings),
          cluster_(engine_.cluster()), launch_(engine_.launch()), threads_(engine_.threads()),
          operations_(engine_.operations()), mbarriers_(engine_.mbarriers()) {}

  protected:
    const Kernel& kernel() const { return *cluster_.info().kernel; }
    const ptx::Instruction& instruction(std::uint32_t pc) const { return *kernel().sources[pc]; }

    bool first_time(Finding finding, std::uint32_t pc_a, std::uint32_t pc_b) {
        return findings_.first_time(finding, pc_a, pc_b);
    }
    static Diagnostic make(Finding finding, std::string message, std::string advice,
                           std::vector<SourceLine> lines, bool warning = false);
    void publish(Diagnostic diagnostic) { cluster_.report(std::move(diagnostic)); }
    void publish(Finding finding, std::string message, std::string advice, std::vector<SourceLine> lines,
                 bool warning = false) {
        publish(make(finding, std::move(message), std::move(advice), std::move(lines), warning));
    }
    /// A warning about what works on hardware, only where such notes are wanted.
    void note(Finding finding, std::string message, std::string advice, std::vector<SourceLine> lines);
    bool wants_notes() const { return settings_.strict; }
    SourceLine line(std::uint32_t pc, std::string role) const {
        return source_line(cluster_, pc, std::move(role));
    }

    Engine& engine_;
    Findings& findings_;
    const CheckSettings& settings_;
    Cluster& cluster_;
    LaunchState& launch_;
    Threads& threads_;
    std::vector<Operation>& operations_;
    std::unordered_map<std::uint32_t, BarrierState>& mbarriers_;
};

/// The rules of findings/list.inc, in its order.
std::vector<std::unique_ptr<Rule>> make_rules(const Desk& desk);

} // namespace emu::check
