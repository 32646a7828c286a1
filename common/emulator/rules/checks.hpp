#pragma once
/// \file
/// The checks as a listener of a device.

#include "machine/events.hpp"
#include "rules/settings.hpp"

#include <memory>

namespace emu {

/// Races, proxies, lost completions, barriers: all rules of findings/list.inc.
std::unique_ptr<Observer> make_checks(const CheckSettings& settings = {});

} // namespace emu
