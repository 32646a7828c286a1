#pragma once
/// \file
/// The words for what the machine reports as facts. One file for each family has a table of them; a new
/// mistake is a row there.

#include "hopper_emulator/findings.hpp"
#include "machine/mistake.hpp"

#include <span>
#include <string>
#include <string_view>

namespace emu {

/// How one kind of mistake is said. `{name}` stands for the fact of that name, `{thread}` for the thread that
/// made it, `{name.advice}` for what to do about bytes of global memory, and `{name:noun}` for a number of
/// them: "1 noun", "2 nouns".
struct MistakeWords {
    std::string_view kind; ///< Mistake::kind or Flaw::kind.
    std::string_view message;
    std::string_view advice = {};
    std::string_view role = "by {thread}"; ///< What happened at the instruction.
    std::string_view other_role = {};      ///< … and at the other one, if the mistake has one.
    bool other_first = false;              ///< The other instruction is told first.
};

// The tables.
std::span<const MistakeWords> barrier_words();
std::span<const MistakeWords> cluster_words();
std::span<const MistakeWords> control_words();
std::span<const MistakeWords> copy_words();
std::span<const MistakeWords> launch_words();
std::span<const MistakeWords> memory_words();
std::span<const MistakeWords> tensor_map_words();

/// All of them.
std::span<const std::span<const MistakeWords>> all_mistake_words();
/// nullptr if there are no words for the kind.
const MistakeWords* find_words(std::string_view kind);

/// The mistake as a finding, without the kernel's name.
Diagnostic put_into_words(const Mistake& mistake);
/// What is wrong, as a part of a sentence.
std::string put_into_words(const Flaw& flaw);

} // namespace emu
