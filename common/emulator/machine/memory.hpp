#pragma once
#include "hopper_emulator/memory.hpp"
