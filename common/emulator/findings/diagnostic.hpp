#pragma once
#include "hopper_emulator/findings.hpp"
