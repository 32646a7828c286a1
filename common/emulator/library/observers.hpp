#pragma once
/// \file
/// The listeners, by what they are for.

#include "machine/device.hpp"

#include <memory>
#include <string>

namespace emu {

/// Races, proxies, lost completions, barriers.
std::unique_ptr<Observer> make_checks();

} // namespace emu
