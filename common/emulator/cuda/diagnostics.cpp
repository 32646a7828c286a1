#include "cuda/diagnostics.hpp"
#include "cuda/state.hpp"

namespace emu::cuda {

void report(const State& state, const Diagnostic& diagnostic) {
    publish(diagnostic, state.settings().report_file);
    if (!diagnostic.note)
        note_finding(diagnostic.fault != Fault::none);
}

} // namespace emu::cuda
