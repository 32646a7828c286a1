/// \file
/// What most files of the machine include.

#include "standard.hpp"

#include "machine/cluster.hpp"
#include "machine/decoder.hpp"
#include "machine/device.hpp"
#include "machine/mistake.hpp"
