/// \file
/// The public headers, before all others: the first declaration of a class says whether it can be seen from
/// outside of the library, and others declare some of them without saying it.

#include "standard.hpp"

#include "hopper_emulator/grid_dependency.hpp"
#include "hopper_emulator/host_threads.hpp"

#include "hopper_emulator/catalogue.hpp"
#include "hopper_emulator/changed_shared.hpp"
#include "hopper_emulator/counters.hpp"
#include "hopper_emulator/device.hpp"
#include "hopper_emulator/recording.hpp"
#include "hopper_emulator/tensor_map.hpp"
#include "hopper_emulator/version.hpp"
