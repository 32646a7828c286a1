/// \file
/// What most files of the rules and of their words include.

#include "standard.hpp"

#include "findings/lines.hpp"
#include "findings/places.hpp"
#include "findings/words/accesses.hpp"
#include "hopper_emulator/finding_kinds.hpp"
#include "machine/cluster.hpp"
#include "machine/device.hpp"
#include "rules/rule.hpp"
