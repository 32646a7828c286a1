#pragma once
#include "hopper_emulator/dim3.hpp"
