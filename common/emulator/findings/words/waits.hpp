#pragma once
/// \file
/// Why the wait or the barrier that a program has does not order what it should, and what to write instead.

#include "happens_before/engine.hpp"
#include "hopper_emulator/findings.hpp"

#include <string>
#include <vector>

namespace emu::check {

/// What is wrong with the wait or barrier that the program has; empty if nothing is known.
struct Hint {
    std::string message; ///< A sentence that follows the finding.
    std::string advice;
    std::vector<SourceLine> lines{};
    explicit operator bool() const { return !message.empty(); }
    /// Adds itself to a finding, if there is anything to add.
    void extend(Diagnostic& finding) const;
};

class Waits {
  public:
    explicit Waits(Engine& engine) : engine_(engine), cluster_(engine.cluster()) {}

    /// How to wait for an operation, in the words of the interface by which the program asked for it.
    std::string how_to_wait(const Operation& operation, bool reading_source) const;

    // -- barriers that were passed and publish nothing
    Hint relaxed_order(const Record& old, Ref ref, unsigned k, const Actor& actor);
    /// The reader has read a flag that was released behind the write, but did not acquire it.
    Hint unfenced_flag(const Record& old, Ref ref, unsigned k, const Actor& actor);

    // -- waits that did not wait for this operation
    Hint short_wait(const Operation& operation, const Record& record, Ref ref, const Actor& reader);
    /// The reader has waited for as many cp.async groups of its own as the copy's thread must wait for: the
    /// threads do the same, and only a barrier lacks.
    bool reader_waits_as_much(const Operation& operation, const Record& record, Ref ref, const Actor& reader);
    Hint short_group_wait(const Operation& operation, const Record& record, Ref ref);
    /// Groups belong to the thread that committed them; that others wait is a common misunderstanding.
    Hint foreign_group_wait(const Operation& operation, const Record& record, Ref ref);
    /// `may_wait_for_it`: another thread may wait for the reader.
    Hint wrong_phase(const Operation& operation, Component reader, bool may_wait_for_it = true);
    /// The reader asked whether the phase had ended, and did not wait until it had.
    Hint ignored_wait(const Operation& operation, const Warp& reader, unsigned lane);
    /// Nobody waits at the copy's barrier, but the reader waits at another one.
    Hint other_barrier(const Operation& operation, Component reader);

  private:
    Hint relaxed_arrival(const Withheld& withheld, const std::string& barrier, const std::string& instead,
                         const Record& old, Component component, const Actor& actor);

    Engine& engine_;
    Cluster& cluster_;
};

} // namespace emu::check
