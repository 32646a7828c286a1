#pragma once
/// \file
/// Lists of opcodes, as the analyses of a function keep them.

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace emu::check {

template <std::size_t n>
bool is_one_of(std::string_view opcode, const std::array<std::string_view, n>& names) {
    return std::ranges::find(names, opcode) != names.end();
}

} // namespace emu::check
