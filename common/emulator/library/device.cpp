#include "hopper_emulator/device.hpp"
#include "findings/log.hpp"
#include "happens_before/grid_dependency.hpp"
#include "hopper_emulator/capsule.hpp"
#include "hopper_emulator/counters.hpp"
#include "hopper_emulator/recording.hpp"
#include "library/attach.hpp"

namespace emu {

std::unique_ptr<Device> make_device(const Settings& settings) {
    auto device = std::make_unique<Device>(settings, make_reporter());
    attach_all(*device, settings);
    return device;
}

void attach_all(Device& device, const Settings& settings) {
    if (settings.checks) {
        device.add_observer(make_checks(settings));
        device.add_observer(check::make_grid_observer());
    }
    if (!settings.counters_file.empty())
        device.add_observer(std::make_unique<Counters>(settings.counters_file));
    if (!settings.trace_file.empty())
        device.add_observer(std::make_unique<Trace>(settings.trace_file));
    if (!settings.record_file.empty())
        device.add_observer(make_recorder({settings.record_file, settings.record_only}, settings));
}

} // namespace emu
