/// \file
/// What most files of the CUDA libraries include.

#include "standard.hpp"

#include "cuda/registry.hpp"
#include "cuda/state.hpp"
#include "cuda/streams.hpp"
