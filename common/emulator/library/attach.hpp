#pragma once
/// \file
/// What the settings ask to attach to a device.

#include "hopper_emulator/device.hpp"

namespace emu {

/// The checks, the counters, the time line and the recorder that the settings ask for.
void attach_all(Device& device, const Settings& settings);

} // namespace emu
