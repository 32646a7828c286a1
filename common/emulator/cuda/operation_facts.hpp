#pragma once
/// \file
/// What Order has to know of an operation: which bytes it reads and writes, and what to call it.

#include "cuda/operation.hpp"
#include "cuda/order.hpp"

namespace emu::cuda {

/// Known when the operation is enqueued. The footprint of a kernel comes with its end.
OperationFacts facts_of(State& state, const Operation& operation);

/// Just before the operation is carried out: tells Order of host memory that changes now, and notes where the
/// bytes already are what they will be.
void note_start(State& state, const Operation& operation, OperationFacts& facts);

} // namespace emu::cuda
