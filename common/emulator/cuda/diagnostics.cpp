#include "cuda/diagnostics.hpp"

#include <cstdio>
#include <string>

namespace emu::cuda {

void add_observers(Device&) {}

void report(const Device&, const Diagnostic& diagnostic) {
    std::string text = "emulator: " + diagnostic.name + " in " + diagnostic.kernel + ": " + diagnostic.message + "\n";
    for (const SourceLine& line : diagnostic.locations)
        text += "  " + line.file + ":" + std::to_string(line.line) + ": " + line.role + "\n";
    if (!diagnostic.advice.empty())
        text += "  " + diagnostic.advice + "\n";
    std::fputs(text.c_str(), stderr);
}

} // namespace emu::cuda
