#pragma once
#include "hopper_emulator/address.hpp"
