#pragma once
#include "hopper_emulator/host_threads.hpp"
