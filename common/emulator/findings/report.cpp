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

/// Who called the function of a line, one line each.
std::string callers_of(const SourceLine& line) {
    std::string text;
    for (std::size_t i = 0; i < std::min(line.callers.size(), most_callers); ++i)
        text +=
            "      called from " + line.callers[i].file + ":" + std::to_string(line.callers[i].line) + "\n";
    return line.callers.size() > most_callers ? text + "      …\n" : text;
}

std::string json_callers(const SourceLine& line) {
    if (line.callers.empty())
        return {};
    std::string text;
    for (const CallSite& caller : line.callers)
        text += (text.empty() ? ",\"callers\":[" : ",") + ("{\"file\":" + json_string(caller.file)) +
                ",\"line\":" + std::to_string(caller.line) + "}";
    return text + "]";
}

} // namespace

std::string format(const Diagnostic& d) {
    std::string text = severity(d);
    text += "[" + d.name() + "]";
    if (!d.kernel.empty())
        text += " in kernel " + d.kernel;
    text += "\n" + indented(d.message, "  ") + "\n";
    for (const SourceLine& line : d.locations) {
        text += "  --> " + line.file + ":" + std::to_string(line.line) + ": " + line.role + "\n";
        if (const std::string source = source_text(line.file, line.line); !source.empty())
            text += "      | " + source + "\n";
        text += callers_of(line);
    }
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
