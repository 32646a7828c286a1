#pragma once
/// \file
/// The footprint of a kernel, out of the shadow memory of its launch.

#include "happens_before/records.hpp"
#include "happens_before/shadow.hpp"
#include "machine/footprint.hpp"
#include "machine/memory.hpp"
#include "machine/program.hpp"

#include <memory>

namespace emu::check {

/// What the kernel did to global memory, or nullptr where that is too scattered to be kept. Nobody else may
/// use the shadow meanwhile.
std::shared_ptr<const Footprint> footprint_of(const GlobalShadow& shadow, const RecordStore& records,
                                              const Kernel& kernel, const GlobalMemory& memory,
                                              FootprintWish wish);

} // namespace emu::check
