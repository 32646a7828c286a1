#pragma once
/// \file
/// Whether a program uses what it puts into shared memory: an observer that changes it. For judges of
/// exercises.

#include "hopper_emulator/observer.hpp"

#include <memory>

#pragma GCC visibility push(default)
namespace emu {

/// Changes every byte of shared memory that threads have stored or copies have brought, each time a barrier
/// of the block or a phase of an mbarrier completes. What mbarriers hold stays as it is. A program whose
/// results stay right does not use these bytes. Findings of such a launch mean nothing.
std::unique_ptr<Observer> make_shared_changer();

/// Whether EMULATOR_CHANGE_SHARED asks for it, of the CUDA libraries. Throws std::runtime_error for a value
/// that is neither 0 nor 1.
bool asks_for_changed_shared();

} // namespace emu
#pragma GCC visibility pop
