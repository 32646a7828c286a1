#pragma once
#include "hopper_emulator/footprint.hpp"
