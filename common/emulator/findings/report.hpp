#pragma once
/// \file
/// Findings for people and for programs.

#include "findings/diagnostic.hpp"

#include <string>

namespace emu {

/// The finding as a reader sees it: "error[NAME] in kernel …", the message, the source lines with their text,
/// and what to do.
std::string format(const Diagnostic& diagnostic);

/// The finding as one line of JSON, without line end:
/// {"name":…,"severity":"error"|"warning"|"note","kernel":…,"message":…,"advice":…,"locations":[{"file":…,"line":…,"role":…},…]}.
/// A location in a function that was called also has "callers":[{"file":…,"line":…},…], innermost first; a
/// finding that occurs in several copies of the same lines has "more":N, the number of the others.
std::string format_json(const Diagnostic& diagnostic);

/// Writes a finding to stderr and, if `report_file` is not empty, as a line at the end of that file. After
/// the first one that names lines of the PTX, says how to see the program's own.
void publish(const Diagnostic& diagnostic, const std::string& report_file);

/// Text as a JSON string, quotes included. Bytes that are not UTF-8 pass unchanged.
std::string json_string(std::string_view text);

} // namespace emu
