#pragma once
#include "hopper_emulator/recording.hpp"
