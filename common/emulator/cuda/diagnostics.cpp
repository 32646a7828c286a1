#include "cuda/diagnostics.hpp"
#include "cuda/state.hpp"

#include "findings/report.hpp"
#include "library/observers.hpp"

namespace emu::cuda {

void add_observers(Device& device) { add_default_observers(device); }

void report(const Device& device, const Diagnostic& diagnostic) {
    publish(diagnostic, device.settings());
    if (!diagnostic.note)
        note_finding(diagnostic.fault != Fault::none);
}

} // namespace emu::cuda
