#pragma once
#include "hopper_emulator/catalogue.hpp"
