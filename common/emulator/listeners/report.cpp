#include "listeners/report.hpp"

#include <cstdio>
#include <fstream>
#include <mutex>

namespace emu {
namespace {

/// Line `number` of a file without its indentation, or "" if it cannot be read.
std::string text_of_line(const std::string& file, std::uint32_t number) {
    std::ifstream in(file);
    std::string line;
    for (std::uint32_t i = 0; i < number && in; ++i)
        std::getline(in, line);
    if (!in && line.empty())
        return {};
    const auto first = line.find_first_not_of(" \t");
    return first == std::string::npos ? std::string() : line.substr(first);
}

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

} // namespace

std::string format(const Diagnostic& d) {
    std::string text = severity(d);
    text += "[" + d.name + "]";
    if (!d.kernel.empty())
        text += " in kernel " + d.kernel;
    text += "\n" + indented(d.message, "  ") + "\n";
    for (const SourceLine& line : d.locations) {
        text += "  --> " + line.file + ":" + std::to_string(line.line) + ": " + line.role + "\n";
        if (const std::string source = text_of_line(line.file, line.line); !source.empty())
            text += "      | " + source + "\n";
    }
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
    std::string text = "{\"name\":" + json_string(d.name) + ",\"severity\":\"" + severity(d) +
                       "\",\"kernel\":" + json_string(d.kernel) + ",\"message\":" + json_string(d.message) +
                       ",\"advice\":" + json_string(d.advice) + ",\"locations\":[";
    const char* separator = "";
    for (const SourceLine& line : d.locations) {
        text += separator + ("{\"file\":" + json_string(line.file)) +
                ",\"line\":" + std::to_string(line.line) + ",\"role\":" + json_string(line.role) + "}";
        separator = ",";
    }
    return text + "]}";
}

void publish(const Diagnostic& diagnostic, const Settings& settings) {
    static std::mutex mutex;
    const std::lock_guard lock(mutex);
    std::fputs(format(diagnostic).c_str(), stderr);
    if (settings.report_file.empty())
        return;
    std::ofstream out(settings.report_file, std::ios::app);
    out << format_json(diagnostic) << '\n';
    if (!out)
        std::fprintf(stderr, "emulator: cannot write the report file %s\n", settings.report_file.c_str());
}

void publish(const LaunchResult& result, const Settings& settings) {
    for (const Diagnostic& diagnostic : result.diagnostics)
        publish(diagnostic, settings);
}

} // namespace emu
