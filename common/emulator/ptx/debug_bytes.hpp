#pragma once
/// \file
/// The text of a debug section (PTX ISA 9.0, sections 11.5.1 and 11.5.2) to the bytes that it stands for.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>

namespace emu::ptx {

/// The bytes of a `.section`, with what only a linker knows left as names.
struct DebugBytes {
    std::string bytes;
    /// Names in place of numbers, by the offset of their first byte. The bytes there hold the addend.
    std::map<std::uint64_t, std::string> names;
    /// Labels of the section: the offset that each stands before.
    std::unordered_map<std::string, std::uint64_t> labels;
};

/// Reads as far as the text has a meaning. Never throws for what stands in it: debug information explains,
/// and a program that runs must not fail for it.
DebugBytes debug_bytes(std::string_view text);

} // namespace emu::ptx
