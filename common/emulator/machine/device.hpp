#pragma once
/// \file
/// The device as the inside of the library needs it: with what a launch and a program are.

#include "hopper_emulator/device.hpp"
#include "machine/launch.hpp"
#include "machine/program.hpp"
