#pragma once
/// \file
/// Three numbers: the shape of a grid, a block or a cluster, or a place in one.

#include <cstdint>

#pragma GCC visibility push(default)
namespace emu {

/// The dimensions or an index of a grid, a cluster or a block.
struct Dim3 {
    std::uint32_t x = 1; ///< The fastest.
    std::uint32_t y = 1; ///< The next.
    std::uint32_t z = 1; ///< The slowest.
    /// Of a shape: how many there are.
    constexpr std::uint64_t volume() const { return std::uint64_t{x} * y * z; }
    /// All three are equal.
    friend constexpr bool operator==(const Dim3&, const Dim3&) = default;
};

} // namespace emu
#pragma GCC visibility pop
