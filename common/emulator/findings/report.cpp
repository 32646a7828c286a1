#include "findings/report.hpp"

#include "findings/source_text.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <fstream>
#include <mutex>
#include <utility>

namespace emu {
namespace {

constexpr std::size_t most_callers = 6;            ///< Of a line, in the text.
constinit std::array<std::atomic<bool>, 4> lost{}; ///< By Output.

std::string indented(const std::string& text, const std::string& indent) {
    std::string result = indent;
    for (const char c : text) {
        result += c;
        if (c == '\n')
            result += indent;
    }
    return result;
}

const char* severity(const Diagnostic& d) {
    return d.fault != Fault::none ? "error" : d.note ? "note" : "warning";
}

/// A header that programs are given to include, and that whoever reads the finding did not write.
bool is_of_library(const std::string& file) {
    return file.starts_with("include/") || file.find("/include/") != std::string::npos;
}

/// A line and its callers, innermost first.
std::vector<CallSite> chain_of(const SourceLine& line) {
    std::vector<CallSite> chain{{line.file, line.line}};
    chain.insert(chain.end(), line.callers.begin(), line.callers.end());
    return chain;
}

/// Which of the chain is the reader's own: the innermost outside of such headers, or the first if all are in
/// them.
std::size_t own_of(const std::vector<CallSite>& chain) {
    const auto own = std::ranges::find_if(chain, [](const CallSite& at) { return !is_of_library(at.file); });
    return own == chain.end() ? 0 : static_cast<std::size_t>(own - chain.begin());
}

std::string place_of(const CallSite& at) { return at.file + ":" + std::to_string(at.line); }

/// The reader's own line; below it what it calls in headers, down to the instruction's line, and who called
/// it.
std::string text_of(const SourceLine& line) {
    const std::vector<CallSite> chain = chain_of(line);
    const std::size_t own = own_of(chain);
    std::string text = "  --> " + place_of(chain[own]) + ": " + line.role + "\n";
    if (const std::string source = source_text(chain[own].file, chain[own].line); !source.empty())
        text += "      | " + source + "\n";
    for (std::size_t i = own; i-- > 0;) {
        const std::string source = source_text(chain[i].file, chain[i].line);
        text += "      in " + place_of(chain[i]) + (source.empty() ? "" : ": " + source) + "\n";
    }
    const std::size_t end = std::min(chain.size(), own + 1 + most_callers);
    for (std::size_t i = own + 1; i < end; ++i)
        text += "      called from " + place_of(chain[i]) + "\n";
    return end < chain.size() ? text + "      …\n" : text;
}

std::string json_callers(const SourceLine& line) {
    if (line.callers.empty())
        return {};
    std::string text;
    for (const CallSite& caller : line.callers)
        text += (text.empty() ? ",\"callers\":[" : ",") + ("{\"file\":" + json_string(caller.file)) +
                ",\"line\":" + std::to_string(caller.line) + "}";
    text += "]";
    const std::size_t own = own_of(chain_of(line));
    return own != 0 ? text + ",\"own\":" + std::to_string(own) : text;
}

} // namespace

std::string format(const Diagnostic& d) {
    std::string text = severity(d);
    text += "[" + d.name() + "]";
    if (!d.kernel.empty())
        text += " in kernel " + d.kernel;
    text += "\n" + indented(d.message, "  ") + "\n";
    for (const SourceLine& line : d.locations)
        text += text_of(line);
    if (d.more != 0)
        text += "  and " + std::to_string(d.more) + " more like it\n";
    if (!d.advice.empty())
        text += "  what to do: " + d.advice + "\n";
    return text;
}

std::string json_string(std::string_view text) {
    std::string result = "\"";
    for (const char c : text) {
        const auto code = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            result += '\\';
            result += c;
        } else if (c == '\n') {
            result += "\\n";
        } else if (code < 0x20) {
            char escape[8];
            std::snprintf(escape, sizeof escape, "\\u%04x", code);
            result += escape;
        } else {
            result += c;
        }
    }
    return result + "\"";
}

std::string format_json(const Diagnostic& d) {
    std::string text = "{\"name\":" + json_string(d.name()) + ",\"severity\":\"" + severity(d) +
                       "\",\"kernel\":" + json_string(d.kernel) + ",\"message\":" + json_string(d.message) +
                       ",\"advice\":" + json_string(d.advice) + ",\"locations\":[";
    const char* separator = "";
    for (const SourceLine& line : d.locations) {
        text += separator + ("{\"file\":" + json_string(line.file)) +
                ",\"line\":" + std::to_string(line.line) + ",\"role\":" + json_string(line.role) +
                json_callers(line) + "}";
        separator = ",";
    }
    text += "]";
    if (d.more != 0)
        text += ",\"more\":" + std::to_string(d.more);
    return text + "}";
}

void lose_output(Output which, const std::string& file) {
    constexpr const char* names[] = {"report", "counters", "trace", "recording"};
    const auto number = static_cast<std::size_t>(which);
    if (!lost[number].exchange(true))
        std::fprintf(stderr, "emulator: cannot write the %s file %s; it is not complete\n", names[number],
                     file.c_str());
}

bool has_lost_output() {
    return std::ranges::any_of(lost, [](const auto& each) { return each.load(); });
}

void publish(const Diagnostic& diagnostic, const std::string& report_file) {
    static std::mutex mutex;
    const std::lock_guard lock(mutex);
    if (!diagnostic.surplus)
        std::fputs(format(diagnostic).c_str(), stderr);
    static bool told_how = false;
    if (!diagnostic.surplus && diagnostic.lines_of_ptx && !std::exchange(told_how, true))
        std::fputs(
            "emulator: the program was compiled without line information, so lines of its PTX are named; "
            "compile with -lineinfo to see your own lines\n",
            stderr);
    if (report_file.empty())
        return;
    std::ofstream out(report_file, std::ios::app);
    out << format_json(diagnostic) << std::endl;
    if (!out)
        lose_output(Output::report, report_file);
}

} // namespace emu
