#include "hopper_emulator/version.hpp"

namespace emu {

std::string_view version() { return HOPPER_EMULATOR_VERSION; } // The build file defines it.

} // namespace emu
