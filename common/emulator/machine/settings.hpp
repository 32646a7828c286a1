#pragma once
#include "hopper_emulator/settings.hpp"
