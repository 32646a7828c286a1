#pragma once
/// \file
/// What a user of the library attaches to a device.

namespace emu {

class Device;
struct Settings;

/// Attaches checks, counters and time line as the settings ask for.
void add_default_observers(Device& device, const Settings& settings);

} // namespace emu
