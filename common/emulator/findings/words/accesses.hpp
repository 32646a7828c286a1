#pragma once
/// \file
/// Names of what takes part in a finding: threads, places in memory, asynchronous operations.

#include "happens_before/engine.hpp"
#include "hopper_emulator/findings.hpp"

#include <string>

namespace emu::check {

/// "bulk load", "tensor store".
const char* name_of(AsyncKind kind);
/// "read by", "write by", "atomic access by".
std::string verb(const Record& record);

/// "thread (5,0,0) of block (1,0,0)": who accessed byte `k` of a word.
std::string who(Cluster& cluster, const Record& record, Ref ref, unsigned k);
std::string who(Cluster& cluster, const Actor& actor, unsigned k = 0);

/// "4 bytes at tile + 16": bytes k … k + n - 1 of the word that is accessed.
std::string place(Cluster& cluster, const Actor& actor, unsigned k, unsigned n);

/// "mbarrier full + 8", the block of its cluster, and where it was initialised.
std::string barrier_name(Cluster& cluster, std::uint32_t address);

/// The line of an access that happens now, with the calls that brought its thread there.
SourceLine line_of(Cluster& cluster, const Actor& actor, std::string role);

} // namespace emu::check
