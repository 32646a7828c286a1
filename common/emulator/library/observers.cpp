#include "library/observers.hpp"
#include "counters/counters.hpp"
#include "findings/report.hpp"
#include "library/settings.hpp"
#include "machine/device.hpp"
#include "recording/trace.hpp"
#include "rules/checks.hpp"

namespace emu {

void add_default_observers(Device& device, const Settings& settings) {
    if (settings.checks)
        device.add_observer(make_checks(settings));
    if (!settings.counters_file.empty())
        device.add_observer(std::make_unique<Counters>(settings.counters_file));
    if (!settings.trace_file.empty())
        device.add_observer(std::make_unique<Trace>(settings.trace_file));
}

} // namespace emu
