#pragma once
/// \file
/// What kernels do with griddepcontrol: what they touch before they have waited, and what they read after
/// they have let others begin. Whoever orders launches compares that.

#include "machine/events.hpp"

#include <memory>

namespace emu::check {

std::unique_ptr<Observer> make_grid_observer();

} // namespace emu::check
