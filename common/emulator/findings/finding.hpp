#pragma once
/// \file
/// The kinds of findings. What each means is said once, in findings/list.inc.

#include <cstdint>
#include <string_view>

namespace emu {

enum class Finding : std::uint8_t {
#define FINDING(identifier, ...) identifier,
#include "findings/list.inc"
#undef FINDING
};

/// Stable, kebab-case: "race-shared".
std::string_view name_of(Finding finding);

} // namespace emu
