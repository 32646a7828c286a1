#pragma once
/// \file
/// The cases of tensor maps and tensor copies in im2col mode that are recorded: some made to show one thing,
/// the others random, the same every time. A line is `map`, `load`, `store` or `add` and `key=value`s: those
/// of CopyCase but `box`, and `lo` and `hi` (the corners of the pixel box, as the driver takes them), `ch`
/// (channels per pixel), `px` (pixels per column), `off` (im2col offsets).

#include <cstdint>
#include <string>
#include <vector>

namespace hardware {

constexpr std::uint32_t im2col_area_bytes = 32768;    ///< Of shared memory, aligned to 1024 bytes.
constexpr std::uint64_t im2col_memory_bytes = 262144; ///< Of global memory,
constexpr std::uint64_t im2col_tensor_offset = 65536; ///< of which the tensor begins here.

/// What no process ends with first, what may end one last.
std::vector<std::string> im2col_cases();

/// Those among them that are made to show one thing: the first and the last.
std::vector<std::string> im2col_directed_cases();
std::vector<std::string> im2col_last_cases();

} // namespace hardware
