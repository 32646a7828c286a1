#pragma once
#include "hopper_emulator/grid_dependency.hpp"
