#pragma once
#include "hopper_emulator/observer.hpp"
