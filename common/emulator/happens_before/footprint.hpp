#pragma once
/// \file
/// The footprint of a kernel, out of the shadow memory of its launch.

#include "happens_before/records.hpp"
#include "happens_before/shadow.hpp"
#include "hopper_emulator/footprint.hpp"
#include "hopper_emulator/memory.hpp"
#include "machine/program.hpp"

#include <memory>
#include <vector>

namespace emu::check {

/// What the kernel did to global memory, or nullptr where that is too scattered to be kept. Nobody else may
/// use the shadow meanwhile.
std::shared_ptr<const Footprint> footprint_of(const GlobalShadow& shadow, const RecordStore& records,
                                              const Kernel& kernel, const GlobalMemory& memory,
                                              FootprintWish wish);

/// The pieces, which may overlap, in ascending order and disjoint: of several touches the one that disturbs
/// others most.
std::vector<FootprintPiece> disjoint(std::vector<FootprintPiece> pieces);

/// A footprint of disjoint pieces whose `line` is the instruction.
std::shared_ptr<const Footprint> footprint_of(std::vector<FootprintPiece> pieces, const Kernel& kernel,
                                              const GlobalMemory& memory);

} // namespace emu::check
