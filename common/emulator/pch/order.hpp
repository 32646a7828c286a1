/// \file
/// What most files that follow the order of accesses include.

#include "public.hpp"

#include "happens_before/engine.hpp"
#include "machine/cluster.hpp"
#include "machine/device.hpp"
