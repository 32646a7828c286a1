#include "cuda/diagnostics.hpp"
#include "cuda/state.hpp"

#include <cstdio>

namespace emu::cuda {

void report(const State& state, const Diagnostic& diagnostic) {
    publish(diagnostic, state.settings().report_file);
    if (!diagnostic.note)
        note_finding(diagnostic.fault != Fault::none);
}

void report(const State& state, const std::vector<Diagnostic>& diagnostics) {
    std::size_t warnings = 0, notes = 0;
    for (const Diagnostic& each : diagnostics) {
        report(state, each);
        if (each.surplus)
            ++(each.note ? notes : warnings);
    }
    const std::string& file = state.settings().report_file;
    const auto tell = [&](std::size_t count, const char* what) {
        if (count)
            std::fprintf(stderr, "and %zu more %s%s in kernel %s; %s has %s\n", count, what,
                         count == 1 ? "" : "s", diagnostics.front().kernel.c_str(),
                         file.empty() ? "a report file (--report, EMULATOR_REPORT)" : file.c_str(),
                         count == 1 ? "it" : "them");
    };
    tell(warnings, "warning");
    tell(notes, "note");
}

} // namespace emu::cuda
