#pragma once
#include "hopper_emulator/counters.hpp"
