#pragma once
/// \file
/// What a user of the library attaches to a device.

namespace emu {

class Device;

/// Attaches checks, counters and time line as the device's settings ask for.
void add_default_observers(Device& device);

} // namespace emu
