#pragma once
/// \file
/// The words for a deadlock: who waits where, which wait is the root of the others, and what mends it.

#include "hopper_emulator/findings.hpp"
#include "machine/deadlock.hpp"

#include <string>

namespace emu {

/// The deadlock as a finding, without the kernel's name.
Diagnostic put_into_words(const Deadlock& deadlock);

/// "at mbarrier bar, phase 0: 1 of 2 arrivals missing, tx-count 0 bytes". Of parities only where the root of
/// all is one.
std::string describe_wait(const DeadlockFacts& facts, const WaitGroup& group, Cause root);
/// What there is to say of the root besides the list of waits; empty if that says all.
std::string describe_cause(const DeadlockFacts& facts, const Root& root);
/// What mends it.
std::string advice_for(const DeadlockFacts& facts, const Root& root);

/// "thread (0,0,0) of block (0,0,0) and 31 more".
std::string describe_threads(const DeadlockFacts& facts, const ThreadSet& threads);
/// "block (0,0,0)".
std::string block_name(const Block& block);
/// The variable of the mbarrier at which a group waits.
std::string barrier_name(const DeadlockFacts& facts, const WaitGroup& group);

} // namespace emu
