#pragma once
/// \file
/// A launch as a record of a capsule.

#include "recording/capsule_bytes.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace emu::capsule {

/// Bytes that several launches may share: by their number in the file.
using PutBytes = std::function<std::uint64_t(std::span<const std::byte>)>;

/// Writes what is known at the begin of a launch; its memory's bytes go through `put`.
void write_launch(Writer& out, const CapsuleLaunch& launch, const PutBytes& put);
/// Reads it; `shared` are the bytes of the file so far.
CapsuleLaunch read_launch(Reader& in, const std::vector<MemoryImage::Shared<std::byte>>& shared,
                          std::size_t modules);

} // namespace emu::capsule
