#include "library/observers.hpp"
#include "counters/counters.hpp"
#include "findings/report.hpp"
#include "happens_before/grid_dependency.hpp"
#include "library/settings.hpp"
#include "machine/device.hpp"
#include "recording/trace.hpp"
#include "rules/checks.hpp"

namespace emu {

void add_default_observers(Device& device, const Settings& settings) {
    if (settings.checks) {
        device.add_observer(make_checks(settings));
        device.add_observer(check::make_grid_observer());
    }
    if (!settings.counters_file.empty())
        device.add_observer(std::make_unique<Counters>(settings.counters_file));
    if (!settings.trace_file.empty())
        device.add_observer(std::make_unique<Trace>(settings.trace_file));
}

} // namespace emu
