/// \file
/// What most files of the machine and of PTX include.

#include "public.hpp"

#include "machine/cluster.hpp"
#include "machine/device.hpp"
#include "ptx/messages.hpp"
